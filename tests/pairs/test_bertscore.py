"""BERTScore against the package bert-score and against a slow loop."""

from __future__ import annotations

import contextlib
import functools
import html
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.pairs import greedy
from recapture.pairs.declaration import METRICS
from recapture.pairs.evaluate import evaluate_pairs
from recapture.pairs.metrics.bertscore import bertscore, default_layer

OUTPUTS = ("precision", "recall", "f1")
ROW_2 = {"precision": 0.35, "recall": 0.36, "f1": 0.4}
"""Of the file that the fixture `baselines` writes."""
LINES = [
    ("A small dog ran under the old tree.", "the dog was running near a big tree"),
    ("The birds sang, and then it rained!", "birds were singing in the rain"),
    ("He slept.", "After a long day at the river, the tired fisherman finally fell asleep in his boat."),
    ("Nothing happened on the first day of the antidisestablishmentarian congress.", "Nothing happened."),
    ("  green mats  ", "green mats"),
    ("two", "2"),
]


def texts(count: int, seed: int, longest: int = 20) -> list[str]:
    """Sentences of the tiny model's words, of pieces put together, and of words it does not know."""
    rng = random.Random(seed)
    listed = "the a cat dog bird fish sat ran sang slept on under near mat tree river red green old small"
    words = [*listed.split(), "catbalo", "dogs", "balomitu", "mint", "tuk", "zebra", "birdly", ",", "."]
    return [" ".join(rng.choices(words, k=rng.randint(1, longest))) for _ in range(count)]


def peer(
    folder: Path, layer: int, references: Any, candidates: list[str], batch_size: int = 64, **options: Any
) -> dict[str, np.ndarray]:
    """bert-score 0.3.13. With one text in a batch nothing is padded, and no padding is met with cosine 0."""
    package = pytest.importorskip("bert_score", reason="needs bert-score, the package to compare with")
    with contextlib.redirect_stderr(io.StringIO()):
        found = package.score(
            candidates, references, str(folder), layer, batch_size=batch_size, nthreads=0, device="cpu", **options
        )
    return {name: column.numpy() for name, column in zip(OUTPUTS, found, strict=True)}


def scores(result: Any) -> dict[str, np.ndarray]:
    return {name: result.arrays[f"{name}_scores"] for name in OUTPUTS}


def assert_same(left: Any, right: Any, tolerance: float = 1e-5) -> None:
    for name in OUTPUTS:
        np.testing.assert_allclose(left[name], right[name], rtol=0, atol=tolerance, err_msg=name)


@pytest.fixture
def empty_texts_in_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """bert-score asks tokenizers for a method that transformers 5 took away, for empty texts only."""
    transformers = pytest.importorskip("transformers", reason="needs recapture[models]")
    monkeypatch.setattr(
        transformers.PreTrainedTokenizerBase,
        "build_inputs_with_special_tokens",
        lambda self, ids: [self.cls_token_id, *ids, self.sep_token_id],
        raising=False,
    )


@pytest.fixture
def baselines(tmp_path: Path) -> Path:
    file = tmp_path / "toy.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.2,0.15\n1,0.3,0.31,0.305\n2,0.35,0.36,0.4\n3,-0.1,0.5,0.2\n")
    return file


