"""What a folder of model weights says about itself, read without PyTorch."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, shown
from .weight_files import fault, is_inside, places, read_json, read_settings

# Everything that can change a vector; other files, such as documentation and other weight formats, are left out.
_TELLING = {".json", ".txt", ".model", ".safetensors", ".tiktoken", ".jinja", ".bpe", ".vocab", ".spm", ".codes"}

# The text tower of CLIP by itself, which the loading library takes for a model of tokens.
_TEXT_TOWERS = {"clip_text_model"}
# Plain transformers models that turn a text into one vector, not into one per token.
_WHOLE_TEXT = {"clip"} | _TEXT_TOWERS
# Modules that hold a whole transformer.
_TOWERS = {"Transformer", "CLIPModel"}
# Modules with weights of their own, and those without.
_WEIGHTED = {"Dense", "LayerNorm", "LSTM", "CNN", "WeightedLayerPooling", "StaticEmbedding", "WordEmbeddings"}
_PLAIN = {"Pooling", "Normalize", "Dropout", "BoW", "WordWeights"}
_WORD_FINDERS = {"WhitespaceTokenizer", "PhraseTokenizer", "TransformersTokenizerWrapper"}
_BRANCHES = {"Router", "Asym"}
"""Modules that hold others, by the kind of text."""

# Where sentence-transformers writes down how a transformer is used; the names of older releases, too.
_FAMILIES = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
_USES = tuple(f"sentence_{kind}_config.json" for kind in _FAMILIES)
# What such a file may hand on to the loading library: nothing that names files, addresses or code.
_HANDED_ON = {
    "model_max_length", "max_length", "padding_side", "truncation_side", "padding", "truncation", "use_fast",
    "do_lower_case", "dtype", "torch_dtype", "add_pooling_layer", "trust_remote_code", "fix_mistral_regex",
}  # fmt: skip
_HANDING = ("model_args", "model_kwargs", "tokenizer_args", "processor_kwargs", "config_args", "config_kwargs")
# Models that see how far apart two tokens are, whatever their number: what their settings call positions is no limit.
_RELATIVE = {"t5", "mt5", "umt5", "longt5", "xlnet"}
# Models that count positions from the number of the padding token on.
_PADDED = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "data2vec-text", "ibert"}
_CLIP_POSITIONS = 77
_NO_LIMIT = 1_000_000
"""Tokenizers without a limit say a number far above this one."""

# The library makes one layer after another, however many it is told: a wrong number would never end.
_LAYERS = re.compile(r"(?:num|n|encoder|decoder|inner)?_?\w*(?:layers?|groups?|group_num|blocks|experts)")
_MOST_LAYERS = 1_000
_SIZES = re.compile(r"\w*(?:size|dim|d_model|d_ff|n_embd|positions?|position_embeddings|n_ctx|heads?)")
_LARGEST_SIZE = 10_000_000
# Only names of classes without arguments that PyTorch itself has.
_ACTIVATION = re.compile(r"torch\.nn\.(?:modules\.(?:activation|linear)\.)?[A-Z]\w*")

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
    content = read_json(listing)
    wanted = ("type", "path", "name")
    if (
        not isinstance(content, list)
        or not content
        or not all(isinstance(part, dict) and all(isinstance(part.get(key), str) for key in wanted) for part in content)
    ):
        raise InputError(f"{listing} does not list sentence-transformers modules")
    if len({part["name"] for part in content}) < len(content):  # the library would leave all but one of them out
        raise InputError(f"{listing} lists two modules under one name")
    return [_module(folder, part["type"], part["path"], listing) for part in content]


def _module(folder: Path, kind: str, path: str, listing: Path) -> Module:
    if not is_inside(path):
        raise InputError(f"{listing} names {path!r}, which is not in its own folder")
    return Module(kind.rpartition(".")[2], folder / path, kind.partition(".")[0])


def pooling_mode(folder: Path) -> str | None:
    """How token vectors become one vector: "mean", "cls+max", ...; None where the model has no such step.

    A plain transformers folder does not say: it gets the mean, but for models that make one vector themselves.
    """
    listed = modules(folder)
    if listed is None:
        return None if read_settings(folder / "config.json").get("model_type") in _WHOLE_TEXT else "mean"
    for module in listed:
        if module.kind == "Pooling":
            return "+".join(_pooling_modes(module.folder / "config.json"))
    return None


def _pooling_modes(file: Path) -> list[str]:
    settings = read_settings(file)
    for name in (*_OLD_POOLING, "include_prompt"):
        if not isinstance(settings.get(name, False), bool):
            raise InputError(f"{file} must say true or false for {name}, not {shown(settings[name])}")
    given = settings.get("pooling_mode")
    if given is None:
        return [new for old, new in _OLD_POOLING.items() if settings.get(old)] or ["mean"]
    modes = [given] if isinstance(given, str) else given
    if not isinstance(modes, list) or not modes or not all(mode in _OLD_POOLING.values() for mode in map(str, modes)):
        raise InputError(f"{file} names a pooling that is not known: {given!r}")
    return [str(mode) for mode in modes]


def tower_folder(folder: Path) -> Path | None:
    """Where the transformer is that reads the texts; None for a model of another kind."""
    listed = modules(folder)
    if listed is None:
        return folder
    return listed[0].folder if listed and listed[0].kind in _TOWERS else None


def is_text_tower(folder: Path) -> bool:
    """Whether a plain transformers folder holds the text half of a model of texts and pictures, and nothing else."""
    return modules(folder) is None and read_settings(folder / "config.json").get("model_type") in _TEXT_TOWERS


def default_prompt(folder: Path) -> str:
    """What a sentence-transformers model puts before every text unless told otherwise; mostly nothing."""
    settings = _settings(folder / "config_sentence_transformers.json")
    prompts, name = settings.get("prompts"), settings.get("default_prompt_name")
    prompt = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
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
    used = _use_file(tower)
    use = read_settings(used) if used else {}
    handed = use.get("processor_kwargs") or use.get("tokenizer_args") or {}
    declared = _whole(handed.get("model_max_length"), "model_max_length", used) or _whole(
        use.get("max_seq_length"), "max_seq_length", used
    )
    config = read_settings(tower / "config.json") if (tower / "config.json").is_file() else {}
    settings = tower / "tokenizer_config.json"
    longest = _settings(settings).get("model_max_length")
    limits = [_whole(longest, "model_max_length", settings), _positions(config, tower / "config.json")]
    limit = declared or min((limit for limit in limits if limit), default=None)
    # Whatever is declared: a model with a table of places has no more of them than the table has rows.
    rows = places(tower)
    if limit is None or rows is None:
        return limit
    return min(limit, max(1, rows - (_padding(config, tower / "config.json") + 1 if _is_padded(config) else 0)))


def _positions(config: dict[str, Any], file: Path) -> int | None:
    kind = config.get("model_type")
    text = {**config, **(config.get("text_config") or {})}
    known = (
        text.get("max_position_embeddings") or text.get("n_positions") or (_CLIP_POSITIONS if kind == "clip" else None)
    )
    count = None if kind in _RELATIVE else _whole(known, "the number of positions", file)
    if count is None or not _is_padded(config):
        return count
    left = count - _padding(text, file) - 1
    if left < 1:
        raise InputError(
            f"{file} leaves no positions for a text: {count}, of which those up to the padding token's are unused"
        )
    return left


def _is_padded(config: dict[str, Any]) -> bool:
    return config.get("model_type") in _PADDED


def _padding(config: dict[str, Any], file: Path) -> int:
    number = config.get("pad_token_id")
    if number is None:
        return 1
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"{file} must give the padding token's number, not {shown(number)}")
    return number


def _whole(number: Any, what: str, file: Path | None) -> int | None:
    """A number of tokens; None where there is no limit."""
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0 or number % 1:
        raise InputError(f"{file} must say a whole number above zero for {what}, not {shown(str(number)[:40])}")
    return int(number) if number < _NO_LIMIT else None


def _use_file(tower: Path) -> Path | None:
    """The first that says anything, as the library has it."""
    return next((tower / name for name in _USES if (tower / name).is_file() and read_json(tower / name)), None)


def _use(tower: Path) -> dict[str, Any]:
    file = _use_file(tower)
    return read_settings(file) if file else {}


def _settings(file: Path) -> dict[str, Any]:
    return read_settings(file) if file.is_file() else {}


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
    if not (folder / "modules.json").is_file() and (folder / "config_sentence_transformers.json").is_file():
        return "has settings of sentence-transformers but lacks modules.json, which says how vectors are pooled"
    try:
        faults = map(_fault_of, _every_module(modules(folder) or [Module("Transformer", folder)]))
        return next(filter(None, faults), None)
    except OSError as error:
        return f"cannot be read: {error}"


def _every_module(listed: list[Module], depth: int = 0) -> Iterator[Module]:
    """The modules, and those within them."""
    for module in listed:
        yield module
        if module.kind not in _BRANCHES or module.library != "sentence_transformers":
            continue
        names = ("router_config.json", "config.json")
        listing = next((module.folder / name for name in names if (module.folder / name).is_file()), None)
        kinds = read_settings(listing).get("types") if listing else None
        if listing is None or not isinstance(kinds, dict) or not all(isinstance(kind, str) for kind in kinds.values()):
            raise InputError(f"{module.folder} does not list the modules of its branches")
        if depth:
            raise InputError(f"{listing} has branches within branches")
        yield from _every_module([_module(module.folder, kind, path, listing) for path, kind in kinds.items()], 1)


def _fault_of(module: Module) -> str | None:
    if module.library != "sentence_transformers":
        return f"asks for code of its own ({module.library}), which is not run"
    if module.kind not in _TOWERS | _WEIGHTED | _PLAIN | _BRANCHES:
        return f"has a module of a kind that is not known ({module.kind})"
    if module.kind in _TOWERS:
        if (module.folder / "adapter_config.json").is_file():
            return "is an adapter; merge it into its base model first"
        return fault(module.folder, sharded=True) or _fault_of_settings(module.folder)
    if module.kind in _WEIGHTED:
        further = {"Dense": _fault_of_dense, "WordEmbeddings": _fault_of_words}.get(module.kind)
        return fault(module.folder, sharded=False) or (further(module) if further else None)
    if module.kind == "Pooling":
        if not (module.folder / "config.json").is_file():
            return f"lacks {module.folder.name}/config.json"
        _pooling_modes(module.folder / "config.json")
    return None


def _fault_of_dense(module: Module) -> str | None:
    settings = read_settings(module.folder / "config.json")
    activation = settings.get("activation_function", "torch.nn.Tanh")
    if not isinstance(activation, str) or not _ACTIVATION.fullmatch(activation):
        return f"has a dense layer with an activation function that is not known ({activation!r})"
    return None


def _fault_of_words(module: Module) -> str | None:
    """How a table of word vectors finds the words of a text: by a class that its settings name."""
    named = _settings(module.folder / "wordembedding_config.json").get("tokenizer_class")
    library, _, kind = str(named).rpartition(".")
    if not isinstance(named, str) or library.partition(".")[0] != "sentence_transformers" or kind not in _WORD_FINDERS:
        return f"has word vectors with a tokenizer that is not known ({named!r})"
    for file in ("config.json", "tokenizer_config.json"):
        if "auto_map" in _settings(module.folder / file):
            return f"has a {module.folder.name}/{file} that asks for code of its own (auto_map), which is not run"
    return None


def _fault_of_settings(tower: Path) -> str | None:
    """What the settings of a transformer must not ask for."""
    config = read_settings(tower / "config.json") if (tower / "config.json").is_file() else {}
    if not isinstance(config.get("model_type", ""), str):
        return "has a config.json whose model_type is no name"
    if not isinstance(config.get("text_config") or {}, dict):
        return "has a config.json whose text_config holds no settings"
    reason = _fault_of_values(config)
    if reason:
        return f"has a config.json {reason}"
    if config.get("quantization_config") is not None:
        return "keeps its weights in a rounded form (quantization_config); plain ones are needed"
    if config.get("transformers_weights") is not None:
        return "has a config.json that names a file of weights of its own (transformers_weights)"
    # Names of files elsewhere, which the library would read; what else looks like one it leaves alone.
    if any(isinstance(_settings(tower / "tokenizer_config.json").get(name), str) for name in ("vocab", "merges")):
        return "has a tokenizer_config.json that names a vocabulary of its own"
    used = _use_file(tower)
    if used and not isinstance(read_settings(used).get("do_lower_case", False), (bool, type(None))):
        return f"has a {used.name} that must say true or false for do_lower_case"
    for name in _HANDING:
        handed = read_settings(used).get(name) if used else None
        if handed is None:
            continue
        if not isinstance(handed, dict):
            return f"has a {used.name if used else ''} whose {name} holds no settings"
        asked = sorted(handed.keys() - _HANDED_ON)
        if asked:
            return f"has a {used.name if used else ''} that asks the loading library for {asked[0]}, which is not done"
    return None


def _fault_of_values(settings: dict[str, Any], asks: bool = False) -> str | None:
    """asks: whether they stand under a name that says by what code something is done."""
    for name, value in settings.items():
        by_code = asks or "implementation" in name
        if isinstance(value, dict):
            reason = _fault_of_values(value, by_code)
            if reason:
                return reason
        if by_code and isinstance(value, str) and not value.replace("_", "").isalnum():
            return f"that asks for code from elsewhere ({name}: {value})"
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        most = _MOST_LAYERS if _LAYERS.fullmatch(name) else _LARGEST_SIZE if _SIZES.fullmatch(name) else None
        if most is not None and value > most:
            return f"with {name} = {str(value)[:20]}, which no model has"
    return None


def content_hash(folder: Path) -> str:
    """A hash of names and contents of all files that matter; read again only when a size or a date has changed.

    Links are followed: what they lead to is read when the model is loaded.
    """
    try:
        files = sorted(_telling_files(folder))
        return _hash_files(folder.resolve(), tuple(files))
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error}") from None


def _telling_files(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """Name within the folder, size, date and number of each file."""
    for place, inner, names in os.walk(folder, followlinks=True, onerror=_raise):
        here = Path(place)
        # A link to a folder that holds it has no end.
        inner[:] = [name for name in inner if not name.startswith(".") and not _holds(here / name, here)]
        for name in names:
            file = here / name
            if file.suffix in _TELLING and not name.startswith(".") and file.is_file():
                about = file.stat()
                yield file.relative_to(folder).as_posix(), about.st_size, about.st_mtime_ns, about.st_ino


def _holds(folder: Path, place: Path) -> bool:
    return folder.is_symlink() and place.resolve().is_relative_to(folder.resolve())


def _raise(error: OSError) -> None:
    raise error


@functools.lru_cache(maxsize=64)
def _hash_files(folder: Path, files: tuple[tuple[str, int, int, int], ...]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for name, *_ in files:
        content = hashlib.blake2b()
        with (folder / name).open("rb") as file:
            while chunk := file.read(1 << 20):
                content.update(chunk)
        # Two hashes of fixed length per file, so that no two listings can read the same.
        whole.update(hashlib.blake2b(name.encode("utf-8", "surrogateescape")).digest() + content.digest())
    return whole.hexdigest()
