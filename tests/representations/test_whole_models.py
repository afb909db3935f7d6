"""Folders that are not what they seem: lost weights and words, foreign code, pickles, links; a hub that is silent."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recapture as rc
from attack import model_folders as attacked
from recapture.errors import InputError
from recapture.representations.folder import content_hash, problem, token_limit
from recapture.representations.locate import Weights, find_weights
from recapture.representations.tokenizer_probe import check_tokenizer

USES = sorted(attacked.USES)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound model, to be spoilt: transformer with a head for masked tokens, pooling, dense layer, length 1."""
    pytest.importorskip("sentence_transformers", reason="needs recapture[models]")
    shutil.copytree(attacked.sound_folder(), tmp_path / "model")
    return tmp_path / "model"


def change(file: Path, **settings: Any) -> None:
    attacked.write(file, {**json.loads(file.read_text("utf-8")), **settings})


def drop(file: Path, lost: Callable[[str], bool]) -> None:
    attacked.save(file, {name: value for name, value in attacked.load(file).items() if not lost(name)})


# Models that are not whole.


@pytest.mark.parametrize("use", USES)
def test_a_weight_missing_in_every_layer(use: str, folder: Path) -> None:
    """The library's printed table has one line for all layers, `encoder.layer.{0, 1, 2}...`; the weights would be
    drawn at random."""
    drop(folder / "model.safetensors", lambda name: name.endswith("attention.self.query.weight"))
    with pytest.raises(InputError, match=r"weights for .*layer\.0\.attention\.self\.query\.weight"):
        attacked.USES[use](folder)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["word_embeddings.weight", "layer.2.output.LayerNorm.bias"])
def test_a_single_weight_is_missing(use: str, name: str, folder: Path) -> None:
    drop(folder / "model.safetensors", lambda each: each.endswith(name))
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        attacked.USES[use](folder)


def test_weights_of_another_shape_are_not_made_up(folder: Path) -> None:
    """The settings of a folder cannot ask the library to go on with random numbers, either."""
    file = folder / "model.safetensors"
    tensors = attacked.load(file)
    tensors["bert.encoder.layer.0.output.dense.bias"] = np.zeros(7, np.float32)
    attacked.save(file, tensors)
    with pytest.raises(InputError, match="cannot be loaded"):
        attacked.sentences(folder)
    change(folder / "sentence_bert_config.json", model_kwargs={"ignore_mismatched_sizes": True})
    with pytest.raises(InputError, match="asks the loading library for ignore_mismatched_sizes"):
        attacked.sentences(folder)


def test_weights_of_the_dense_layer(folder: Path) -> None:
    drop(folder / "2_Dense" / "model.safetensors", lambda name: name == "linear.bias")
    with pytest.raises(InputError, match="cannot be loaded"):
        attacked.sentences(folder)


@pytest.mark.parametrize("use", USES)
def test_settings_with_fewer_layers_than_weights(use: str, folder: Path) -> None:
    change(folder / "config.json", num_hidden_layers=2)
    with pytest.raises(InputError, match=r"more layers \(.*layer\.2\..*\) than the 2"):
        attacked.USES[use](folder)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["int8", "float8_e4m3fn", "int64", "uint8"])
def test_weights_in_rounded_form(use: str, kind: str, folder: Path) -> None:
    """The library casts them to floating point as they are, without the factors that belong to them."""
    import torch
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    tensors = load_file(file)
    name = "bert.encoder.layer.1.attention.self.key.weight"
    tensors[name] = tensors[name].to(getattr(torch, kind))
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"layer\.1\.attention\.self\.key\.weight as numbers of type"):
        attacked.USES[use](folder)


