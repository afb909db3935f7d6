"""Labellings that exchange the samples of two systems: against sets that were really exchanged, and against counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import recapture as rc
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.labellings.groups import Groups
from recapture.sets.declaration import METRICS
from recapture.sets.evaluate import Job, prepare_sets
from recapture.sets.pair import Pair
from recapture.systems.evidence import Evidence, _by_labelling, differences, judged_losses, losses, worth_more
from recapture.systems.of_sets import SetSystems
from recapture.systems.set_labellings import PairLabellings

NEIGHBOURS = ("mark-evaluate", "precision-recall", "density-coverage")


def exchanges(rng, half, labellings):
    flags = np.zeros((labellings, 2 * half), bool)
    flags[:, :half] = True
    flags[1:] = rng.permuted(flags[1:], axis=1)
    return flags


def clouds(seed, n, half, d, kind):
    """kind: how many ties and copies there are."""
    rng = np.random.default_rng(seed)
    people, systems = rng.standard_normal((n, d)), rng.standard_normal((2 * half, d)) + 0.3
    if kind == "grid":  # equal distances and equal samples everywhere
        people, systems = np.round(people), np.round(systems)
    if kind == "copies":
        systems[:3] = systems[-3:] = systems[half] = people[0]
        people[1] = people[2]
    return people, systems


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("kind", ["plain", "grid", "copies"])
@pytest.mark.parametrize("form", ["unbiased", "printed"])
def test_mmd_of_systems_really_exchanged(form, kind):
    people, systems = clouds(1, 30, 12, 4, kind)
    pair = Pair(PointSet(people, "people"), PointSet(systems, "both"))
    flags = exchanges(np.random.default_rng(2), 12, 15)
    options = {"bandwidth": 1.7, "form": form}
    with engine(tile=7):
        found = METRICS.find("mmd").exchange(pair, **options)(flags)["value"]
    with engine(accelerator=None):
        expected = [
            rc.mmd(people, systems[row], **options).value - rc.mmd(people, systems[~row], **options).value
            for row in flags
        ]
    assert found == pytest.approx(expected, abs=1e-12 if form == "unbiased" else 1e-9)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("kind", ["plain", "grid", "copies"])
@pytest.mark.parametrize("n, half, d, ks", [(30, 12, 4, (1, 3, 5)), (7, 20, 1, (2,)), (60, 6, 2, (1, 4))])
def test_neighbours_of_systems_really_exchanged(n, half, d, ks, kind):
    """Each system measured by itself, for every labelling. Ties and copies, short lists and long ones."""
    people, systems = clouds(8, n, half, d, kind)
    pair = Pair(PointSet(people, "people"), PointSet(systems, "both"))
    flags = exchanges(np.random.default_rng(9), half, 70)
    pair.expect(ks)
    for k in ks:
        found = [METRICS.find(name).exchange(pair, k=k)(flags) for name in NEIGHBOURS]
        for place, row in list(enumerate(flags))[::10]:
            with engine(accelerator=None):
                one, two = (
                    [rc.mark_evaluate(people, own, k=k), rc.precision_recall(people, own, k=k),
                     rc.density_coverage(people, own, k=k)]
                    for own in (systems[row], systems[~row])
                )  # fmt: skip
            for of_metric, first, second in zip(found, one, two, strict=True):
                for name, each in of_metric.items():
                    assert each[place] == pytest.approx(first.values[name] - second.values[name], abs=1e-12)


@pytest.mark.parametrize("kind", ["plain", "grid", "copies"])
def test_exchanged_counts_are_those_of_both_systems_relabelled(kind):
    people, systems = clouds(10, 150, 90, 3, kind)
    pair = Pair(PointSet(people, "people"), PointSet(systems, "both"))
    flags = exchanges(np.random.default_rng(11), 90, 130)
    pair.expect((1, 3, 5))
    for k in (1, 3, 5):
        for own, counts in zip((flags, ~flags), pair.exchanged_counts(flags, k), strict=True):
            reference = np.pad(np.zeros_like(own), ((0, 0), (150, 0)), constant_values=((0, 0), (True, False)))
            expected = pair.counts_under(Labels(reference, np.pad(own, ((0, 0), (150, 0)))), k)
            for name in counts._fields:
                assert (getattr(counts, name) == getattr(expected, name)).all(), (name, k)


def jobs(names):
    return [Job(METRICS.find(name), {**METRICS.find(name).defaults}) for name in names]


def labellings(people, first, second, names, size, most, groups=None, seed=0):
    sides = (PointSet(rows, "set") for rows in (people, first, second))
    return PairLabellings(jobs(names), *sides, groups, size, most, seed)


def test_more_labellings_go_on_where_fewer_ended():
    people, systems = clouds(3, 40, 20, 3, "plain")
    some = labellings(people, systems[:20], systems[20:], ["precision-recall"], 20, 800)
    few, many = some.upto(99).copy(), some.upto(800)
    assert few.shape == (2, 100) and many.shape == (2, 801) and (many[:, :100] == few).all()
    at_once = labellings(people, systems[:20], systems[20:], ["precision-recall"], 20, 800)
    assert (at_once.upto(800) == many).all()


def test_systems_of_one_length_are_relabelled_at_the_common_size():
    """Two of 60 beside one of 20: coverage, which grows with the size of a system, has to be that of 20 texts."""
    rng = np.random.default_rng(4)
    people, a, b = rng.standard_normal((3, 60, 2))
    systems = {"a": a, "b": b + 9, "small": rng.standard_normal((20, 2))}
    against = SetSystems(prepare_sets(people, systems, "density-coverage", None, 1, blind=True), 0)
    numbers = against.measured()
    observed = against.evidence(numbers, 0.05)["a", "b"].nulls[:, 0]
    # Means over four cuts against means over ten: nearer to each other than to the coverage of whole systems.
    whole = rc.density_coverage(people, a, k=1).coverage - rc.density_coverage(people, b + 9, k=1).coverage
    expected = numbers.values["a"][1] - numbers.values["b"][1]
    assert abs(observed[1] - expected) < abs(observed[1] - whole) / 2


def test_pairs_of_prompts_are_never_cut():
    """Both of a prompt change places: all labellings have the same sizes, so nothing is left out."""
    people, systems = clouds(5, 30, 25, 3, "plain")
    pairs = Groups.pairs(25)
    found = labellings(people, systems[:25], systems[25:], ["mmd"], 25, 50, pairs).upto(50)[0]
    again = labellings(people, systems[:25], systems[25:], ["mmd"], 25, 50, pairs, seed=0).upto(50)[0]
    width = rc.mmd(people, systems).bandwidth
    rng = np.random.default_rng(0)
    expected = [rc.mmd(people, systems[:25], width).value - rc.mmd(people, systems[25:], width).value]
    for _ in range(50):
        rng.permutation(np.zeros(0))
        swapped = np.tile(rng.random(25) < 0.5, 2)
        first = (np.arange(50) < 25) ^ swapped
        expected.append(rc.mmd(people, systems[first], width).value - rc.mmd(people, systems[~first], width).value)
    assert found == pytest.approx(expected, abs=1e-12) and (found == again).all()


def two_stages(nulls, first):
    numbers = len(nulls)
    spread = np.random.default_rng(0).standard_normal((numbers, 50)) * 1e-9  # the spread says yes to everything
    return Evidence(nulls[:, 0], spread, nulls, np.zeros(numbers), np.zeros(numbers), first=first)


def test_a_number_is_judged_by_the_labellings_it_needs():
    """One clear number made 4,500 labellings worth while; another keeps what the first thousand said of it."""
    rng = np.random.default_rng(6)
    nulls = rng.standard_normal((2, 4501))
    nulls[:, 0] = 9.0, 1.0
    found = differences({("a", "b"): two_stages(nulls, 1000)}, "xy", 0.95, 0)["a", "b"]
    assert worth_more(nulls[:, :1000]) and not worth_more(nulls[1:, :1000])
    assert found["x"].distinct == found["x"].adjusted == pytest.approx(1 / 4501)
    assert found["y"].distinct == pytest.approx(np.mean(np.abs(nulls[1, :1000]) >= 1.0), abs=1e-12)
    given = {("a", "b"): two_stages(nulls[1:, :1000], 1000)}
    lost = losses(given, ["lower"])["a", "b"]
    one_sided = judged_losses({"a": lost}, ["y"], np.zeros(1), np.ones(1), 0)["a"]["y"].pvalue
    assert one_sided == pytest.approx(np.mean(nulls[1, :1000] >= 1.0), abs=1e-12)


@pytest.mark.slow
def test_stopping_early_makes_no_p_value_too_small():
    """The observed difference is one of those under labellings: p is at most x in a share x of all cases, at most, be
    it below or above the limit at which more labellings are made (10 of the first 40)."""
    rng = np.random.default_rng(7)
    runs, claimed = 2000, {0.1: 0, 0.2: 0, 0.25: 0, 0.3: 0, 0.5: 0}
    for _ in range(runs):
        nulls = rng.standard_normal((2, 120)) @ np.diag(rng.permutation(np.linspace(0.5, 2, 120)))
        nulls = nulls if worth_more(nulls[:, :40]) else nulls[:, :40]
        adjusted = _by_labelling(nulls, np.zeros(2), 2, 40)[1].min()
        for level in claimed:
            claimed[level] += adjusted <= level
    for level, count in claimed.items():
        assert count <= binom.ppf(0.999, runs, level), level


@pytest.mark.slow
def test_results_beside_people_are_those_of_the_sets_alone():
    """A comparison finds the clusters of a system with the reference once, in order of content: scores of the sets as
    they are given stay the same to the last digit."""
    people, systems = clouds(12, 30, 20, 3, "plain")
    found = rc.compare(people, {"a": systems[:20], "b": systems[20:]}, "prd,mauve,precision-recall").results
    for name, own in (("a", systems[:20]), ("b", systems[20:])):
        for metric, alone in (("prd", rc.prd), ("mauve", rc.mauve), ("precision-recall", rc.precision_recall)):
            assert found[name][metric].values == alone(people, own).values
