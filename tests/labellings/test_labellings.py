"""Which labellings are looked at: all of them once, or seeded ones, whatever the size of the blocks they come in."""

import itertools
import math

import numpy as np
import pytest

from recapture import InputError
from recapture.labellings import plans as labellings
from recapture.labellings.plans import plan, subsamples


def rows_of(made, at_most=None):
    """The candidates of every labelling, as tuples of positions."""
    found = []
    for labels in made.blocks(at_most):
        assert labels.reference.shape == labels.candidate.shape == (len(labels), made.references + made.candidates)
        assert not (labels.reference & labels.candidate).any() and (labels.reference | labels.candidate).all()
        assert labels.sizes == (made.references, made.candidates)
        found += [tuple(np.flatnonzero(row).tolist()) for row in labels.candidate]
    return found


@pytest.mark.parametrize("n, m", [(1, 1), (2, 1), (1, 3), (3, 2), (2, 4), (4, 4), (5, 5)])
def test_every_partition_once_the_observed_one_first(n, m):
    made = plan(n, m)
    found = rows_of(made)
    assert made.exact and made.rows == made.partitions == len(found)
    assert sorted(found) == sorted(itertools.combinations(range(n + m), m))
    assert found[0] == tuple(range(n, n + m))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_half_of_the_partitions_with_their_mirror_images_are_all(size):
    made = plan(size, size, symmetric=True)
    found = rows_of(made)
    everyone = set(range(2 * size))
    mirrored = [tuple(sorted(everyone - set(row))) for row in found]
    assert made.rows == len(found) == math.comb(2 * size, size) // 2
    assert sorted(found + mirrored) == sorted(itertools.combinations(range(2 * size), size))
    assert found[0] == tuple(range(size, 2 * size))


def test_sides_of_two_sizes_have_no_mirror_images():
    made = plan(3, 2, symmetric=True)
    assert not made.symmetric and made.rows == 10


@pytest.mark.parametrize("n, m, exact", [(10, 10, True), (9, 9, True), (11, 10, False), (5, 300, False)])
def test_all_partitions_up_to_10_v_10(n, m, exact):
    made = plan(n, m)
    assert made.partitions == math.comb(n + m, n)
    assert (made.exact, made.rows) == (exact, made.partitions if exact else 10_000)


def test_enumeration_in_small_blocks_is_the_same(monkeypatch):
    whole = rows_of(plan(5, 4))
    monkeypatch.setattr(labellings, "BLOCK_CELLS", 9 * 10)
    made = plan(5, 4)
    assert [len(labels) for labels in made.blocks()] == [10] * 12 + [6]  # C(9, 4) = 126
    assert rows_of(made) == whole
    assert [len(labels) for labels in made.blocks(7)] == [7] * 18
    assert rows_of(made, 7) == whole


def test_a_large_enumeration_on_demand_comes_in_bounded_blocks(monkeypatch):
    """12 v 12 has 2,704,156 partitions: nothing holds them all."""
    monkeypatch.setattr(labellings, "BLOCK_CELLS", 24 * 1000)
    made = plan(12, 12, pvalue="exact")
    assert made.exact and made.rows == 2_704_156
    assert plan(12, 12, pvalue="exact", symmetric=True).rows == 2_704_156 // 2
    first = list(itertools.islice(made.blocks(), 3))
    assert [len(labels) for labels in first] == [1000] * 3
    assert len({row.tobytes() for labels in first for row in labels.candidate}) == 3000


@pytest.mark.slow
def test_no_block_is_larger_than_what_bounds_memory():
    made = plan(300, 200, pvalue=40_000)
    sizes = [len(labels) for labels in made.blocks()]
    assert sum(sizes) == 40_001 and max(sizes) * 500 <= labellings.BLOCK_CELLS


def test_kept_labels_cannot_be_changed_by_those_who_use_them():
    (labels,) = plan(3, 3).blocks()
    with pytest.raises(ValueError, match="read-only"):
        labels.candidate[0, 0] = True


@pytest.mark.parametrize("at_most", [1, 2, 7, 50, 199, 200, None])
def test_sampled_labellings_do_not_depend_on_blocks(at_most):
    made = plan(30, 20, pvalue=199, seed=3)
    assert not made.exact and made.rows == 200
    found = rows_of(made, at_most)
    assert found == rows_of(made) and len(found) == 200
    assert found[0] == tuple(range(30, 50))


def test_seeds_decide():
    drawn = [rows_of(plan(30, 20, pvalue=50, seed=seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_sampled_labellings_are_uniform():
    """Pearson's chi-squared on the 20 partitions of 3 v 3, 20,000 draws: above 43.8 once in a thousand seeds."""
    drawn = rows_of(plan(3, 3, pvalue="sampled", samples=20_000))[1:]
    counts = [drawn.count(row) for row in itertools.combinations(range(6), 3)]
    assert sum(counts) == 20_000
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 43.8


def test_sampled_insists_and_a_number_is_no_more_than_all():
    assert not plan(3, 3, pvalue="sampled").exact and plan(3, 3, pvalue="sampled").rows == 10_000
    assert not plan(3, 3, pvalue=19).exact and plan(3, 3, pvalue=19).rows == 20
    assert plan(3, 3, pvalue=20).exact and plan(3, 3, pvalue=20).rows == 20
    assert plan(3, 3, pvalue=np.int64(7)).rows == 8


def test_too_many_partitions_for_exact():
    with pytest.raises(InputError, match=r"14 references and 14 candidates have 40,116,600 partitions"):
        plan(14, 14, pvalue="exact")
    assert plan(13, 13, pvalue="exact").rows == 10_400_600


def test_an_enormous_number_of_labellings():
    assert plan(500, 500, pvalue=20_000_000).rows == 20_000_001
    with pytest.raises(InputError, match="at most 20,000,000 labellings can be looked at, not 1,000,000,000,000"):
        plan(500, 500, pvalue=10**12)


@pytest.mark.parametrize("wrong", [False, None, 0, -3, 2.0, "exakt", "", [1], True + 0.5])
def test_what_pvalue_can_be(wrong):
    with pytest.raises(InputError, match="pvalue must be"):
        plan(3, 3, pvalue=wrong)


@pytest.mark.parametrize("wrong", [-1, 1.5, "0", None, True])
def test_what_a_seed_can_be(wrong):
    with pytest.raises(InputError, match="seed must be a whole number"):
        plan(30, 30, seed=wrong)


def test_subsamples_leave_the_rest_out():
    batches = list(subsamples((9, 6), (4, 3), 50, seed=2))
    reference, candidate = (np.concatenate([getattr(each, side) for each in batches]) for side in Sides)
    assert reference.shape == candidate.shape == (50, 15)
    assert (reference.sum(axis=1) == 4).all() and not reference[:, 9:].any()
    assert (candidate.sum(axis=1) == 3).all() and not candidate[:, :9].any()
    assert len({row.tobytes() for row in reference}) > 10
    assert reference.sum(axis=0)[:9].min() > 0


Sides = ("reference", "candidate")
