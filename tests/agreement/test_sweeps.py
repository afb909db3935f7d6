"""The best of many settings, as papers show it and held out: against plain loops, and what theory forces."""

import numpy as np
import pytest
from scipy import stats

from recapture.agreement.statistics.sweeps import sweep
from recapture.errors import InputError


def made(settings=4, systems=6, inputs=20, seed=0):
    random = np.random.default_rng(seed)
    human = random.normal(size=(systems, 1)) + random.normal(size=(systems, inputs))
    return {k: human.mean(1, keepdims=True) + 3 * random.normal(size=human.shape) for k in range(settings)}, human


def loops(scores, human, level, over, folds, seed):
    """(optimistic, flattered, honest, chosen by fold), written out."""

    def value(setting, rows, columns):
        m, h = scores[setting][rows][:, columns], human[rows][:, columns]
        if level == "system":
            return stats.pearsonr(m.mean(1), h.mean(1))[0]
        if level == "global":
            return stats.pearsonr(m.ravel(), h.ravel())[0]
        return np.mean([stats.pearsonr(m[:, at], h[:, at])[0] for at in range(m.shape[1])])

    rows, columns = (list(range(length)) for length in human.shape)
    whole = columns if over == "inputs" else rows

    def on(setting, some):
        return value(setting, rows, some) if over == "inputs" else value(setting, some, columns)

    def best(some):
        return max(scores, key=lambda setting: on(setting, some))

    everything = best(whole)
    parts = [sorted(part) for part in np.array_split(np.random.default_rng(seed).permutation(len(whole)), folds)]
    chosen = [best([at for at in whole if at not in part]) for part in parts]
    flattered = np.mean([on(everything, part) for part in parts])
    honest = np.mean([on(setting, part) for setting, part in zip(chosen, parts, strict=True)])
    return on(everything, whole), flattered, honest, chosen


@pytest.mark.parametrize("over, folds", [("inputs", 4), ("systems", 2)])
@pytest.mark.parametrize("level", ["system", "text", "global"])
def test_sweep_is_that_of_plain_loops(level, over, folds):
    scores, human = made()
    found = sweep(scores, human, level, over=over, folds=folds, seed=3)
    optimistic, flattered, honest, chosen = loops(scores, human, level, over, folds, 3)
    assert (found.optimistic, found.flattered, found.honest) == pytest.approx((optimistic, flattered, honest))
    assert [fold.chosen for fold in found.folds] == chosen
    assert found.counts == {setting: chosen.count(setting) for setting in scores}
    assert found.optimistic == max(found.values.values()) and found.optimism == pytest.approx(flattered - honest)


def test_a_sweep_prints_as_a_table():
    scores, human = made()
    found = sweep(scores, human)
    assert f"chosen on all data: {found.chosen}, {found.optimistic:.4f}" in str(found) == repr(found)
    assert f"held out, 5 folds: {found.honest:.4f}" in str(found)


def test_direction_turns_scores_round():
    scores, human = made()
    turned = sweep({k: -each for k, each in scores.items()}, human, direction="lower")
    assert turned == sweep(scores, human)


@pytest.mark.parametrize("level", ["system", "text"])
def test_one_setting_flatters_nobody(level):
    scores, human = made(1)
    found = sweep(scores, human, level, repeats=3)
    assert found.honest == found.flattered and found.optimism == 0 and found.counts == {0: 15}
    if level == "text":  # folds of one size: their mean is the mean over all inputs
        assert found.honest == pytest.approx(found.optimistic)


@pytest.mark.slow
def test_the_honest_figure_is_lower_on_average():
    """Settings that are all noise: the best is so by luck, which held-out data do not share. The honest agreement is 0
    in expectation, the flattered one above; both within what three standard errors show."""
    honest, gaps = [], []
    for seed in range(100):
        random = np.random.default_rng(seed)
        human = random.normal(size=(5, 10))
        found = sweep({k: random.normal(size=human.shape) for k in range(12)}, human, seed=seed)
        honest.append(found.honest)
        gaps.append(found.optimism)
    error = np.std(gaps) / np.sqrt(len(gaps)), np.std(honest) / np.sqrt(len(honest))
    assert np.mean(gaps) > 3 * error[0] and abs(np.mean(honest)) < 3 * error[1]


def test_until_the_correlation_drops():
    """Agreement by k is about .5, .8, .7, .9: the walk ends at the second, though the fourth is best."""
    human = np.array([[1.0], [2], [3], [4]])
    by_k = {1: [2, 1, 4, 3], 2: [1, 3, 2, 4], 3: [1, 3, 1, 3], 4: [1, 2, 3, 5]}
    scores = {k: np.repeat(np.array([each], float).T, 5, axis=1) for k, each in by_k.items()}
    values = [stats.pearsonr(each, [1, 2, 3, 4])[0] for each in by_k.values()]
    assert values[0] < values[1] > values[2] and values[3] == max(values)  # what the numbers were made for
    for rule, chosen in (("until-drop", 2), ("best", 4)):
        found = sweep(scores, np.repeat(human, 5, axis=1), rule=rule)
        assert found.chosen == chosen and found.optimistic == pytest.approx(values[chosen - 1])
        assert [fold.chosen for fold in found.folds] == [chosen] * 5


