"""MoverScore against the definition: transformers itself, loops in float64, linear programming by HiGHS."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random

import numpy as np
import pytest
from pair_texts import CANDIDATES, REFERENCES
from scipy.optimize import linprog

from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.pairs.metrics import moverscore as module
from recapture.pairs.metrics.moverscore import (
    METRIC,
    PieceTable,
    mover_costs,
    mover_costs_on,
    moverscore,
    power_means,
)
from recapture.representations.words import DeviceWords

if importlib.util.find_spec("ot") is None:  # looked for, not imported: that takes seconds
    pytest.skip("needs POT", allow_module_level=True)


def transport(costs, a, b):
    """The whole linear programme, one variable a cell."""
    n, m = costs.shape
    table = np.zeros((n + m, n * m))
    for i, j in itertools.product(range(n), range(m)):
        table[i, i * m + j] = table[n + j, i * m + j] = 1
    answer = linprog(costs.ravel(), A_eq=table, b_eq=[*a, *b], bounds=(0, None), method="highs")
    assert answer.status == 0
    return answer.fun


class Oracle:
    """The definition in plain loops; one text at a time through the model."""

    def __init__(self, folder, references, ngram, layers, idf):
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(str(folder))
        self.model = AutoModel.from_pretrained(str(folder)).eval()
        self.ngram, self.layers = ngram, layers
        bags = [set(self.ids(text)) for text in references]
        self.weight = lambda piece: math.log((len(bags) + 1) / (sum(piece in bag for bag in bags) + 1)) if idf else 1.0

    def ids(self, text):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def grams(self, text):
        import torch

        with torch.no_grad():
            states = self.model(**self.tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        last = [layer[0].double().numpy()[1:-1] for layer in states[-self.layers :]]
        weights = [self.weight(piece) for piece in self.ids(text)]
        if not any(weights):
            weights = [1.0] * len(weights)
        vectors = []
        for place in range(len(weights)):
            columns = list(zip(*(layer[place] for layer in last), strict=True))
            means = [sum(column) / len(column) for column in columns]
            vectors.append(np.array(means + [max(column) for column in columns] + [min(column) for column in columns]))
        n = min(self.ngram, len(weights))
        found = []
        for start in range(len(weights) - n + 1):
            part = range(start, start + n)
            total = sum(weights[place] for place in part)
            if total:
                mean = sum(weights[place] / total * vectors[place] for place in part)
                found.append((mean / math.sqrt(sum(mean**2)), total))
        whole = sum(total for _, total in found)
        return [vector for vector, _ in found], [total / whole for _, total in found]

    def score(self, reference, candidate):
        (x, a), (y, b) = self.grams(reference), self.grams(candidate)
        return 1 - transport(np.array([[math.dist(one, other) for other in y] for one in x]), a, b)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, tiny_bert):
    """The tiny model without its head, as an encoder."""
    from transformers import AutoTokenizer, BertConfig, BertModel, set_seed

    folder = tmp_path_factory.mktemp("models") / "tiny-encoder"
    AutoTokenizer.from_pretrained(str(tiny_bert)).save_pretrained(folder)
    set_seed(5)
    BertModel(BertConfig.from_pretrained(str(tiny_bert))).save_pretrained(folder)
    return folder


def score(encoder, references=REFERENCES, candidates=CANDIDATES, **options):
    return moverscore(references, candidates, encoder=encoder, **{"layers": 3, **options})


@pytest.mark.slow
@pytest.mark.parametrize("ngram", [1, 2])
@pytest.mark.parametrize("idf", [True, False])
@pytest.mark.parametrize("layers", [1, 3])
def test_scores_follow_the_definition(encoder, ngram, idf, layers):
    oracle = Oracle(encoder, REFERENCES, ngram, layers, idf)
    expected = [oracle.score(*pair) for pair in zip(REFERENCES, CANDIDATES, strict=True)]
    found = score(encoder, ngram=ngram, idf=idf, layers=layers)
    np.testing.assert_allclose(found.arrays["scores"], expected, rtol=0, atol=1e-6)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-6)
    assert found.direction == "higher"
    assert found.ranges["value"] == (-1.0, 1.0)


@pytest.mark.slow
def test_real_model(minilm):
    oracle = Oracle(minilm, REFERENCES, 1, 5, True)
    expected = [oracle.score(*pair) for pair in zip(REFERENCES, CANDIDATES, strict=True)]
    found = moverscore(REFERENCES, CANDIDATES, offline=True)
    np.testing.assert_allclose(found.arrays["scores"], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("kind", "digits"), [(np.float64, 9), (np.float32, 6)])
def test_given_vectors_costs_are_as_exact_as_they(kind, digits):
    rng = np.random.default_rng(0)
    made, loops = [], []
    for n in (1, 2, 5, 17, 30):
        layers = rng.standard_normal((5, n, 12)).astype(kind)
        weights = rng.integers(0, 3, n) + (np.arange(n) == 0)
        made.append(PieceTable(layers, weights / weights.sum()))
        vectors = [
            np.concatenate([np.float64(layers[:, place]).mean(0), layers[:, place].max(0), layers[:, place].min(0)])
            for place in range(n)
        ]
        size = min(2, n)
        found = []
        for start in range(n - size + 1):
            total = sum(weights[start : start + size])
            if total:
                mean = sum(weights[place] * vectors[place] for place in range(start, start + size)) / total
                found.append((mean / np.linalg.norm(mean), total))
        loops.append(([vector for vector, _ in found], np.array([total for _, total in found], float)))
    pairs = list(itertools.product(range(5), repeat=2))
    expected = []
    for one, other in pairs:
        (x, a), (y, b) = loops[one], loops[other]
        costs = np.array([[math.dist(u, v) for v in y] for u in x])
        expected.append(transport(costs, a / a.sum(), b / b.sum()))
    np.testing.assert_allclose(mover_costs(made, pairs, 2), expected, rtol=0, atol=10.0**-digits)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("ngram", [1, 2])
def test_on_a_device_costs_have_nine_digits(ngram, device):
    """The same loops in float64, on float32 vectors below each other with a special token around each text."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    sizes, rows, weights, loops = (1, 2, 5, 17, 5), [], [], []
    for n in sizes:
        layers = rng.standard_normal((n + 2, 4, 12)).astype(np.float32)
        if n == 17:
            layers[3] = layers[5]  # equal pieces
            layers[7] = 0
        rows.append(layers)
        weights.append((rng.integers(0, 3, n) + (np.arange(n) == 0)) / 7)
        own = np.float64(layers[1:-1])
        vectors = np.concatenate([own.mean(1), own.max(1), own.min(1)], axis=1)
        size = min(ngram, n)
        found = []
        for start in range(n - size + 1):
            inside = slice(start, start + size)
            total = weights[-1][inside].sum()
            if total:
                mean = vectors[inside].mean(0) if size == 1 else weights[-1][inside] @ vectors[inside] / total
                found.append((mean / (np.linalg.norm(mean) or 1), total))
        loops.append(([vector for vector, _ in found], np.array([total for _, total in found])))
    tokens = np.array(sizes) + 2
    words = DeviceWords(
        torch.from_numpy(np.concatenate(rows)).to(device),
        np.cumsum(tokens) - tokens,
        tokens,
        np.ones(5, np.int64),
        np.array(sizes),
    )
    pairs = [(i, j) for i in range(5) for j in range(5)]
    found = mover_costs_on(words, weights, pairs, ngram)
    for cost, (one, other) in zip(found, pairs, strict=True):
        (x, a), (y, b) = loops[one], loops[other]
        costs = np.array([[math.dist(u, v) for v in y] for u in x])
        assert cost == pytest.approx(transport(costs, a / a.sum(), b / b.sum()), rel=0, abs=1e-9)
        assert cost >= 0 and (one != other or cost == 0)


