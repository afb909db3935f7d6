"""Sentences that come first, rows that tables show, and what so few texts would have found.

The share of lost or foreign texts that is said to be found is checked against whole tests of fresh sets: made anew from
a known distribution, damaged by hand, and tested by `evaluate`.
"""

from __future__ import annotations

import html
import json
import pickle
import re

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.geometry.points import PointSet
from recapture.report.report import Report
from recapture.sets.declaration import ASPECTS, METRICS, ROWS, notices, row_name, usual_metrics
from recapture.sets.unseen import (
    FOREIGN,
    LOST,
    SHARES,
    Shifts,
    SmallestFound,
    _crossing,
    _percent,
    _without_noise,
    damage_shifts,
    sentence,
)

DIMENSIONS = 4
CENTRES = np.random.default_rng(5).standard_normal((6, DIMENSIONS)) * 2


def drawn(rng, count):
    return CENTRES[rng.integers(0, len(CENTRES), count)] + rng.standard_normal((count, DIMENSIONS))


MANY = drawn(np.random.default_rng(9), 10_000)


def ordered_by_topic(rng):
    """The population, those of one topic first."""
    return MANY[np.argsort(((MANY - MANY[rng.integers(len(MANY))]) ** 2).sum(axis=1))]


def without_topic(rng, count, share):
    left = ordered_by_topic(rng)[int(share * len(MANY)) :]
    return left[rng.choice(len(left), count, replace=False)]


# What goes unseen


