"""Labellings and half-samples that move whole groups, against enumerations written out."""

import itertools

import numpy as np
import pytest

from recapture.labellings.groups import Groups, group_halves, group_plan


def labelled(groups, **asked):
    chosen = group_plan(groups, **{"pvalue": "exact", "samples": 999, "seed": 0, **asked})
    return chosen, np.concatenate([block.candidate for block in chosen.blocks()])


def test_groups_of_one_side_move_whole():
    """Groups a, a, b | c, d, d: of four groups two are candidates, which makes 6 labellings."""
    groups = Groups.of("aab", "cdd")
    chosen, candidate = labelled(groups)
    assert chosen.rows == chosen.partitions == 6
    assert candidate[0].tolist() == [False] * 3 + [True] * 3
    names = np.array(list("aabcdd"))
    expected = {tuple(np.isin(names, pair).tolist()) for pair in itertools.combinations("abcd", 2)}
    assert {tuple(row) for row in candidate.tolist()} == expected


def test_a_group_on_both_sides_swaps_its_parts():
    """p on both sides, a | b on one: 2 labellings of {a, b} times 2 of p."""
    groups = Groups.of("pa", "ppb")
    _, candidate = labelled(groups)
    rows = {tuple(row) for row in candidate.astype(int).tolist()}
    assert rows == {(0, 0, 1, 1, 1), (1, 0, 0, 0, 1), (0, 1, 1, 1, 0), (1, 1, 0, 0, 0)}
    assert groups.counted == {"reference": 1, "candidate": 1, "both": 1}


def test_pairs_swap_within_the_item():
    _, candidate = labelled(Groups.pairs(3))
    assert len({tuple(row) for row in candidate.tolist()}) == 8
    assert (candidate[:, :3] ^ candidate[:, 3:]).all()


@pytest.mark.parametrize("block", [1, 7, None])
def test_drawn_labellings_keep_groups_together(block):
    rng = np.random.default_rng(0)
    groups = Groups.of(rng.integers(0, 9, 40), rng.integers(5, 20, 30))
    chosen = group_plan(groups, pvalue=50, samples=999, seed=4)
    batches = list(chosen.blocks(block))
    candidate = np.concatenate([batch.candidate for batch in batches])
    assert len(candidate) == 51 and candidate[0].tolist() == [False] * 40 + [True] * 30
    reference_groups, candidate_groups, both = groups.sides
    for row in candidate:
        side = {group: set(row[groups.number == group].tolist()) for group in (*reference_groups, *candidate_groups)}
        assert all(len(kinds) == 1 for kinds in side.values())
        assert sum(kinds == {True} for kinds in side.values()) == len(candidate_groups)
        for group in both:
            own = groups.number == group
            flipped = row[own] ^ (np.flatnonzero(own) >= 40)
            assert len(set(flipped.tolist())) == 1
    again = np.concatenate([batch.candidate for batch in group_plan(groups, pvalue=50, samples=9, seed=4).blocks()])
    np.testing.assert_array_equal(candidate, again)


def test_half_samples_take_half_of_the_groups():
    groups = Groups.of("aabbccdd" + "pq", "eeffgh" + "ppq")
    for labels in group_halves(groups, 20, 1):
        for reference, candidate in zip(labels.reference, labels.candidate, strict=True):
            kept = reference | candidate
            whole = {group for group in range(10) if kept[groups.number == group].all()}
            assert kept.sum() == sum((groups.number == group).sum() for group in whole)
            assert [len(whole & set(side.tolist())) for side in groups.sides] == [2, 2, 1]
            assert not reference[10:].any() and not candidate[:10].any()
