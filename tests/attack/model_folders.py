"""Seeded attacks on folders of models: damage, wrong settings, foreign code and pickles, lost and moved files.

Whatever is done to a folder, whoever uses it gets `InputError`, or numbers that are right: those of the sound folder;
or where the attack makes a valid model of another kind, numbers that two loads agree on (made-up weights differ from
load to load) under a revision of their own. Nothing in a folder is ever run.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import os
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TEXTS = ["the cat sat on the mat .", "a red dog", "the old bird sang under a tree and then slept", ""]
SLOWEST = 60
"""Seconds that one use of a folder may take, on any machine: beyond that it hangs."""

_ODD = [
    None, True, False, -1, 0, 1, 3, 7, 63, 65, 2**31, 10**12, -(10**9), 0.5, 1e308, float("nan"), float("inf"), "", "x",
    "mean", "../..", "/etc/passwd", "\0", [], {}, [[]], ["mean", "x"], {"a": 1}, "9" * 5000, [1, "a", None],
]  # fmt: skip
_KEYS = [
    "auto_map", "quantization_config", "transformers_weights", "model_type", "num_hidden_layers", "vocab_size",
    "max_position_embeddings", "pad_token_id", "model_max_length", "max_seq_length", "pooling_mode", "do_lower_case",
    "model_kwargs", "processor_kwargs", "config_kwargs", "model_args", "tokenizer_class", "text_config", "dtype",
    "_attn_implementation", "architectures", "is_decoder", "hidden_act", "prompts", "default_prompt_name",
]  # fmt: skip


@functools.cache
def _home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="recapture-attack-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def sound_folder() -> Path:
    """A sentence-transformers folder: transformer with a head for masked tokens, pooling, dense layer, length 1."""
    from tiny_models import make_tiny_bert

    folder = make_tiny_bert(_home() / "sound")
    kinds = ["Transformer", "Pooling", "Dense", "Normalize"]
    listing = [
        {
            "idx": number,
            "name": str(number),
            "path": f"{number}_{kind}" if number else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", listing)
    write(folder / "sentence_bert_config.json", {"max_seq_length": 60, "do_lower_case": False})
    write(folder / "config_sentence_transformers.json", {"prompts": {"own": "the "}, "default_prompt_name": None})
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
    tanh = "torch.nn.modules.activation.Tanh"
    dense = {"in_features": 32, "out_features": 8, "bias": True, "activation_function": tanh}
    write(folder / "2_Dense" / "config.json", dense)
    rng = np.random.default_rng(3)
    save(
        folder / "2_Dense" / "model.safetensors",
        {
            "linear.weight": rng.normal(size=(8, 32)).astype(np.float32) / 5,
            "linear.bias": rng.normal(size=8).astype(np.float32),
        },
    )
    return folder


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), "utf-8")


def save(file: Path, tensors: dict[str, np.ndarray]) -> None:
    from safetensors.numpy import save_file

    save_file(tensors, file, metadata={"format": "pt"})


def load(file: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return dict(load_file(file))


class Bomb:
    """A pickle that makes a file when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def plant_pickle(file: Path, mark: Path) -> None:
    import pickle

    file.write_bytes(pickle.dumps(Bomb(mark)))


def plant_code(folder: Path, mark: Path, names: tuple[str, ...] = ("config.json", "tokenizer_config.json")) -> None:
    """Every way to ask for code of the folder's own."""
    (folder / "evil.py").write_text(
        f"import os\nos.mkdir({str(mark)!r})\nclass Evil:\n    def __getattr__(self, name): return self\n"
    )
    kinds = ("AutoConfig", "AutoModel", "AutoModelForMaskedLM", "AutoTokenizer", "AutoProcessor")
    for name in names:
        file = folder / name
        content = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        if not isinstance(content, dict):
            continue
        content["auto_map"] = dict.fromkeys(kinds, "evil.Evil")
        content["auto_map"]["AutoTokenizer"] = ["evil.Evil", "evil.Evil"]
        write(file, content)


def sentences(folder: Path) -> tuple[np.ndarray, str]:
    import recapture as rc

    encoder = rc.resolve_encoder(folder, device="cpu", offline=True)
    encoder.facts(TEXTS)
    return rc.encode(TEXTS, encoder, cache=False), encoder.identity()["revision"]


def words(folder: Path) -> tuple[np.ndarray, str]:
    from recapture.representations.words import WordStore

    store = WordStore(str(folder), device="cpu", offline=True)
    store.want([store.layer_count])
    store.ensure(TEXTS[:-1])
    return np.concatenate([store[text].vectors[0] for text in TEXTS[:-1]]), store.identity()["revision"]


