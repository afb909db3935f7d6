"""Many small pairs at once against whole float64 tables, pair by pair, to the last integer."""

from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_exactness import INPUTS, VALUES, normal
from test_population import log_likelihood

import recapture as rc
from recapture.errors import InputError
from recapture.geometry import device_small, small
from recapture.geometry.device_small import DeviceSets, small_counts_on
from recapture.geometry.parallel import engine
from recapture.geometry.scratch import Scratch
from recapture.geometry.small import small_counts, small_counts_at
from recapture.population import mark_evaluate_scores

NAMES = ("x", "y", "a", "b", "covered")


def found(counts, pair):
    return {name: int(getattr(counts, name)[pair]) for name in NAMES}


def compare(sets, pairs, k):
    """Every pair with both sets larger than k equals brute force; the others are marked."""
    counts = small_counts(sets, pairs, k)
    for number, (i, j) in enumerate(pairs):
        n, m = len(sets[i]), len(sets[j])
        assert (counts.n[number], counts.m[number]) == (n, m)
        assert counts.enough[number] == (min(n, m) > k)
        expected = oracles.counts(sets[i], sets[j], k) if min(n, m) > k else dict.fromkeys(NAMES, 0)
        assert found(counts, number) == expected, (number, k)


def on_device(sets, device):
    """The sets below each other in a torch tensor; whole numbers as float64, like everywhere."""
    torch = pytest.importorskip("torch")
    kinds = {each.dtype for each in sets}
    kind = kinds.pop() if len(kinds) == 1 else np.dtype(np.float64)
    rows = np.concatenate([np.asarray(each, kind if kind.kind == "f" else np.float64) for each in sets])
    sizes = np.array([len(each) for each in sets])
    return DeviceSets(torch.from_numpy(rows).to(device), np.cumsum(sizes) - sizes, sizes)


def compare_several(sets, pairs, ks, device=None):
    """All k at once, each pair at those it has samples for."""
    pairs = np.array(pairs)
    sizes = np.array([len(each) for each in sets])[pairs].min(axis=1)
    each_k = np.minimum(ks, np.maximum(sizes - 1, 0)[:, None])
    found = small_counts_at(sets, pairs, each_k)
    if device is not None:
        found = small_counts_on(on_device(sets, device), pairs, each_k)
    assert found.shape == (5, *each_k.shape)
    for number, (i, j) in enumerate(pairs.tolist()):
        for place, k in enumerate(each_k[number].tolist()):
            expected = oracles.counts(sets[i], sets[j], k) if k else dict.fromkeys(NAMES, 0)
            assert dict(zip(NAMES, found[:, number, place].tolist(), strict=True)) == expected, (number, k)