@pytest.mark.parametrize("use", USES)
def test_lost_tokenizer(use: str, folder: Path) -> None:
    """Without its files the library makes a tokenizer to which every word is unknown: all texts are alike."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(InputError, match="knows hardly a word"):
        attacked.USES[use](folder)


# Article 1 of the Universal Declaration of Human Rights, in the United Nations' own translations.
ARTICLE = {
    "English": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood.",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью "
    "и должны поступать в отношении друг друга в духе братства.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι "
    "προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا "
    "وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा "
    "की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"
    "我们有不是的一个了在人他",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 "
    "이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
    "DNA": "A C G T",
}


@pytest.mark.parametrize("language", ARTICLE)
def test_tokenizers_of_other_languages_are_fine(language: str) -> None:
    pytest.importorskip("transformers", reason="needs recapture[models]")
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(
        [ARTICLE[language]], trainers.BpeTrainer(special_tokens=["[UNK]"], show_progress=False)
    )
    check_tokenizer(PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]"), "it")
    check_tokenizer(tokenizer, "it")


@pytest.mark.parametrize("unknown", ["[UNK]", None])
def test_tokenizers_without_words(unknown: str | None) -> None:
    """With a piece for what is unknown, and without: then a text has no pieces at all."""
    pytest.importorskip("transformers", reason="needs recapture[models]")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {} if unknown is None else {unknown: 0}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(InputError, match="knows hardly a word"):
        check_tokenizer(PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=unknown), "it")


@pytest.mark.parametrize(
    "activation", ["numpy.tanh", "torch.nn.modules.loss.MSELoss", "torch.load", "os.mkdir", 3, None]
)
def test_unknown_activations(activation: Any, folder: Path) -> None:
    """The library would go on with a hyperbolic tangent and a line in its log."""
    change(folder / "2_Dense" / "config.json", activation_function=activation)
    with pytest.raises(InputError, match="activation function that is not known"):
        attacked.sentences(folder)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """As much of a model that begins with word vectors as is looked at before anything is loaded."""
    part = tmp_path / "0_WordEmbeddings"
    part.mkdir()
    (part / "model.safetensors").write_bytes(b"")
    kind = "sentence_transformers.models.WordEmbeddings"
    attacked.write(tmp_path / "modules.json", [{"idx": 0, "name": "0", "path": part.name, "type": kind}])
    finder = "sentence_transformers.models.tokenizer.WhitespaceTokenizer"
    attacked.write(part / "wordembedding_config.json", {"tokenizer_class": finder})
    assert problem(tmp_path) is None
    return tmp_path


@pytest.mark.parametrize(
    "named", ["numpy.WhitespaceTokenizer", "sentence_transformers.util.load_file", "WhitespaceTokenizer", "os", 3, None]
)
def test_word_vectors_are_not_looked_up_by_just_any_class(named: Any, words: Path) -> None:
    """The library calls `load` of whatever class the settings name."""
    change(words / "0_WordEmbeddings" / "wordembedding_config.json", tokenizer_class=named)
    assert "tokenizer that is not known" in (problem(words) or "")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_word_vectors_bring_no_code(file: str, words: Path) -> None:
    """The library would ask on the terminal whether to run it."""
    attacked.write(words / "0_WordEmbeddings" / file, {"auto_map": {"AutoTokenizer": "code.Tokenizer"}})
    assert "asks for code of its own (auto_map)" in (problem(words) or "")


def test_what_the_libraries_warn_of_is_passed_on(folder: Path) -> None:
    change(folder / "2_Dense" / "config.json", temperature=3)
    with pytest.warns(UserWarning, match="the encoder model was loaded: .*temperature"):
        attacked.sentences(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        attacked.sentences(attacked.sound_folder())


def test_warnings_of_python_are_passed_on() -> None:
    pytest.importorskip("transformers", reason="needs recapture[models]")
    from recapture.representations.loading import loading

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with loading("the encoder model"):
            warnings.warn("half of the weights\nare zero", stacklevel=1)
            warnings.warn("a number is no number", RuntimeWarning, stacklevel=1)
            for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.warn("call it by another name", kind, stacklevel=1)
        assert not [each for each in caught if "while" not in str(each.message)]
    said = [str(each.message).removeprefix("while the encoder model was loaded: ") for each in caught]
    assert said == ["half of the weights are zero", "a number is no number"]


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.usefixtures("default_masked_model", "minilm")
def test_sound_models_load_in_silence() -> None:
    from recapture.representations.masked import MaskedStore
    from recapture.representations.shipped import SHIPPED
    from recapture.representations.words import WordStore

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for use in attacked.USES.values():
            use(attacked.sound_folder())
        rc.encode(attacked.TEXTS, cache=False)
        WordStore().ensure(attacked.TEXTS)
        for name in SHIPPED:
            MaskedStore(name, cache=False).ensure(attacked.TEXTS)


# What vectors are kept under.


def test_links_are_part_of_the_revision(folder: Path, tmp_path: Path) -> None:
    """Of files and of whole folders: what they lead to is what is loaded."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "2_Dense").rename(elsewhere / "dense")
    (folder / "2_Dense").symlink_to(elsewhere / "dense")
    (folder / "model.safetensors").rename(elsewhere / "weights")
    (folder / "model.safetensors").symlink_to(elsewhere / "weights")
    # The very content of a folder without links, so it has its revision, too.
    assert content_hash(folder) == content_hash(attacked.sound_folder())
    seen = {content_hash(folder)}
    before = rc.encode(attacked.TEXTS, folder)
    tensors = attacked.load(elsewhere / "dense" / "model.safetensors")
    attacked.save(elsewhere / "dense" / "model.safetensors", {**tensors, "linear.bias": tensors["linear.bias"] + 1})
    seen.add(content_hash(folder))
    assert not np.allclose(rc.encode(attacked.TEXTS, folder), before)  # with the cache
    shutil.copy(elsewhere / "weights", elsewhere / "other")
    drop(elsewhere / "other", lambda name: "pooler" in name or "cls" in name)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(elsewhere / "other")
    seen.add(content_hash(folder))
    assert len(seen) == 3
    (folder / "loop").symlink_to(folder)
    assert content_hash(folder) in seen


