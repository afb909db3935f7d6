"""The swapping test against a brute-force loop over all swappings, nlpstats and what theory says."""

import itertools
from statistics import fmean

import numpy as np
import pytest
from made_up import scores
from scipy import stats

from recapture.agreement.statistics import common_cells
from recapture.agreement.statistics.levels import agreement
from recapture.agreement.statistics.swapping import SWAPS, swapping_test
from recapture.errors import InputError

SCIPY = {
    "pearson": lambda a, b: stats.pearsonr(a, b)[0],
    "spearman": lambda a, b: stats.spearmanr(a, b)[0],
    "kendall": lambda a, b: stats.kendalltau(a, b)[0],
}


def agreed(scores, human, level, coefficient):
    """scores, human: {(system, input): number}."""
    systems, inputs = (sorted({cell[side] for cell in human}) for side in (0, 1))
    of = SCIPY[coefficient]
    if level == "system":
        means = [[fmean(side[system, each] for each in inputs) for system in systems] for side in (human, scores)]
        return of(*means)
    if level == "global":
        return of([human[cell] for cell in human], [scores[cell] for cell in human])
    found = []
    for each in inputs:
        there = [(system, each) for system in systems if (system, each) in human]
        found.append(of([human[cell] for cell in there], [scores[cell] for cell in there]))
    return fmean(found)


def brute_force(first, second, human, level, coefficient, swap):
    """All swappings, one after another, in dictionaries: the difference, two-sided and one-sided p."""
    known = [cell for cell in np.ndindex(human.shape) if np.isfinite(first[cell] + second[cell] + human[cell])]
    if level == "system":
        known = [cell for cell in known if sum(other[1] == cell[1] for other in known) == len(human)]
    scaled = []
    for side in (first, second):
        numbers = [float(side[cell]) for cell in known]
        centre, spread = fmean(numbers), np.std(numbers)
        scaled.append({cell: (float(side[cell]) - centre) / spread for cell in known})
    people = {cell: float(human[cell]) for cell in known}
    units = {
        "both": list,
        "inputs": lambda c: sorted({i for _, i in c}),
        "systems": lambda c: sorted({s for s, _ in c}),
    }
    every = units[swap](known)
    differences = []
    for chosen in itertools.product([False, True], repeat=len(every)):
        swapped = {unit for unit, is_chosen in zip(every, chosen, strict=True) if is_chosen}
        sides = [{}, {}]
        for cell in known:
            unit = {"both": cell, "inputs": cell[1], "systems": cell[0]}[swap]
            for at in (0, 1):
                sides[at][cell] = scaled[at != (unit in swapped)][cell]
        differences.append(agreed(sides[0], people, level, coefficient) - agreed(sides[1], people, level, coefficient))
    observed = differences[0]
    two_sided = fmean(abs(each) >= abs(observed) - 1e-10 for each in differences)
    return observed, two_sided, fmean(each >= observed - 1e-10 for each in differences)


@pytest.mark.slow
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("level", ["system", "text", "global"])
@pytest.mark.parametrize("coefficient", SCIPY)
def test_all_swappings_by_brute_force(level, coefficient, swap):
    rng = np.random.default_rng(6)
    shape = (4, 2) if swap == "both" else (5, 4)
    human = rng.normal(size=shape)
    first, second = human + rng.normal(0, 0.5, shape), 100 * (human + rng.normal(0, 1.5, shape)) + 7
    expected = brute_force(first, second, human, level, coefficient, swap)
    found = swapping_test(first, second, human, level, coefficient, swap, resamples=512)
    assert found.exact and len(found.null) == 2 ** {"both": 8, "inputs": 4, "systems": 5}[swap]
    assert (found.delta, found.pvalue, found.under("greater")) == pytest.approx(expected, abs=1e-10)
    one_sided = swapping_test(first, second, human, level, coefficient, swap, resamples=512, alternative="greater")
    assert one_sided.pvalue == found.under("greater")


@pytest.mark.slow
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("level", ["system", "text", "global"])
def test_missing_scores_by_brute_force(level, swap):
    rng = np.random.default_rng(7)
    human = rng.normal(size=(4, 3))
    first, second = human + rng.normal(0, 0.5, human.shape), human + rng.normal(0, 1.5, human.shape)
    human[0, 2] = np.nan
    if level != "system":
        second[1, 2] = first[2, 1] = np.nan
    expected = brute_force(first, second, human, level, "pearson", swap)
    found = swapping_test(first, second, human, level, "pearson", swap, resamples=5000)
    assert found.exact
    assert (found.delta, found.pvalue, found.under("greater")) == pytest.approx(expected, abs=1e-10)
    assert found.dropped == (1 if level == "system" else 0)