@pytest.mark.parametrize("ngram", [1, 2])
def test_scores_on_a_device_are_the_processors(encoder, ngram):
    expected = score(encoder, ngram=ngram, device="cpu").arrays["scores"]
    with engine(accelerator="cpu"):
        found = score(encoder, ngram=ngram, device="cpu").arrays["scores"]
        equal = score(encoder, REFERENCES, REFERENCES, ngram=ngram).arrays["scores"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)  # float32 there
    assert (equal == 1).all() and not np.array_equal(found, expected)


def test_power_means():
    layers = np.array([[[1.0, -4.0]], [[3.0, 2.0]], [[-1.0, 5.0]]], np.float32)  # three layers, one piece, two numbers
    assert power_means(layers).tolist() == [[[1.0, 1.0]], [[3.0, 5.0]], [[-1.0, -4.0]]]


@pytest.mark.slow
@pytest.mark.parametrize("ngram", [1, 2])
def test_equal_texts_score_exactly_1_and_only_they(encoder, ngram):
    texts = sorted(set(REFERENCES + CANDIDATES))
    for pool in (texts, texts[:1], ["the", "the the"]):
        assert (score(encoder, pool, pool, ngram=ngram).arrays["scores"] == 1).all()
    others = texts[1:] + texts[:1]
    assert (score(encoder, texts, others, ngram=ngram).arrays["scores"] < 1).all()


def test_nearly_equal_points_are_told_apart():
    """Products alone would see a distance of 1e-9 as 0 or as 1e-8."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((6, 40))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shift = rng.standard_normal(vectors.shape)
    shift -= (shift * vectors).sum(axis=1, keepdims=True) * vectors  # along the sphere
    shift *= 1e-9 / np.linalg.norm(shift, axis=1, keepdims=True)
    weights = np.full(6, 1 / 6)
    # One layer: its power means are thrice itself.
    (cost,) = mover_costs(
        [PieceTable(vectors[None], weights), PieceTable((vectors + shift)[None], weights)], [(0, 1)], 1
    )
    assert cost == pytest.approx(1e-9, rel=1e-6)


def test_reference_and_candidate_may_change_places_without_idf(encoder):
    """To the rounding of float32: on some processors a text's vectors depend on its place in a batch by as much."""
    there = score(encoder, idf=False).arrays["scores"]
    back = score(encoder, CANDIDATES, REFERENCES, idf=False).arrays["scores"]
    np.testing.assert_allclose(there, back, rtol=0, atol=1e-6)


