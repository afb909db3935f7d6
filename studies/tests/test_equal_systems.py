"""The study of equal systems: its sets are equally close by construction, and processes change no number."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import recapture as rc
from recapture_studies import processes
from recapture_studies.own_checks import equal_systems
from recapture_studies.own_checks.equal_systems import CASES, Runs, relabelled
from recapture_studies.own_checks.equal_systems_vectors import Pools, keep_pools, load_pools
from recapture_studies.processes import spread_steps
from recapture_studies.study import Setup


@pytest.fixture(scope="module")
def pools():
    rng = np.random.default_rng(0)
    topics = [rng.standard_normal((200, 6)).astype(np.float32) + 3 * np.eye(10)[topic, :6] for topic in range(10)]
    return Pools(
        rng.standard_normal((80, 6)), rng.standard_normal((80, 6)), [each.astype(np.float32) for each in topics]
    )


def test_lost_topics_are_each_others_mirror_images(pools):
    """Where signs are turned people's topics are the same, and a lacks the topic that b lacked."""
    signs = np.where(np.arange(6) % 2, -1, 1)
    rows = {tuple(row): topic for topic, each in enumerate(pools.topics) for row in each.tolist()}
    images = {tuple((signs * row).tolist()): topic for topic, each in enumerate(pools.topics) for row in each}
    people, a, b = equal_systems._mirrored(pools, 60, np.random.default_rng(1))
    told = [{(rows.get(tuple(row)), images.get(tuple(row))) for row in each.tolist()} for each in (people, a, b)]
    assert len(told[0]) == 8 and all(first is None or second is None for first, second in told[0])
    assert {(second, first) for first, second in told[0]} == told[0]
    assert {(second, first) for first, second in told[1]} == told[2] and told[1] != told[2] and len(told[1]) == 7


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sets_share_no_text(case, pools):
    people, a, b = case.draw(pools, 24, np.random.default_rng(2))
    assert len(people) == 24 and len(a) + len(b) == 48
    assert len(np.unique(np.concatenate([people, a, b]), axis=0)) == 72


@pytest.mark.slow
def test_a_run_says_what_its_comparison_says(pools):
    found = Runs(pools, 24, 7)("worse/3")
    place = [case.name for case in CASES].index("worse")
    people, a, b = CASES[place].draw(pools, 24, np.random.default_rng([7, place, 3]))
    compared = rc.compare(people, {"a": a, "b": b}, equal_systems.METRICS, ceiling=False, seed=3)
    assert found["claimed"] == (not compared.tied("a", "b"))
    assert found["worse"] == bool(compared.worse("b")) and found["loss"] == min(
        each.adjusted for each in compared.losses("b")["a"].values()
    )
    assert json.loads(json.dumps(found)) == found


def test_relabelling_is_counted_by_number():
    """Of two numbers in two runs: 0 and 1 of them below .05 alone, one run has one below .05 / 2."""
    runs = [{"distinct": {"x": 0.5, "y": 0.02}}, {"distinct": {"x": 0.06, "y": 0.03}}]
    assert relabelled(runs) == (0.0, 1.0, 0.5)


def square(key):
    if key == "bad":
        raise ValueError("bad")
    return int(key) ** 2


@pytest.mark.slow
def test_steps_in_processes_are_those_of_one(tmp_path):
    journal = rc.Journal(tmp_path / "steps.jsonl")
    assert spread_steps(journal, ["3", "1"], square, 1, "squares") == {"3": 9, "1": 1}
    found = spread_steps(journal, ["1", "2", "3", "4"], square, 2, "squares")
    assert list(found.items()) == [("1", 1), ("2", 4), ("3", 9), ("4", 16)]
    assert rc.Journal(journal.path).finished() == {"3": 9, "1": 1, "2": 4, "4": 16}
    with pytest.raises(ValueError, match="bad"):
        spread_steps(journal, ["5", "bad", "6"], square, 2, "squares")


def test_steps_that_the_time_did_not_suffice_for(monkeypatch):
    """A step takes a second: the first two are begun in time and finished, the third is not begun."""
    clock, told = [0.0], []
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def work(key):
        clock[0] += 1
        return key

    found = spread_steps(rc.Journal(None), ["a", "b", "c"], work, 1, "letters", until=1.5, tell=told.append)
    assert found == {"a": "a", "b": "b"} and clock == [2] and told == ["0 of 3 steps are done"]
    assert spread_steps(rc.Journal(None), ["a", "b"], work, 2, "letters", until=1.5) == {}  # no process is begun


def test_vectors_that_were_brought_along(pools, tmp_path):
    keep_pools(pools, tmp_path)
    found = load_pools(Setup(tmp_path), 30)
    assert np.array_equal(found.people, pools.people) and np.array_equal(found.model, pools.model)
    assert len(found.topics) == 10 and all(map(np.array_equal, found.topics, pools.topics))
    with pytest.raises(rc.InputError, match="80 texts of the model: the study draws 100"):
        load_pools(Setup(tmp_path), 50)


def test_topics_that_run_out(pools):
    with pytest.raises(rc.InputError, match="a topic has 200 texts: too few for three sets of 2,000"):
        CASES[-1].draw(pools, 2000, np.random.default_rng(3))
