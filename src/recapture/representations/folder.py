"""What a folder of model weights says about itself, read without PyTorch."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError

# Everything that can change a vector; other files, such as documentation and other weight formats, are left out.
_TELLING = {".json", ".txt", ".model", ".safetensors", ".tiktoken", ".jinja", ".bpe", ".vocab", ".spm"}
_PICKLED = {".bin", ".pt", ".pth", ".pkl", ".ckpt"}

# Plain transformers models that turn a text into one vector, not into one per token.
_WHOLE_TEXT = {"clip"}
# Modules that hold a whole transformer.
_TOWERS = {"Transformer", "CLIPModel"}

# Where sentence-transformers writes down how a transformer is used; the names of older releases, too.
_USES = tuple(f"sentence_{kind}_config.json" for kind in ("bert", "roberta", "distilbert", "camembert", "albert"))
# Models that see how far apart two tokens are, whatever their number: what their settings call positions is no limit.
_RELATIVE = {"t5", "mt5", "umt5", "longt5", "xlnet"}
# Models that count positions from the number of the padding token on.
_PADDED = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "data2vec-text", "ibert"}
_CLIP_POSITIONS = 77
_NO_LIMIT = 1_000_000
"""Tokenizers without a limit say a number far above this one."""

# How older sentence-transformers folders write their pooling, in the order in which the parts are joined.
_OLD_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True)
class Module:
    """One step of a sentence-transformers model."""

    kind: str
    folder: Path
    library: str = "sentence_transformers"
    """Where its code is."""


def is_model_folder(folder: Path) -> bool:
    try:
        return (folder / "modules.json").is_file() or (folder / "config.json").is_file()
    except OSError:  # a name that is too long for a folder
        return False


def modules(folder: Path) -> list[Module] | None:
    """The steps that modules.json lists; None for a plain transformers folder, which has no such file."""
    listing = folder / "modules.json"
    if not listing.is_file():
        return None
    try:
        return [
            Module(part["type"].rpartition(".")[2], folder / part["path"], part["type"].partition(".")[0])
            for part in read_json(listing)
        ]
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{listing} does not list sentence-transformers modules") from None


def pooling_mode(folder: Path) -> str | None:
    """How token vectors become one vector: "mean", "cls+max", ...; None where the model has no such step.

    A plain transformers folder does not say: it gets the mean, but for models that make one vector themselves.
    """
    listed = modules(folder)
    if listed is None:
        return None if read_json(folder / "config.json").get("model_type") in _WHOLE_TEXT else "mean"
    for module in listed:
        if module.kind == "Pooling":
            settings = read_json(module.folder / "config.json")
            modes = settings.get("pooling_mode") or [new for old, new in _OLD_POOLING.items() if settings.get(old)]
            return modes if isinstance(modes, str) else "+".join(modes or ["mean"])
    return None


def tower_folder(folder: Path) -> Path | None:
    """Where the transformer is that reads the texts; None for a model of another kind."""
    listed = modules(folder)
    if listed is None:
        return folder
    return listed[0].folder if listed and listed[0].kind in _TOWERS else None


def default_prompt(folder: Path) -> str:
    """What a sentence-transformers model puts before every text unless told otherwise; mostly nothing."""
    settings = _settings(folder / "config_sentence_transformers.json")
    prompts = settings.get("prompts")
    prompt = prompts.get(settings.get("default_prompt_name")) if isinstance(prompts, dict) else None
    return prompt if isinstance(prompt, str) else ""


def lowers_case(folder: Path) -> bool:
    """Whether the model puts texts in lower case before its tokenizer sees them."""
    return bool(_use(folder).get("do_lower_case"))


def token_limit(folder: Path) -> int | None:
    """The most tokens that a text may have, special ones included; None where the folder does not say.

    As sentence-transformers finds it: what the model was made for, or else the smaller of what its tokenizer and its
    positions allow.
    """
    tower = tower_folder(folder)
    if tower is None:
        return None
    use = _use(tower)
    processor = use.get("processor_kwargs") or use.get("tokenizer_args") or {}
    declared = _whole(processor.get("model_max_length")) or _whole(use.get("max_seq_length"))
    tokenizer = _settings(tower / "tokenizer_config.json")
    limits = [_whole(tokenizer.get("model_max_length")), _positions(_settings(tower / "config.json"))]
    return declared or min((limit for limit in limits if limit), default=None)


def _positions(config: dict[str, Any]) -> int | None:
    kind = config.get("model_type")
    text = {**config, **(config.get("text_config") or {})}
    known = text.get("max_position_embeddings") or text.get("n_positions") or (_CLIP_POSITIONS if kind == "clip" else 0)
    count = None if kind in _RELATIVE else _whole(known)
    return count - text.get("pad_token_id", 1) - 1 if count and kind in _PADDED else count


def _whole(number: Any) -> int | None:
    return int(number) if isinstance(number, (int, float)) and 0 < number < _NO_LIMIT else None


def _use(tower: Path) -> dict[str, Any]:
    return next((_settings(tower / name) for name in _USES if (tower / name).is_file()), {})


def _settings(file: Path) -> dict[str, Any]:
    content = read_json(file) if file.is_file() else {}
    return content if isinstance(content, dict) else {}


def card_languages(folder: Path) -> list[str]:
    """Codes of the languages that the model's card, README.md, says the model is for; empty where it does not say.

    The card begins with settings between two lines of hyphens: `language: en`, `language: [en, de]`, or a list of lines
    that begin with a hyphen.
    """
    try:
        lines = (folder / "README.md").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    if not lines or lines[0].strip() != "---":
        return []
    found: list[str] = []
    inside = False
    for line in lines[1:]:
        if line.strip() == "---":
            break
        if inside and line.lstrip().startswith("- "):
            found.append(line.strip()[2:])
            continue
        inside = line.startswith("language:")
        if inside:
            found += line.partition(":")[2].strip().strip("[]").split(",")
    codes = (code.strip().strip("\"'") for code in found)
    return [code for code in codes if code]


def problem(folder: Path) -> str | None:
    """Why the weights in this folder cannot be used, or None."""
    if not is_model_folder(folder):
        return "has neither modules.json nor config.json"
    for module in modules(folder) or [Module("Transformer", folder)]:
        if module.library != "sentence_transformers":
            return f"asks for code of its own ({module.library}), which is not run"
        files = list(module.folder.iterdir()) if module.folder.is_dir() else []
        safe = any(file.suffix == ".safetensors" for file in files)
        pickled = [file.name for file in files if file.suffix in _PICKLED]
        if pickled and not safe:
            return f"keeps weights in pickle form only ({pickled[0]}), which can run code; safetensors are needed"
        if module.kind in _TOWERS:
            if (module.folder / "adapter_config.json").is_file():
                return "is an adapter; merge it into its base model first"
            if not _has_all_weights(module.folder):
                return "lacks model.safetensors (weights in other forms are not used)"
        if module.kind == "Pooling" and not (module.folder / "config.json").is_file():
            return f"lacks {module.folder.name}/config.json"
    return None


def _has_all_weights(folder: Path) -> bool:
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return (folder / "model.safetensors").is_file()
    return all((folder / shard).is_file() for shard in set(read_json(index).get("weight_map", {}).values()))


def content_hash(folder: Path) -> str:
    """A hash of names and contents of all files that matter; read again only when a size or a date has changed."""
    files = sorted(
        (file.relative_to(folder).as_posix(), file.stat().st_size, file.stat().st_mtime_ns)
        for file in folder.rglob("*")
        if file.suffix in _TELLING and file.is_file() and not _is_hidden(file.relative_to(folder))
    )
    return _hash_files(folder.resolve(), tuple(files))


@functools.lru_cache(maxsize=64)
def _hash_files(folder: Path, files: tuple[tuple[str, int, int], ...]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for name, _, _ in files:
        content = hashlib.blake2b()
        with (folder / name).open("rb") as file:
            while chunk := file.read(1 << 20):
                content.update(chunk)
        # Two hashes of fixed length per file, so that no two listings can read the same.
        whole.update(hashlib.blake2b(name.encode()).digest() + content.digest())
    return whole.hexdigest()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as JSON: {error}") from None
