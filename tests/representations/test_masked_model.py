"""Masked language models of several families: the vector of one place leads to the whole model's own logits there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations import masked_body
from recapture.representations.masked_model import MaskedModel, find_masked_model

torch = pytest.importorskip("torch", reason="needs recapture[models]")
transformers = pytest.importorskip("transformers", reason="needs recapture[models]")
tokenizers = pytest.importorskip("tokenizers", reason="needs recapture[models]")

SENTENCES = [
    "the old man walked slowly along the river",
    "a small green bird sang in the tree near the house",
    "they were talking about the weather and the harvest",
    "nobody had seen the dog since the evening before",
    "walking, talking and singing: what a day!",
]
BERT_MARKS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_MARKS = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}


def made_tokenizer(kind: str, marks: dict[str, str]) -> Any:
    """A fast tokenizer that has learnt the sentences above."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    special = list(marks.values())
    if kind == "bytes":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    elif kind == "unigram":
        made = Tokenizer(models.Unigram())
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=80, special_tokens=special, unk_token=marks["unk"], show_progress=False
        )
    else:
        made = Tokenizer(models.WordPiece(unk_token=marks["unk"]))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    made.train_from_iterator(SENTENCES, trainer)
    ends = [(marks[name], made.token_to_id(marks[name])) for name in ("cls", "sep")]
    made.post_processor = processors.TemplateProcessing(f"{marks['cls']} $A {marks['sep']}", None, ends)
    named = {f"{name}_token": mark for name, mark in marks.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **named)


SMALL = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40}
WIDE = {"initializer_range": 0.3}
FAMILIES: dict[str, tuple[str, dict[str, str], str, str, dict[str, Any]]] = {
    "bert": ("words", BERT_MARKS, "BertConfig", "BertForMaskedLM", {**SMALL, **WIDE}),
    "bert, one layer": (
        "words",
        BERT_MARKS,
        "BertConfig",
        "BertForMaskedLM",
        {**SMALL, **WIDE, "num_hidden_layers": 1},
    ),
    "roberta": (
        "bytes",
        ROBERTA_MARKS,
        "RobertaConfig",
        "RobertaForMaskedLM",
        {**SMALL, **WIDE, "max_position_embeddings": 514, "type_vocab_size": 1},
    ),
    "distilbert": (
        "words",
        BERT_MARKS,
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40, **WIDE},
    ),
    "albert": (
        "unigram",
        BERT_MARKS,
        "AlbertConfig",
        "AlbertForMaskedLM",
        {**SMALL, **WIDE, "embedding_size": 16},
    ),
    "modernbert": (
        "bytes",
        BERT_MARKS,
        "ModernBertConfig",
        "ModernBertForMaskedLM",
        {**SMALL, **WIDE, "global_attn_every_n_layers": 2, "local_attention": 8},
    ),
    "electra": (
        "words",
        BERT_MARKS,
        "ElectraConfig",
        "ElectraForMaskedLM",
        {**SMALL, **WIDE, "embedding_size": 16},
    ),
    "mpnet": (
        "words",
        ROBERTA_MARKS,
        "MPNetConfig",
        "MPNetForMaskedLM",
        {**SMALL, **WIDE, "max_position_embeddings": 66},
    ),
    "deberta-v2": (
        "words",
        BERT_MARKS,
        "DebertaV2Config",
        "DebertaV2ForMaskedLM",
        {**SMALL, **WIDE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
    ),
}


def saved(folder: Path, family: str) -> Path:
    kind, marks, config, model, settings = FAMILIES[family]
    tokenizer = made_tokenizer(kind, marks)
    tokenizer.save_pretrained(folder)
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep")}
    ids |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    with torch.random.fork_rng():
        torch.manual_seed(5)
        built = getattr(transformers, model)(
            getattr(transformers, config)(vocab_size=len(tokenizer), **ids, **settings)
        )
        for name, weight in built.named_parameters():  # biases begin at 0, which would hide a forgotten one
            if name.endswith("bias"):
                torch.nn.init.normal_(weight, std=0.2)
        built.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    known: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in known:
            known[family] = saved(
                tmp_path_factory.mktemp("families") / family.replace(", ", "-").replace(" ", "-"), family
            )
        return known[family]

    return folder


def found(folder: Path) -> MaskedModel:
    return find_masked_model(str(folder), device="cpu", offline=True)


@functools.cache
def whole(folder: Path) -> Any:
    return transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()


