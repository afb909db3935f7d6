"""InfoLM against a slow loop: one masked token at a time, float64, plain definitions."""

from __future__ import annotations

import functools
import importlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.pairs import evaluate as evaluate_module
from recapture.pairs import infolm_device
from recapture.pairs.declaration import METRICS
from recapture.pairs.evaluate import evaluate_pairs
from recapture.pairs.idf import Idf
from recapture.pairs.metrics import infolm as infolm_module
from recapture.pairs.metrics.infolm import infolm
from recapture.representations import masked_device, shipped
from recapture.representations.masked import MaskedStore
from recapture.representations.masked_body import MaskedBody
from recapture.representations.masked_model import MaskedModel
from recapture.representations.pieces import Tokenizer
from torch_devices import no_memory, unasked_beside_models

MEASURES = ("kl", "jeffreys", "alpha", "renyi", "ab", "gamma", "l1", "l2", "linf", "fisher_rao")
SYMMETRIC = ("jeffreys", "l1", "l2", "linf", "fisher_rao")
ROOM = 64
"""Tokens the tiny model takes at once, two of them special."""


def texts(count: int, seed: int, longest: int = 12) -> list[str]:
    """Sentences of the tiny model's words, of pieces put together, and of words it does not know."""
    rng = random.Random(seed)
    listed = "the a cat dog bird fish sat ran sang slept on under near mat tree river red green old small"
    words = [*listed.split(), "catbalo", "dogs", "balomitu", "mint", "tuk", "zebra", "birdly", ",", "."]
    return [" ".join(rng.choices(words, k=rng.randint(1, longest))) for _ in range(count)]


@pytest.fixture
def scored(tiny_bert: Path) -> Callable[..., Any]:
    return functools.partial(infolm, model=tiny_bert, device="cpu", cache=False)


# The slow loop


@functools.cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(folder), model.double().eval()


def own_ids(folder: Path, text: str) -> list[int]:
    ids: list[int] = loaded(folder)[0](text)["input_ids"][1:-1]
    return ids


@functools.cache
def token_logits(folder: Path, text: str) -> list[list[float]]:
    import torch

    tokenizer, model = loaded(folder)
    ids = tokenizer(text)["input_ids"]
    rows = []
    for place in range(1, len(ids) - 1):
        changed = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
        with torch.no_grad():
            rows.append(model(torch.tensor([changed])).logits[0, place].tolist())
    return rows


def distribution(folder: Path, text: str, temperature: float, weigh: Callable[[int], float]) -> list[float]:
    rows = token_logits(folder, text)
    weights = [weigh(piece) for piece in own_ids(folder, text)]
    if math.fsum(weights) == 0:
        weights = [1.0] * len(weights)
    total = [0.0] * len(rows[0])
    for row, weight in zip(rows, weights, strict=True):
        powers = [math.exp(logit / temperature) for logit in row]
        mass = math.fsum(powers)
        total = [old + weight * power / mass / math.fsum(weights) for old, power in zip(total, powers, strict=True)]
    return total


def idf_table(folder: Path, references: list[str]) -> Callable[[int], float]:
    sets = [set(own_ids(folder, text)) for text in references]
    return lambda piece: math.log((len(sets) + 1) / (1 + sum(piece in each for each in sets)))


def defined(name: str, p: list[float], q: list[float], alpha: float, beta: float) -> float:
    """The table of measures, written down as it stands."""
    both = list(zip(p, q, strict=True))

    def power_sum(a: float, b: float) -> float:
        return math.fsum(x**a * y**b for x, y in both)

    def ab(a: float, b: float) -> float:
        return (
            math.log(power_sum(a + b, 0)) / (b * (a + b))
            + math.log(power_sum(0, a + b)) / (a * (a + b))
            - math.log(power_sum(a, b)) / (a * b)
        )

    table: dict[str, Callable[[], float]] = {
        "kl": lambda: math.fsum(x * math.log(x / y) for x, y in both),
        "jeffreys": lambda: math.fsum(x * math.log(x / y) + y * math.log(y / x) for x, y in both) / 2,
        "alpha": lambda: (power_sum(alpha, 1 - alpha) - 1) / (alpha * (alpha - 1)),
        "renyi": lambda: math.log(power_sum(alpha, 1 - alpha)) / (alpha - 1),
        "ab": lambda: ab(alpha, beta),
        "gamma": lambda: ab(1, beta),
        "l1": lambda: math.fsum(abs(x - y) for x, y in both),
        "l2": lambda: math.sqrt(math.fsum((x - y) ** 2 for x, y in both)),
        "linf": lambda: max(abs(x - y) for x, y in both),
        "fisher_rao": lambda: 2 / math.pi * math.acos(min(1.0, power_sum(0.5, 0.5))),
    }
    return table[name]()


def slow(
    folder: Path, reference: str, candidate: str, temperature: float, weigh: Callable[[int], float], **parameters: float
) -> dict[str, float]:
    p, q = (distribution(folder, text, temperature, weigh) for text in (reference, candidate))
    return {name: defined(name, p, q, parameters["alpha"], parameters["beta"]) for name in MEASURES}


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("temperature", [0.05, 0.25, 1.0, 3.0, 10.0])
def test_equals_a_loop_over_masked_tokens(
    tiny_bert: Path, scored: Callable[..., Any], temperature: float, idf: bool
) -> None:
    """rtol for the divergences, which reach hundreds at a low temperature; it magnifies float32's rounding by 1 / T."""
    references, candidates = texts(6, 1), texts(6, 2)
    parameters = {"alpha": 0.6, "beta": 0.7}
    ours = scored(references, candidates, list(MEASURES), temperature=temperature, idf=idf, **parameters)
    weigh = idf_table(tiny_bert, references) if idf else lambda piece: 1.0
    loop = [
        slow(tiny_bert, *pair, temperature, weigh, **parameters) for pair in zip(references, candidates, strict=True)
    ]
    for name in MEASURES:
        expected = [each[name] for each in loop]
        assert max(expected) > 1e-4
        np.testing.assert_allclose(ours.arrays[f"{name}_scores"], expected, rtol=1e-5, atol=1e-5, err_msg=name)
        assert ours.values[name] == pytest.approx(math.fsum(expected) / 6, rel=1e-5, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (1.5, -0.4), (2.0, 1.0), (-0.5, 2.0)])