def test_a_completed_snapshot_does_not_meet_vectors_of_the_incomplete_one(
    folder: Path, hub_cache: Path, no_network: list[str]
) -> None:
    repository = hub_cache / "models--owner--thing"
    snapshot = repository / "snapshots" / COMMIT
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    shutil.copytree(folder, snapshot)
    (snapshot / "sentence_bert_config.json").unlink()
    incomplete = rc.resolve_encoder("owner/thing").identity()
    shutil.copy(folder / "sentence_bert_config.json", snapshot)
    complete = rc.resolve_encoder("owner/thing").identity()
    assert complete["revision"] != incomplete["revision"]
    assert complete["revision"].startswith(COMMIT)
    assert no_network == []


def test_a_folder_that_changes_while_it_is_used(folder: Path) -> None:
    encoder = rc.resolve_encoder(folder)
    encoder.identity()
    change(folder / "1_Pooling" / "config.json", pooling_mode_mean_tokens=False, pooling_mode_max_tokens=True)
    with pytest.raises(InputError, match="changed while"):
        rc.encode(attacked.TEXTS, encoder)


# Foreign code and pickles.


@pytest.fixture
def yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks whether to run foreign code is told so."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")


@pytest.mark.usefixtures("yes")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("plain", [True, False])
def test_code_of_a_folder_is_never_run(use: str, known: bool, plain: bool, folder: Path, tmp_path: Path) -> None:
    """Whether the library knows the kind of model itself or has nothing but that code."""
    attacked.plant_code(folder, tmp_path / "mark", ("config.json", "tokenizer_config.json", "processor_config.json"))
    if not known:
        change(folder / "config.json", model_type="evil")
    if plain:
        (folder / "modules.json").unlink()
    if known:
        attacked.check(folder, use, "code")  # right numbers, or a sentence
    else:
        with pytest.raises(InputError):
            attacked.USES[use](folder)
    assert not (tmp_path / "mark").exists()


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.usefixtures("yes", "default_masked_model")
def test_code_of_a_folder_named_like_the_default_encoder(
    tmp_path: Path, minilm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found first, since it lies beside the user; its settings are all that differs."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    folder.mkdir()
    for file in minilm.iterdir():
        if file.name == "config.json":
            shutil.copy(file, folder)
        elif file.is_file() and file.name != "modules.json":
            (folder / file.name).symlink_to(file)
    attacked.plant_code(folder, tmp_path / "mark", ("config.json",))
    change(folder / "config.json", model_type="evil")
    monkeypatch.chdir(tmp_path)
    for metric in ("infolm", "bertscore", "embedding"):
        with pytest.raises(InputError):
            rc.evaluate_pairs(["a cat sat"], {"system": ["a cat ran"]}, metrics=metric, offline=True, cache=False)
        assert not (tmp_path / "mark").exists()


def test_a_pickle_really_goes_off(tmp_path: Path) -> None:
    import pickle

    attacked.plant_pickle(tmp_path / "bomb.bin", tmp_path / "mark")
    pickle.loads((tmp_path / "bomb.bin").read_bytes())
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("form", ["index", "old index", "decoy", "explicit"])
def test_pickles_are_never_opened(
    use: str, form: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    opened: list[Any] = []
    monkeypatch.setattr(torch, "load", lambda *given, **_: opened.append(given))
    attacked.plant_pickle(folder / "pytorch_model.bin", tmp_path / "mark")
    shutil.copy(folder / "pytorch_model.bin", folder / "adapter_model.bin")
    names = list(attacked.load(folder / "model.safetensors"))
    if form == "explicit":
        change(folder / "config.json", transformers_weights="adapter_model.bin")
    else:
        (folder / "model.safetensors").rename(folder / "decoy.safetensors")
    if "index" in form:
        prefix = "pytorch_model.bin" if form == "old index" else "model.safetensors"
        attacked.write(folder / f"{prefix}.index.json", {"weight_map": dict.fromkeys(names, "pytorch_model.bin")})
    with pytest.raises(InputError, match=r"safetensors|names a file of weights"):
        attacked.USES[use](folder)
    assert not opened
    assert not (tmp_path / "mark").exists()


def test_pickle_of_a_dense_layer_beside_a_decoy(folder: Path, tmp_path: Path) -> None:
    dense = folder / "2_Dense"
    (dense / "model.safetensors").rename(dense / "decoy.safetensors")
    attacked.plant_pickle(dense / "pytorch_model.bin", tmp_path / "mark")
    with pytest.raises(InputError, match=r"pickle form only \(pytorch_model\.bin\)"):
        attacked.sentences(folder)
    assert not (tmp_path / "mark").exists()


def test_even_a_loader_that_wants_to_cannot_unpickle(folder: Path) -> None:
    from recapture.representations.loading import loading

    with pytest.raises(InputError, match="pickle"), loading("the encoder model"):
        import torch

        torch.load(folder / "whatever.bin", weights_only=True)
    assert torch.load.__module__ == "torch.serialization"


def test_other_threads_load_what_they_like(folder: Path, tmp_path: Path) -> None:
    """While a model is loaded here, another thread reads a file of its own and loads a model by the library."""
    import torch
    from transformers import AutoModel, PreTrainedModel

    from recapture.representations.loading import loading

    torch.save({"a": torch.ones(2)}, tmp_path / "own.pt")
    before = torch.load, PreTrainedModel.__dict__["from_pretrained"]
    answers: list[Any] = []

    def other() -> None:
        try:
            answers.append(torch.load(tmp_path / "own.pt")["a"].sum().item())
            answers.append(type(AutoModel.from_pretrained(folder)).__name__)
        except BaseException as error:
            answers.append(error)

    with loading("the encoder model") as loaded:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert answers == [2.0, "BertModel"]
        assert loaded == []

    # One that waits for its turn meanwhile must not take the stand-ins for the library's own.
    def waiting() -> None:
        with loading("the encoder model"):
            pass

    with loading("the encoder model"):
        thread = threading.Thread(target=waiting)
        thread.start()
        time.sleep(0.1)
    thread.join()
    assert (torch.load, PreTrainedModel.__dict__["from_pretrained"]) == before


def test_threads_that_overlap_leave_the_output_as_it_was() -> None:
    """The first to come leaves first."""
    pytest.importorskip("transformers", reason="needs recapture[models]")
    from recapture.representations.loading import quiet

    before = sys.stdout
    here, there, left = threading.Event(), threading.Event(), threading.Event()

    def second() -> None:
        here.wait(30)
        with quiet():
            there.set()
            left.wait(30)

    thread = threading.Thread(target=second)
    thread.start()
    with quiet():
        here.set()
        there.wait(30)
    left.set()
    thread.join()
    assert sys.stdout is before


@pytest.mark.parametrize(
    "name", ["../outside.safetensors", "{parent}/outside.safetensors", "up/outside.safetensors", ".x.safetensors"]
)
def test_an_index_names_only_files_of_its_own_folder(name: str, folder: Path) -> None:
    names = list(attacked.load(folder / "model.safetensors"))
    (folder / "model.safetensors").rename(folder.parent / "outside.safetensors")
    (folder / "up").symlink_to(folder.parent)
    shutil.copy(folder.parent / "outside.safetensors", folder / ".x.safetensors")
    named = name.format(parent=folder.parent)
    attacked.write(folder / "model.safetensors.index.json", {"weight_map": dict.fromkeys(names, named)})
    with pytest.raises(InputError, match=r"model\.safetensors\.index\.json that names"):
        attacked.sentences(folder)


@pytest.mark.parametrize("sharded", [False, True])
def test_linked_weights(sharded: bool, folder: Path, tmp_path: Path) -> None:
    """A whole file and one shard alike; what the link leads to is part of the revision."""
    tensors = attacked.load(folder / "model.safetensors")
    name = "model-0.safetensors" if sharded else "model.safetensors"
    (folder / "model.safetensors").rename(tmp_path / "kept.safetensors")
    (folder / name).symlink_to(tmp_path / "kept.safetensors")
    if sharded:
        attacked.write(
            folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": dict.fromkeys(tensors, name)}
        )
    found, revision = attacked.sentences(folder)
    np.testing.assert_allclose(found, attacked.sentences(attacked.sound_folder())[0], atol=1e-6)
    key = "bert.embeddings.LayerNorm.bias"
    attacked.save(tmp_path / "kept.safetensors", {**tensors, key: tensors[key] + 1})
    other, new_revision = attacked.sentences(folder)
    assert not np.allclose(other, found)
    assert new_revision != revision


@pytest.mark.parametrize("tower", ["", "0_Transformer"])
def test_shards_of_a_snapshot_are_links_to_blobs(tower: str, folder: Path, tmp_path: Path) -> None:
    """The layout of the hub's cache, as its documentation describes it."""
    repository = tmp_path / "models--owner--thing"
    snapshot = repository / "snapshots" / COMMIT
    shutil.copytree(folder, snapshot)
    home = snapshot / tower
    if tower:
        home.mkdir()
        for file in [file for file in snapshot.iterdir() if file.is_file() and file.name != "modules.json"]:
            file.rename(home / file.name)
        listing = json.loads((snapshot / "modules.json").read_text("utf-8"))
        attacked.write(snapshot / "modules.json", [{**listing[0], "path": tower}, *listing[1:]])
    (repository / "blobs").mkdir()
    tensors = attacked.load(home / "model.safetensors")
    (home / "model.safetensors").unlink()
    for shard in (0, 1):
        attacked.save(repository / "blobs" / f"{shard}", dict(list(tensors.items())[shard::2]))
        (home / f"model-{shard}.safetensors").symlink_to(repository / "blobs" / f"{shard}")
    where = {name: f"model-{number % 2}.safetensors" for number, name in enumerate(tensors)}
    attacked.write(home / "model.safetensors.index.json", {"metadata": {}, "weight_map": where})
    assert problem(snapshot) is None
    found, _ = attacked.sentences(snapshot)
    np.testing.assert_allclose(found, attacked.sentences(folder)[0], atol=1e-6)


@pytest.mark.parametrize("use", USES)
def test_a_vocabulary_from_elsewhere(use: str, folder: Path, tmp_path: Path) -> None:
    """It would not be part of the revision."""
    words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    (tmp_path / "vocab.txt").write_text("\n".join(sorted(words, key=words.__getitem__)))
    (folder / "tokenizer.json").unlink()
    change(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer", vocab=str(tmp_path / "vocab.txt"))
    with pytest.raises(InputError, match="names a vocabulary of its own"):
        attacked.USES[use](folder)


# Settings of the wrong kind.


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("content", ["[]", "3", "null", '"bert"', "", "{", "[" * 10_000])
def test_settings_that_are_none(use: str, content: str, folder: Path) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"config\.json"):
        attacked.USES[use](folder)


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("1_Pooling/config.json", {"pooling_mode": 3}),
        ("1_Pooling/config.json", {"pooling_mode": ["mean", 3]}),
        ("1_Pooling/config.json", {"pooling_mode": []}),
        ("1_Pooling/config.json", {"pooling_mode": {"mean": True}}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": "no"}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": [1]}),
        *[("sentence_bert_config.json", {"max_seq_length": value}) for value in (-3, 0, "64", 12.5, [64], True, 1)],
        ("sentence_bert_config.json", {"processor_kwargs": {"vocab_file": "/etc/passwd"}}),
        ("sentence_bert_config.json", {"model_kwargs": [1]}),
        ("sentence_bert_config.json", {"do_lower_case": "no"}),
        ("config_sentence_transformers.json", {"prompts": 3}),
        ("config_sentence_transformers.json", {"default_prompt_name": ["own"]}),
        ("tokenizer_config.json", {"model_max_length": "long"}),
        *[("config.json", {"max_position_embeddings": value}) for value in (-1, "64", 10**12, 1.5, [])],
        ("config.json", {"num_hidden_layers": 10**9}),
        ("config.json", {"num_hidden_layers": -1}),
        ("config.json", {"model_type": ["bert"]}),
        ("config.json", {"text_config": 3}),
        ("config.json", {"quantization_config": {"quant_method": "fp8"}}),
        ("config.json", {"_attn_implementation": "owner/kernel"}),
        ("2_Dense/config.json", {"in_features": -4}),
        ("2_Dense/config.json", {"out_features": "8"}),
    ],
)
def test_settings_of_the_wrong_kind(file: str, settings: dict[str, Any], folder: Path) -> None:
    change(folder / file, **settings)
    with pytest.raises(InputError) as caught:
        attacked.sentences(folder)
    assert "\n" not in str(caught.value)