def whole_logits(folder: Path, ids: list[int], place: int, mask: int) -> np.ndarray:
    """The model as the library runs it: one row, no padding, every position projected."""
    model = whole(folder)
    given = torch.tensor([ids])
    given[0, place] = mask
    with torch.no_grad():
        answer: np.ndarray = model(input_ids=given, attention_mask=torch.ones_like(given)).logits[0, place].numpy()
    return answer


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_the_whole_models(folders: Callable[[str], Path], family: str) -> None:
    """Rows of two lengths in one batch, so one is filled up; and alone, where nothing is masked out."""
    folder = folders(family)
    model = found(folder)
    texts = [SENTENCES[1], "the dog sang", "walking houses"]
    pieces = model.tokenizer.pieces(texts)
    rows = [(*piece.before, *piece.own, *piece.behind) for piece in pieces]
    places = [len(piece.before) + min(at, len(piece.own) - 1) for at, piece in enumerate(pieces)]
    assert len(set(map(len, rows))) > 1
    assert model.tokenizer.mask is not None
    together = model.logits(model.head_vectors(rows, places)).numpy()
    assert together.shape == (3, model.vocabulary)
    for at, (row, place) in enumerate(zip(rows, places, strict=True)):
        expected = whole_logits(folder, list(row), place, model.tokenizer.mask)
        alone = model.logits(model.head_vectors([row], [place])).numpy()[0]
        assert expected.std() > 0.05
        np.testing.assert_allclose(together[at], expected, rtol=0, atol=1e-5)
        np.testing.assert_allclose(alone, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_are_the_tokenizers(folders: Callable[[str], Path], family: str) -> None:
    folder = folders(family)
    plain = transformers.AutoTokenizer.from_pretrained(folder)
    made = found(folder).tokenizer
    for text in [
        "the dog sang",
        "",
        "walking",
        f"the {plain.mask_token} sang",
        f"{plain.sep_token} dog {plain.sep_token}",
    ]:
        (piece,) = made.pieces([text])
        assert [*piece.before, *piece.own, *piece.behind] == plain(text)["input_ids"]
        assert list(piece.own) == plain(text, add_special_tokens=False)["input_ids"]


@pytest.mark.traced
@pytest.mark.slow
def test_last_layer_alone_is_used_where_it_fits(folders: Callable[[str], Path]) -> None:
    used = {name: found(folders(name))._parts[0]._last is not None for name in FAMILIES}
    assert {name for name, yes in used.items() if yes} == {"bert", "roberta", "electra"}


def test_a_layer_that_answers_otherwise_is_left_whole(folders: Callable[[str], Path], monkeypatch: Any) -> None:
    """A trial at loading finds it out: here the short cut is made wrong."""
    folder = folders("bert")
    model = found(folder)
    right = model.head_vectors([(2, 30, 31, 3)], [1])
    answer = masked_body._answer
    monkeypatch.setattr(masked_body, "_answer", lambda *given: answer(*given) * 1.01)
    other = found(folder)
    np.testing.assert_allclose(other.head_vectors([(2, 30, 31, 3)], [1]), right, atol=1e-5)
    assert other._parts[0]._last is None


def test_plain_linear_layers_give_the_same(folders: Callable[[str], Path], monkeypatch: Any) -> None:
    folder = folders("bert")
    rows, places = [(2, 30, 31, 32, 3)] * 3, [1, 2, 3]
    packed = found(folder).head_vectors(rows, places)
    monkeypatch.setattr(masked_body, "_can_pack", lambda: False)
    np.testing.assert_allclose(found(folder).head_vectors(rows, places), packed, atol=1e-5)


def test_linear_layers_that_cannot_be_packed_stay(folders: Callable[[str], Path], monkeypatch: Any) -> None:
    class Broken(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self, plain: Any) -> None:
            super().__init__()

        def forward(self, given: Any) -> Any:
            raise RuntimeError("no such kernel")

    folder = folders("bert")
    right = found(folder).head_vectors([(2, 30, 31, 3)], [2])
    monkeypatch.setattr(masked_body, "_can_pack", lambda: True)
    monkeypatch.setattr(masked_body, "_packed_linear", lambda: Broken)
    np.testing.assert_allclose(found(folder).head_vectors([(2, 30, 31, 3)], [2]), right, atol=1e-5)


@pytest.mark.parametrize(("family", "room"), [("roberta", 512), ("mpnet", 64), ("bert", 512), ("distilbert", 512)])
def test_room(folders: Callable[[str], Path], family: str, room: int) -> None:
    """RoBERTa's kin begin to count positions behind the padding token's number, 1: 514 positions, 512 tokens."""
    model = found(folders(family))
    assert model.room == room
    row = (model.tokenizer.mask or 0,) * room
    assert np.isfinite(model.head_vectors([row], [room - 1])).all()


def test_a_body_alone_has_no_head(folders: Callable[[str], Path], tmp_path: Path) -> None:
    folder = folders("bert")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"has no masked-language-model head \(it lacks weights for cls\.\S+\): use "):
        found(tmp_path).head_vectors([(2, 30, 3)], [1])


def test_gpt2_is_no_masked_model(folders: Callable[[str], Path], tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders("roberta"))
    tokenizer.save_pretrained(tmp_path)
    config = transformers.GPT2Config(vocab_size=len(tokenizer), n_embd=8, n_layer=1, n_head=2, n_positions=32)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="is a model of kind gpt2, not a masked language model: use "):
        found(tmp_path).head_vectors([(0, 30, 2)], [1])


def test_no_mask_token(folders: Callable[[str], Path], tmp_path: Path) -> None:
    folder = folders("bert")
    marks = {name: mark for name, mark in BERT_MARKS.items() if name != "mask"}
    made_tokenizer("words", marks).save_pretrained(tmp_path)
    transformers.BertForMaskedLM.from_pretrained(folder).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="has no mask token, so it cannot say what stands in a gap: use "):
        found(tmp_path).tokenizer  # noqa: B018 - loading it is the test