DEVICES = [None, "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


# Products of such rows say nothing about which is nearer: their rounding is larger than most distances.
MORE_INPUTS = {**INPUTS, "very far from the origin": (normal(81, 60) + 1e7, normal(82, 50) + 1e7)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MORE_INPUTS)
def test_several_k_at_once_on_inputs_made_to_trip_it_up(name, device):
    compare_several(MORE_INPUTS[name], [(0, 1), (1, 0), (0, 0), (1, 1)], [1, 2, 5], device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["random", "integer grid", "repeated rows"])
def test_more_neighbours_than_there_are(name, device):
    compare_several(INPUTS[name], [(0, 1), (1, 0), (0, 0), (1, 1)], [3, 100, 200], device)


def test_a_k_that_a_set_is_too_small_for_takes_nothing_from_the_others():
    reference, candidate = normal(83, 9), normal(84, 4)
    counts = small_counts_at([reference, candidate], np.array([[0, 1]]), np.array([[1, 2, 5]]))
    for place, k in enumerate((1, 2)):
        assert dict(zip(NAMES, counts[:, 0, place].tolist(), strict=True)) == oracles.counts(reference, candidate, k)
    assert not counts[:, 0, 2].any()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cells, numbers", [(1, 1), (700, 20_000), (1 << 22, 1 << 22)])
def test_several_k_of_texts_however_they_are_cut_up(monkeypatch, device, cells, numbers):
    """From one row of one pair at a time to all pairs together."""
    monkeypatch.setattr(small, "_CELLS", cells)
    monkeypatch.setattr(small, "_NUMBERS", numbers)
    monkeypatch.setattr(device_small, "CELLS", cells)
    sets, pairs = texts(6, 5, 3, 16)
    sets.append(np.random.default_rng(0).integers(0, 3, (60, 16)).astype(np.float32))
    sets.append(sets[0][:1])
    last = len(sets) - 1
    pairs += [(last - 1, 0), (2, last - 1), (last - 1, last - 1), (last, 0), (0, last), (0, 0)]
    compare_several(sets, pairs, [1, 3, 8], device)


def test_a_device_with_little_memory_does_less_at_once(monkeypatch):
    """Where not even one row of one pair fits, one sentence says so."""
    torch = pytest.importorskip("torch")
    sets, pairs = texts(7, 3, 2, 16)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    made, multiply = [], torch.bmm

    def bmm(left, right):
        made.append(left.shape[0] * left.shape[1] * right.shape[2])
        if made[-1] > most:
            raise torch.cuda.OutOfMemoryError("too large")
        return multiply(left, right)

    monkeypatch.setattr(torch, "bmm", bmm)
    monkeypatch.setattr(device_small, "FEWEST_CELLS", 1)
    most = 2000
    compare_several(sets, pairs, [1, 2], "cpu")
    assert max(made) > most and made[-1] <= most
    most = 0
    with pytest.raises(InputError, match="memory does not suffice"):
        compare_several(sets, pairs, [1, 2], "cpu")


@pytest.mark.parametrize("device", DEVICES[1:])
def test_nothing_to_count_on_a_device(device):
    sets = on_device([np.ones((1, 3), np.float32)] * 2, device)
    assert small_counts_on(sets, np.zeros((0, 2), np.int64), np.zeros((0, 1), np.int64)).shape == (5, 0, 1)
    assert not small_counts_on(sets, np.array([[0, 1]]), np.array([[0, 0]])).any()


def texts(seed, count, systems, dimensions=48, layers=5):
    """Made-up word-piece vectors: words of a vocabulary in a context, in several layers; systems change some words."""
    rng = np.random.default_rng(seed)
    vocabulary = rng.standard_normal((40, dimensions))
    drift = rng.standard_normal((layers, 1, dimensions))
    sets, pairs = [], []

    def vectors(words):
        context = 0.3 * vocabulary[words].mean(axis=0)
        rows = [vocabulary[words] + context + each for each in drift]
        place = 0.2 * np.sin(np.arange(len(words))[:, None] / np.arange(1, dimensions + 1))
        return np.concatenate([row + place for row in rows]).astype(np.float32)

    for _ in range(count):
        reference = rng.integers(0, 40, rng.integers(1, 14))
        sets.append(vectors(reference))
        first = len(sets) - 1
        for _ in range(systems):
            words = reference.copy()
            changed = rng.random(len(words)) < 0.3
            words[changed] = rng.integers(0, 40, changed.sum())
            sets.append(vectors(words[: max(1, len(words) - rng.integers(0, 3))]))
            pairs.append((first, len(sets) - 1))
    return sets, pairs


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_inputs_made_to_trip_it_up(name, k):
    # Both directions and each set against itself, in one call.
    compare(INPUTS[name], [(0, 1), (1, 0), (0, 0), (1, 1)], k)


def test_all_of_three_dimensions_against_each_other():
    sets = [each for pair in INPUTS.values() for each in pair if each.shape[1] == 3 and np.abs(each).max() < 1e100]
    sets.append(sets[0][:1])
    compare(sets, [(i, (7 * i + 3) % len(sets)) for i in range(len(sets))], 2)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 9, 30])
def test_texts_with_shared_references(k):
    sets, pairs = texts(3, 12, 4)
    same = [(i, i) for i in range(0, len(sets), 5)]
    compare(sets, pairs + same + pairs[:3] + [(j, i) for i, j in pairs[:9]], k)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 3}], ids=str)