def test_tokenizer_larger_than_the_table_of_words(folder: Path) -> None:
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text("utf-8"))
    content["model"]["vocab"]["zebra"] = 5000
    attacked.write(file, content)
    for use in USES:
        with pytest.raises(InputError, match="words for 59 pieces, but its tokenizer numbers them up to 5000"):
            attacked.USES[use](folder)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("rows", "fits"), [(59 + 1024, True), (5000, False)])
def test_tokenizer_far_smaller_than_the_table_of_words(use: str, rows: int, fits: bool, folder: Path) -> None:
    """As if most words of the list were lost: all texts would be made of single letters and unknown pieces."""
    tensors = attacked.load(folder / "model.safetensors")
    longer = {
        name: np.concatenate([value, np.zeros((rows - 59, *value.shape[1:]), value.dtype)])
        for name, value in tensors.items()
        if value.shape[:1] == (59,)
    }
    attacked.save(folder / "model.safetensors", {**tensors, **longer})
    change(folder / "config.json", vocab_size=rows)
    if fits:
        attacked.USES[use](folder)
        return
    with pytest.raises(InputError, match="words for 5000 pieces, but its tokenizer knows only 59"):
        attacked.USES[use](folder)


def test_more_pieces_at_once_than_places(folder: Path) -> None:
    """A table of 64 places is the limit, whatever a file says: as if it said 64."""
    change(folder / "sentence_bert_config.json", max_seq_length=64)
    long = ["the cat sat on the mat . " * 30]
    expected = rc.encode(long, folder, cache=False)
    change(folder / "sentence_bert_config.json", max_seq_length=500)
    assert token_limit(folder) == 64
    np.testing.assert_array_equal(rc.encode(long, folder, cache=False), expected)