def test_both_ways_cost_the_same():
    """Of the very same vectors."""
    rng = np.random.default_rng(2)
    tables = [PieceTable(rng.standard_normal((2, many, 9)), np.full(many, 1 / many)) for many in (5, 8, 3)]
    ways = [(0, 1), (1, 2), (0, 2)]
    there, back = mover_costs(tables, ways, 1), mover_costs(tables, [way[::-1] for way in ways], 1)
    np.testing.assert_allclose(list(there), list(back), rtol=1e-12)


def test_idf_comes_from_the_references_alone(encoder):
    alone = score(encoder, REFERENCES, CANDIDATES).arrays["scores"]
    both = score(encoder, REFERENCES, {"one": CANDIDATES, "two": CANDIDATES[::-1]})
    np.testing.assert_allclose(both["one"].arrays["scores"], alone, rtol=0, atol=1e-6)


def test_several_references_best_or_mean(encoder):
    groups = [[reference, other] for reference, other in zip(REFERENCES, REFERENCES[::-1], strict=True)]
    flat = [text for group in groups for text in group]
    oracle = Oracle(encoder, flat, 1, 3, True)
    each = np.array([[oracle.score(r, c) for r in group] for group, c in zip(groups, CANDIDATES, strict=True)])
    best = score(encoder, groups)
    mean = score(encoder, groups, over_references="mean")
    np.testing.assert_allclose(best.arrays["scores"], each.max(axis=1), rtol=0, atol=1e-6)
    np.testing.assert_allclose(mean.arrays["scores"], each.mean(axis=1), rtol=0, atol=1e-6)


def test_one_reference_weighs_its_pieces_alike_and_says_so(encoder):
    found = score(encoder, REFERENCES[:1], CANDIDATES[:1])
    assert any("idf" in warning for warning in found.warnings)
    oracle = Oracle(encoder, REFERENCES[:1], 1, 3, False)
    assert found.value == pytest.approx(oracle.score(REFERENCES[0], CANDIDATES[0]), abs=1e-6)


def test_nothing_depends_on_groups_threads_or_order(encoder, monkeypatch):
    rng = random.Random(0)
    references = [" ".join(rng.choices(["the", "cat", "dog", "sat", "ran", "tree", "."], k=9)) for _ in range(40)]
    candidates = references[::-1]
    expected = score(encoder, references, candidates).arrays["scores"]
    for threads, pieces in ((1, 1), (3, 40), (2, 8192)):
        monkeypatch.setattr(module, "_PIECES", pieces)
        with engine(threads=threads):
            assert (score(encoder, references, candidates).arrays["scores"] == expected).all()
    turned = score(encoder, references[::-1], candidates[::-1]).arrays["scores"][::-1]
    assert (turned == expected).all()


def test_long_texts_are_not_cut(encoder):
    text = " ".join(["the cat sat on the mat and the dog ran under the tree ."] * 8)  # 104 pieces, room for 62
    same_start = " ".join(text.split()[:70])
    found = score(encoder, [text, text], [text, same_start])
    assert found.arrays["scores"][0] == 1
    assert found.arrays["scores"][1] < 1
    assert any("windows" in warning for warning in found.warnings)


def test_empty_texts_score_worst(encoder):
    found = score(encoder, ["the cat", "", "the dog"], ["", "the cat", "the dog"])
    assert found.arrays["scores"].tolist() == [-1, -1, 1]
    assert len(found.warnings) == 2
    assert score(encoder, ["", "a cat"], [" ", "a cat"]).arrays["scores"].tolist() == [1, 1]


def test_texts_without_pieces_cannot_be_compared(encoder):
    """Control characters: not blank, but nothing is left of them behind the tokenizer."""
    found = score(encoder, ["the cat", "\u200d\u0007"], ["\u200d\u0007", "\u200d\u0007"])
    assert found.arrays["scores"].tolist() == [-1, 1]  # the second are equal
    assert any("1 of 2 pairs could not be compared" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ngram": 3}, "ngram must be 1 or 2, not 3"),
        ({"ngram": True}, "ngram must be 1 or 2, not True"),
        ({"idf": "yes"}, "idf must be true or false, not 'yes'"),
        ({"layers": 4}, "layers must be a whole number from 1 to 3"),
        ({"layers": 0}, "layers must be a whole number from 1 to 3"),
    ],
)
def test_bad_options(encoder, options, message):
    with pytest.raises(InputError, match=message):
        score(encoder, **options)


def test_what_a_score_rests_on_is_named(encoder):
    signature = score(encoder, ngram=2).signature
    assert signature["ngram"] == 2
    assert signature["layers"] == [1, 2, 3]
    assert signature["idf"] == "references"
    assert signature["encoder"]["encoder"]
    assert set(signature["versions"]) >= {"POT", "torch", "transformers"}
    assert METRIC.name == signature["metric"]
