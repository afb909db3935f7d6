"""Texts as sets of word-piece vectors: against transformers itself and counts in plain float64 loops."""

from __future__ import annotations

import gzip
import json
import math
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from pair_texts import CANDIDATES, REFERENCES

import recapture as rc
from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.pairs import evaluate as run
from recapture.pairs import word_sets
from recapture.pairs.declaration import METRICS
from recapture.pairs.metrics import bertscore, moverscore
from recapture.pairs.metrics.mark_evaluate_words import mark_evaluate_words
from recapture.pairs.metrics.prd_words import prd_words
from recapture.pairs.metrics.precision_recall_words import precision_recall_words
from recapture.representations.words import WordStore
from torch_devices import no_memory, unasked_beside_models

PAIRS = list(zip(REFERENCES, CANDIDATES, strict=True))
ME = ("capture", "petersen", "quality", "diversity")
LONG = "the old cat sat on a red mat near the river and the small dog ran to the big tree , then slept . " * 4


@pytest.fixture(scope="module")
def samples(tiny_bert):
    """From a text to its samples: one text at a time through the model, so that there is no padding at all."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(tiny_bert))
    model = AutoModel.from_pretrained(str(tiny_bert)).eval()

    def make(text, layers=3):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        return np.concatenate([state[0, 1:-1].numpy() for state in states[-layers:]])

    return make


def me(encoder, references=REFERENCES, candidates=CANDIDATES, **options):
    return mark_evaluate_words(references, candidates, encoder=encoder, **{"layers": 3, **options})


def pr(encoder, references=REFERENCES, candidates=CANDIDATES, **options):
    return precision_recall_words(references, candidates, encoder=encoder, **{"layers": 3, **options})


def prd(encoder, references=REFERENCES, candidates=CANDIDATES, **options):
    return prd_words(references, candidates, encoder=encoder, **{"layers": 3, **options})


def plain_scores(reference, candidate, k):
    """The paper's four scores from counts; CAPTURE's likelihood is looked at for every N in reach."""
    n, m = len(reference), len(candidate)
    found = oracles.counts(reference, candidate, k)
    total = n + m

    def score(estimate):
        return 1 - min(abs(estimate - total) / total, 1)

    met = found["x"] + found["y"]
    captures = (k + 1) * total + found["a"] + found["b"]
    by_candidate, by_reference = (k + 1) * m + found["a"], (k + 1) * n + found["b"]

    def likelihood(size):
        free = total * size - captures
        logs = free * math.log(free) if free else 0.0
        return math.lgamma(size + 1) - math.lgamma(size - total + 1) + logs - total * size * math.log(total * size)

    return {
        "capture": score(max(range(total, 3 * total), key=likelihood)),
        "petersen": score((n + found["x"]) * (m + found["y"]) / met) if met else 0.0,
        "quality": score(total * by_candidate / (by_candidate - (m - found["x"]))),
        "diversity": score(total * by_reference / (by_reference - (n - found["y"]))),
    }


def least_gap(reference, candidate, k):
    """How near any distance comes to a radius it is compared with, of its size: rounding must not decide."""
    table = oracles.squared_distances(reference, candidate)
    radii = oracles.squared_radii(reference, k)[:, None], oracles.squared_radii(candidate, k)
    return min(np.abs(table / each - 1).min() for each in radii)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("layers", [1, 3])
def test_mark_evaluate_and_precision_recall_follow_the_definition(tiny_bert, samples, k, layers):
    chosen = [pair for pair in PAIRS if min(len(samples(text, layers)) for text in pair) > k]
    sets = [(samples(reference, layers), samples(candidate, layers)) for reference, candidate in chosen]
    # Equal texts aside (the last), no decision depends on a digit that padding could change.
    assert min(least_gap(*pair, k) for pair in sets[:-1]) > 1e-4
    texts = [list(side) for side in zip(*chosen, strict=True)]
    found = me(tiny_bert, *texts, k=k, layers=layers)
    expected = [plain_scores(*pair, k) for pair in sets]
    for name in ME:
        np.testing.assert_allclose(found.arrays[f"{name}_scores"], [each[name] for each in expected], rtol=1e-12)
        assert found.values[name] == pytest.approx(np.mean([each[name] for each in expected]), rel=1e-12)
    shares = pr(tiny_bert, *texts, k=k, layers=layers)
    for (reference, candidate), precision, recall in zip(
        sets, shares.precision_scores, shares.recall_scores, strict=True
    ):
        counts = oracles.counts(reference, candidate, k)
        assert (precision, recall) == (counts["x"] / len(candidate), counts["y"] / len(reference))


@pytest.mark.slow
def test_numbers_are_those_of_the_metrics_of_two_sets(tiny_bert):
    """On the very vectors that the scorer sees."""
    from recapture.pairs.evaluate import Shared

    store = Shared(tiny_bert).words()
    layers = store.want_last(3)
    store.ensure(REFERENCES + CANDIDATES)
    rows = {text: np.concatenate(list(store.stacked(text, layers))) for text in REFERENCES + CANDIDATES}
    mark, shares, curves = me(tiny_bert, k=2), pr(tiny_bert, k=2), prd(tiny_bert)
    same = 0
    for at, (reference, candidate) in enumerate(PAIRS):
        sides = rows[reference], rows[candidate]
        single = rc.mark_evaluate(*sides, k=2)
        assert [mark.arrays[f"{name}_scores"][at] for name in ME] == [single.values[name] for name in ME]
        single = rc.precision_recall(*sides, k=2)
        assert (shares.precision_scores[at], shares.recall_scores[at]) == (single.precision, single.recall)
        single = rc.prd(*sides)
        both = curves.f8_scores[at], curves.f1_8_scores[at]
        # `rc.prd` clusters in float32, where one near-tie may move one of ten clusterings.
        assert both == pytest.approx((single.f8, single.f1_8), abs=0.02)
        same += both == pytest.approx((single.f8, single.f1_8), abs=1e-9)
    assert same >= len(PAIRS) - 1


def test_prd_scores_are_means_over_clusterings(tiny_bert):
    """With as many clusters as samples nothing is shared; with one cluster everything is."""
    assert prd(tiny_bert, REFERENCES[:3], CANDIDATES[:3], clusters=500, clusterings=2).f8 == 0
    one = prd(tiny_bert, clusters=1, clusterings=2)
    np.testing.assert_allclose([one.f8_scores, one.f1_8_scores], 1, atol=1e-6)  # angles stop short of 1
    single = [prd(tiny_bert, clusterings=1, clusters=5, seed=seed).f8_scores for seed in (3, 4)]
    both = prd(tiny_bert, clusterings=2, clusters=5, seed=3).f8_scores
    np.testing.assert_allclose(both, np.mean(single, axis=0), rtol=1e-12)


def test_equal_texts_score_1(tiny_bert):
    """Theorems A.1 and A.2 of the paper; CAPTURE's holds for its ten samples a side (A.3), not for many."""
    found = me(tiny_bert, CANDIDATES, CANDIDATES)
    for name in ("petersen", "quality", "diversity"):
        assert found.arrays[f"{name}_scores"].tolist() == [1.0] * len(CANDIDATES)
    shares = pr(tiny_bert, CANDIDATES, CANDIDATES, k=1)
    assert (shares.precision, shares.recall) == (1, 1)
    curves = prd(tiny_bert, CANDIDATES, CANDIDATES)
    np.testing.assert_allclose([curves.f8_scores, curves.f1_8_scores], 1, atol=1e-6)
    pieces = ["the cat sat on the mat , the cat slept"]
    ten = me(tiny_bert, pieces, pieces, layers=1)
    assert ten.values == dict.fromkeys(ME, 1.0)