@pytest.mark.parametrize("cells, numbers", [(1, 1), (50, 3000), (1 << 20, 1 << 20)])
def test_however_the_work_is_cut_up(monkeypatch, options, cells, numbers):
    monkeypatch.setattr(small, "_CELLS", cells)
    monkeypatch.setattr(small, "_NUMBERS", numbers)
    sets, pairs = texts(4, 6, 2, 16)
    sets.append(np.random.default_rng(0).integers(0, 3, (60, 16)).astype(np.float32))
    pairs += [(len(sets) - 1, 0), (2, len(sets) - 1), (len(sets) - 1, len(sets) - 1)]
    with engine(**options):
        compare(sets, pairs, 1)
        compare(sets, pairs, 3)


def test_order_of_rows_and_pairs_changes_nothing():
    sets, pairs = texts(5, 8, 3)
    counts = small_counts(sets, pairs, 2)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(pairs))
    others = small_counts([rng.permutation(each) for each in sets], np.array(pairs)[order], 2)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(others, name), getattr(counts, name)[order])


def test_too_few_samples_are_set_apart():
    rng = np.random.default_rng(2)
    sets = [rng.integers(0, 3, (size, 2)).astype(np.float32) for size in (0, 1, 2, 3, 4, 20)]
    pairs = [(i, j) for i in range(6) for j in range(6)]
    for k in (1, 2, 3, 19, 50):
        compare(sets, pairs, k)
    none = small_counts(sets, [], 1)
    assert len(none.x) == len(none.enough) == 0
    assert small_counts([], [], 1).n.shape == (0,)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_tiny_sets_of_awkward_numbers(data):
    width = data.draw(st.integers(1, 3))
    row = st.lists(VALUES, min_size=width, max_size=width)
    lists = data.draw(st.lists(st.lists(row, max_size=7), min_size=1, max_size=4))
    sets = [np.array(each, np.float64).reshape(-1, width) for each in lists]
    compare(sets, [(i, j) for i in range(len(sets)) for j in range(len(sets))], data.draw(st.integers(1, 3)))


@pytest.mark.parametrize("dimensions", [1, 3, 400])
def test_bounds_hold(dimensions):
    """Also for what is computed from differences; true distances in fractions."""
    rng = np.random.default_rng(dimensions)
    values = rng.standard_normal((24, dimensions)) * 10.0 ** rng.integers(-9, 9, (24, 1))
    values[12:18] = values[6:12] * (1 + 1e-13)  # nearly the same place, far out
    values[18:] = 1e-160 * values[:6]
    rows = small._Rows([values], Scratch())
    whole = rows.padded(np.array([0]))
    low = -2 * rows.near(whole, slice(0, 24), whole)[0]
    high = low + (rows.margin[:, None] + rows.margin)
    table = oracles.squared_distances(values, values)
    assert (low <= table).all() and (table <= high).all()
    for i, j in [(0, 1), (6, 12), (7, 13), (8, 2), (18, 19), (0, 18)]:
        pairs = zip(values[i].tolist(), values[j].tolist(), strict=True)
        true = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs)
        assert Fraction(float(low[i, j])) <= true <= Fraction(float(high[i, j]))
    # Bounds that say nothing would hold, too: of ordinary rows they are tight.
    ordinary = small._Rows([rng.standard_normal((5, dimensions))], Scratch())
    assert ordinary.margin.max() < 1e-11 * dimensions


def test_settled_counts_and_scores():
    # Counted straight from the definitions, outside this library, as in metrics/test_values.
    reference = np.random.RandomState(0).randn(200, 8)
    candidate = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7
    counts = small_counts([reference, candidate], [(0, 1)], 1)
    assert (counts.x[0], counts.y[0]) == (40, 136)
    assert 2 * 350 + counts.a[0] + counts.b[0] == 989
    scores = mark_evaluate_scores(counts.n, counts.m, counts.x, counts.y, counts.a, counts.b, 1)
    assert [float(scores[name][0]) for name in ("petersen", "quality", "diversity", "capture")] == pytest.approx(
        [0.885714, 0.742991, 0.834625, 0.925714], abs=5e-7
    )
    counts = small_counts([reference, candidate], [(0, 1)], 3)
    # Precision .42, recall .91, density .2844444, coverage .335 at k = 3.
    assert (counts.x[0] / 150, counts.y[0] / 200, counts.covered[0] / 200) == (0.42, 0.91, 0.335)
    assert counts.b[0] / (3 * 150) == pytest.approx(0.2844444, abs=5e-8)


