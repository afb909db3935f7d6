"""An interrupted run goes on where it stopped, and only where everything is still the same."""

import itertools
import json

import numpy as np
import pytest

import recapture as rc
from recapture.contexts import evaluate as evaluation
from recapture.contexts.declaration import METRICS
from recapture.journal import Journal, unfinished
from recapture.similarity import scorer as base

LETTERS = "abcdefgh"
CONTEXTS = [
    {"id": f"c{i}", "references": [a + b, b + b, "é" + a], "candidates": [b + a, a + a]}
    for i, (a, b) in enumerate(itertools.pairwise(LETTERS))
]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """The folder of journals, and contexts in chunks of two."""
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(evaluation, "_CHUNK", 2)
    return tmp_path / "cache" / "runs"


@pytest.fixture
def interrupted(toys, monkeypatch):
    """A scorer that is interrupted after the first contexts, once; what it has scored is counted."""
    real = base.METRICS.find("toy")

    def after(contexts):
        left = [contexts]
        toys.clear()

        def prepare(turn):
            scorer = real.prepare(turn)
            cross = scorer.cross

            def counted(hypotheses, references):
                if left[0] == 0:
                    raise KeyboardInterrupt
                left[0] -= 1
                return cross(hypotheses, references)

            scorer.cross = counted
            return scorer

        toy = base.Similarity(name="toy", title="Toy", prepare=prepare, defaults={"turn": 1.0})
        monkeypatch.setattr(base.METRICS, "_metrics", {**base.METRICS.all(), "toy": toy})
        monkeypatch.setattr(METRICS, "_metrics", None)  # derived from those
        return toys

    return after


def scored(calls):
    return [hypotheses[0] for hypotheses, _ in calls]


def run(**options):
    return rc.evaluate_contexts(
        options.pop("contexts", CONTEXTS), options.pop("metrics", "trm-toy,toy"), pvalue=True, **options
    )


def stop_after(interrupted, contexts, **options):
    calls = interrupted(contexts)
    with pytest.raises(KeyboardInterrupt):
        run(**options)
    done = len(calls)
    interrupted(10**9)
    return done


def test_finished_contexts_are_not_scored_again(interrupted, runs, toys):
    whole = run().to_jsonl()
    assert not list(runs.glob("*"))  # a complete run leaves nothing
    assert stop_after(interrupted, 5) == 5  # two chunks of two are kept, the third was under way
    (kept,) = runs.iterdir()
    assert [json.loads(line)["step"] for line in kept.read_text().splitlines() if line] == ["c0", "c1", "c2", "c3"]
    assert unfinished() == [kept]
    resumed = run()
    assert scored(toys) == [context["references"][0] for context in CONTEXTS[4:]]
    assert resumed.to_jsonl() == whole
    assert not list(runs.iterdir())


def test_resumed_results_are_the_same_to_the_last_digit(interrupted, toys):
    whole = run(interval=0.9)
    stop_after(interrupted, 4)
    resumed = run(interval=0.9)
    assert len(toys) == 3
    assert resumed.to_json() == whole.to_json() and resumed.to_csv() == whole.to_csv()
    assert resumed.contexts == whole.contexts and str(resumed) == str(whole)


@pytest.mark.parametrize("cut", [1, 10, 30, 200])
def test_a_line_that_was_cut_off_is_scored_again(interrupted, runs, toys, cut):
    whole = run().to_jsonl()
    stop_after(interrupted, 4)
    (kept,) = runs.iterdir()
    content = kept.read_bytes()
    kept.write_bytes(content[:-cut])
    resumed = run()
    assert len(toys) == (3 if cut == 1 else 4)  # without its line break alone the last line is still whole
    assert resumed.to_jsonl() == whole


def test_a_line_cut_off_is_parted_from_what_a_second_run_adds(interrupted, runs, toys):
    """Interrupted in the middle of a line, then again later: only the cut line is lost."""
    whole = run().to_jsonl()
    stop_after(interrupted, 4)
    (kept,) = runs.iterdir()
    kept.write_bytes(kept.read_bytes()[:-20])  # c3 is lost
    stop_after(interrupted, 3)  # c3, c4 and then, in the next chunk, c5
    toys.clear()
    assert run().to_jsonl() == whole
    assert scored(toys) == [CONTEXTS[i]["references"][0] for i in (5, 6)]


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": "trm-toy"},
        {"metrics": "toy,trm-toy,toy-mean"},
        {"ties": "paper"},
        {"directed": True},
        {"seed": 1},
        {"options": {"toy": {"turn": 0.5}}},
        {"contexts": [{**CONTEXTS[0], "candidates": ["zz", "a"]}, *CONTEXTS[1:]]},
        {"contexts": [{**CONTEXTS[0], "id": "other"}, *CONTEXTS[1:]]},
        {"contexts": [{**CONTEXTS[0], "references": CONTEXTS[0]["references"][::-1]}, *CONTEXTS[1:]]},
        {"contexts": CONTEXTS[:-1]},
        {"contexts": CONTEXTS[::-1]},
    ],
    ids=str,
)
def test_whatever_changes_begins_anew(interrupted, runs, toys, change):
    stop_after(interrupted, 4)
    toys.clear()
    run(**change)
    assert len(toys) == len(change.get("contexts", CONTEXTS))
    assert len(list(runs.iterdir())) == 1  # the interrupted one can still go on
    toys.clear()
    run()
    assert len(toys) == 3 and not list(runs.iterdir())