def test_spelling_that_the_model_does_not_see_is_no_difference(tiny_bert):
    """On the rim of every sphere lies a piece of the other text: rounding must not decide whether it is inside."""
    texts = [text for text in CANDIDATES if text.islower()]
    shouted = [f" {text.upper()}  " for text in texts]
    for tokens in (1, 40, 4096):  # other company in a batch, other rounding
        found = me(tiny_bert, texts, shouted, batch_tokens=tokens)
        assert (found.petersen, found.quality, found.diversity) == (1, 1, 1)


def test_sides_have_their_names(tiny_bert):
    """Quality and precision look at the candidate, diversity and recall at the reference."""
    there, back = me(tiny_bert), me(tiny_bert, CANDIDATES, REFERENCES)
    assert there.quality_scores.tolist() == back.diversity_scores.tolist()
    assert there.capture_scores.tolist() == back.capture_scores.tolist()
    assert there.petersen_scores.tolist() == back.petersen_scores.tolist()
    one, other = pr(tiny_bert, k=1), pr(tiny_bert, CANDIDATES, REFERENCES, k=1)
    assert one.precision_scores.tolist() == other.recall_scores.tolist() != one.recall_scores.tolist()
    # All of a short candidate's words, few of the reference's: better precision than recall.
    part = prd(tiny_bert, ["the cat sat on the mat . the dog ran to the river and slept"], ["the cat sat on the mat"])
    assert part.f1_8 > part.f8


