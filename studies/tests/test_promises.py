"""What p-values and human bands promise: simulations that must keep to binomial limits, and how claims are judged."""

import gzip
import json

import numpy as np
import pytest
from scipy.stats import binom

import recapture as rc
from recapture_studies.made_up import build
from recapture_studies.own_checks import promises
from recapture_studies.own_checks import promises_simulated as simulated
from recapture_studies.study import Setup, find_study


@pytest.fixture
def data(tmp_path):
    build(tmp_path, ["brown_genres", "ghostbuster"])
    return tmp_path


def fresh(data):
    """Nothing is kept, so that all is done."""
    return Setup(data, quick=True, encoder="bag-of-words", encoding={"cache": False})


def most_alarms(simulations):
    """No more false alarms than a test of level .05 has with all but one chance in 10,000."""
    return float(binom.ppf(1 - 1e-4, simulations, 0.05)) / simulations


def table(findings, name):
    grid = next(each.table for each in findings.tables if each.name == name)
    return [dict(zip(grid.heads, row, strict=True)) for row in grid.rows]


@pytest.mark.slow
def test_quick_form(data, own_cache, monkeypatch):
    """Relabelling whole groups is an exact test, and so is max-T; made-up documents have a word of their own, so that
    a test without groups must see it, and a vocabulary of one side counts that side's words alone.
    """
    setup = Setup(data, quick=True, encoder="bag-of-words")
    findings = find_study("promises").run(setup)
    alarms = table(findings, "false-alarms")
    assert {row["sets"] for row in alarms} == {"documents", "doubled texts", "encoder that learns"}
    for row in alarms:
        assert float(row["as promised"]) <= most_alarms(simulated.QUICK.alarms), row
        if row["metric"] == "mmd":
            assert float(row["otherwise"]) > most_alarms(simulated.QUICK.contrasts), row
    for row in table(findings, "many-numbers"):
        assert float(row["any adjusted p"]) <= most_alarms(simulated.QUICK.alarms), row
        assert float(row["any raw p"]) > float(row["any adjusted p"])
    bands = table(findings, "human-bands")
    assert len(bands) == 15  # 14 numbers, and CAPTURE without its floor
    for row in bands:
        shares = [float(share.rstrip("%")) for share in list(row.values())[2:] if share != "-"]
        assert len(shares) >= 6 and all(0 <= share <= 100 for share in shares)
    gaussian = [float(row[head].rstrip("%")) for row in bands for head in row if head.startswith("Gaussian")]
    # A band of 8 splits holds P(|t| < 1.96 / sqrt(1 + 1/8)) = .89 of normal parts (t with 7 degrees of freedom).
    assert 80 < np.mean(gaussian) < 97
    assert "the same in 2 of 2 simulations" in " ".join(findings.tables[1].table.caption)
    # A second run finds everything done.
    monkeypatch.setattr(rc, "evaluate", None)
    again = find_study("promises").run(setup)
    assert [each.table.rows for each in again.tables] == [each.table.rows for each in findings.tables]


@pytest.mark.slow
def test_documents_of_the_brown_corpus(data_folder, own_cache):
    """Real documents, word counts: 20 sentences of a document, since those of 5 would hardly tell which it is."""
    setup = Setup(data_folder, quick=True, encoder="bag-of-words")
    scale = simulated.QUICK._replace(documents=10, sentences=20, alarms=6, contrasts=4)
    corpus = simulated.Corpus(setup, scale)
    assert corpus.genre == "learned" and len(corpus.documents) == 80  # the most of all genres
    found = simulated.documents_as_groups(setup, scale, corpus)
    kept, broken = promises.false_alarms(found.kept), promises.false_alarms(found.broken)
    assert max(kept.values()) <= most_alarms(scale.alarms)
    assert broken["mmd value"] > most_alarms(scale.contrasts)


def test_sentences_are_dealt_by_document(data, own_cache, monkeypatch):
    """Both sides have documents of their own, the labels name them, and doubled texts stand twice under one label."""
    setup = fresh(data)
    seen = []
    monkeypatch.setattr(simulated, "_test", lambda *sides, **groups: seen.append((sides, groups)) or {})
    corpus = simulated.Corpus(setup, simulated.QUICK)
    monkeypatch.setattr(corpus, "rows", lambda texts: np.array(texts).reshape(-1, 1))
    scale = simulated.QUICK._replace(alarms=3, contrasts=1)
    simulated.documents_as_groups(setup, scale, corpus)
    assert [bool(groups) for _, groups in seen] == [True] * 3 + [False]
    sources = []
    for (reference, candidate, _), groups in seen[:3]:
        assert len(reference) == len(candidate) == corpus.a_side * 5 == 25
        by_side = []
        for side, name in ((reference, "reference_groups"), (candidate, "candidate_groups")):
            documents = [text.split()[-1] for text in side[:, 0]]  # made-up sentences end in their source
            assert len(set(zip(documents, groups[name].tolist(), strict=True))) == len(set(documents)) == 5
            assert len(set(side[:, 0])) == 25
            by_side.append(set(documents))
        assert not by_side[0] & by_side[1]
        sources.append(by_side)
    assert sources[0] != sources[1]
    seen.clear()
    simulated.doubled_texts(setup, scale, corpus)
    (reference, candidate, _), groups = seen[0]
    for side, name in ((reference, "reference_groups"), (candidate, "candidate_groups")):
        half = len(side) // 2
        assert (side[:half] == side[half:]).all() and len(set(side[:, 0])) == half
        assert (groups[name][:half] == groups[name][half:]).all() and len(set(groups[name])) == half
    assert not set(reference[:, 0]) & set(candidate[:, 0])
    assert not set(groups["reference_groups"]) & set(groups["candidate_groups"])