@pytest.mark.parametrize("k", [1, 3])
def test_scores_are_the_metrics(k):
    sets, pairs = texts(6, 9, 3)
    sets.append(np.empty((0, 48), np.float32))
    pairs += [(0, len(sets) - 1), (0, 0)]
    counts = small_counts(sets, pairs, k)
    scores = mark_evaluate_scores(counts.n, counts.m, counts.x, counts.y, counts.a, counts.b, k)
    for number, (i, j) in enumerate(pairs):
        if not counts.enough[number]:
            assert all(np.isnan(each[number]) for each in scores.values())
            continue
        single = rc.mark_evaluate(sets[i], sets[j], k=k)
        assert {name: each[number] for name, each in scores.items()} == {name: getattr(single, name) for name in scores}


def test_scores_from_the_definitions():
    """Fractions for Petersen and Schnabel, a walk in many digits for CAPTURE."""
    rng = np.random.default_rng(7)
    n, m = rng.integers(2, 12, (2, 40))
    x, y = rng.integers(0, m + 1), rng.integers(0, n + 1)
    a, b = rng.integers(y, n * m + 1), rng.integers(x, n * m + 1)
    scores = mark_evaluate_scores(n, m, x, y, a, b, 1)
    for place, row in enumerate(zip(*(each.tolist() for each in (n, m, x, y, a, b)), strict=True)):
        n_, m_, x_, y_, a_, b_ = row
        total = n_ + m_

        def score(off, total=total):
            return 1 - min(Fraction(off) / total, 1)

        # P^ - P = (n - y)(m - x) / (x + y); Schnabel: P^ - P = P missed / (captures - missed).
        petersen = score(Fraction((n_ - y_) * (m_ - x_), x_ + y_)) if x_ + y_ else 0
        quality = score(Fraction(total * (m_ - x_), 2 * m_ + a_ - (m_ - x_)))
        diversity = score(Fraction(total * (n_ - y_), 2 * n_ + b_ - (n_ - y_)))
        captures = 2 * total + a_ + b_
        best = max(range(total, 3 * total), key=lambda N: (log_likelihood(N, total, captures, total), -N))
        expected = [float(each) for each in (petersen, quality, diversity, score(best - total))]
        assert [float(each[place]) for each in scores.values()] == pytest.approx(
            [float(e) for e in expected], abs=1e-12
        )


def test_counts_beyond_64_bits():
    # Schnabel with 10^7 v 10^7, all inside everything: P^ = P exactly; P C alone is about 2 x 10^21.
    n = 10**7
    scores = mark_evaluate_scores([n], [n], [n], [n], [n * n], [n * n], 1)
    assert {name: float(each[0]) for name, each in scores.items()} == dict.fromkeys(scores, 1.0)


def test_bad_input_is_named():
    row = np.zeros((3, 2), np.float32)
    for sets, pairs, message in (
        ([row, np.zeros((3, 4))], [(0, 1)], "set 0 has 2 dimensions and set 1 has 4"),
        ([row, np.full((3, 2), np.nan)], [(0, 1)], r"set 1 \(counting from 0\) row 0"),
        ([row, np.zeros(3)], [(0, 1)], "set 1 .* samples x dimensions"),
        ([row], [(0, 0), (0, 1)], r"pair 1 \(counting from 0\) is \(0, 1\)"),
        ([row], [(0, -1)], "pair 0"),
        ([row], [(0.0, 0.5)], "pairs of whole numbers"),
        ([row], [(0, 0, 0)], "pairs of whole numbers"),
    ):
        with pytest.raises(InputError, match=message):
            small_counts(sets, pairs, 1)
    for k in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="k must be a whole number of at least 1"):
            small_counts([row], [(0, 0)], k)
