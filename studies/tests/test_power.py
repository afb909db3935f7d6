"""The study of power: its damage is what it says, its alarms are calibrated, its power is that of theory."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from recapture_studies.made_up import build
from recapture_studies.own_checks import power, power_draws, power_texts
from recapture_studies.own_checks.power_draws import HUMAN, KINDS, NONE, TOPICS, Case
from recapture_studies.own_checks.power_scale import FULL, QUICK, Scale
from recapture_studies.study import Setup, find_study

ROOT = Path(__file__).resolve().parents[2]


def made_up(tmp_path):
    build(tmp_path, ["brown_genres", "captions_coco1000"])
    return Setup(tmp_path, quick=True, encoder="bag-of-words")


@pytest.fixture
def store():
    """Rows alone: 15 genres, vectors that nobody reads."""
    genre = np.random.default_rng(1).permutation(np.repeat(np.arange(15), FULL.of_genre))
    return power_texts.Store(FULL, 3, genre, 1000, {})


def cases(kind):
    return [case for size in FULL.sizes for case in power_draws.cases_of(size) if case.kind == kind]


# Damage


@pytest.mark.parametrize("kind", [HUMAN, NONE, *KINDS])
def test_damage_is_what_it_says(store, kind):
    of_kind = cases(kind)
    assert len(of_kind) == (4 if kind in (HUMAN, NONE) else 11)
    for case in of_kind:
        reference, candidate = power_draws.drawn(store, case, 5)
        assert len(reference) == len(candidate) == case.size
        assert len(set(reference)) == case.size and reference.max() < store.people
        count = round(case.strength * case.size)
        own = candidate[candidate < store.people]
        damaged = candidate[candidate >= store.people]
        if kind == "copied":
            assert len(set(candidate) & set(reference)) == count and len(set(candidate)) == case.size
            continue
        assert not set(own) & set(reference)
        if kind == "texts repeated":
            times = sorted(Counter(own).values())
            assert sum(time - 1 for time in times) == count and times[-1] == 6
        elif kind == TOPICS:
            assert len(set(store.genre) - set(store.genre[candidate])) == case.strength and not len(damaged)
            assert len(set(own)) == case.size
        elif kind in (HUMAN, NONE):
            assert len(set(own)) == case.size
        else:
            first, last, each = {
                "word order": (store.shuffled, store.truncated, 1),
                "truncated": (store.truncated, store.variations, 1),
                "flattened": (store.variations, store.others, 5),
                "off-topic texts": (store.others, store.others + 1000, 0),
            }[kind]
            assert len(set(damaged)) == len(damaged) == count and len(set(own)) == case.size - count
            assert damaged.min() >= first and damaged.max() < last
            if each:  # what they were made from is on neither side
                originals = set(((damaged - first) // each).tolist())
                assert not originals & (set(own) | set(reference)) and len(originals) == -(-count // each)


def test_comparisons_have_their_own_draws(store):
    human, fresh = (Case(100, kind, 0.0, 10) for kind in (HUMAN, NONE))
    first = power_draws.drawn(store, human, 0)
    assert all((one == two).all() for one, two in zip(first, power_draws.drawn(store, human, 0), strict=True))
    for other in (power_draws.drawn(store, human, 1), power_draws.drawn(store, fresh, 0)):
        assert (first.reference != other.reference).any()


def test_texts_are_damaged_as_said(tmp_path, own_cache):
    setup = made_up(tmp_path)
    rng = np.random.default_rng(2)
    texts, genre = power_texts.people(setup, QUICK, rng)
    assert Counter(genre.tolist()) == dict.fromkeys(range(6), QUICK.of_genre) and len(set(texts)) == len(texts)
    text = "One two three four five, six seven."
    assert sorted(power_texts._shuffled(text, rng).split()) == sorted(text.split())
    assert power_texts._truncated(text) == "One two three four"
    near = {"three": ["trio"], "four": ["quartet"], "seven": ["heptad"]}
    varied = power_texts._varied("Three four, seven!", near, rng).split()
    assert sum(one != two for one, two in zip(varied, ["Three", "four,", "seven!"], strict=True)) == 1
    assert set(varied) <= {"Three", "Trio", "four,", "quartet,", "seven!", "heptad!"}
    listed = ["house houses home cottage"] * 3
    substitutes = power_texts._thesaurus(setup, listed)
    assert substitutes["house"] and not {"house", "houses"} & set(substitutes["house"])


def test_word_counts_are_blind_to_order_and_vectors_are_kept(tmp_path, own_cache):
    store, journal = power_texts.prepared(made_up(tmp_path))
    counts = store.vectors[power_texts.COUNTS]
    assert counts.dtype == np.float16 and len(counts) == store.others + store.off_topic
    people = np.arange(QUICK.damaged)
    np.testing.assert_array_equal(counts[store.shuffled + people], counts[people])
    assert (counts[store.truncated + people] != counts[people]).any(axis=1).all()
    # Leading directions keep lengths no longer than they are: counts of 8 different words have length sqrt(8).
    assert np.linalg.norm(counts[people].astype(float), axis=1).max() <= np.sqrt(8) + 0.01
    path = journal.path.with_suffix(".npz")
    again = power_texts.read_store(path)
    assert again.scale == store.scale and again.seed == store.seed and again.off_topic == store.off_topic
    assert (again.genre == store.genre).all() and again.vectors.keys() == store.vectors.keys()
    assert Scale.of(json.loads(json.dumps(FULL._asdict()))) == FULL
    path.write_bytes(path.read_bytes()[:-500])
    assert power_texts.read_store(path) is None
    np.testing.assert_array_equal(power_texts.prepared(made_up(tmp_path))[0].vectors[power_texts.COUNTS], counts)


# Alarms


def test_a_test_by_hand():
    """90 of 100 at 0, six at 1, four at 2: 4 % beyond 1, and one of the six there makes 5 %."""
    human = np.array([0.0] * 90 + [1.0] * 6 + [2.0] * 4)
    test = power.calibrated(human)
    assert test.limit == 1 and test.at == pytest.approx(1 / 6)
    assert test.alarms(human).mean() == pytest.approx(0.05)
    assert power.calibrated(np.zeros(30)).at == pytest.approx(0.05)


@pytest.mark.parametrize("values", [2, 7, 1000])
def test_false_alarms_are_equal_however_few_values_a_number_takes(values):
    human = np.random.default_rng(values).integers(0, values, 333).astype(float)
    assert power.calibrated(human).alarms(human).mean() == pytest.approx(0.05)


def test_a_number_that_never_moves_is_far_as_soon_as_it_does():
    human = np.array([[1.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(power.distances(np.array([[1.0, 3.0], [0.9, 1.0]]), human), [[0, 2], [np.inf, 0]])


def simulated(shifts, repeats=6000):
    """14 independent normal numbers of two encoders at one size; by kind, how far damage moves which number."""
    rng = np.random.default_rng(8)
    width = len(power_draws.number_names())
    found = {}
    for encoder in ("first", "second"):
        for kind in (HUMAN, NONE, *KINDS):
            moved = np.zeros(width)
            for number, shift in shifts.get(kind, {}).items():
                moved[number] = shift
            values = 5 + 2 * (moved + rng.standard_normal((repeats, width)))
            found[encoder, Case(100, kind, 0.1, repeats)] = values.tolist()
    return found


def test_power_is_that_of_theory():
    """Of normal numbers: P(|N(d, 1)| > z); of two, z is at a level of 1 - sqrt(.95) each, for both to have 5 %."""
    worlds = power.worlds_of(simulated({"copied": {3: 2.0}, "truncated": {3: -2.0, 5: 1.5}}))
    assert [(world.encoder, world.size) for world in worlds] == [("first", 100), ("second", 100)]

    def beyond(shift, level):
        z = norm.isf(level / 2)
        return norm.sf(z - shift) + norm.cdf(-z - shift)

    alone = power.by_kind(worlds, [3], [*KINDS, NONE])
    close = {"abs": 0.02}
    assert alone["copied"] == pytest.approx(beyond(2, 0.05), **close) == pytest.approx(alone["truncated"], **close)
    assert alone[NONE] == pytest.approx(0.05, abs=0.01) == pytest.approx(alone["word order"], abs=0.01)
    each = 1 - np.sqrt(0.95)
    both = power.by_kind(worlds, [3, 5])
    expected = 1 - (1 - beyond(2, each)) * (1 - beyond(1.5, each))
    assert both["truncated"] == pytest.approx(expected, **close)
    assert both["word order"] == pytest.approx(0.05, abs=0.01)


def test_the_side_of_alarms_is_told():
    """Number 3 is Mark-Evaluate's CAPTURE, higher is better; the last one is MMD, lower is better."""
    last = len(power_draws.number_names()) - 1
    assert power_draws.number_names()[3] == "mark-evaluate.capture" and power_draws.number_names()[last] == "mmd"
    shifts = {"copied": {3: 4.0, last: 4.0}, "truncated": {3: -4.0, last: -4.0}}
    (world, _) = power.worlds_of(simulated(shifts, 500))
    side = {case.kind: world.better[case] for case in world.cases}
    assert side["copied"][3] and not side["copied"][last]
    assert not side["truncated"][3] and side["truncated"][last]