def test_real_sets_are_disjoint_and_human(data, own_cache, monkeypatch):
    """Texts of a machine are passed over; reference, candidate and second human set share none."""
    calls = []

    def evaluate(reference, candidate, human=None, **options):
        calls.append(
            [{tuple(row) for row in side.tolist()} for side in (reference, candidate, human) if side is not None]
        )
        return {"candidate": {}}

    monkeypatch.setattr(rc, "evaluate", evaluate)
    simulated.real_bands(fresh(data), simulated.QUICK)
    assert [len(call) for call in calls] == [2, 3] * 2
    for call in calls:
        assert all(len(side) == 40 for side in call)
        assert not set.intersection(*call)
    path = data / "ghostbuster" / "wp.jsonl.gz"
    path.write_bytes(
        gzip.compress(b"".join(json.dumps({"source": "gpt", "text": str(n)}).encode() + b"\n" for n in range(99)))
    )
    with pytest.raises(rc.InputError, match="at least 30 different texts of the source 'human'"):
        simulated.real_bands(fresh(data), simulated.QUICK)


def test_too_few_documents(data):
    rows = [{"genre": "law", "file": str(number % 5), "text": f"one two three four {number}"} for number in range(50)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (data / "brown_genres" / "sentences.jsonl.gz").write_bytes(gzip.compress(content))
    with pytest.raises(rc.InputError, match="at least eight documents"):
        simulated.Corpus(Setup(data, quick=True, encoder="bag-of-words"), simulated.QUICK)


def test_worlds():
    """Printed tables: Student's t with 3 degrees of freedom is beyond 3.182 in 5 % of cases, a normal beyond 1.960."""
    samples = 20_000
    for world, beyond in (("heavy tails", 3.182), ("Gaussian", 1.960)):
        values = simulated.drawn(world, samples, np.random.default_rng(0))[:, 0]
        assert abs(np.mean(abs(values) > beyond) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / samples)


def test_shares():
    """p = .05 is an alarm, also as three times 2/120; bands that are not there do not count."""
    rows = [{"mmd value": 0.05}, {"mmd value": 3 * (2 / 120)}, {"mmd value": 0.055}, {"mmd value": 1.0}]
    assert promises.false_alarms(rows) == {"mmd value": 0.5}
    inside = [{"mmd value": 0.9}, {"prd f8": 1.0, "mmd value": 1.0}]
    assert promises.mean_inside(inside) == {"prd f8": 1.0, "mmd value": pytest.approx(0.95)}


@pytest.mark.parametrize(
    "frechet, other, real, judged",
    [
        (0.95, 0.88, 0.99, ("holds", "holds", "holds", "holds")),
        (0.70, 0.95, 0.95, ("holds in part", "holds", "holds", "holds")),  # heavy tails are judged without Fréchet
        (0.95, 0.879, 0.95, ("holds in part", "does not hold", "holds", "holds")),
        (0.95, 0.95, 0.991, ("holds", "holds", "does not hold", "holds")),
    ],
)
def test_claims_of_bands(frechet, other, real, judged):
    """88 to 99 % for every number, both ends included."""
    made = {"frechet value": frechet, "mmd value": other}
    texts = {"wp, reference split": {"mmd value": real}, "wp, second human set": {"mmd value": 0.9}}
    claims = promises.band_claims({"Gaussian, 9 v 9": made, "heavy tails, 9 v 9": made, **texts}, list(texts))
    assert tuple(claim.holds for claim in claims) == judged
    assert f"Fréchet alone {frechet:.1%}" in claims[1].here
    assert all(bool(claim.why) == (claim.holds != "holds") for claim in claims)


@pytest.mark.parametrize(
    "kept, one, several, judged",
    [
        (0.07, 0.03, 0.07, ["holds"] * 5),
        (0.071, 0.029, 0.071, ["holds in part"] * 3 + ["does not hold"] * 2),
        (0.05, 0.071, 0.0, ["holds"] * 3 + ["does not hold", "holds"]),
    ],
)
def test_claims_of_alarms(kept, one, several, judged):
    """At most .07; .03 to .07 where all numbers are looked at together."""
    cases = ("documents", "doubled texts", "encoder that learns")
    shares = {case: {"mmd value": kept, "prd f8": 0.0} for case in cases}
    broken = {case: {"mmd value": 1.0, "prd f8": 1.0} for case in cases}
    any_alarm = {"one, raw": 0.3, "one, adjusted": one, "several, raw": 0.5, "several, adjusted": several}
    claims = promises.alarm_claims(shares, broken, any_alarm)
    assert [claim.holds for claim in claims] == judged
    assert "without groups: 100.0%" in claims[0].here and "any raw p: 30.0%" in claims[3].here