def masked(folder: Path) -> tuple[np.ndarray, str]:
    from recapture.representations.masked import MaskedStore

    store = MaskedStore(str(folder), device="cpu", offline=True, cache=False)
    store.ensure(TEXTS[:-1])
    rows = np.concatenate([store[text].vectors for text in TEXTS[:-1]])
    return store.model.logits(rows).numpy(), store.model.identity()["revision"]


USES: dict[str, Callable[[Path], tuple[np.ndarray, str]]] = {"sentences": sentences, "words": words, "masked": masked}


@functools.cache
def _sound(use: str) -> tuple[np.ndarray, str]:
    return USES[use](sound_folder())


def check(folder: Path, use: str, story: str) -> None:
    """Use a folder twice; AssertionError where something other than `InputError` or right numbers comes of it."""
    from recapture.errors import InputError

    right, revision = _sound(use)
    found = []
    for seed in (1, 2):
        import torch

        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.manual_seed(seed)
                found.append(USES[use](folder))
        except InputError as error:
            assert "\n" not in str(error), f"{story}: more than one line: {error}"
            return
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise AssertionError(f"{story}: {type(error).__name__}: {error}") from error
        finally:
            spent = time.process_time() - began
            assert spent < SLOWEST, f"{story}: {spent:.0f} seconds"
    (first, own), (second, _) = found
    assert first.shape == second.shape, f"{story}: two loads do not agree"
    assert np.isfinite(first).all(), f"{story}: not a number"
    assert np.allclose(first, second, atol=1e-6), f"{story}: two loads do not agree"
    same = first.shape == right.shape and np.allclose(first, right, atol=1e-5)
    assert same or own != revision, f"{story}: other numbers under the same revision"


# Attacks. Each changes the folder and says what it did.


def _files(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and (not suffixes or file.suffix in suffixes))


def odd_setting(rng: random.Random, folder: Path) -> str:
    file = rng.choice(_files(folder, ".json"))
    content = json.loads(file.read_text("utf-8"))
    value = rng.choice(_ODD)
    holder, key = content, None
    while isinstance(holder, (dict, list)) and holder:
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        if not isinstance(holder[key], (dict, list)) or not holder[key] or rng.random() < 0.3:
            break
        holder = holder[key]
    action = rng.choice(["set", "drop", "add", "whole"])
    if action == "add" and isinstance(holder, dict):
        key = rng.choice(_KEYS)
        holder[key] = value
    elif action == "drop" and key is not None:
        del holder[key]
    elif action == "set" and key is not None:
        holder[key] = value
    else:
        content = value
    write(file, content)
    return f"{action} {key} = {str(value)[:30]!r} in {file.name}"


def deep_setting(rng: random.Random, folder: Path) -> str:
    file = rng.choice(_files(folder, ".json"))
    file.write_text("[" * 100_000 + "]" * 100_000)
    return f"nested {file.name}"


def damaged_file(rng: random.Random, folder: Path) -> str:
    file = rng.choice(_files(folder))
    content = bytearray(file.read_bytes())
    action = rng.choice(["empty", "cut", "flip", "overwrite", "longer"])
    place = rng.randrange(min(len(content), 4000)) if content else 0
    if action == "empty":
        content = bytearray()
    elif action == "cut":
        del content[place:]
    elif action == "flip" and content:
        content[place] ^= 1 << rng.randrange(8)
    elif action == "overwrite":
        content[place : place + 20] = rng.randbytes(20)
    else:
        content += rng.randbytes(50)
    file.write_bytes(content)
    return f"{action} at {place} of {file.name}"


def lost_file(rng: random.Random, folder: Path) -> str:
    file = rng.choice(_files(folder))
    action = rng.choice(["lost", "folder", "dangling", "linked", "renamed", "unreadable-name"])
    content = file.read_bytes()
    file.unlink()
    if action == "folder":
        file.mkdir()
    elif action == "dangling":
        file.symlink_to(folder / "nowhere")
    elif action == "linked":
        other = Path(tempfile.mkdtemp(dir=_home())) / file.name
        other.write_bytes(content)
        file.symlink_to(other)
    elif action == "renamed":
        file.with_name("other" + file.suffix).write_bytes(content)
    return f"{action} {file.name}"


def lost_tokenizer(rng: random.Random, folder: Path) -> str:
    for name in ("tokenizer.json", "tokenizer_config.json")[: rng.randint(1, 2)]:
        (folder / name).unlink()
    return "tokenizer lost"