def test_other_parameters_equal_the_loop(
    tiny_bert: Path, scored: Callable[..., Any], alpha: float, beta: float
) -> None:
    references, candidates = texts(4, 3), texts(4, 4)
    names = [name for name in ("alpha", "renyi", "ab", "gamma") if name != "renyi" or alpha > 0]
    ours = scored(references, candidates, names, alpha=alpha, beta=beta)
    weigh = idf_table(tiny_bert, references)
    for at, (reference, candidate) in enumerate(zip(references, candidates, strict=True)):
        p, q = (distribution(tiny_bert, text, 1.0, weigh) for text in (reference, candidate))
        for name in names:
            expected = defined(name, p, q, alpha, beta)
            assert ours.arrays[f"{name}_scores"][at] == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["best", "mean"])
@pytest.mark.parametrize("idf", [False, True])
def test_several_references(tiny_bert: Path, scored: Callable[..., Any], rule: str, idf: bool) -> None:
    candidates = texts(5, 5)
    references = [texts(1 + number % 3, 50 + number) for number in range(5)]
    flat = [text for group in references for text in group]
    weigh = idf_table(tiny_bert, flat) if idf else lambda piece: 1.0
    ours = scored(references, candidates, ["kl", "fisher_rao"], idf=idf, over_references=rule)
    for name in ("kl", "fisher_rao"):
        rows = [
            [slow(tiny_bert, text, candidate, 1.0, weigh, alpha=0.5, beta=0.5)[name] for text in group]
            for group, candidate in zip(references, candidates, strict=True)
        ]
        expected = [min(row) if rule == "best" else sum(row) / len(row) for row in rows]
        np.testing.assert_allclose(ours.arrays[f"{name}_scores"], expected, rtol=0, atol=1e-5)
    assert ours.sizes["reference"] == len(flat)
    assert ours.signature["over_references"] == rule


def test_the_default_is_best_over_references(scored: Callable[..., Any]) -> None:
    references, candidates = [texts(3, 6), texts(2, 7)], texts(2, 8)
    np.testing.assert_array_equal(
        scored(references, candidates).scores, scored(references, candidates, over_references="best").scores
    )


@pytest.mark.slow
def test_idf_counts_repeated_references(tiny_bert: Path, scored: Callable[..., Any]) -> None:
    references = ["the cat sat on the mat"] * 5 + texts(3, 9)
    candidates = texts(8, 10)
    weigh = idf_table(tiny_bert, references)
    ours = scored(references, candidates, "kl")
    expected = [
        slow(tiny_bert, *pair, 1.0, weigh, alpha=0.5, beta=0.5)["kl"]
        for pair in zip(references, candidates, strict=True)
    ]
    np.testing.assert_allclose(ours.scores, expected, rtol=0, atol=1e-5)


# Against torchmetrics

PEERS = {  # ours -> its name, and ours / its
    "kl": ("kl_divergence", -1.0),
    "alpha": ("alpha_divergence", -1.0),
    "renyi": ("renyi_divergence", 1.0),
    "l1": ("l1_distance", 1.0),
    "l2": ("l2_distance", 1.0),
    "linf": ("l_infinity_distance", 1.0),
    "fisher_rao": ("fisher_rao_distance", 1 / math.pi),
}


@pytest.mark.slow
@pytest.mark.parametrize("measure", PEERS)
def test_equals_torchmetrics_pair_by_pair(tiny_bert: Path, scored: Callable[..., Any], measure: str) -> None:
    """torchmetrics 1.9 turns the sign of two measures and gives Fisher-Rao as 2 arccos. One pair at a time, since it
    mismatches several; without idf, since it makes a table for each side."""
    pytest.importorskip("torchmetrics", reason="needs torchmetrics, the package to compare with")
    peer: Any = importlib.import_module("torchmetrics.functional.text.infolm").infolm
    name, factor = PEERS[measure]
    parameters = {"alpha": 0.4} if measure in ("alpha", "renyi") else {}
    references, candidates = texts(5, 11), texts(5, 12)
    ours = scored(references, candidates, measure, idf=False, temperature=0.5, **parameters)
    theirs = [
        factor
        * float(
            peer([candidate], [reference], str(tiny_bert), 0.5, name, False, max_length=60, verbose=False, **parameters)
        )
        for reference, candidate in zip(references, candidates, strict=True)
    ]
    np.testing.assert_allclose(ours.scores, theirs, rtol=1e-5, atol=1e-5)


# Properties


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.05, 1.0, 10.0])
def test_equal_texts_are_at_exactly_0(scored: Callable[..., Any], temperature: float) -> None:
    same = [*texts(12, 13), " ".join(texts(20, 14)), "zebra", "[MASK]", "the [SEP] cat"]
    ours = scored(same, same, list(MEASURES), temperature=temperature, alpha=1.7, beta=-0.3)
    for name in MEASURES:
        assert (ours.arrays[f"{name}_scores"] == 0).all(), name
        assert ours.values[name] == 0


def test_texts_of_the_same_pieces_are_at_exactly_0(scored: Callable[..., Any]) -> None:
    """The tokenizer makes no difference between capitals and others, nor between one blank and three."""
    ours = scored(["The cat sat.", "  a dog ", "old tree"], ["the CAT sat .", "a   dog", "old\ntree"])
    assert (ours.scores == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0, 10.0])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.01, 3.0), (0.99, -0.5)])
def test_values_are_finite_and_not_below_0(
    scored: Callable[..., Any], temperature: float, alpha: float, beta: float
) -> None:
    references, candidates = texts(15, 15), texts(15, 16)
    ours = scored(references, candidates, list(MEASURES), temperature=temperature, alpha=alpha, beta=beta)
    for name, (low, high) in ours.ranges.items():
        values = ours.arrays[f"{name}_scores"]
        assert np.isfinite(values).all(), name
        assert low == 0
        assert (values >= 0).all(), name
        assert (values <= high * (1 + 1e-12)).all(), name
    assert all("unknown to tiny-masked-bert" in note for note in ours.warnings)  # a few words it never saw