# Against bert-score


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_equals_bert_score_on_a_random_model(tiny_bert: Path, layer: int, idf: bool) -> None:
    references, candidates = texts(40, 1), texts(40, 2)
    ours = bertscore(references, candidates, tiny_bert, layer, idf)
    assert_same(scores(ours), peer(tiny_bert, layer, references, candidates, batch_size=1, idf=idf))


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [2, 4, 6])
def test_equals_bert_score_on_minilm(minilm: Path, layer: int, idf: bool) -> None:
    references, candidates = map(list, zip(*LINES, strict=True))
    ours = bertscore(references, candidates, layer=layer, idf=idf, offline=True)
    assert_same(scores(ours), peer(minilm, layer, references, candidates, idf=idf))
    assert ours.f1 == pytest.approx(ours.f1_scores.mean(), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
def test_equals_bert_score_on_translations(minilm: Path, data_folder: Path, idf: bool) -> None:
    file = data_folder / "wmt17_to_english" / "segment_da.jsonl"
    if not file.is_file():
        pytest.skip("the folder of evaluation data has no WMT17")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()[::80]]
    references = [html.unescape(row["reference"]) for row in rows]
    candidates = [html.unescape(row["hyp"]) for row in rows]
    ours = bertscore(references, candidates, idf=idf, offline=True)
    assert_same(scores(ours), peer(minilm, 4, references, candidates, idf=idf))


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
def test_several_references_as_in_bert_score(tiny_bert: Path, idf: bool) -> None:
    candidates = texts(15, 3)
    references = [texts(1 + number % 4, 100 + number) for number in range(15)]
    ours = bertscore(references, candidates, tiny_bert, 2, idf)
    assert_same(scores(ours), peer(tiny_bert, 2, references, candidates, batch_size=1, idf=idf))
    assert ours.sizes["reference"] == sum(map(len, references))