def test_rows_are_chosen_by_what_they_add_and_by_cost():
    """0, 4 and 12 notice one half of the damage equally, 2 and 6 the other half; 0 and 2 are of one metric."""
    names = power_draws.number_names()
    kinds = list(KINDS)
    shifts = {kind: {0: 9.0, 4: 9.0, 12: 9.0} for kind in kinds[:4]} | {kind: {2: 9.0, 6: 9.0} for kind in kinds[4:]}
    worlds = power.worlds_of(simulated(shifts, 400))
    metrics = {name.partition(".")[0] for name in names}
    best = power.chosen_rows(worlds, dict.fromkeys(metrics, 10.0), most=3)
    assert set(best[1].numbers) == {0, 2} and best[1].cost == 10.0  # one metric gives both
    dear = {**dict.fromkeys(metrics, 10.0), "mark-evaluate": 90.0, "frechet": 1.0}
    assert names[12] == "frechet" and set(power.chosen_rows(worlds, dear, most=2)[1].numbers) == {6, 12}
    # A third number gains nothing, so that two are enough.
    assert power.default_rows(best).numbers == best[1].numbers
    assert [set(kinds) for kinds in power.noticed(worlds, best[1]).values()] == [set(kinds[:4]), set(kinds[4:])]


# The whole