@pytest.mark.slow
def test_deep_probabilities_take_the_way_by_logarithms(scored: Callable[..., Any], monkeypatch: Any) -> None:
    """Both ways of mixing give the same; at a very low temperature only logarithms are left."""
    references, candidates = texts(8, 17), texts(8, 18)
    usual = scored(references, candidates, ["kl", "fisher_rao"], temperature=0.3)
    monkeypatch.setattr(infolm_module, "DEEPEST", math.inf)
    logs = scored(references, candidates, ["kl", "fisher_rao"], temperature=0.3)
    for name in ("kl_scores", "fisher_rao_scores"):
        np.testing.assert_allclose(logs.arrays[name], usual.arrays[name], rtol=1e-10, atol=1e-12)
    monkeypatch.undo()
    cold = scored(references, candidates, ["kl", "fisher_rao"], temperature=0.0002)
    assert np.isfinite(cold.kl_scores).all()
    assert cold.kl_scores.max() > 745  # e^-745 is the smallest float
    assert any("temperature 0.0002 is outside 0.05 to 10" in note for note in cold.warnings)


def test_symmetric_measures(scored: Callable[..., Any]) -> None:
    references, candidates = texts(10, 19), texts(10, 20)
    there = scored(references, candidates, list(SYMMETRIC), idf=False)
    back = scored(candidates, references, list(SYMMETRIC), idf=False)
    for name in SYMMETRIC:
        np.testing.assert_allclose(there.arrays[f"{name}_scores"], back.arrays[f"{name}_scores"], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_order_does_not_matter(scored: Callable[..., Any]) -> None:
    """A shuffle that is not its own inverse: pairs put back wrongly would show."""
    references, candidates = texts(31, 21), texts(31, 22)
    order = np.random.default_rng(5).permutation(31)
    assert not np.array_equal(order[order], np.arange(31))
    usual = scored(references, candidates, "kl").scores
    mixed = scored([references[at] for at in order], [candidates[at] for at in order], "kl").scores
    np.testing.assert_array_equal(mixed, usual[order])


@pytest.mark.slow
@pytest.mark.parametrize("batch_tokens", [1, 40, 100_000])
def test_batches_do_not_matter(scored: Callable[..., Any], batch_tokens: int) -> None:
    references, candidates = texts(20, 23), texts(20, 24)
    usual = scored(references, candidates, "kl").scores
    np.testing.assert_allclose(
        scored(references, candidates, "kl", batch_tokens=batch_tokens).scores, usual, rtol=0, atol=1e-5
    )


def test_repeated_pairs_score_alike(scored: Callable[..., Any]) -> None:
    """Without idf, whose table counts repeats, a pair's score does not depend on how often it is there."""
    references, candidates = texts(8, 25), texts(8, 26)
    once = scored(references, candidates, "kl", idf=False).scores
    thrice = scored(references * 3, candidates * 3, "kl", idf=False).scores
    np.testing.assert_array_equal(thrice, np.tile(once, 3))


@pytest.mark.slow
def test_systems_do_not_touch_each_other(scored: Callable[..., Any]) -> None:
    references, first, second = texts(12, 27), texts(12, 28), texts(12, 29)
    both = scored(references, {"one": first, "two": second}, "kl")
    for name, candidates in (("one", first), ("two", second)):
        np.testing.assert_allclose(both[name].scores, scored(references, candidates, "kl").scores, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_several_temperatures_equal_separate_runs(scored: Callable[..., Any]) -> None:
    references, candidates = texts(8, 30), texts(8, 31)
    together = scored(references, candidates, ["kl", "l2"], temperature=[0.05, 0.5, 2])
    assert list(together.values) == ["kl@0.05", "kl@0.5", "kl@2", "l2@0.05", "l2@0.5", "l2@2"]
    for temperature in (0.05, 0.5, 2):
        alone = scored(references, candidates, ["kl", "l2"], temperature=temperature)
        for name in ("kl", "l2"):
            np.testing.assert_array_equal(
                together.arrays[f"{name}@{temperature:g}_scores"], alone.arrays[f"{name}_scores"]
            )
            assert together.values[f"{name}@{temperature:g}"] == alone.values[name]


def test_distributions_forgotten_and_made_again_are_the_same(scored: Callable[..., Any], monkeypatch: Any) -> None:
    references, candidates = texts(20, 32), texts(20, 33)
    usual = scored(references, candidates, "kl").scores
    monkeypatch.setattr(infolm_module, "_KEPT_BYTES", 1)
    np.testing.assert_array_equal(scored(references, candidates, "kl").scores, usual)


# Work done


class Spy:
    """Every row that goes through the model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[tuple[tuple[int, ...], int]] = []
        self.tokens = 0
        vectors, call = MaskedModel.head_vectors, MaskedBody.__call__

        def noted(model: MaskedModel, rows: Any, places: Any) -> Any:
            self.rows += zip(map(tuple, rows), places, strict=True)
            return vectors(model, rows, places)

        def counted(body: MaskedBody, ids: Any, mask: Any, places: Any) -> Any:
            self.tokens += ids.numel()
            return call(body, ids, mask, places)

        monkeypatch.setattr(MaskedModel, "head_vectors", noted)
        monkeypatch.setattr(MaskedBody, "__call__", counted)

    def taken(self) -> tuple[list[tuple[tuple[int, ...], int]], int]:
        made = self.rows, self.tokens
        self.rows, self.tokens = [], 0
        return made


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spy]:
    yield Spy(monkeypatch)


def expected_rows(folder: Path, wanted: set[str]) -> Counter[tuple[tuple[int, ...], int]]:
    """One row per real token of each distinct text."""
    rows: Counter[tuple[tuple[int, ...], int]] = Counter()
    for text in wanted:
        ids = tuple(loaded(folder)[0](text)["input_ids"])
        rows.update((ids, place) for place in range(1, len(ids) - 1))
    return rows


def test_each_distinct_text_once_one_row_per_token(tiny_bert: Path, scored: Callable[..., Any], spy: Spy) -> None:
    distinct = ["the cat sat", "a dog ran under the tree", "balomitu"]
    references, candidates = distinct * 4, [*distinct[:2], *texts(6, 34), *distinct, "a bird"]
    trial = 18  # two rows of nine made-up tokens, by which a body is tried
    scored(references, candidates, ["kl", "l2"], temperature=[0.5, 1])
    rows, tokens = spy.taken()
    expected = expected_rows(tiny_bert, {*references, *candidates})
    assert Counter(rows) == expected
    assert max(expected.values()) == 1
    padding = tokens - sum(len(ids) for ids, _ in rows)
    assert padding % trial == 0  # trials at loading
    assert padding <= 3 * trial


def test_another_system_costs_its_candidates_alone(tiny_bert: Path, scored: Callable[..., Any], spy: Spy) -> None:
    references, first, second = texts(6, 35), texts(6, 36), texts(6, 37)
    scored(references, first)
    one, _ = spy.taken()
    scored(references, {"one": first, "two": second})
    both, _ = spy.taken()
    more = Counter(both)
    more.subtract(one)
    assert +more == expected_rows(tiny_bert, set(second) - {*references, *first})
    assert not -more


@pytest.mark.traced
@pytest.mark.slow
def test_the_disk_serves_a_second_run(tiny_bert: Path, spy: Spy, tmp_path: Path) -> None:
    references, candidates = texts(6, 38), texts(6, 39)
    first = infolm(references, candidates, "kl", tiny_bert, cache=tmp_path, device="cpu")
    assert spy.taken()[0]
    again = infolm(references, candidates, ["kl", "l1"], tiny_bert, cache=tmp_path, device="cpu", idf=True)
    assert not spy.taken()[0]
    np.testing.assert_array_equal(again.kl_scores, first.scores)
    infolm(references, [*candidates[:5], "the cat and the river"], "kl", tiny_bert, cache=tmp_path, device="cpu")
    assert Counter(spy.taken()[0]) == expected_rows(tiny_bert, {"the cat and the river"})
    infolm(references, candidates, "kl", tiny_bert, cache=False, device="cpu")
    assert spy.taken()[0]


@pytest.mark.traced
@pytest.mark.slow
def test_the_disk_does_not_serve_another_model(tiny_bert: Path, spy: Spy, tmp_path: Path) -> None:
    """Same name, same tokenizer, one other weight."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    other = tmp_path / "other" / tiny_bert.name
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(other)
    model = AutoModelForMaskedLM.from_pretrained(tiny_bert)
    model.bert.encoder.layer[0].output.dense.bias.data[0] += 1
    model.save_pretrained(other)
    references, candidates = texts(5, 40), texts(5, 41)
    first = infolm(references, candidates, "kl", tiny_bert, cache=tmp_path / "kept", device="cpu")
    spy.taken()
    second = infolm(references, candidates, "kl", other, cache=tmp_path / "kept", device="cpu")
    assert Counter(spy.taken()[0]) == expected_rows(tiny_bert, {*references, *candidates})
    assert np.abs(second.scores - first.scores).max() > 1e-4
    np.testing.assert_array_equal(second.scores, infolm(references, candidates, "kl", other, cache=False).scores)


def test_long_texts_have_every_token_masked_once(tiny_bert: Path, scored: Callable[..., Any], spy: Spy) -> None:
    """Each token in a window of the text, with a quarter of the window at least on both sides where the text has it."""
    long = " ".join(texts(40, 42))
    ours = scored([long, "the cat"], ["a cat", "the dog"])
    assert (
        "1 text is longer than the 64 tokens the model takes at once: overlapping windows were used, nothing cut"
        in (ours.warnings)
    )
    own = tuple(own_ids(tiny_bert, long))
    assert len(own) > 3 * ROOM
    rows = [(ids, place) for ids, place in spy.taken()[0] if len(ids) == ROOM]
    masked = Counter()
    for ids, place in rows:
        inside = ids[1:-1]
        (start,) = (at for at in range(len(own)) if own[at : at + len(inside)] == inside)
        at = start + place - 1
        masked[at] += 1
        assert place - 1 >= min(at, len(inside) // 4)
        assert len(inside) - place >= min(len(own) - 1 - at, len(inside) // 4)
    assert masked == Counter(range(len(own)))
    assert np.isfinite(ours.scores).all()


def test_a_text_that_just_fits_is_not_cut(tiny_bert: Path, scored: Callable[..., Any], spy: Spy) -> None:
    full = " ".join(["cat", "dog"] * 31)
    assert not scored([full, "a cat"], ["the cat", "the dog"]).warnings
    assert Counter(spy.taken()[0]) == expected_rows(tiny_bert, {full, "a cat", "the cat", "the dog"})
    assert any("1 text is longer" in note for note in scored([full + " cat", "a cat"], ["the cat", "the dog"]).warnings)


# Odd texts


def test_one_reference_has_no_idf(scored: Callable[..., Any]) -> None:
    """Every weight is ln(2/2) = 0, so tokens count alike."""
    ours = scored(["the cat sat"], ["the cat"])
    assert ours.value == scored(["the cat sat"], ["the cat"], idf=False).value > 0
    assert any(note.startswith("with one reference idf weighs all its pieces 0") for note in ours.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("references", [["the cat sat"], ["the cat sat"] * 3, [["the cat sat", "the cat sat"]] * 3])
def test_idf_that_is_0_everywhere_is_none_on_either_side(scored: Callable[..., Any], references: Any) -> None:
    """ln((N + 1) / (N + 1)) = 0 for every piece of the references. By the table alone a candidate would be judged by
    the pieces that no reference has, which weigh ln(N + 1)."""
    candidates = ["the dog ran under a tree"] * len(references)
    for measure in ("fisher_rao", "kl", "l2"):
        plain = scored(references, candidates, measure, idf=False)
        ours = scored(references, candidates, measure)
        np.testing.assert_array_equal(ours.scores, plain.scores)
        assert not plain.warnings
        assert any(note.endswith("count alike on both sides; use idf=False, or more texts") for note in ours.warnings)


def test_empty_texts_score_worst(scored: Callable[..., Any]) -> None:
    references = ["the cat sat", "", "a dog", " \n", ["", "a bird"], "old tree"]
    candidates = ["", "a cat", " \t", "", "a bird", "a tree"]
    ours = scored(references, candidates)
    assert ours.scores[:3].tolist() == [1, 1, 1]
    assert ours.scores[3:5].tolist() == [0, 0]  # two empty texts are equal
    assert 0 < ours.scores[5] < 1
    assert "2 more of 6 texts of candidate are empty: scored worst" in ours.warnings
    assert "1 more of 7 texts of reference is empty: scored worst" in ours.warnings
    assert any(note.startswith("1 more of 7 texts of reference is empty: ignored") for note in ours.warnings)


def test_empty_texts_are_left_out_where_there_is_no_worst(scored: Callable[..., Any]) -> None:
    ours = scored(["the cat sat", "a dog", "a bird"], ["", "a cat", "the bird"], "kl")
    assert math.isnan(ours.scores[0])
    assert ours.value == pytest.approx((ours.scores[1] + ours.scores[2]) / 2)
    assert any(note.endswith("is empty: left out of the mean") for note in ours.warnings)


def test_idf_leaves_out_empty_references(scored: Callable[..., Any]) -> None:
    references, candidates = texts(6, 43), texts(6, 44)
    usual = scored(references, candidates, "kl").scores
    np.testing.assert_array_equal(scored([*references, ""], [*candidates, "a cat"], "kl").scores[:6], usual)


def test_a_text_without_pieces_cannot_be_compared(scored: Callable[..., Any]) -> None:
    ours = scored(["the cat", "\u200b", "a dog"], ["\u200b", "the cat", "a cat"])
    assert ours.scores[:2].tolist() == [1, 1]
    assert "2 of 3 pairs could not be compared: scored worst" in ours.warnings


def test_unknown_characters(tiny_bert: Path, scored: Callable[..., Any]) -> None:
    """A piece like any other: all unknown words are the same one."""
    references, candidates = ["☃ ☂ ☃", "the cat", "☃"], ["the ☃", "日本", "☂"]
    ours = scored(references, candidates, "kl")
    weigh = idf_table(tiny_bert, references)
    expected = [
        slow(tiny_bert, *pair, 1.0, weigh, alpha=0.5, beta=0.5)["kl"]
        for pair in zip(references, candidates, strict=True)
    ]
    np.testing.assert_allclose(ours.scores, expected, rtol=0, atol=1e-5)
    assert ours.scores[2] == 0


def test_special_tokens_written_in_a_text(tiny_bert: Path, scored: Callable[..., Any], spy: Spy) -> None:
    """What a user wrote is text: it is masked in its turn, and it counts."""
    references = ["the [MASK] sat", "[SEP] a dog [SEP]", "[CLS]", "a bird"]
    candidates = ["the cat sat", "a dog", "[MASK]", "[PAD] a bird"]
    ours = scored(references, candidates, "kl")
    assert Counter(spy.taken()[0]) == expected_rows(tiny_bert, {*references, *candidates})
    weigh = idf_table(tiny_bert, references)
    expected = [
        slow(tiny_bert, *pair, 1.0, weigh, alpha=0.5, beta=0.5)["kl"]
        for pair in zip(references, candidates, strict=True)
    ]
    np.testing.assert_allclose(ours.scores, expected, rtol=1e-5, atol=1e-5)


# Lists of alpha and beta


@pytest.mark.slow
def test_lists_of_alpha_and_beta_equal_the_loop_from_one_pass(
    tiny_bert: Path, scored: Callable[..., Any], spy: Spy
) -> None:
    references, candidates = texts(5, 60), texts(5, 61)
    alphas, betas, temperatures = [0.4, -0.5, 2], [0.3, 1], [0.5, 1]
    ours = scored(
        references, candidates, ["ab", "alpha", "gamma", "l1"], temperature=temperatures, alpha=alphas, beta=betas
    )
    rows, _ = spy.taken()
    assert Counter(rows) == expected_rows(tiny_bert, {*references, *candidates})  # one pass, whatever the lists
    weigh = idf_table(tiny_bert, references)
    for temperature in temperatures:
        for alpha in alphas:
            for beta in betas:
                named = {
                    f"ab(alpha={alpha:g} beta={beta:g})@{temperature:g}": "ab",
                    f"alpha(alpha={alpha:g})@{temperature:g}": "alpha",
                    f"gamma(beta={beta:g})@{temperature:g}": "gamma",
                    f"l1@{temperature:g}": "l1",
                }
                for name, measure in named.items():
                    expected = []
                    for pair in zip(references, candidates, strict=True):
                        p, q = (distribution(tiny_bert, text, temperature, weigh) for text in pair)
                        expected.append(defined(measure, p, q, alpha, beta))
                    np.testing.assert_allclose(ours.arrays[f"{name}_scores"], expected, rtol=1e-4, err_msg=name)
    assert len(ours.values) == 2 * (3 * 2 + 3 + 2 + 1)
    assert (ours.signature["alpha"], ours.signature["beta"]) == (alphas, betas)


def test_a_list_of_one_value_is_that_value(scored: Callable[..., Any]) -> None:
    references, candidates = texts(3, 62), texts(3, 63)
    listed = scored(references, candidates, "renyi", alpha=np.array([0.5]))
    assert listed.values == scored(references, candidates, "renyi", alpha=0.5).values
    assert list(listed.values) == ["value"]
    assert listed.signature["alpha"] == 0.5


# On a device, whose way is taken by the processor here


@pytest.fixture
def device_way() -> Iterator[None]:
    with engine(accelerator="cpu"):
        yield


def test_a_device_with_little_memory_holds_fewer_distributions(
    scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    import torch

    references, candidates = texts(9, 73), texts(9, 74)
    expected = scored(references, candidates, "fisher_rao").arrays
    whole, most = infolm_device._distributions, [4]

    def short(model: Any, launched: Any, weights: Any, chosen: Any, temperatures: Any) -> Any:
        if len(chosen) > most[0]:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return whole(model, launched, weights, chosen, temperatures)

    monkeypatch.setattr(infolm_device, "_distributions", short)
    found = scored(references, candidates, "fisher_rao").arrays
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9)
    most[0] = 0
    with pytest.raises(InputError, match="the device's memory does not suffice"):
        scored(references, candidates, "fisher_rao")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [60_000, 20])
def test_the_device_way_equals_the_loop(
    tiny_bert: Path, scored: Callable[..., Any], device_way: None, monkeypatch: Any, chunk: int
) -> None:
    """chunk: an eighth of the characters whose pairs are scored together; with few of them one portion flies while
    another lands."""
    monkeypatch.setattr(evaluate_module, "_CHUNK_CHARACTERS", chunk)
    monkeypatch.setattr(infolm_device, "_ROWS", 500)  # a text's rows in several parts
    monkeypatch.setattr(infolm_device, "_HELD", 700)  # few distributions at once
    references = [*texts(9, 70), "", "the cat", "a dog \x0b ran", " ".join(texts(30, 71))]
    candidates = [*texts(9, 72), "a cat", "the cat", "a dog ran", "a bird"]
    made: list[Any] = []
    whole = infolm_device.launch
    monkeypatch.setattr(infolm_module, "launch", lambda *given: made.append(given) or whole(*given))
    options: dict[str, Any] = {"measure": list(MEASURES), "temperature": [0.5, 2], "alpha": 0.6, "beta": 0.7}
    ours = scored(references, candidates, **options)
    assert len(made) == 1 if chunk == 60_000 else len(made) > 3
    weigh = idf_table(tiny_bert, [text for text in references if text])
    for temperature in (0.5, 2):
        for place in (0, 4, 8):
            loop = slow(tiny_bert, references[place], candidates[place], temperature, weigh, alpha=0.6, beta=0.7)
            for name in MEASURES:
                found = ours.arrays[f"{name}@{temperature:g}_scores"]
                assert found[place] == pytest.approx(loop[name], rel=1e-5, abs=1e-5), name
                assert found[10] == found[11] == 0  # equal texts, and texts of the same pieces
    with engine(accelerator=None):
        usual = scored(references, candidates, **options)
    for name, scores in usual.arrays.items():
        np.testing.assert_allclose(ours.arrays[name], scores, rtol=1e-4, atol=1e-7, err_msg=name)
    assert ours.warnings == usual.warnings


def test_where_memory_does_not_suffice_fewer_rows_go_through_the_model(
    scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    import torch

    references, candidates = texts(6, 80), texts(6, 81)
    expected, own, refused = scored(references, candidates), MaskedModel.head_tensor, []

    def limited(self: Any, ids: Any, mask: Any, places: Any) -> Any:
        if ids.numel() > 40:
            refused.append(ids.numel())
            raise torch.cuda.OutOfMemoryError("no memory")
        return own(self, ids, mask, places)

    monkeypatch.setattr(MaskedModel, "head_tensor", limited)
    np.testing.assert_allclose(scored(references, candidates).arrays["scores"], expected.arrays["scores"], rtol=1e-5)
    assert refused


@pytest.mark.parametrize("chunk", [60_000, 20])
def test_distributions_that_find_no_memory_are_compared_here(tiny_bert: Path, monkeypatch: Any, chunk: int) -> None:
    """Without a device the same call takes the same way. chunk: as above; the first portions have landed by then."""
    monkeypatch.setattr(evaluate_module, "_CHUNK_CHARACTERS", chunk)
    references, candidates = texts(30, 82), texts(30, 83)
    ask = functools.partial(infolm, references, candidates, model=tiny_bert, cache=False)
    expected = ask(device="cpu")
    unasked_beside_models(monkeypatch)
    whole, launched = infolm_device._distributions, []

    def full_later(*given: Any) -> Any:
        launched.append(1)
        return whole(*given) if chunk == 20 and len(launched) < 3 else no_memory()

    monkeypatch.setattr(infolm_device, "_distributions", full_later)
    found = ask()
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5, atol=1e-7)
    assert found.warnings == expected.warnings
    assert found.signature == expected.signature
    launched.clear()
    with pytest.raises(InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        ask(device="cpu")


@pytest.mark.parametrize("most", [3, 0])
def test_masked_texts_that_a_device_has_no_room_for_are_computed_here(
    tiny_bert: Path, monkeypatch: Any, most: int
) -> None:
    """most: how many rows go through the model while it is there."""
    references, candidates = texts(6, 84), texts(6, 85)
    ask = functools.partial(infolm, references, candidates, model=tiny_bert, cache=False)
    expected = ask(device="cpu").scores
    unasked_beside_models(monkeypatch)
    own, there = MaskedModel.head_tensor, []

    def limited(self: Any, ids: Any, mask: Any, places: Any) -> Any:
        if self.wanted_device is None and (len(ids) > most or not there):
            there.append(len(ids))
            no_memory()
        return own(self, ids, mask, places)

    monkeypatch.setattr(MaskedModel, "head_tensor", limited)
    monkeypatch.setattr(infolm_device, "_distributions", no_memory)
    np.testing.assert_allclose(ask().scores, expected, rtol=1e-5, atol=1e-7)
    monkeypatch.setattr(MaskedModel, "logits", no_memory)
    with pytest.raises(InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        ask(device="cpu")


@pytest.mark.parametrize("name", ["to", "forward"])
def test_a_masked_model_that_a_device_has_no_room_for_is_loaded_here(
    tiny_bert: Path, monkeypatch: Any, name: str
) -> None:
    """name: where there is no room, for the model or for the first rows that try it."""
    import torch
    from transformers import BertModel

    expected = infolm(["a cat sat"], ["the dog ran"], model=tiny_bert, cache=False, device="cpu")
    kind = torch.nn.Module if name == "to" else BertModel
    own, asked = getattr(kind, name), []

    def full(self: Any, *given: Any, **more: Any) -> Any:
        if not asked:
            asked.append(given)
            no_memory()
        return own(self, *given, **more)

    monkeypatch.setattr(kind, name, full)
    assert infolm(["a cat sat"], ["the dog ran"], model=tiny_bert, cache=False).scores == expected.scores
    assert asked
    asked.clear()
    with pytest.raises(InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        infolm(["a cat sat"], ["the dog ran"], model=tiny_bert, cache=False, device="cpu")


def test_the_device_way_masks_each_text_once_and_keeps_it(
    tiny_bert: Path, device_way: None, spy: Spy, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(evaluate_module, "_CHUNK_CHARACTERS", 8)
    references, candidates = texts(6, 73) * 2, texts(12, 74)
    first = infolm(references, candidates, "kl", tiny_bert, cache=tmp_path, device="cpu")
    _, made = spy.taken()
    second = infolm(references, candidates, "kl", tiny_bert, cache=tmp_path, device="cpu")
    _, trials = spy.taken()  # by which a body is tried; all vectors came from the disk
    lengths = [len(pieces) for pieces in {tuple(own_ids(tiny_bert, text)) for text in (*references, *candidates)}]
    assert made - trials == sum(length * (length + 2) for length in lengths)
    assert trials % 18 == 0  # two rows of nine made-up tokens
    np.testing.assert_allclose(second.scores, first.scores, rtol=1e-12)


def test_a_device_begins_before_all_references_are_cut(
    tiny_bert: Path, scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    monkeypatch.setattr(evaluate_module, "_CHUNK_CHARACTERS", 8)
    references, candidates = texts(40, 92), texts(40, 93)
    cut: list[str] = []
    cut_at_forward: list[int] = []
    pieces, forward = Tokenizer.pieces, MaskedModel.head_tensor
    monkeypatch.setattr(Tokenizer, "pieces", lambda own, given: cut.extend(given) or pieces(own, given))
    monkeypatch.setattr(MaskedModel, "head_tensor", lambda *given: cut_at_forward.append(len(cut)) or forward(*given))
    scored(references, candidates, "l1")
    assert cut_at_forward[0] < 10
    assert sorted(cut) == sorted({*references, *candidates})  # each once


def test_a_device_is_at_work_while_earlier_vectors_are_put_away(
    tiny_bert: Path, scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    """Each text's vectors are kept once, some of them between two batches of later texts."""
    monkeypatch.setattr(evaluate_module, "_CHUNK_CHARACTERS", 20)
    monkeypatch.setattr(masked_device, "_QUEUED", 1)
    references, candidates = texts(20, 94), texts(20, 95)
    done: list[str] = []
    kept: list[tuple[int, ...]] = []
    taken, forward, land = masked_device.Launched.taken, MaskedModel.head_tensor, MaskedStore.land

    def noted(launched: Any) -> Any:
        made = taken(launched)
        kept.extend(made)
        done.append("kept" if made else "nothing left")
        return made

    monkeypatch.setattr(masked_device.Launched, "taken", noted)
    monkeypatch.setattr(MaskedModel, "head_tensor", lambda *given: done.append("batch") or forward(*given))
    monkeypatch.setattr(MaskedStore, "land", lambda *given: done.append("land") or land(*given))
    scored(references, candidates, "l1")
    assert any(done[at - 1 : at + 2] == ["batch", "kept", "batch"] for at in range(1, len(done)))
    assert sorted(kept) == sorted({tuple(own_ids(tiny_bert, text)) for text in (*references, *candidates)})


@pytest.mark.parametrize("count", [0, 1, 9])
def test_idf_of_many_texts_is_that_of_the_formula(count: int) -> None:
    """ln((N + 1) / (c + 1)) for a piece that c of N references have, as a share of its text's sum."""
    rng = random.Random(count)
    references = [rng.choices(range(12), k=rng.randint(0, 6)) for _ in range(count)]
    given = [[], [3], [3, 3, 40], *([rng.randrange(15) for _ in range(5)] for _ in range(6)), []]
    idf = Idf(references)
    found = idf.shares_of_many(np.array([piece for text in given for piece in text]), np.array([*map(len, given)]))
    expected: list[float] = []
    for text in given:
        weights = [math.log((count + 1) / (1 + sum(piece in own for own in references))) for piece in text]
        if count < 2 or not sum(weights):
            weights = [1.0] * len(text)
        expected += [weight / sum(weights) for weight in weights]
        np.testing.assert_allclose(idf.shares(text), expected[len(expected) - len(text) :], rtol=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_the_device_way_gives_way_where_probabilities_are_too_small(
    scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    references, candidates = texts(4, 75), texts(4, 76)
    usual = scored(references, candidates, "kl", temperature=0.3)
    monkeypatch.setattr(infolm_device, "DEEPEST", 0.0)
    one_by_one: list[int] = []
    whole = infolm_module.log_distributions
    monkeypatch.setattr(infolm_module, "log_distributions", lambda *given: one_by_one.append(1) or whole(*given))
    deep = scored(references, candidates, "kl", temperature=0.3)
    assert one_by_one
    np.testing.assert_allclose(deep.scores, usual.scores, rtol=1e-9)


def test_the_device_way_gives_way_where_half_precision_overflows(
    scored: Callable[..., Any], device_way: None, monkeypatch: Any
) -> None:
    references, candidates = texts(4, 77), texts(4, 78)
    usual = scored(references, candidates, "l2")
    whole = MaskedModel.head_tensor
    calls: list[int] = []

    def broken(model: MaskedModel, *given: Any) -> Any:
        calls.append(1)
        made = whole(model, *given)
        return made * math.inf if len(calls) == 1 else made

    monkeypatch.setattr(MaskedModel, "head_tensor", broken)
    np.testing.assert_allclose(scored(references, candidates, "l2").scores, usual.scores, rtol=1e-6)
    assert len(calls) > 1


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_cuda_equals_the_processor(tiny_bert: Path, dtype: str) -> None:
    """Equal to the rounding of the number type, and to the last digit where all vectors come from one place."""
    references, candidates = texts(40, 90), texts(40, 91)
    options: dict[str, Any] = {"measure": list(MEASURES), "alpha": [0.6, 2], "beta": 0.7, "temperature": [0.5, 1]}
    ours = infolm(references, candidates, model=tiny_bert, device="cuda", dtype=dtype, cache=False, **options)
    exact = infolm(references, candidates, model=tiny_bert, device="cpu", cache=False, **options)
    near = {"float32": 1e-4, "float16": 0.02, "bfloat16": 0.15}[dtype]
    for name, scores in exact.arrays.items():
        np.testing.assert_allclose(ours.arrays[name], scores, rtol=near, atol=near, err_msg=name)


# Number types


@pytest.mark.parametrize("dtype", ["bf16", "bfloat16"])
def test_bfloat16_is_near_and_kept_apart(
    scored: Callable[..., Any], tiny_bert: Path, tmp_path: Path, dtype: str
) -> None:
    """bfloat16 has 8 bits: each layer's numbers are off by up to 2^-9 of themselves, and scores by a few times that."""
    references, candidates = texts(5, 80), texts(5, 81)
    exact = infolm(references, candidates, "l1", tiny_bert, device="cpu", cache=tmp_path)
    half = infolm(references, candidates, "l1", tiny_bert, device="cpu", cache=tmp_path, dtype=dtype)
    assert not np.array_equal(half.scores, exact.scores)  # not from what float32 left on disk
    np.testing.assert_allclose(half.scores, exact.scores, atol=0.05)
    assert (exact.signature["model"]["dtype"], half.signature["model"]["dtype"]) == ("float32", "bfloat16")
    assert scored(references, candidates, "l1", dtype="float32").values == exact.values


# Parameters


def test_overflow_is_said(scored: Callable[..., Any]) -> None:
    references, candidates = texts(6, 45), texts(6, 46)
    ours = scored(references, candidates, "alpha", alpha=400.0, temperature=0.05)
    lost = int(np.isinf(ours.scores).sum())
    assert lost > 0
    assert f"alpha = 400 is outside (0, 1): {lost} pairs have numbers too large for a float" in ours.warnings
    assert not np.isnan(ours.scores).any()


def test_result_says_how_it_was_made(tiny_bert: Path, scored: Callable[..., Any]) -> None:
    ours = scored(texts(3, 47), texts(3, 48), "renyi", alpha=0.5, temperature=0.25, idf=False)
    assert ours.direction == "lower"
    assert list(ours.values) == ["value"]
    signature = ours.signature
    assert (signature["measure"], signature["temperature"], signature["idf"]) == (["renyi"], [0.25], "none")
    assert (signature["alpha"], signature["beta"]) == (0.5, None)
    assert signature["model"]["encoder"] == tiny_bert.name
    assert METRICS.find("InfoLM").name == "infolm"


def test_is_run_among_others(tiny_bert: Path, scored: Callable[..., Any]) -> None:
    references, candidates = texts(5, 49), texts(5, 50)
    options = {"infolm": {"measure": "l2", "temperature": 0.5}}
    found = evaluate_pairs(references, candidates, ["infolm"], options=options, model=tiny_bert, cache=False)
    np.testing.assert_array_equal(
        found["candidate"]["infolm"].scores, scored(references, candidates, "l2", temperature=0.5).scores
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "euclid"}, "unknown information measure 'euclid'"),
        ({"measure": []}, "no information measure was asked for"),
        ({"measure": 3}, "measure must be a name or a list of names, not 3"),
        ({"measure": ["kl", 3]}, "measure must be a name or a list of names"),
        ({"measure": "alpha"}, "the measure alpha needs alpha"),
        ({"measure": "alpha", "alpha": 1}, "the measure alpha does not exist at alpha = 1"),
        ({"measure": "renyi", "alpha": -1}, "the measure renyi does not exist at alpha <= 0"),
        ({"measure": "ab", "alpha": 1}, "the measure ab needs beta"),
        ({"measure": "kl", "beta": 1}, "beta = 1 is used by none of the measures asked for"),
        ({"measure": "renyi", "alpha": []}, "no alpha was given: the list is empty"),
        ({"measure": "renyi", "alpha": [0.5, 1]}, "the measure renyi does not exist at alpha = 1"),
        ({"measure": "renyi", "alpha": [0.5, "2"]}, "alpha must be a number from -1e\\+06 to 1e\\+06, not '2'"),
        ({"measure": "renyi", "alpha": [2, 2.0]}, "two values of alpha are the same"),
        ({"measure": "ab", "alpha": [1, 2], "beta": [1, -2]}, "the measure ab does not exist at alpha \\+ beta = 0"),
        ({"measure": "l1", "alpha": [0.5, 2]}, "alpha = 0.5 is used by none of the measures asked for"),
        ({"dtype": "int8"}, "dtype must be auto, float32, float16 or bfloat16 \\(bf16\\), not 'int8'"),
        ({"temperature": 0}, "a temperature must be above 0, not 0"),
        ({"temperature": -1.5}, "a temperature must be above 0, not -1.5"),
        ({"temperature": math.nan}, "a temperature must be a number above 0, not nan"),
        ({"temperature": True}, "a temperature must be a number above 0, not True"),
        ({"temperature": "1"}, "a temperature must be a number above 0, not '1'"),
        ({"temperature": []}, "no temperature was given"),
        ({"temperature": [1, 1.0]}, "two temperatures are the same"),
        ({"temperature": 1e-9}, "a temperature must be from 0.0001 to 10000, not 1e-09"),
        ({"temperature": 1e9}, "a temperature must be from 0.0001 to 10000, not 1e\\+09"),
        ({"idf": "yes"}, "idf must be true or false, not 'yes'"),
        ({"over_references": "worst"}, "over_references is best or mean"),
        ({"batch_tokens": 0}, "batch_tokens must be a whole number of at least 1"),
        ({"model": 3}, "a model is a name or a folder, not 3"),
        ({"model": "no/such/folder/here"}, "there is no masked language model at no/such/folder/here"),
    ],
)
def test_bad_parameters(scored: Callable[..., Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        scored(["a cat"], ["a dog"], **options)
    assert "\n" not in str(caught.value)


# Without the package recapture-weights


@pytest.fixture
def no_weights_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "package_folders", lambda package: [])


@pytest.mark.parametrize("model", [None, "recapture-minilm-head", "recapture-minilm-mlm"])
def test_one_sentence_says_how_to_install_the_default_model(no_weights_package: None, model: str | None) -> None:
    for ask in (
        lambda: infolm(["a cat"], ["a dog"], model=model, offline=True),
        lambda: evaluate_pairs(["a cat"], ["a dog"], "bleu,infolm", model=model, offline=True),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        message = str(caught.value)
        assert "recapture-weights, which is not installed: run pip install ./weights in a clone of recapture" in message
        assert "\n" not in message and "--" not in message


def test_a_named_model_does_not_need_the_default_one(no_weights_package: None, scored: Callable[..., Any]) -> None:
    found = scored(["the cat sat", "a dog ran"], ["the cat sat", "the old bird sang"]).scores
    assert found[0] == 0 and found[1] > 0.01