def test_mean_over_references(tiny_bert: Path) -> None:
    candidates, first, second = texts(8, 4), texts(8, 5), texts(8, 6)
    both = list(map(list, zip(first, second, strict=True)))
    ours = scores(bertscore(both, candidates, tiny_bert, 2, over_references="mean"))
    apart = [scores(bertscore(side, candidates, tiny_bert, 2)) for side in (first, second)]
    for name in OUTPUTS:
        np.testing.assert_allclose(ours[name], (apart[0][name] + apart[1][name]) / 2, atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("layer", [0, 2, 3])
def test_rescaled_as_in_bert_score(tiny_bert: Path, baselines: Path, layer: int) -> None:
    references, candidates = texts(12, 7), texts(12, 8)
    options = {"rescale_with_baseline": True, "lang": "en", "baseline_path": str(baselines)}
    ours = bertscore(references, candidates, tiny_bert, layer, rescale=baselines)
    assert_same(scores(ours), peer(tiny_bert, layer, references, candidates, batch_size=1, **options))
    assert ours.signature["rescale"]["file"] == "toy.tsv"
    assert len(ours.signature["rescale"]["sha256"]) == 64


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("rescaled", [False, True])
def test_empty_texts_as_in_bert_score(
    tiny_bert: Path, baselines: Path, empty_texts_in_peer: None, rescaled: bool
) -> None:
    references = ["the cat sat", "a dog", " ", "the river", "", "old tree", ["", "a small dog"]]
    references = [[each] if isinstance(each, str) else each for each in references]
    candidates = ["the cat", "", "a bird", " \n", "", "old tree", "a dog"]
    options = {"rescale_with_baseline": True, "lang": "en", "baseline_path": str(baselines)} if rescaled else {}
    ours = bertscore(references, candidates, tiny_bert, 2, rescale=baselines if rescaled else None)
    theirs = peer(tiny_bert, 2, references, candidates, batch_size=1, **options)
    for name in OUTPUTS:
        # bert-score gives two empty texts 0; here they are equal, and so are " " and "".
        theirs[name] = [1.0 if at == 4 else value for at, value in enumerate(theirs[name])]
    assert_same(scores(ours), theirs)
    assert all(theirs[name][1] == (pytest.approx(-b / (1 - b)) if rescaled else 0) for name, b in ROW_2.items())
    assert "2 more of 7 texts of candidate are empty: scored worst" in ours.warnings
    assert "1 more of 8 texts of reference is empty: scored worst" in ours.warnings


def test_idf_counts_empty_references_as_bert_score_does(tiny_bert: Path, empty_texts_in_peer: None) -> None:
    references, candidates = [*texts(10, 9), "", ""], texts(12, 10)
    ours = bertscore(references, candidates, tiny_bert, 2, True)
    assert_same(scores(ours), peer(tiny_bert, 2, references, candidates, batch_size=1, idf=True))


def test_idf_counts_repeated_references(tiny_bert: Path) -> None:
    references = ["the cat sat on the mat"] * 6 + texts(4, 11)
    candidates = texts(10, 12)
    ours = bertscore(references, candidates, tiny_bert, 2, True)
    assert_same(scores(ours), peer(tiny_bert, 2, references, candidates, batch_size=1, idf=True))


@pytest.mark.parametrize("idf", [False, True])
def test_special_tokens_written_in_a_text_as_in_bert_score(tiny_bert: Path, idf: bool) -> None:
    references = ["the cat [SEP] sat", "[CLS] a dog", "the bird", "a [MASK] fish"]
    candidates = ["the cat sat", "a [SEP] dog", "the [CLS] [CLS] bird", "a red fish"]
    ours = bertscore(references, candidates, tiny_bert, 2, idf)
    assert_same(scores(ours), peer(tiny_bert, 2, references, candidates, batch_size=1, idf=idf))


def test_text_without_pieces_scores_nothing_as_in_bert_score(tiny_bert: Path) -> None:
    references, candidates = ["the cat", "\u200b", "a dog"], ["\u200b", "the cat", "a dog"]
    ours = bertscore(references, candidates, tiny_bert, 2)
    theirs = peer(tiny_bert, 2, references, candidates, batch_size=1)
    assert_same(scores(ours), theirs)
    assert [theirs[name][0] for name in OUTPUTS] == [0, 0, 0]
    assert "2 of 3 pairs could not be compared: scored worst" in ours.warnings


@pytest.mark.traced
@pytest.mark.slow
def test_padding_is_never_met(minilm: Path) -> None:
    """bert-score's padding has cosine 0, more than a real piece may have; here company changes nothing."""
    references = ["the cat sat on the mat.", "hello", "A dog ran quickly under the old oak tree, and then it slept!"]
    candidates = ["a cat is sitting on a mat", "goodbye world, it is unbelievably antidisestablishment", "it slept."]
    alone = peer(minilm, 0, references, candidates, batch_size=1)
    padded = peer(minilm, 0, references, candidates)
    assert np.abs(alone["precision"] - padded["precision"]).max() > 1e-3
    assert_same(scores(bertscore(references, candidates, layer=0, offline=True)), alone)


# Against a slow loop


def slow(folder: Path, layer: int, reference: str, candidate: str, weigh: Any = None) -> dict[str, float]:
    """One pair, token by token in float64, from the definition in the paper."""
    vectors, weights = [], []
    for text in (reference, candidate):
        ids, states = hidden(folder, text)
        vectors.append([row.tolist() for row in states[layer].astype(np.float64)])
        weights.append([0.0, *(1.0 if weigh is None else weigh(piece) for piece in ids[1:-1]), 0.0])
    means = []
    for own, other in ((0, 1), (1, 0)):
        total = 0.0
        for vector, weight in zip(vectors[own], weights[own], strict=True):
            total += weight * max(cosine(vector, each) for each in vectors[other])
        means.append(total / math.fsum(weights[own]))
    recall, precision = means
    return {"precision": precision, "recall": recall, "f1": 2 / (1 / precision + 1 / recall)}


def hidden(folder: Path, text: str) -> tuple[list[int], list[np.ndarray]]:
    import torch

    tokenizer, model = loaded(folder)
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return ids, [state[0].numpy() for state in states]


@functools.cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def cosine(left: list[float], right: list[float]) -> float:
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    return product / math.hypot(*left) / math.hypot(*right)


@pytest.mark.parametrize("layer", [1, 3])
def test_equals_a_loop_over_tokens(tiny_bert: Path, layer: int) -> None:
    references, candidates = texts(6, 15), texts(6, 16)
    ours = scores(bertscore(references, candidates, tiny_bert, layer))
    loop = [slow(tiny_bert, layer, *pair) for pair in zip(references, candidates, strict=True)]
    assert_same(ours, {name: np.array([each[name] for each in loop]) for name in OUTPUTS})


def test_idf_equals_a_loop_over_tokens(tiny_bert: Path) -> None:
    references, candidates = texts(5, 17), texts(5, 18)
    sets = [set(hidden(tiny_bert, text)[0]) for text in references]

    def weigh(piece: int) -> float:
        return math.log(6 / (1 + sum(piece in each for each in sets)))

    ours = scores(bertscore(references, candidates, tiny_bert, 2, True))
    loop = [slow(tiny_bert, 2, *pair, weigh) for pair in zip(references, candidates, strict=True)]
    assert_same(ours, {name: np.array([each[name] for each in loop]) for name in OUTPUTS})


# Properties


def test_equal_texts_score_1(tiny_bert: Path) -> None:
    same = texts(20, 19)
    for name, column in scores(bertscore(same, same, tiny_bert)).items():
        np.testing.assert_allclose(column, 1, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_scores_stay_within_their_range(tiny_bert: Path, minilm: Path) -> None:
    """The sum of products of a float32 vector of length 1 with itself may be rounded to more than 1."""
    rng = random.Random(5)
    words = "the cat sat on a red mat near old river and small dog ran to big tree"
    listed = [" ".join(rng.choices(words.split(), k=rng.randint(1, 30))) for _ in range(150)]
    for encoder in (tiny_bert, minilm):
        for layer, idf in ((1, False), (2, True)):
            ours = bertscore(listed, listed, encoder, layer, idf)
            for name in OUTPUTS:
                assert ours.ranges[name] == (-1, 1)
                column = ours.arrays[f"{name}_scores"]
                assert column.max() <= 1 and ours.values[name] <= 1
                np.testing.assert_allclose(column, 1, rtol=0, atol=1e-6)


def test_opposite_vectors_score_no_less_than_minus_1() -> None:
    """By hand: every cosine is -1, up to rounding of vectors whose length is no float32 number."""
    pytest.importorskip("torch", reason="BERTScore compares on PyTorch")
    vectors = np.random.default_rng(0).normal(size=(200, 384)).astype(np.float32)
    vectors[100:] = -vectors[:100]
    weights = np.ones(1)
    table = greedy.token_table([(row[None], weights) for row in vectors])
    sides = np.array([(at, at + 100) for at in range(100)] + [(at, at) for at in range(100)])
    for side in greedy.greedy(table, sides):
        np.testing.assert_allclose(side, [-1] * 100 + [1] * 100, rtol=0, atol=1e-6)
        assert side.min() >= -1 and side.max() <= 1


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("cells", [1, 300, 1 << 24])
def test_on_a_device_matching_has_nine_digits(device: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every cosine in Python's own floats."""
    torch = pytest.importorskip("torch")
    from recapture.representations.words import DeviceWords

    monkeypatch.setattr(greedy, "_CELLS_THERE", cells)
    rng = np.random.default_rng(7)
    sizes = np.array([3, 8, 1, 5])
    rows = [rng.standard_normal((size, 1, 9)).astype(np.float32) for size in sizes]
    weights = [rng.random(size) for size in sizes]
    first = np.cumsum(sizes) - sizes
    words = DeviceWords(torch.from_numpy(np.concatenate(rows)).to(device), first, sizes, 0 * sizes, sizes)
    sides = np.array([(i, j) for i in range(4) for j in range(4)])
    found = greedy.greedy(greedy.token_table_on(words, [own / own.sum() for own in weights]), sides)
    for at, pair in enumerate(sides.tolist()):
        for side, (own, other) in enumerate((pair, pair[::-1])):
            vectors = [[row.tolist() for row in rows[text][:, 0].astype(np.float64)] for text in (own, other)]
            best = [max(cosine(vector, each) for each in vectors[1]) for vector in vectors[0]]
            expected = sum(value * weight for value, weight in zip(best, weights[own].tolist(), strict=True))
            assert found[side][at] == pytest.approx(expected / weights[own].sum(), rel=1e-9, abs=1e-9)


def test_exchanged_sides_exchange_precision_and_recall(tiny_bert: Path) -> None:
    references, candidates = texts(20, 20), texts(20, 21)
    there = scores(bertscore(references, candidates, tiny_bert, 2))
    back = scores(bertscore(candidates, references, tiny_bert, 2))
    assert_same(there, {"precision": back["recall"], "recall": back["precision"], "f1": back["f1"]}, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("batch_tokens", [1, 50, 100_000])
def test_batches_do_not_matter(tiny_bert: Path, batch_tokens: int) -> None:
    references, candidates = texts(30, 22), texts(30, 23)
    usual = scores(bertscore(references, candidates, tiny_bert, 2))
    assert_same(scores(bertscore(references, candidates, tiny_bert, 2, batch_tokens=batch_tokens)), usual)


@pytest.mark.parametrize("cells", [1, 40, 1000])
def test_tiles_do_not_matter(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    references, candidates = texts(30, 24), texts(30, 25)
    usual = scores(bertscore(references, candidates, tiny_bert, 2))
    monkeypatch.setattr(greedy, "_CELLS", cells)
    assert_same(scores(bertscore(references, candidates, tiny_bert, 2)), usual, 1e-6)


def test_order_does_not_matter(tiny_bert: Path) -> None:
    """A cycle, which is not its own inverse, as the shuffle: pairs put back wrongly would show."""
    references, candidates = texts(31, 26), texts(31, 27)
    order = np.random.default_rng(5).permutation(31)
    assert not np.array_equal(order[order], np.arange(31))
    usual = scores(bertscore(references, candidates, tiny_bert, 2, True))
    mixed = bertscore([references[at] for at in order], [candidates[at] for at in order], tiny_bert, 2, True)
    for name, column in scores(mixed).items():
        np.testing.assert_array_equal(column, usual[name][order])


def test_systems_do_not_touch_each_other(tiny_bert: Path) -> None:
    references, first, second = texts(20, 28), texts(20, 29), texts(20, 30)
    both = bertscore(references, {"one": first, "two": second}, tiny_bert, 2, True)
    assert_same(scores(both["one"]), scores(bertscore(references, first, tiny_bert, 2, True)), 1e-6)
    assert_same(scores(both["two"]), scores(bertscore(references, second, tiny_bert, 2, True)), 1e-6)


def test_blanks_around_a_text_do_not_matter(tiny_bert: Path) -> None:
    there = bertscore(["the cat  "], ["\n a cat"], tiny_bert, 2)
    assert_same(scores(there), scores(bertscore(["the cat"], ["a cat"], tiny_bert, 2)), 1e-6)


def test_all_weights_0_count_alike(tiny_bert: Path) -> None:
    """With one reference every idf of its pieces is ln(2/2) = 0, where bert-score divides 0 by 0."""
    ours = bertscore(["the cat sat"], ["the cat sat"], tiny_bert, 2, True)
    assert [ours.precision, ours.recall, ours.f1] == pytest.approx([1, 1, 1], abs=1e-6)
    theirs = peer(tiny_bert, 2, ["the cat sat"], ["the cat sat"], batch_size=1, idf=True)
    assert np.isnan(theirs["recall"][0])
    assert any("with one reference idf weighs all its pieces 0" in note for note in ours.warnings)


def test_long_texts_are_not_cut(tiny_bert: Path) -> None:
    long = " ".join(texts(30, 31))
    changed = long + " river river river"
    ours = bertscore([long, long], [long, changed], tiny_bert, 2)
    assert ours.f1_scores[0] == pytest.approx(1, abs=1e-6)
    assert ours.precision_scores[1] < 1 - 1e-4
    assert peer(tiny_bert, 2, [long], [changed], batch_size=1)["f1"][0] == pytest.approx(1, abs=1e-6)
    assert any(note.startswith("2 texts are longer than the 64 tokens") for note in ours.warnings)
    assert not bertscore(["the cat"], ["a cat"], tiny_bert, 2).warnings


# Parameters


@pytest.mark.parametrize(
    ("name", "count", "layer"),
    [
        ("bert-base-uncased", 12, 9),  # these from bert-score 0.3.13, model2layers
        ("google-bert/bert-large-uncased", 24, 18),
        ("FacebookAI/roberta-large", 24, 17),
        ("microsoft/deberta-xlarge-mnli", 48, 40),
        ("sentence-transformers/all-MiniLM-L6-v2", 6, 4),
        ("roberta-large", 3, 3),  # a folder that has the name of another model
        ("somebody/something", 12, 9),
        ("somebody/something", 1, 1),
    ],
)
def test_default_layers(name: str, count: int, layer: int) -> None:
    assert default_layer(name, count) == layer


def test_layers_agree_with_bert_score() -> None:
    utils = pytest.importorskip("bert_score.utils", reason="needs bert-score, the package to compare with")
    from recapture.pairs.metrics.bertscore import _TUNED

    theirs = {name.rsplit("/", 1)[-1].lower(): layer for name, layer in utils.model2layers.items()}
    assert {name: theirs[name] for name in _TUNED if name != "all-minilm-l6-v2"} == {
        name: layer for name, layer in _TUNED.items() if name != "all-minilm-l6-v2"
    }


def test_default_is_minilm_layer_4(minilm: Path) -> None:
    ours = bertscore(["a cat"], ["a dog"], offline=True)
    assert ours.signature["layer"] == 4
    assert ours.signature["encoder"]["encoder"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert_same(scores(ours), peer(minilm, 4, ["a cat"], ["a dog"]))


def test_result_says_how_it_was_made(tiny_bert: Path) -> None:
    ours = bertscore(["a cat"], ["a dog"], tiny_bert)
    assert list(ours.values) == ["f1", "precision", "recall"]
    assert ours.direction == "higher"
    assert ours.signature["layer"] == 3  # three quarters of three layers, rounded up
    assert (ours.signature["idf"], ours.signature["rescale"]) == ("none", "none")
    assert ours.signature["encoder"]["encoder"] == tiny_bert.name
    assert METRICS.find("BERTScore").name == "bertscore"


def test_is_run_among_others(tiny_bert: Path) -> None:
    options = {"bertscore": {"layer": 1, "idf": True}}
    references, candidates = texts(5, 32), texts(5, 33)
    found = evaluate_pairs(references, candidates, ["bertscore"], options=options, encoder=tiny_bert)
    alone = bertscore(references, candidates, tiny_bert, 1, True)
    assert_same(scores(found["candidate"]["bertscore"]), scores(alone), 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 4}, "has layers 0 to 3, not 4"),
        ({"layer": -1}, "has layers 0 to 3, not -1"),
        ({"layer": 1.5}, "layer must be a whole number, not 1.5"),
        ({"layer": True}, "layer must be a whole number, not True"),
        ({"layer": "2"}, "layer must be a whole number, not '2'"),
        ({"idf": "yes"}, "idf must be true or false, not 'yes'"),
        ({"rescale": 3}, "rescale must be a file of baselines, not 3"),
        ({"rescale": "no/such/file.tsv"}, "cannot be read: No such file"),
        ({"over_references": "worst"}, "over_references is best or mean"),
        ({"batch_tokens": 0}, "batch_tokens must be a whole number of at least 1"),
    ],
)
def test_bad_parameters(tiny_bert: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bertscore(["a cat"], ["a dog"], tiny_bert, **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "do not begin with the line LAYER,P,R,F"),
        (b"LAYER\tP\tR\tF\n2\t.1\t.1\t.1\n", "do not begin with the line LAYER,P,R,F"),
        (b"LAYER,P,R,F\n0,.1,.1,.1\n", "have no row for layer 2"),
        (b"LAYER,P,R,F\n2,.1,.1\n", "row 2 .* needs a layer and three numbers below 1"),
        (b"LAYER,P,R,F\n2,.1,.1,1\n", "row 2 .* needs a layer and three numbers below 1"),
        (b"LAYER,P,R,F\n2,.1,x,.1\n", "row 2 .* is not all numbers"),
        (b"LAYER,P,R,F\n2,.1,.1,.1\n2,.1,.1,.1\n", "have two rows for layer 2"),
        (b"\xff\xfe\x00", "are no text"),
    ],
)
def test_bad_baselines(tiny_bert: Path, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "bad.tsv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        bertscore(["a cat"], ["a dog"], tiny_bert, 2, rescale=str(file))