def test_pvalues_of_nlpstats():
    """nlpstats 0.0.1, permutation_test(good, weak, human, level, "pearson", method, n_resamples=4000), numpy seed 1.

    It counts swappings as far out among the random ones alone, so its values scatter about the exact ones.
    """
    human, good, weak, _ = scores()
    for level, swap, alternative, theirs in (
        ("system", "systems", "two-sided", 0.50375),
        ("system", "systems", "greater", 0.24875),
        ("system", "inputs", "two-sided", 0.911),
        ("system", "inputs", "greater", 0.449),
        ("global", "systems", "two-sided", 0.03325),
        ("global", "systems", "greater", 0.014),
        ("global", "inputs", "two-sided", 0.0),
    ):
        found = swapping_test(good, weak, human, level, "pearson", swap, resamples=4000, alternative=alternative)
        assert found.exact == (swap == "systems")
        chance = 4 * np.sqrt(max(found.pvalue * (1 - found.pvalue), 1 / 4000) / 4000 * (1 if found.exact else 2))
        assert abs(found.pvalue - theirs) <= chance
        assert found.delta == pytest.approx(
            {"system": 0.03933492124537186, "global": 0.285062444347994}[level], abs=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("level", ["system", "text", "global"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_scale_side_and_tiles_do_not_matter(level, coefficient, monkeypatch):
    human, good, weak, _ = scores()
    found = swapping_test(good, weak, human, level, coefficient, resamples=200)
    assert found.delta == pytest.approx(
        agreement(good, human, level, coefficient).value - agreement(weak, human, level, coefficient).value, abs=1e-12
    )
    scaled = swapping_test(3 * good - 1e3, weak / 100 + 5, human * 7, level, coefficient, resamples=200)
    turned = swapping_test(weak, good, human, level, coefficient, resamples=200)
    assert scaled.null == pytest.approx(found.null, abs=1e-9) and scaled.pvalue == found.pvalue
    assert turned.null == pytest.approx(-found.null, abs=1e-12) and turned.pvalue == found.pvalue
    monkeypatch.setattr(common_cells, "_TILE", 1)
    assert (swapping_test(good, weak, human, level, coefficient, resamples=200).null == found.null).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "level, swap", [("system", "both"), ("text", "both"), ("text", "inputs"), ("global", "systems")]
)
def test_two_noisy_metrics_are_told_apart_as_often_as_chance_allows(level, swap):
    """Exchangeable metrics: P(p <= .05) is at most .05, and P(p <= .5) about .5."""
    rng = np.random.default_rng(8)
    pvalues = []
    for seed in range(300):
        human = rng.normal(size=(8, 1)) + rng.normal(size=(8, 6))
        first, second = (human + rng.normal(size=human.shape) for _ in range(2))
        pvalues.append(swapping_test(first, second, human, level, "pearson", swap, resamples=99, seed=seed).pvalue)
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 300, 0.05)
    assert low <= np.sum(np.array(pvalues) <= 0.05) <= high
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 300, 0.5)
    assert low <= np.sum(np.array(pvalues) <= 0.5) <= high


def test_a_metric_and_itself():
    human, good, _, _ = scores()
    for swap in SWAPS:
        same = swapping_test(good, good, human, "system", "kendall", swap, resamples=64)
        assert same.delta == 0 and same.pvalue == 1 and same.under("greater") == 1


def test_a_better_metric_is_found():
    human, good, _, other = scores()
    found = swapping_test(good, other, human, "text", resamples=999)
    assert found.pvalue == 1 / 1000 and found.under("greater") == 1 / 1000  # the smallest that is possible
    assert swapping_test(other, good, human, "text", resamples=999, alternative="greater").pvalue == 1


def test_one_rating_per_system():
    human, good, weak, _ = scores()
    by_system = swapping_test(good, weak, human.mean(axis=1), "system", resamples=100)
    assert by_system.null == pytest.approx(swapping_test(good, weak, human, "system", resamples=100).null, abs=1e-12)
    rated = human.mean(axis=1)
    rated[2] = np.nan
    kept = [0, 1, 3, 4, 5]
    without = swapping_test(good, weak, rated, "system", swap="systems", resamples=100)
    assert without.pvalue == swapping_test(good[kept], weak[kept], rated[kept], swap="systems", resamples=100).pvalue


def test_bad_input():
    human, good, weak, _ = scores()
    for wrong, said in (
        ({"swap": "cells"}, "unknown swap"),
        ({"level": "segment"}, "unknown level"),
        ({"coefficient": "pearsn"}, "did you mean pearson"),
        ({"resamples": 0}, "resamples must be"),
        ({"seed": -1}, "seed must be"),
        ({"alternative": "less"}, "unknown alternative"),
    ):
        with pytest.raises(InputError, match=said):
            swapping_test(good, weak, human, **wrong)
    with pytest.raises(InputError, match="first metric's agreement is undefined"):
        swapping_test(np.ones_like(good), weak, human)
    with pytest.raises(InputError, match="systems x inputs each"):
        swapping_test(good[:, :5], weak, human)
    with pytest.raises(InputError, match="ratings have the shape"):
        swapping_test(good, weak, human.mean(axis=1), "text")
    with pytest.raises(InputError, match="no input has the scores of all systems"):
        swapping_test(np.where(np.eye(6, 40) > 0, np.nan, good)[:, :6], weak[:, :6], human[:, :6])
    with pytest.raises(InputError, match="no cell"):
        swapping_test(good * np.nan, weak, human, "text")