@pytest.mark.slow
@pytest.mark.parametrize("score", [me, pr, prd])
def test_nothing_depends_on_order_batches_chunks_or_threads(tiny_bert, score, monkeypatch):
    found = score(tiny_bert)
    order = np.random.default_rng(0).permutation(len(PAIRS))
    shuffled = score(tiny_bert, [REFERENCES[at] for at in order], [CANDIDATES[at] for at in order])
    for name, column in found.arrays.items():
        assert shuffled.arrays[name].tolist() == column[order].tolist()
    assert shuffled.values == found.values
    for tokens in (1, 30, 4096):  # from one text at a time, without padding, to all texts together
        again = score(tiny_bert, batch_tokens=tokens)
        for name, column in found.arrays.items():
            np.testing.assert_allclose(again.arrays[name], column, rtol=1e-12)
    monkeypatch.setattr(run, "_CHUNK_CHARACTERS", 1)
    with engine(threads=1):
        again = score(tiny_bert)
    for name, column in found.arrays.items():
        np.testing.assert_allclose(again.arrays[name], column, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("score", "outputs"), [(me, ME), (pr, ("precision", "recall")), (prd, ("f8", "f1_8"))])
def test_several_references_count_by_their_mean(tiny_bert, score, outputs):
    groups = [[REFERENCES[0], REFERENCES[1]], [REFERENCES[2], REFERENCES[4]]]
    texts = CANDIDATES[:2]
    found = score(tiny_bert, groups, texts)
    apart = [score(tiny_bert, [group[at] for group in groups], texts) for at in (0, 1)]
    best = score(tiny_bert, groups, texts, over_references="best")
    for name in outputs:
        columns = [each.arrays[f"{name}_scores"] for each in apart]
        np.testing.assert_allclose(found.arrays[f"{name}_scores"], np.mean(columns, axis=0), rtol=1e-15)
        assert best.arrays[f"{name}_scores"].tolist() == np.max(columns, axis=0).tolist()
    assert found.signature["over_references"] == "mean"


def test_systems_share_their_references(tiny_bert):
    systems = {"one": CANDIDATES, "other": REFERENCES}
    found = me(tiny_bert, REFERENCES, systems)
    for name, texts in systems.items():
        assert found[name].values == me(tiny_bert, REFERENCES, texts).values


def never_met(n, m, k):
    """Floors by the paper's formulas with nothing met: Petersen 0, Schnabel 1 - 1/k, CAPTURE by looking at every N."""
    far = np.arange(n, dtype=np.float64)[:, None], np.arange(m, dtype=np.float64)[:, None] + 1e6
    found = plain_scores(*far, k)
    assert found["petersen"] == 0 and found["quality"] == pytest.approx(1 - 1 / k, abs=1e-12) == found["diversity"]
    return found


