"""Counts under many labellings against whole float64 matrices of physically relabelled sets, to the last integer."""

import tracemalloc

import numpy as np
import oracles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_exactness import INPUTS as SETS
from test_exactness import VALUES, jitter, normal, whole

from recapture.geometry import bits, pooled, relabelled, walks
from recapture.geometry.labels import Labels
from recapture.geometry.overlap import overlap
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.geometry.pooled import PooledNeighbours
from recapture.geometry.relabelled import relabelled_counts

KS = (1, 2, 3, 5)
INPUTS = {
    **SETS,
    "copies, and squares that underflow": (
        np.repeat(1e-170 * whole(80, 12, 1, 9), 4, axis=0),
        np.concatenate([1e-170 * whole(81, 30, 1, 9), 1e-10 * normal(82, 30, 1)]),
    ),
    # As far from 1 on either side, but the numbers near 2 have the wider bounds.
    "bounds of several widths": (
        np.concatenate([np.ones((6, 1)), jitter(112, (170, 1), 3e-5)]),
        2 + jitter(113, (140, 1), 3e-5),
    ),
}


def draw(count, samples, n, m, seed=0):
    """Random labellings; whoever is neither reference nor candidate is left out."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random((count, samples)), axis=1)
    reference, candidate = np.zeros((2, count, samples), bool)
    np.put_along_axis(reference, order[:, :n], True, axis=1)
    np.put_along_axis(candidate, order[:, n : n + m], True, axis=1)
    return Labels(reference, candidate)


def assert_brute_force(points, labels, found, some=None):
    for number in range(len(labels)) if some is None else some:
        for k, counts in found.items():
            expected = oracles.counts(points[labels.reference[number]], points[labels.candidate[number]], k)
            assert {name: int(values[number]) for name, values in counts._asdict().items()} == expected, (k, number)


@pytest.fixture
def short_lists(monkeypatch):
    """Lists that must be made longer, stretches that end amid ties, batches of one word."""
    monkeypatch.setattr(relabelled, "first_length", lambda *_: 3)
    monkeypatch.setattr(relabelled, "_TABLE_WORDS", 1)
    monkeypatch.setattr(walks, "_FIRST_STEPS", 2)
    monkeypatch.setattr(walks, "_MOST_STEPS", 4)
    monkeypatch.setattr(walks, "_STRETCH", 50)
    monkeypatch.setattr(relabelled, "_MANY_WALKS", 7)
    monkeypatch.setattr(pooled, "_ENTRIES_AT_ONCE", 200)


SIZES = {
    "all samples": lambda n, m: (n, m),
    "half-samples": lambda n, m: (n // 2, m // 2),
    "few candidates": lambda n, m: (n + m - 12, 9),
    "few references": lambda n, m: (6, m),
}


@pytest.mark.usefixtures("anywhere")
@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("sizes", SIZES)
def test_equals_brute_force(name, sizes):
    points = np.concatenate([side.astype(np.float64) for side in INPUTS[name]])
    n, m = SIZES[sizes](*(len(side) for side in INPUTS[name]))
    ks = tuple(k for k in KS if k < min(n, m))
    labels = draw(70, len(points), n, m)
    assert_brute_force(points, labels, relabelled_counts(PooledNeighbours(points), labels, ks), some=(0, 33, 64, 69))


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("options", [{"tile": 17, "threads": 3}, {"tile": 64, "threads": 1}], ids=str)
def test_short_lists_are_made_longer(name, options, short_lists):
    sides = INPUTS[name]
    points = np.concatenate(sides)
    observed = np.arange(len(points)) < len(sides[0])
    labels = draw(65, len(points), len(sides[0]) // 2, len(sides[1]) // 2)
    labels.reference[0], labels.candidate[0] = observed, ~observed
    with engine(**options):
        found = relabelled_counts(PooledNeighbours(points), labels, (1, 3))
    assert_brute_force(points, labels, found, some=(0, 1, 64))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "integer grid", "repeated rows", "near-ties"])
def test_walks_on_a_device_are_finished_here(name, there, short_lists, monkeypatch):
    """Whose lists there are too short starts again; few words at a time, as where memory is short."""
    from recapture.geometry import device_walks

    monkeypatch.setattr(device_walks, "_CELLS", 1)
    monkeypatch.setattr(relabelled, "_TABLE_WORDS_THERE", 1000)
    points = np.concatenate(INPUTS[name])
    labels = draw(130, len(points), len(points) // 3, len(points) // 3)
    found = relabelled_counts(PooledNeighbours(points), labels, (1, 3))
    assert_brute_force(points, labels, found, some=(0, 64, 129))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "integer grid", "repeated rows", "near-ties"])
def test_how_the_work_is_cut_up_changes_nothing(name, monkeypatch):
    points = np.concatenate(INPUTS[name])
    labels = draw(200, len(points), 60, 70)
    expected = relabelled_counts(PooledNeighbours(points), labels, KS)
    for length in (1, 7, 1000):
        monkeypatch.setattr(relabelled, "first_length", lambda *_, length=length: length)
        for options in ({"tile": 13, "threads": 1}, {"tile": 50, "threads": 4}):
            with engine(**options):
                found = relabelled_counts(PooledNeighbours(points), labels, KS)
            np.testing.assert_array_equal([found[k] for k in KS], [expected[k] for k in KS])


@pytest.mark.usefixtures("anywhere")
def test_observed_labelling_equals_the_engine():
    """Another route to the same numbers, at a size of several tiles, with repeats within and across the sets."""
    reference = np.concatenate([normal(1, 1200, 20), np.repeat(normal(2, 3, 20), (5, 40, 150), axis=0)])
    candidate = np.concatenate([1.2 * normal(3, 900, 20), np.repeat(normal(2, 3, 20), (30, 2, 60), axis=0)])
    points = np.concatenate([reference, candidate]).astype(np.float32)
    observed = np.arange(len(points)) < len(reference)
    labels = draw(130, len(points), len(reference), len(candidate))
    labels.reference[100], labels.candidate[100] = observed, ~observed
    found = relabelled_counts(PooledNeighbours(points), labels, KS)
    for number in (0, 100, 129):
        sides = (PointSet(points[flags[number]]) for flags in (labels.reference, labels.candidate))
        there = overlap(*sides, KS)
        for k in KS:
            at = there.at(k)
            expected = (at.x, at.y, at.a, at.b, at.reference_covered.sum())
            assert tuple(each[number] for each in found[k]) == expected


@pytest.mark.usefixtures("anywhere")
def test_candidates_that_surround_all_references():
    """In many dimensions every reference is in the sphere of every wider candidate: lists of everybody."""
    points = np.concatenate([normal(4, 150, 400), 1.4 * normal(5, 150, 400)])
    observed = np.arange(300) < 150
    labels = Labels(np.tile(observed, (66, 1)), np.tile(~observed, (66, 1)))
    rng = np.random.default_rng(6)
    for number in range(66):  # halves of both
        labels.reference[number, rng.permutation(150)[:75]] = False
        labels.candidate[number, 150 + rng.permutation(150)[:75]] = False
    found = relabelled_counts(PooledNeighbours(points), labels, (1, 3))
    assert (found[1].a > 0.9 * 75 * 75).all()
    assert_brute_force(points, labels, found, some=(0, 1, 65))


@pytest.mark.slow
@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), dimensions=st.integers(1, 3), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_equals_brute_force_on_anything(data, dimensions, k, seed):
    samples = data.draw(st.integers(2 * k + 2, 20))
    points = data.draw(hnp.arrays(np.float64, (samples, dimensions), elements=VALUES))
    n = data.draw(st.integers(k + 1, samples - k - 1))
    m = data.draw(st.integers(k + 1, samples - n))
    labels = draw(5, samples, n, m, seed)
    assert_brute_force(points, labels, relabelled_counts(PooledNeighbours(points), labels, (k,)))


LISTED = {
    "random": normal(7, 90),
    "grid": whole(8, 90),
    "copies": np.repeat(normal(9, 30), 3, axis=0),
    "near-ties": whole(12, 90) + jitter(13, (90, 3), 1e-9),
    "bounds of several widths": np.concatenate(INPUTS["bounds of several widths"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTED)
def test_lists_are_in_order_and_lack_nobody(name):
    points = LISTED[name]
    there = oracles.squared_distances(points, points)
    found = PooledNeighbours(points)
    for length in (1, 4, 10, 22, 89, 500):
        lists = found.lists(length)
        for row, neighbour in enumerate(lists.neighbour.T):
            sample = found.members[found.first[row]]
            others = np.flatnonzero(found.rows.inverse != row)
            listed = neighbour[neighbour < len(points)]
            expected = np.sort(there[sample, others])
            np.testing.assert_allclose(there[sample, listed], expected[: len(listed)], rtol=1e-13)
            assert len(set(listed)) == len(listed) == min(lists.length, len(others))
            assert lists.complete[row] == (len(listed) == len(others))


@pytest.mark.usefixtures("anywhere")
def test_long_lists_are_thrown_away(monkeypatch):
    monkeypatch.setattr(pooled, "_ENTRIES_KEPT", 500)
    monkeypatch.setattr(pooled, "_ALWAYS_KEPT", 2)
    points = normal(10, 100)
    labels = draw(66, 100, 90, 8)
    found = PooledNeighbours(points)
    assert_brute_force(points, labels, relabelled_counts(found, labels, (1, 5)), some=(0, 65))
    assert found.lists(99).length == 5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_labellings(monkeypatch):
    monkeypatch.setattr(relabelled, "_TABLE_WORDS", 1 << 14)
    found = PooledNeighbours(normal(11, 300))
    found.lists(60)

    def peak(count):
        labels = draw(count, 300, 150, 150)
        relabelled_counts(found, draw(64, 300, 150, 150), (1, 3))
        tracemalloc.start()
        try:
            relabelled_counts(found, labels, (1, 3))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    results = 2 * 5 * 8 * (16384 - 2048)
    assert peak(16384) - results < 1.2 * peak(2048)


@pytest.mark.parametrize("answers", [1, 63, 64, 130])
def test_packed_answers_add_up(answers):
    rng = np.random.default_rng(answers)
    flags = rng.random((answers, 77, 3)) < 0.4
    numbers = [np.moveaxis(bits.pack(flags & (rng.random(flags.shape) < 0.7)), 1, 0) for _ in range(3)]
    counted = sum(bits.unpack(plane).astype(int) << place for place, plane in enumerate(numbers))
    np.testing.assert_array_equal(bits.sums(numbers), counted.sum(axis=0))
    packed = bits.unpack(bits.pack(flags))
    np.testing.assert_array_equal(np.moveaxis(packed, -1, 1).reshape(-1, 77, 3)[:answers], flags)


def test_long_rows_of_labels_are_counted():
    flags = np.random.default_rng(3).random((5, 5000)) < np.linspace(0, 1, 5)[:, None]
    labels = Labels(flags, ~flags)
    np.testing.assert_array_equal(labels.counts[0], [sum(row) for row in flags.tolist()])
    np.testing.assert_array_equal(labels.counts[0] + labels.counts[1], 5000)