def test_other_p_values_begin_anew(interrupted, toys):
    stop_after(interrupted, 4)
    for pvalue in (False, "exact", "sampled", 1, 5):
        toys.clear()
        rc.evaluate_contexts(CONTEXTS, "trm-toy,toy", pvalue=pvalue)
        assert len(toys) == len(CONTEXTS)


def test_another_level_of_the_interval_does_not(interrupted, toys):
    stop_after(interrupted, 4)
    run(interval=0.8)
    assert len(toys) == 3


def test_without_resuming_nothing_is_kept_or_used(interrupted, runs, toys):
    stop_after(interrupted, 4, resume=False)
    assert not runs.exists()
    stop_after(interrupted, 4)
    toys.clear()
    run(resume=False)
    assert len(toys) == len(CONTEXTS) and len(list(runs.iterdir())) == 1


def test_what_depends_on_a_caller_s_function_is_not_resumed(interrupted, runs):
    """Nothing tells one function from a changed one of the same name."""
    stop_after(interrupted, 4, metrics="mmd,trm-toy", encoder=lambda texts: [[len(text)] for text in texts])
    assert not runs.exists()


def test_an_error_half_way_can_be_resumed_too(interrupted, monkeypatch, toys):
    real = evaluation._Run._chunk
    count = [0]

    def fails(self, chunk):
        count[0] += 1
        if count[0] == 3:
            raise rc.InputError("acted out")
        return real(self, chunk)

    monkeypatch.setattr(evaluation._Run, "_chunk", fails)
    with pytest.raises(rc.InputError, match="acted out"):
        run()
    toys.clear()
    run()
    assert len(toys) == 3


def test_a_folder_that_cannot_be_written_only_costs_the_resuming(toys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="interrupted run could not go on from here") as caught:
        results = run()
    assert len(caught) == 1 and results.totals[0].contexts == len(CONTEXTS)


def test_two_runs_at_once_do_not_disturb_each_other(toys, runs, monkeypatch):
    """The journal vanishes under a run when its twin ends first."""
    real = evaluation._Run._chunk

    def removes(self, chunk):
        for kept in runs.glob("*") if runs.exists() else ():
            kept.unlink()
        return real(self, chunk)

    monkeypatch.setattr(evaluation._Run, "_chunk", removes)
    assert run().totals[0].contexts == len(CONTEXTS)
    assert not list(runs.glob("*"))


def test_odd_lines_are_no_records(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_bytes(
        b'\n{"step": "a", "value": {"scores": {}}}\n[1]\n"x"\n3\nnull\n{"no": "step"}\n{"step": [1], "value": 2}\n'
        b'{"step": "c"}\n\xff\xfe\n{"step": "b", "value": '
    )
    assert journal.finished() == {}  # no line has a checksum
    journal.add({"a": {"scores": {}}})
    journal.add({"b\u2028\n": {"scores": {"x": {"value": 0.1 + 0.2, "nan": float("nan")}}}})
    found = journal.finished()
    assert list(found) == ["a", "b\u2028\n"] and found["b\u2028\n"]["scores"]["x"]["value"] == 0.1 + 0.2
    assert np.isnan(found["b\u2028\n"]["scores"]["x"]["nan"])
    journal.close()
    journal.close()
    assert not journal.path.exists() and journal.finished() == {}


def test_journals_are_told_apart_by_all_that_describes_a_run(tmp_path):
    runs = [{"a": 1}, {"a": True}, {"a": "1"}, {"a": None}, {"a": [1]}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1.5}]
    assert len({Journal.of(each, folder=tmp_path).path for each in runs}) == len(runs)
    assert Journal.of({"a": 1, "b": 2}, folder=tmp_path).path == Journal.of({"b": 2, "a": 1}, folder=tmp_path).path