@pytest.mark.parametrize(("score", "outputs"), [(me, ME), (pr, ("precision", "recall")), (prd, ("f8", "f1_8"))])
@pytest.mark.parametrize("k", [1, 2])
def test_an_empty_text_scores_as_texts_that_never_meet(tiny_bert, samples, score, outputs, k):
    options = {} if score is prd else {"k": k}
    references, candidates = ["", "the cat sat", "the dog ran", " "], ["the cat", " \n", "the dog ran", ""]
    found = score(tiny_bert, references, candidates, **options)
    alone = score(tiny_bert, ["the dog ran"], ["the dog ran"], **options)
    for name in outputs:
        # A text of the other's length that it never meets; precision, recall and PRD are then 0.
        floors = [
            never_met(*2 * [len(samples(text))], k)[name] if score is me else 0 for text in ("the cat", "the cat sat")
        ]
        assert found.arrays[f"{name}_scores"].tolist() == [*floors, alone.values[name], 1]
    fate = "scored as texts that never meet" if score is me else "scored worst"
    assert found.warnings[:3] == (
        "1 of 4 pairs is of two empty texts: scored as equal",
        f"1 more of 4 texts of reference is empty: {fate}",
        f"1 more of 4 texts of candidate is empty: {fate}",
    )


def test_an_empty_text_scores_no_less_than_unrelated_ones(tiny_bert):
    """What the rule is for: at 0 a few empty texts outweigh all differences between the others, since CAPTURE of texts
    that share nothing is about .75."""
    unrelated = ["fish is green ?", "a bird sang"]
    found = me(tiny_bert, ["the cat sat on the mat"] * 3, ["", *unrelated])
    assert 0.74 < found.capture_scores[0] < 0.78
    assert found.capture_scores[0] <= min(found.capture_scores[1:]) + 0.02


def test_an_empty_reference_counts_in_a_mean_by_the_same_rule(tiny_bert, samples):
    text, other = "the cat sat", "the dog ran"
    floor = never_met(*2 * [len(samples(text))], 1)
    pair = me(tiny_bert, [other], [text])
    found = me(tiny_bert, [[other, ""], ["", text]], [text, ""])
    for name in ME:
        column = found.arrays[f"{name}_scores"]
        assert column[0] == pytest.approx((pair.values[name] + floor[name]) / 2, abs=1e-15)
        assert column[1] == pytest.approx((1 + floor[name]) / 2, abs=1e-15)


def test_texts_without_pieces_cannot_be_compared(tiny_bert, samples):
    """Control characters: not blank, but nothing is left of them behind the tokenizer."""
    nothing = "\u200d\u0007"
    floor = never_met(*2 * [len(samples("the cat"))], 1)
    for score in (me, pr, prd):
        found = score(tiny_bert, ["the cat", nothing, nothing], [nothing, "the cat", nothing])
        for name in found.values:
            low = floor[name] if score is me else 0
            assert found.arrays[f"{name}_scores"].tolist() == [low, low, 1]  # a text is equal to itself
        assert any("2 of 3 pairs could not be compared" in warning for warning in found.warnings)


@pytest.mark.traced
@pytest.mark.slow
def test_texts_with_too_few_samples_have_the_largest_k_there_is(tiny_bert, samples):
    references = ["fish", "the cat sat", "the cat sat", "fish"]  # fish: one piece in three layers
    candidates = ["the cat sat", "fish", "the cat sat", "fish"]
    for score, names in ((me, ME), (pr, ("precision", "recall"))):
        enough = score(tiny_bert, references, candidates, k=2)
        assert not any("too few" in warning for warning in enough.warnings)
        for k in (3, 9):
            found = score(tiny_bert, references, candidates, k=k)
            middle = score(tiny_bert, references[2:3], candidates[2:3], k=min(k, 8))  # nine samples
            for name in names:
                column = found.arrays[f"{name}_scores"]
                assert column[[0, 1, 3]].tolist() == enough.arrays[f"{name}_scores"][[0, 1, 3]].tolist()
                assert column[2] == middle.arrays[f"{name}_scores"][0]
            short = (
                f"{3 if k == 3 else 4} pairs of texts have too few pieces for k = {k}: the largest k that the shorter"
            )
            assert any(warning.startswith(short) for warning in found.warnings)
    # Against plain loops at the k that is left.
    expected = plain_scores(samples("fish"), samples("the cat sat"), 2)
    assert me(tiny_bert, ["fish"], ["the cat sat"], k=7).values == pytest.approx(expected, rel=1e-12)
    assert me(tiny_bert, ["fish"], ["fish"], k=7).values == dict.fromkeys(ME, 1.0)