@pytest.mark.parametrize(
    "content", ["{}", "3", "[]", '[{"type": 3}]', '["x"]', "[null]", '[{"type": "a.B", "path": 3, "name": ""}]']
)
def test_lists_of_modules_that_are_none(content: str, folder: Path) -> None:
    (folder / "modules.json").write_text(content)
    for use in USES:
        with pytest.raises(InputError, match=r"modules\.json does not list"):
            attacked.USES[use](folder)


def test_two_modules_of_one_name(folder: Path) -> None:
    """The library would keep the last one alone, and encode without the others."""
    listing = json.loads((folder / "modules.json").read_text())
    attacked.write(folder / "modules.json", [{**part, "name": "0" if part["idx"] else "1"} for part in listing])
    with pytest.raises(InputError, match="two modules under one name"):
        attacked.sentences(folder)


def test_infinite_numbers(folder: Path) -> None:
    file = folder / "model.safetensors"
    tensors = attacked.load(file)
    name = "bert.encoder.layer.2.output.LayerNorm.bias"
    attacked.save(file, {**tensors, name: np.full_like(tensors[name], np.inf)})
    for use in USES:
        with pytest.raises(InputError, match="infinity or no number"):
            attacked.USES[use](folder)


# Devices, and a hub that says nothing.


def test_unknown_devices_with_a_warm_cache(folder: Path) -> None:
    from recapture.representations.masked import MaskedStore
    from recapture.representations.words import WordStore

    rc.encode(attacked.TEXTS, folder, device="cpu")
    for device in ("quantum", "cpu:x", "", "cuda:999"):
        for refused in (
            lambda device=device: rc.encode(attacked.TEXTS, folder, device=device),
            lambda device=device: rc.resolve_encoder(folder, device=device),
            lambda device=device: WordStore(str(folder), device=device),
            lambda device=device: MaskedStore(str(folder), device=device),
        ):
            with pytest.raises(InputError, match="cannot be used here"):
                refused()