@pytest.mark.slow
def test_interrupted_spread_over_processes_and_made_elsewhere(tmp_path, own_cache, monkeypatch):
    """Processes do not change a number; what another machine measured is found, and nothing is measured twice."""
    sys.path.insert(0, str(ROOT))
    from training import power_numbers

    setup = made_up(tmp_path)
    tiny = QUICK._replace(sizes=(QUICK.sizes[0]._replace(human=4, repeats=1),))
    monkeypatch.setattr(power_texts, "QUICK", tiny)
    store, journal = power_texts.prepared(setup)
    path = journal.path.with_suffix(".npz")
    assert power_draws.measure_all(store, power.rc.Journal(None), stop_after=-1) is None
    alone = power_draws.measure_all(store, power.rc.Journal(None))
    assert power_numbers.main([str(path), "--jobs", "2", "--stop-after", "-1"]) == 1
    assert power_numbers.main([str(path), "--jobs", "2"]) == 0
    monkeypatch.setattr(power.rc, "evaluate", None)
    assert power_draws.measure_all(store, journal) == alone
    findings = find_study("power").run(setup)
    assert {table.name for table in findings.tables} == {"power", "rows", "what-rows-notice", "cost", "all"}
    assert len(findings.settings["rows"]) in (3, 4) and len(findings.verdict) == 4
    with pytest.raises(SystemExit):
        power_numbers.main([str(tmp_path / "nothing.npz")])


def test_the_rows_of_compare_are_the_winners():
    from recapture.sets.declaration import ASPECTS, ROWS

    evidence = ROOT / "docs" / "evidence" / "power.json"
    if not evidence.is_file():
        pytest.skip("the study has not been run")
    found = json.loads(evidence.read_text())
    assert set(found["settings"]["rows"]) == set(ROWS)
    # Of the pairs that take neighbours alone, the one that verdicts use notices most of what it is to tell.
    power = {row["number"]: row for row in found["tables"]["power"] if row["vectors"] == "both"}
    for own, others, kind in (
        (ASPECTS[0], ("mark-evaluate.quality", "density-coverage.density"), "off-topic texts"),
        (ASPECTS[1], ("mark-evaluate.diversity", "density-coverage.coverage"), "topics dropped"),
    ):
        best, *rest = (int(power[name][kind].rstrip("+").rstrip("%")) for name in (own, *others))
        assert best >= max(rest), kind