def test_a_single_sample_meets_only_its_equal(tiny_bert):
    references, candidates = ["fish", "fish", "FISH", "the cat sat"], ["bird", "fish", "fish", "the cat sat"]
    floor = never_met(2, 2, 1)
    for score in (me, pr):
        for k in (1, 3):
            found = score(tiny_bert, references, candidates, layers=1, k=k)
            for name in found.values:
                low = floor[name] if score is me else 0
                assert found.arrays[f"{name}_scores"][:3].tolist() == [low, 1, 1]
            assert any(f"too few pieces for k = {k}" in warning for warning in found.warnings)
    curves = prd(tiny_bert, references, candidates, layers=1)
    np.testing.assert_allclose(curves.f8_scores, [0, 1, 1, 1], atol=1e-6)
    assert "4 pairs of texts have fewer samples than 20 clusters: each of their samples is a cluster of its own" in (
        curves.warnings
    )


@pytest.mark.traced
@pytest.mark.slow
def test_long_texts_go_through_the_model_in_windows(tiny_bert, samples):
    """Room for 62 pieces: of 96, windows 0-62, 31-93 and 34-96; the middle of what two share is their seam.

    So pieces 0-47, 47-64 and 64-96 come from the three in turn.
    """
    words = LONG.split()
    assert len(words) == 96
    changed = list(words)
    changed[40:43], changed[88:91] = ["bird", "sang", "?"], ["fish", "is", "green"]  # in all windows

    def rows(text):
        windows = [samples(" ".join(text[start : start + 62])).reshape(3, 62, -1) for start in (0, 31, 34)]
        return np.concatenate([windows[0][:, :47], windows[1][:, 16:33], windows[2][:, 30:]], axis=1).reshape(288, -1)

    sides = rows(words), rows(changed)
    assert least_gap(*sides, 1) > 1e-5
    texts = [LONG], [" ".join(changed)]
    counts = oracles.counts(*sides, 1)
    found = pr(tiny_bert, *texts, k=1)
    assert (found.precision, found.recall) == (counts["x"] / 288, counts["y"] / 288)
    assert me(tiny_bert, *texts).values == pytest.approx(plain_scores(*sides, 1), rel=1e-12)
    for score in (me, pr, prd):
        assert any("windows" in warning for warning in score(tiny_bert, *texts).warnings)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_on_a_device_whole_numbers_are_the_same(tiny_bert, device, monkeypatch):
    """On the very vectors that the device has, against counts in plain loops; a long text in windows among them."""
    references, candidates = [*REFERENCES, LONG], [*CANDIDATES, LONG.replace("cat", "bird")]
    with engine(accelerator=device):
        shared = run.Shared(tiny_bert, device=device)
        scorer = METRICS.find("me-words").prepare([], shared, k=2, layers=2, encoder=None)
        other = METRICS.find("pr-words").prepare([], shared, k=4, layers=2, encoder=None)
        pairs = list(zip(references, candidates, strict=True))
        assert shared.words().accelerator == device
        monkeypatch.setattr(word_sets, "small_counts_at", None)  # the threads are not asked
        found, more = scorer.counts(pairs, 2), other.counts(pairs, 4)
        sets, sides = scorer.sets(pairs)
    for counts, k in ((found, 2), (more, 4)):
        for at, (reference, candidate) in enumerate(sides.tolist()):
            reference, candidate = sets[reference], sets[candidate]
            assert (counts.n[at], counts.m[at]) == (len(reference), len(candidate))
            assert counts.k[at] == min(k, len(reference) - 1, len(candidate) - 1)
            if counts.k[at]:
                expected = oracles.counts(reference, candidate, int(counts.k[at]))
                assert [getattr(counts, name)[at] for name in "xyab"] == [expected[name] for name in "xyab"]
    assert len(sides) - np.count_nonzero(found.k == 2) < 5


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_device_that_is_asked_for_scores_the_same(tiny_bert, device, monkeypatch):
    """All of a run, in one chunk and in many; on a GPU vectors may differ in their last digits."""
    names = ["me-words", "pr-words", "bertscore", "prd-words"]
    options = {name: {"layers": 3} for name in names if name != "bertscore"}
    texts = ([*REFERENCES, "the cat", "", "\u200d"], [*CANDIDATES, "", "the cat", "the cat"])
    expected = rc.evaluate_pairs(*texts, names, options=options, encoder=tiny_bert, device="cpu")["candidate"]
    for characters in (60_000, 1):
        monkeypatch.setattr(run, "_CHUNK_CHARACTERS", characters)
        with engine(accelerator=device):
            found = rc.evaluate_pairs(*texts, names, options=options, encoder=tiny_bert, device=device)["candidate"]
        for name in names:
            for column, scores in expected[name].arrays.items():
                np.testing.assert_allclose(found[name].arrays[column], scores, rtol=0, atol=1e-6)
            assert found[name].warnings == expected[name].warnings