@pytest.mark.slow
def test_damage_that_is_said_to_be_found_is_found():
    """In 80 % of cases or a little more; of half that damage less than half is found. 40 whole tests each: a share of
    80 % comes out between 65 and 95 % in 98 of 100 runs (binomial)."""
    metrics, count = ["density-coverage", "mmd"], 120
    said = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        results = rc.evaluate(drawn(rng, count), drawn(rng, count), metrics, pvalue=199, ceiling=False, seed=seed)
        said.append([results.smallest_found.lost.share, results.smallest_found.foreign.share])
    lost, foreign = np.median(np.array(said, float), axis=0)
    found = {"lost": [], "half lost": [], "foreign": []}
    for seed in range(40):
        rng = np.random.default_rng([seed, 1])
        people = drawn(rng, count)
        topic = ordered_by_topic(rng)
        # As the simulation has it: people never write of that topic, which would be 2 in 15 of their texts.
        own, other = topic[len(MANY) * 2 // 15 :], topic[: len(MANY) * 2 // 15]
        strays = int(foreign * count)
        mixed = own[rng.choice(len(own), 2 * count, replace=False)]
        mixed[:strays] = other[rng.choice(len(other), strays, replace=False)]
        tests = {
            "lost": (people, without_topic(rng, count, lost)),
            "half lost": (people, without_topic(rng, count, lost / 2)),
            "foreign": (mixed[count:], mixed[:count]),
        }
        for kind, (reference, candidate) in tests.items():
            tested = rc.evaluate(reference, candidate, metrics, pvalue=199, ceiling=False)
            found[kind].append(tested.any_difference["candidate"] < 0.05)
    assert 0.65 <= np.mean(found["lost"]) <= 1 and 0.65 <= np.mean(found["foreign"]) <= 0.97
    assert np.mean(found["half lost"]) <= 0.6


def test_damage_moves_numbers_towards_worse_and_more_of_it_further():
    """A lost topic takes coverage away, about as much as it is large: reference texts of it have none near them."""
    rng = np.random.default_rng(0)
    jobs = [(METRICS.find(name), dict(METRICS.find(name).defaults)) for name in ("density-coverage", "mmd")]
    shifts = damage_shifts(jobs, PointSet(drawn(rng, 600)).ordered, size=600, seed=0)
    assert shifts.names == ("density-coverage.density", "density-coverage.coverage", "mmd")
    coverage, mmd = (shifts.by_kind[LOST].mean(axis=0)[:, shifts.names.index(name)] for name in shifts.names[1:])
    assert (np.diff(coverage) < 0.01).all() and -0.4 <= coverage[-1] <= -0.2  # 40 % lost, some reached from its rim
    assert (mmd[2:] > 0).all() and (np.diff(mmd[2:]) > 0).all()
    assert shifts.by_kind[FOREIGN].mean(axis=0)[-1, 2] > mmd[2]
    assert (shifts.chance[LOST] >= 0).all() and (shifts.mixture[LOST] == 0).all()
    assert damage_shifts(jobs, PointSet(drawn(rng, 24)), size=24, seed=0) is None  # parts of 8
    small = rc.evaluate(drawn(rng, 24), drawn(rng, 24), "mmd", pvalue=99, ceiling=False)
    assert "too few human texts to simulate from" in small.verdict[-1]


@pytest.mark.slow
def test_variance_that_damage_adds_is_that_of_fresh_sets():
    """Unbiased MMD varies least where both sides are alike: there its variance falls with n squared, elsewhere with n
    (Gretton and others 2012, theorem 12 and corollary 16), so what parts show must be scaled. Fresh sets of the whole
    size, 100 of each kind, are the oracle; variances of so many are right to a fifth, the simulation's to a half."""
    count, share = 240, 0.4
    metric = METRICS.find("mmd")
    parameters = {**metric.defaults, "bandwidth": 3.0}
    rng = np.random.default_rng(2)
    shifts = damage_shifts([(metric, parameters)], PointSet(drawn(rng, count)).ordered, size=count, seed=0)
    found = {"usual": [], "fixed": [], "mixed": []}
    topics = [ordered_by_topic(rng) for _ in range(10)]
    for draw in range(100):
        topic = topics[draw % 10]
        own, other = topic[len(MANY) * 2 // 15 :], topic[: len(MANY) * 2 // 15]
        strays = {"usual": 0, "fixed": round(share * count), "mixed": rng.binomial(count, share)}
        for kind, stray in strays.items():
            texts = own[rng.choice(len(own), 2 * count, replace=False)]
            texts[:stray] = other[rng.choice(len(other), stray, replace=False)]
            found[kind].append(rc.mmd(texts[count:], texts[:count], bandwidth=3.0).value)
    usual, fixed, mixed = (np.var(each, ddof=1) for each in found.values())
    # Topics differ, too, which is no chance of one of them.
    between = shifts.by_kind[FOREIGN][:, -1, 0].var(ddof=1)
    assert shifts.chance[FOREIGN][-1, 0] + usual + between == pytest.approx(fixed, rel=0.6)
    assert shifts.mixture[FOREIGN][-1, 0] == pytest.approx(mixed - fixed, abs=0.6 * mixed)
    assert shifts.chance[FOREIGN][-1, 0] > 2 * usual


def test_noise_of_few_draws_does_not_pass_for_topics():
    """Of draws that differ by chance alone topics are told to do nearly the same; far apart, they stay as they are."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((1, 8, 4, 1, 200))
    settled = _without_noise(5 + noise)
    assert settled.shape == (1, 8, 1, 200)
    assert settled.var(axis=1).mean() < 0.4 * noise.mean(axis=2).var(axis=1).mean()
    np.testing.assert_allclose(settled.mean(axis=1), 5 + noise.mean(axis=(1, 2)))
    apart = 10 * np.arange(8.0)[None, :, None, None, None]
    np.testing.assert_allclose(_without_noise(apart + noise), apart[:, :, 0] + noise.mean(axis=2), atol=0.2)
    assert (_without_noise(np.zeros((1, 8, 4, 1, 1))) == 0).all()


def test_what_only_some_topics_show_is_not_promised():
    """Two of eight topics are found in 2 of 5 cases at any share: 85 % of all are found, but of eight topics drawn anew
    three or more are such ones in 32 % of cases (binomial), and then too few are found."""
    shares = np.array(SHARES)
    seen = np.ones((8, len(shares), 1)) * np.linspace(0.2, 1.2, len(shares))[None, :, None]
    some = seen.copy()
    some[:2] = 0.4
    for moved, promised in ((seen, True), (some, False)):
        shifts = Shifts(("mmd",), ("lower",), shares, {LOST: moved, FOREIGN: moved})
        told = SmallestFound.of(shifts, lambda change, *_: min(1.0, float(change[0])), np.ones(1), ("mmd",), 0)
        assert (told.lost.share is not None) == promised
        assert promised or "at least for some topics: these sets are too small" in sentence(told, "would be told")
    assert shifts.of(["coverage"]) is None and shifts.of(["mmd", "coverage"]).names == ("mmd",)


def test_where_power_crosses_four_of_five():
    shares = np.array(SHARES)
    assert _crossing(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]), shares) is None
    assert _crossing(np.ones(7), shares) == SHARES[0]
    # Half way between 5 and 10 % on a scale of ratios is their geometric mean.
    assert _crossing(np.array([0, 0, 0, 0.7, 0.9, 1, 1]), shares) == pytest.approx(np.sqrt(0.05 * 0.1))
    assert _crossing(np.array([0, 0.85, 0.1, 0.7, 0.9, 1, 1]), shares) < 0.01  # noise does not undo what was reached


def test_seeded_and_left_behind_by_copies():
    rng = np.random.default_rng(3)
    reference, candidate = drawn(rng, 80), drawn(rng, 80)
    one, other = (rc.evaluate(reference, candidate, "mmd", pvalue=99, ceiling=False, seed=4) for _ in range(2))
    assert one.smallest_found == other.smallest_found and one.verdict == other.verdict
    assert "4 of 5 cases" in one.verdict[-1]
    sent = pickle.loads(pickle.dumps(one))
    assert sent.smallest_found is None and sent.verdict == one.verdict[:-1]
    shuffled = rc.evaluate(reference[::-1], candidate[::-1], "mmd", pvalue=99, ceiling=False, seed=4)
    assert shuffled.smallest_found == one.smallest_found


def test_too_few_labellings_are_said():
    """With nine labellings p is never below 1 / 10."""
    rng = np.random.default_rng(3)
    few = rc.evaluate(drawn(rng, 30), drawn(rng, 30) + 9, "mmd", pvalue=9, ceiling=False)
    assert few.any_difference["candidate"] == 0.1 and few.smallest_found is None
    (sentence,) = few.verdict
    assert sentence.startswith("Nothing can be told from people") and "never below 0.1" in sentence


# Sentences


def test_told_or_not_is_said_as_a_test_only_where_there_was_one():
    rng = np.random.default_rng(1)
    people, like, far = drawn(rng, 90), drawn(rng, 90), drawn(rng, 90) + 3
    tested = rc.evaluate(people, {"like": like, "far": far}, "mark-evaluate,mmd", pvalue=99)
    assert re.match(
        r"Told from people at this size: far \(p 0.02\); not told from people: like \(p ", tested.verdict[0]
    )
    banded = rc.evaluate(people, {"like": like, "far": far}, "mark-evaluate,mmd")
    assert banded.verdict[0].startswith("Worse than the human band: far (by ") and "(no test: " in banded.verdict[0]
    assert not any("p 0" in sentence or "Told" in sentence for sentence in banded.verdict)
    few = rc.evaluate(people, {"far": far}, "mmd").verdict[0]  # more than two numbers are counted alone
    assert (
        few.startswith("Worse than the human band: far (by 1 of 1 numbers: mmd)") and ": mmd" not in banded.verdict[0]
    )
    (nothing,) = rc.evaluate(people, like, "mmd", ceiling=False).verdict
    assert nothing.startswith("How close to people this is cannot be said")
    for results in (tested, banded):
        assert any("was not tested here: recapture compare tests that" in sentence for sentence in results.verdict)
        assert len(results.verdict) <= 5


def test_worse_in_halves_of_the_human_band():
    """By hand, from the numbers that the result has."""
    rng = np.random.default_rng(1)
    people, dull = drawn(rng, 120), without_topic(rng, 120, 0.5)
    results = rc.evaluate(people, {"dull": dull}, "precision-recall")
    result = results["dull"]["precision-recall"]
    band, own = result.human["recall"], result.at_human_size["recall"]
    halves = (band.mean - own.mean) / ((band.high - band.low) / 2)
    assert halves > 1
    assert (
        f"recall of parts {own.mean:.4f}, {halves:.1f} half-widths of the human band below people's mean "
        f"{band.mean:.4f}" in results.verdict[-1]
    )
    assert results.verdict[-1].endswith("; the band ends at 1 half-width.")
    assert "less variety" in results.verdict[-1] and "less fidelity" not in results.verdict[-1]


@pytest.mark.slow
def test_better_than_people_is_not_closer_to_people():
    """Typical texts alone have a density above people's: nearer to them is a set that is like them."""
    rng = np.random.default_rng(2)
    people, like = drawn(rng, 200), drawn(rng, 200)
    typical = CENTRES[rng.integers(0, len(CENTRES), 200)] + 0.4 * rng.standard_normal((200, DIMENSIONS))
    compared = rc.compare(people, {"like": like, "typical": typical}, "density-coverage,mmd")
    density = compared.differences["typical", "like"]["density-coverage.density"]
    assert density.value > 0 and density.adjusted < 0.05 and density.sure
    assert "density-coverage.density" not in compared.closer("typical", "like")
    assert compared.ranks == {"like": 1, "typical": 2}


@pytest.mark.traced
@pytest.mark.slow
def test_what_goes_unseen_is_not_promised_where_it_was_not_simulated():
    """Labellings of pairs swap texts that say the same, and hardly move a number: damage to parts drawn one by one
    would look enormous beside that. Numbers of clusterings move with the size of parts.

    """
    rng = np.random.default_rng(3)
    people = drawn(rng, 60)
    same = people + 0.05 * rng.standard_normal(people.shape)
    said = "What goes unseen at this size was not simulated: that is done for"
    paired = rc.evaluate(people, {"same": same}, "mmd", pvalue=99, paired=True)
    assert f"{said} texts that stand by themselves alone." in paired.verdict and paired.smallest_found is None
    compared = rc.compare(people, {"same": same, "also": same[:, ::-1]}, "mmd", paired=True, ceiling=False)
    assert f"{said} texts that stand by themselves alone." in compared.verdict
    clustered = rc.evaluate(people, {"same": drawn(rng, 60)}, "prd", pvalue=99, options={"prd": {"clusterings": 1}})
    assert f"{said} numbers of neighbours and kernels alone." in clustered.verdict
    alone = rc.evaluate(people, {"same": drawn(rng, 60)}, "mmd", pvalue=99)
    assert not any("not simulated" in sentence for sentence in alone.verdict)


# Forms

NASTY = "<b>\x1b[31m|`_%\nx"


def test_every_form_opens_with_the_verdict_and_obeys_no_name_in_it():
    rng = np.random.default_rng(1)
    results = rc.evaluate(drawn(rng, 60), {NASTY: drawn(rng, 60) + 5, "b": drawn(rng, 60)}, "mmd", pvalue=99)
    assert any(NASTY in sentence for sentence in results.verdict)
    table, page, tex, notebook = (
        results.to_table(), results.to_markdown(), results.to_latex(), results.to_html(),
    )  # fmt: skip
    assert table.startswith("Told from people ") and page.startswith("- Told from people ")
    assert tex.startswith("% Told from people ") and notebook.startswith("<ul><li>Told from people ")
    for text in (table, page, tex, notebook):
        assert "\x1b" not in text and "[31m" in text and "would have been told from people in 4 of 5 cases" in text
    opening = tex.split("\\begin")[0].splitlines()
    assert all(line.startswith("%") for line in opening)
    assert "<b>" not in notebook and html.escape("<b>") in notebook
    content = json.loads(results.to_json())
    assert content["verdict"] == results.verdict and content["smallest_found"]["found_in"] == 0.8
    assert "Which of these" not in results.to_csv()


def test_sentences_are_folded_at_words_in_a_terminal():
    report = Report("sets", [rc.Table(["a"], [["b"]])], verdict=["one two three four five six seven eight nine ten"])
    first, second, *_ = report.to_table(width=30).splitlines()
    assert (first, second) == ("one two three four five six", "seven eight nine ten")
    assert report.to_table().startswith("one two three four five six seven eight nine ten\n\n")


# Rows


def test_rows_are_declared_numbers_that_say_what_they_notice():
    every = {row_name(name, output.name) for name, metric in METRICS.all().items() for output in metric.outputs}
    assert set(ROWS) <= every and 3 <= len(ROWS) <= 4
    assert all(notices(row) for row in every)
    named = {row.split(".")[0] for row in (*ROWS, *ASPECTS)}
    assert set(usual_metrics()) == named | {"mark-evaluate"}
    sides = {
        row_name(name, each.name): each.aspect for name, metric in METRICS.all().items() for each in metric.outputs
    }
    assert [sides[row] for row in ASPECTS] == ["fidelity", "variety"]
    assert row_name("mmd", "value") == "mmd" and row_name("mauve", "value") == "mauve.value"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    np.save("human.npy", drawn(rng, 24))
    np.save("model.npy", drawn(rng, 24))


SCORE = ("score", "-r", "human.npy", "-c", "model.npy", "--no-ceiling")


def rows_of(table):
    """Names of the numbers of the first table."""
    return re.findall(r"(\S+) +[↑↓] ", table.split("\n\n")[1])


def test_few_rows_unless_all_are_asked_for(files, capsys):
    assert run([*SCORE, "--format", "table"]) == 0
    few = capsys.readouterr().out
    assert len(rows_of(few)) == len(ROWS)
    assert all(f"{row}: {notices(row)}" in few for row in ROWS)
    assert run([*SCORE, "--all"]) == 0
    every = capsys.readouterr().out
    left = len(rows_of(every)) - len(ROWS)
    assert f"{left} more numbers: in json and csv, and here with --all" in few
    assert "more numbers" not in every and "what moves them" not in every
    assert run([*SCORE, "--metrics", "precision-recall"]) == 0
    named = capsys.readouterr().out
    assert rows_of(named) == ["precision", "recall"] and "more numbers" not in named
    assert run([*SCORE, "--all", "--metrics", "mmd"]) == 2
    assert "--all and --metrics" in capsys.readouterr().err


def test_data_for_programs_always_has_all_numbers(files):
    results = rc.evaluate(np.load("human.npy"), {"model": np.load("model.npy")}, ceiling=False)
    every = [(name, output.name) for name, metric in METRICS.all().items() for output in metric.outputs]
    assert results.shown == ROWS and results.all_rows().shown is None
    assert [(line.split(",")[1], line.split(",")[2]) for line in results.to_csv().splitlines()[1:]] == every
    assert list(json.loads(results.to_json())["results"]["model"]) == list(METRICS.all())
    assert ".all_rows()" in str(results) and "petersen" in str(results.all_rows())
    assert results.all_rows() == results and "petersen" not in str(results)


@pytest.mark.parametrize(
    ("share", "words"), [(0.005, "0.5"), (0.0149, "1"), (0.0949, "9"), (0.0951, "10"), (0.0999, "10"), (0.314, "31")]
)
def test_shares_are_plain_numbers(share, words):
    assert _percent(share) == words


def test_numbers_of_fidelity_and_variety_stand_in_the_table_of_parts():
    """Few rows are shown, and the sentence may rest on others: those stand beside people's all the same."""
    rng = np.random.default_rng(1)
    people, dull = drawn(rng, 120), without_topic(rng, 120, 0.5)
    results = rc.evaluate(people, {"dull": dull}, "precision-recall,density-coverage,mmd")
    results.show(("mmd",), "more")
    (said,) = (sentence for sentence in results.verdict if "less variety" in sentence)
    named = re.search(r"less variety \((\S+) of parts (\S+), ", said)
    rows = {f"{row[0] or above}.{row[1]}": row for above, row in with_names(results.report().tables[0].rows)}
    assert list(rows) == ["precision-recall.precision", "precision-recall.recall", "mmd.value"]
    assert rows[named[1]][4].startswith(named[2])


def with_names(rows):
    """Rows, each with the last name that stands in the first column."""
    above = ""
    for row in rows:
        above = row[0] or above
        yield above, row


def test_copies_and_repeats_are_in_the_verdict():
    """Half of one candidate is the reference's, three quarters of the other stand there four times: counted by hand."""
    rng = np.random.default_rng(6)
    people = rng.standard_normal((40, 3))
    copies = np.concatenate([people[:20], rng.standard_normal((20, 3))])
    again = np.repeat(rng.standard_normal((10, 3)), 4, axis=0)
    results = rc.evaluate(people, {"copies": copies, "again": again, "own": rng.standard_normal((40, 3))}, "mmd")
    said = "Beware: 20 of 40 samples of copies stand in the reference, 30 of 40 samples of again repeat others of it."
    assert said in results.verdict
    compared = rc.compare(people, {"copies": copies, "again": again}, "mmd", ceiling=False)
    assert said in compared.verdict and len(compared.verdict) <= 5