def other_tensors(rng: random.Random, folder: Path) -> str:
    file = rng.choice(_files(folder, ".safetensors"))
    tensors = load(file)
    action = rng.choice(["drop", "rename", "shape", "kind", "more", "nan"])
    chosen = rng.sample(sorted(tensors), rng.randint(1, min(4, len(tensors))))
    if action == "drop" and rng.random() < 0.5:  # the same one of every layer
        part = chosen[0].rpartition(".")[0].rpartition(".")[2]
        chosen = [name for name in tensors if f"{part}." in name]
    for name in chosen:
        value = tensors[name]
        if action == "drop":
            del tensors[name]
        elif action == "rename":
            tensors[f"{name}x"] = tensors.pop(name)
        elif action == "shape":
            tensors[name] = np.ascontiguousarray(value[: max(1, len(value) // 2)])
        elif action == "kind":
            tensors[name] = value.astype(rng.choice([np.int8, np.int64, np.float16, np.float64, bool, np.uint8]))
        elif action == "more":
            tensors[name.replace("layer.0", "layer.7")] = value.copy()
        else:
            tensors[name] = np.full_like(value, np.nan)
    save(file, tensors)
    return f"{action} {chosen[0]} and {len(chosen) - 1} more in {file.parent.name}/{file.name}"


def shards(rng: random.Random, folder: Path) -> str:
    file = folder / "model.safetensors"
    names = list(load(file))
    outside = folder.parent / f"{folder.name}-outside.safetensors"
    shutil.copy(file, outside)
    (folder / "inside.safetensors").symlink_to(outside)
    plant_pickle(folder / "shard.bin", folder / "mark")
    target = rng.choice(
        [
            "part.safetensors",
            f"../{outside.name}",
            str(outside),
            "inside.safetensors",
            "shard.bin",
            "nowhere",
            "",
            3,
            None,
        ]
    )
    form = rng.choice(["map", "map", "map", "list", "empty"])
    where = {"map": dict.fromkeys(names, target), "list": names, "empty": {}}[form]
    prefix = rng.choice(["model.safetensors", "model.safetensors", "pytorch_model.bin"])
    write(folder / f"{prefix}.index.json", {"metadata": {}, "weight_map": where})
    action = rng.choice(["move", "move", "keep"])
    if action == "move":
        file.rename(folder / "part.safetensors")
    return f"{action} weights, index {prefix} with a {form} of {target!r}"


def pickles(rng: random.Random, folder: Path) -> str:
    place = rng.choice([folder, folder / "2_Dense"])
    plant_pickle(place / rng.choice(["pytorch_model.bin", "adapter_model.bin"]), folder / "mark")
    if rng.random() < 0.7:
        (place / "model.safetensors").rename(place / "decoy.safetensors")
    if rng.random() < 0.3:
        content = json.loads((folder / "config.json").read_text())
        write(folder / "config.json", {**content, "transformers_weights": "adapter_model.bin"})
    return f"pickle in {place.name}"


def code(rng: random.Random, folder: Path) -> str:
    plant_code(folder, folder / "mark")
    if rng.random() < 0.3:
        (folder / "modules.json").unlink()
    if rng.random() < 0.3:
        content = json.loads((folder / "config.json").read_text())
        write(folder / "config.json", {**content, "model_type": "evil"})
    return "code of its own"


def other_modules(rng: random.Random, folder: Path) -> str:
    listing = json.loads((folder / "modules.json").read_text())
    action = rng.choice(["shuffle", "twice", "type", "path", "drop"])
    at = rng.randrange(len(listing))
    if action == "shuffle":
        rng.shuffle(listing)
    elif action == "twice":
        listing.append(dict(listing[at]))
    elif action == "drop":
        del listing[at]
    elif action == "type":
        kinds = ["Router", "pickle", "os.system", "LSTM", "StaticEmbedding", "BoW", "WordEmbeddings", "Transformer"]
        listing[at]["type"] = f"sentence_transformers.models.{rng.choice(kinds)}"
    else:
        listing[at]["path"] = rng.choice(["..", "/", "nowhere", "2_Dense", ".hidden"])
    write(folder / "modules.json", listing)
    return f"{action} module {at}"


ATTACKS: tuple[Callable[[random.Random, Path], str], ...] = (
    odd_setting, odd_setting, odd_setting, deep_setting, damaged_file, damaged_file, lost_file, lost_tokenizer,
    other_tensors, other_tensors, shards, pickles, code, other_modules,
)  # fmt: skip


def attack(rng: random.Random, folder: Path) -> None:
    """One random attack, in a new folder within `folder`; AssertionError where it succeeds."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return  # there is nothing that reads such a folder
    place = Path(tempfile.mkdtemp(dir=folder, prefix="model-")) / "attacked"
    shutil.copytree(sound_folder(), place)
    use = rng.choice(list(USES))
    chosen = rng.choice(ATTACKS)
    state = rng.getstate()[1][-1]
    story = f"{use} of a folder with {chosen(rng, place)} ({chosen.__name__}, state {state})"
    if rng.random() < 0.15 and (place / "model.safetensors").is_file():
        (place / "modules.json").unlink(missing_ok=True)  # a plain transformers folder
        story += ", plain"
    try:
        check(place, use, story)
        assert not (place / "mark").exists(), f"{story}: something in the folder was run"
    finally:
        shutil.rmtree(place.parent, ignore_errors=True)