WORD_METRICS = ["me-words", "pr-words", "prd-words", "bertscore", "moverscore"]


def scored_by_words(encoder, device=None):
    """By metric the scores of all pairs, and its warnings."""
    options = {name: {"layers": 3} for name in WORD_METRICS if name != "bertscore"}
    given = {"options": options, "encoder": encoder, "device": device}
    found = rc.evaluate_pairs(REFERENCES, CANDIDATES, WORD_METRICS, **given)["candidate"]
    return {name: (result.arrays, result.warnings) for name, result in found.items()}


@pytest.mark.parametrize(
    ("module", "name"),
    [(word_sets, "small_counts_on"), (bertscore, "token_table_on"), (moverscore, "mover_costs_on")],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_words_of_a_device_without_memory_are_compared_here(tiny_bert, module, name, monkeypatch):
    """The processor's scores are those of the same call without a device."""
    expected = scored_by_words(tiny_bert, "cpu")
    unasked_beside_models(monkeypatch)
    asked = []
    monkeypatch.setattr(module, name, lambda *given: asked.append(1) or no_memory())
    found = scored_by_words(tiny_bert)
    assert asked == [1]  # it is not tried again
    for metric, (arrays, warnings) in expected.items():
        for column, scores in arrays.items():
            np.testing.assert_allclose(found[metric][0][column], scores, rtol=0, atol=1e-6)
        assert found[metric][1] == warnings
    # Somebody asked for it.
    with pytest.raises(InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        scored_by_words(tiny_bert, "cpu")


@pytest.mark.parametrize("most", [40, 3, 0])
def test_words_that_a_device_cannot_encode_are_encoded_here(tiny_bert, most, monkeypatch):
    """most: how many tokens go through the model at once while it is there; 0: not even the model has room."""
    expected = scored_by_words(tiny_bert, "cpu")
    unasked_beside_models(monkeypatch)
    own, refused, stores = WordStore._states, [], []

    def limited(self, rows):
        stores.append(self)
        if self._device != "cpu" and len(rows) * max(map(len, rows)) > most:
            refused.append(self.accelerator)
            no_memory()
        return own(self, rows)

    monkeypatch.setattr(WordStore, "_states", limited)
    found = scored_by_words(tiny_bert)
    assert set(refused) == ({"cpu"} if most == 40 else {"cpu", None})
    assert (stores[-1].accelerator, stores[-1]._device) == (("cpu", None) if most == 40 else (None, "cpu"))
    for metric, (arrays, _) in expected.items():
        for column, scores in arrays.items():
            np.testing.assert_allclose(found[metric][0][column], scores, rtol=0, atol=1e-5)
    monkeypatch.setattr(WordStore, "_states", no_memory)
    with pytest.raises(InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        scored_by_words(tiny_bert, "cpu")


def test_more_texts_are_scored_together_on_a_device(tiny_bert, monkeypatch):
    """With all scored by the processor one chunk is as large as another."""
    sizes = []
    chunked = run._chunks
    monkeypatch.setattr(
        run,
        "_chunks",
        lambda pairs, size: sizes.append([size(10**6, begun) for begun in (False, True)]) or chunked(pairs, size),
    )
    me(tiny_bert, device="cpu")
    with engine(accelerator="cpu"):
        me(tiny_bert, device="cpu")
    # On a device a third of what is left: 480,000 at most.
    assert sizes == [[60_000, 60_000], [180_000, 333_334]]


@pytest.mark.parametrize("count", [1, 30, 100, 101, 150, 400])
def test_a_device_begins_with_a_small_chunk_and_ends_with_none(count, monkeypatch):
    """Every pair is in one chunk. At most 3 and 8 times the processor's size; equal parts of what does not fit into one
    chunk of 8 are larger than 4, and a chunk lacks less than a pair."""
    monkeypatch.setattr(run, "_CHUNK_CHARACTERS", 1_000)
    rng = np.random.default_rng(count)
    pairs = {("r" * int(r) + str(at), "c" * int(c)) for at, (r, c) in enumerate(rng.integers(100, 200, (count, 2)))}
    shared = run.Shared()
    monkeypatch.setattr(shared, "_words", {"": SimpleNamespace(accelerator="cpu")})
    chunks = list(run._chunks(pairs, shared.chunk_characters))
    assert sorted(pair for chunk in chunks for pair in chunk) == sorted(pairs)
    sizes = [sum(len(text) for pair in chunk for text in pair) for chunk in chunks]
    assert sizes[0] <= 3_000
    assert max(sizes) <= 8_000
    assert len(sizes) < 3 or min(sizes[1:]) > 4_000 - 2 * 203


def test_counts_are_made_once_for_metrics_of_the_same_samples(tiny_bert, monkeypatch):
    calls = []
    counted = word_sets.small_counts_at
    monkeypatch.setattr(
        word_sets, "small_counts_at", lambda *given: calls.append(given[2].max(axis=0).tolist()) or counted(*given)
    )

    def run_both(**options):
        chosen = {"me-words": {"layers": 3}, "pr-words": options}
        given = {"options": chosen, "encoder": tiny_bert, "device": "cpu"}
        return rc.evaluate_pairs(REFERENCES, CANDIDATES, list(chosen), **given)["candidate"]

    for k, ks in ((1, [1]), (2, [1, 2]), (9, [1, 9])):
        calls.clear()
        found = run_both(layers=3, k=k)
        assert calls == [ks]
        assert found["pr-words"].values == pr(tiny_bert, k=k).values
        assert found["me-words"].values == me(tiny_bert).values
    calls.clear()
    found = run_both(layers=2, k=1)  # other samples
    assert calls == [[1], [1]]
    assert found["pr-words"].values == pr(tiny_bert, k=1, layers=2).values


@pytest.mark.parametrize(
    ("score", "options", "message"),
    [
        (me, {"k": 0}, "k must be a whole number of at least 1"),
        (me, {"k": 1.5}, "k must be a whole number"),
        (pr, {"k": True}, "k must be a whole number"),
        (me, {"layers": 4}, "layers must be a whole number from 1 to 3"),
        (prd, {"layers": 0}, "layers must be a whole number from 1 to 3"),
        (prd, {"clusters": 0}, "clusters must be"),
        (prd, {"clusterings": 0}, "clusterings must be"),
        (prd, {"angles": 2}, "angles must be"),
        (prd, {"seed": -1}, "seed must be"),
        (me, {"over_references": "pooled"}, "best or mean"),
    ],
)
def test_bad_options(tiny_bert, score, options, message):
    with pytest.raises(InputError, match=message):
        score(tiny_bert, **options)


def test_what_a_score_rests_on_is_named(tiny_bert):
    found = me(tiny_bert)
    assert found.signature["k"] == 1
    assert found.signature["layers"] == [1, 2, 3]
    assert found.signature["encoder"]["encoder"] == tiny_bert.name
    assert list(found.values) == list(ME)
    assert found.direction == "higher"
    assert set(found.ranges.values()) == {(0.0, 1.0)}
    assert prd(tiny_bert, seed=7).signature["seed"] == 7
    known = rc.list_pair_metrics()
    assert {name: known[name].over_references for name in ("me-words", "pr-words", "prd-words")} == dict.fromkeys(
        ("me-words", "pr-words", "prd-words"), "mean"
    )


@pytest.mark.slow
def test_real_translations_rank_systems_as_people_do(data_folder, minilm):
    """WMT17 cs-en, where the paper's Pearson correlations with people are high: the best system beats the worst."""
    folder = data_folder / "wmt17_to_english"
    with gzip.open(folder / "segments.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["lp"] == "cs-en"][:1200:20]
    wanted = {row["sid"]: at for at, row in enumerate(rows)}
    systems = {}
    with gzip.open(folder / "outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["lp"] == "cs-en" and row["sid"] in wanted:
                systems.setdefault(row["system"], [""] * len(rows))[wanted[row["sid"]]] = row["hyp"]
    table = [line.split("\t") for line in (folder / "system_da.tsv").read_text(encoding="utf-8").splitlines()]
    human = {name: float(score) for pair, name, score in table[1:] if pair == "cs-en"}
    ordered = sorted(human, key=human.get)
    extremes = {name: systems[name] for name in (ordered[0], ordered[-1])}
    worst, best = mark_evaluate_words([row["reference"] for row in rows], extremes, offline=True).values()
    assert all(best.values[name] > worst.values[name] for name in ME)


@pytest.mark.slow
def test_a_real_empty_output_does_not_outweigh_the_others(data_folder, minilm):
    """WebNLG 2020: the one output of 2,847 that is empty, beside the other systems' for the same input. Rated low by
    people, it stays the lowest by CAPTURE; at 0, far below all others, it would hide how the others agree."""
    with gzip.open(data_folder / "webnlg2020_en" / "human_eval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["output"] is not None]
    (empty,) = [row for row in rows if not row["output"].strip()]
    rows = [row for row in rows if row["id"] == empty["id"]]
    people = [np.mean(list(row["human_mean"].values())) for row in rows]
    references, outputs = zip(*((row["references"], row["output"]) for row in rows), strict=True)
    found = mark_evaluate_words(references, outputs, offline=True).capture_scores
    place = rows.index(empty)
    assert 0.74 < found[place] < min(np.delete(found, place))
    at_0 = np.where(np.arange(len(rows)) == place, 0, found)
    assert np.corrcoef(found, people)[0, 1] > np.corrcoef(at_0, people)[0, 1] + 0.01


@pytest.mark.parametrize("metric", ["bertscore", "moverscore", "infolm", "mark_evaluate_words", "prd_words"])
def test_many_unknown_pieces_are_told_of(metric, tiny_bert):
    """Each word here is one piece, and a snowman is in no word list: 1 of 7 pieces, then 1 of 21."""
    score = getattr(rc, metric)
    option = {"model": tiny_bert} if metric == "infolm" else {"encoder": tiny_bert}
    if metric not in ("infolm", "bertscore"):
        option["layers"] = 3
    told = [note for note in score(["the cat sat \u2603"], ["the dog sat"], **option).warnings if "unknown" in note]
    assert told == [
        f"14.3% of the pieces of the texts are unknown to {tiny_bert.name}: it does not see how texts differ in them"
    ]
    few = score(["the cat sat \u2603"], ["the dog sat " + "and the cat sat on the red mat " * 2], **option)
    assert not [note for note in few.warnings if "unknown" in note]


def test_the_type_of_numbers_reaches_the_encoder():
    pytest.importorskip("torch")
    texts = {"references": ["a dog ran home", "the cat sat"], "candidates": ["a dog ran", "the cat sat down"]}
    full, half = (
        rc.evaluate_pairs(*texts.values(), "bertscore", dtype=dtype)["candidate"]["bertscore"]
        for dtype in (None, "bfloat16")
    )
    assert full.signature["encoder"]["dtype"] == "float32" and half.signature["encoder"]["dtype"] == "bfloat16"
    # bfloat16 has 8 bits: about 1/256 of a cosine.
    assert 0 < abs(full.values["f1"] - half.values["f1"]) < 0.02