def plateau():
    """By Spearman over four systems 1 - 6 sum d^2 / 60: .6 (d^2 = 4), .8 (2), .8 (2, otherwise ordered), .4 (6), 1."""
    by_k = {1: [2, 1, 4, 3], 2: [1, 3, 2, 4], 3: [2, 1, 3, 4], 4: [2, 3, 1, 4], 5: [1, 2, 3, 4]}
    return {k: np.repeat(np.array([each], float).T, 5, axis=1) for k, each in by_k.items()}


def test_the_last_of_a_plateau_is_the_last_before_the_fall():
    human = np.repeat(np.array([[1.0], [2], [3], [4]]), 5, axis=1)
    scores = plateau()
    found = sweep(scores, human, coefficient="spearman", rule="until-drop")
    assert list(found.values.values()) == pytest.approx([0.6, 0.8, 0.8, 0.4, 1])
    assert found.chosen == 3 and found.counts == {1: 0, 2: 0, 3: 5, 4: 0, 5: 0}
    assert sweep({k: scores[k] for k in (1, 2, 3)}, human, coefficient="spearman").chosen == 2  # best: the first


def test_skipped_folds_choose_nothing():
    """On one input people tell nothing apart: held out alone, it has no correlation."""
    scores, human = made(3, 6, 5)
    human[:, 2] = 1.0
    found = sweep(scores, human, "text", folds=5)
    assert found.skipped == 1 and sum(found.counts.values()) == 4 and len(found.folds) == 5
    chosen = [fold.chosen for fold in found.folds if not np.isnan(fold.value)]
    assert found.counts == {k: chosen.count(k) for k in scores}
    assert "held out, 4 folds" in str(found) and "1 fold without a correlation left out" in str(found)


def test_groups_are_held_out_one_by_one():
    """Language pairs: k is chosen by the mean over the others."""
    scores, human = {k: {} for k in range(3)}, {}
    for pair in ("de-en", "zh-en", "fi-en", "cs-en"):
        by_k, ratings = made(3, 7, 6, seed=len(human))
        human[pair] = ratings
        for k in by_k:
            scores[k][pair] = by_k[k]
    found = sweep(scores, human)
    r = {k: {p: stats.pearsonr(scores[k][p].mean(1), human[p].mean(1))[0] for p in human} for k in scores}
    means = {k: np.mean(list(by.values())) for k, by in r.items()}
    assert dict(found.values) == pytest.approx(means) and found.optimistic == pytest.approx(max(means.values()))
    assert found.flattered == pytest.approx(found.optimistic)
    held = [max(r, key=lambda k: np.mean([r[k][other] for other in human if other != pair])) for pair in human]
    assert [fold.chosen for fold in found.folds] == held
    assert found.honest == pytest.approx(np.mean([r[k][pair] for k, pair in zip(held, human, strict=True)]))


def test_cells_that_a_setting_lacks_count_for_none():
    scores, human = made()
    scores[2][1, 4] = np.nan
    found = sweep(scores, human)
    kept = [at for at in range(20) if at != 4]
    assert found.values[0] == pytest.approx(stats.pearsonr(scores[0][:, kept].mean(1), human[:, kept].mean(1))[0])


@pytest.mark.parametrize("options, message", [
    ({"over": "rows"}, "inputs or systems"), ({"folds": 1}, "folds must be"), ({"rule": "worst"}, "rule must be"),
    ({"folds": 30}, "30 folds with 1 or more inputs each need 30, but there are 20"),
    ({"over": "systems", "folds": 3}, "3 folds with 3 or more systems each need 9, but there are 6"),
    ({"direction": "up"}, "unknown direction 'up'"), ({"coefficient": 3}, "unknown coefficient 3"),
    ({"level": "word"}, "unknown level"), ({"repeats": 0}, "repeats must be"),
])  # fmt: skip
def test_bad_input(options, message):
    scores, human = made()
    with pytest.raises(InputError, match=message):
        sweep(scores, human, **options)


def test_bad_scores():
    scores, human = made()
    with pytest.raises(InputError, match="no settings"):
        sweep({}, human)
    with pytest.raises(InputError, match="setting 0 has the shape"):
        sweep(scores, human[:3])
    with pytest.raises(InputError, match="no setting has a correlation"):
        sweep({0: human * 0}, human)
    with pytest.raises(InputError, match="no scores of the group 'b'"):
        sweep({0: {"a": human}}, {"a": human, "b": human})