def test_unknown_devices_without_torch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recapture.representations.loading import check_device

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="no such kind of device"):
        check_device("quantum")
    check_device("cuda:1")  # whatever made the vectors in the cache


def test_models_without_torch_are_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra `models` is not installed."""
    monkeypatch.setitem(sys.modules, "torch", None)
    for ask in (
        lambda: rc.encode(["a cat"], folder, cache=False),
        lambda: rc.bertscore(["a cat"], ["a dog"], encoder=str(folder)),
        lambda: rc.infolm(["a cat"], ["a dog"], model=str(folder), cache=False),
        lambda: rc.model_info(folder, "words"),
    ):
        with pytest.raises(InputError, match=r"PyTorch.*None in sys.modules.*: pip install \"recapture\[models\]\""):
            ask()


ABOUT = json.dumps({"id": "owner/thing", "sha": COMMIT, "siblings": []}).encode()


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[tuple[str, list[Any]]]:
    """A server that accepts and says nothing, or nothing but what it is asked first: which commit there is.

    With it the list of connections that it left without an answer.
    """
    server = socket.create_server(("127.0.0.1", 0))
    held: list[Any] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:  # the test is over
                return
            held.append(connection)
            if not request.param:
                continue
            asked = connection.recv(65_536).split(b" ")[1]
            if asked.startswith(request.param) and b"/tree/" not in asked:
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(ABOUT)}\r\n"
                connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + ABOUT)
                connection.close()
                held.remove(connection)

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}", held
    server.close()
    for connection in held:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("hub", [None, b"/api/agent", b"/api/"], indirect=True, ids=["never", "on others", "at first"])
def test_a_hub_that_never_answers(hub: tuple[str, list[Any]], tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="needs recapture[models]")
    address, unanswered = hub
    script = (
        "import time, huggingface_hub, huggingface_hub.utils\n"
        "from huggingface_hub import snapshot_download\n"
        "from recapture.representations.locate import find_weights\n"
        "pauses, pause = [], time.sleep\n"
        "time.sleep = lambda seconds: (pauses.append(seconds), pause(seconds))\n"
        "try: find_weights('owner/thing')\n"
        "except ValueError as error: print(type(error).__name__, error)\n"
        "print(sum(pauses))"
    )
    surroundings = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hub"), "RECAPTURE_HUB_TIMEOUT": "0.5"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **surroundings, "HF_HUB_OFFLINE": "0", "RECAPTURE_OFFLINE": "0"},
    )
    said, paused = done.stdout.splitlines()
    assert "InputError no encoder called 'owner/thing'" in said
    assert "no answer within 0.5 seconds" in said
    assert done.stderr == ""  # the client's own lines on its repeats
    # Each waits in vain once: with the 10 seconds that are usual, three make the half minute that is promised. Waits
    # and the client's pauses between them (1 second and longer ones) are counted, not timed: the machine may be busy.
    assert 1 <= len(unanswered) <= 3
    assert 0.5 * len(unanswered) + float(paused) < 10, (len(unanswered), paused)


def test_the_time_for_an_answer_is_a_number(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("soon", "-1", "0", "nan", "inf"):
        monkeypatch.setenv("RECAPTURE_HUB_TIMEOUT", wrong)
        with pytest.raises(InputError, match="RECAPTURE_HUB_TIMEOUT must be a number of seconds"):
            find_weights("owner/thing", offline=False)


def test_weights_know_what_they_were(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    weights = Weights("name", tmp_path)
    weights.check_unchanged()
    (tmp_path / "config.json").write_text("{ }")
    with pytest.raises(InputError, match="changed while"):
        weights.check_unchanged() if weights.revision else None
