"""Sides that share no source, and the sweep over k against check values and theory."""

import gzip
import itertools
import json
from collections import defaultdict

import numpy as np
import pytest

from recapture import InputError
from recapture_studies.made_up.genre_texts import GENRES, build, source_of
from recapture_studies.mark_evaluate import genres, k_sweep
from recapture_studies.mark_evaluate.k_sweep_view import Swept, beside_table
from recapture_studies.study import Setup, find_study


@pytest.fixture
def data(tmp_path):
    build(tmp_path)
    return tmp_path


# Sides


@pytest.mark.parametrize("name", [genres.XNLI, genres.BROWN])
@pytest.mark.parametrize("seed", [0, 7])
def test_no_source_is_on_both_sides(data, name, seed):
    found = genres.load(Setup(data, seed=seed), name)
    for genre in GENRES:
        sides = [found.reference[genre], found.candidate[genre]]
        sources = [{source_of(text) for text in side} for side in sides]
        assert not sources[0] & sources[1]
        largest = 4 if name == genres.XNLI else 6 + GENRES.index(genre)  # sentences of a source
        assert abs(len(sides[0]) - len(sides[1])) <= largest
        assert all(genre in text for side in sides for text in side)
    assert genres.load(Setup(data, seed=seed), name) == found
    assert genres.load(Setup(data, seed=seed + 1), name) != found


def test_one_sentence_a_source(data):
    found = genres.load(Setup(data), genres.XNLI, single=True, share=0.2)
    for genre in GENRES:
        texts = [*found.reference[genre], *found.candidate[genre]]
        assert len({source_of(text) for text in texts}) == len(texts) == 50
        assert len(found.reference[genre]) == 10  # a fifth
    assert found.title == "XNLI, no partners"


@pytest.mark.slow
def test_real_premises_and_documents_stay_whole(data_folder):
    """XNLI numbers pairs so that three follow each other for a premise; the rule under test goes by order of lines."""
    whole = defaultdict(set)
    for name in (genres.XNLI, genres.BROWN):
        found = genres.load(Setup(data_folder), name)
        places = {}
        for at, side in enumerate((found.reference, found.candidate)):
            places.update((text, at) for texts in side.values() for text in texts)
        with gzip.open(data_folder / name / "sentences.jsonl.gz", "rt") as stream:
            for line in stream:
                row = json.loads(line)
                source = (row["split"], row["pair"] // 3) if name == genres.XNLI else row["file"]
                # One sentence stands in two genres of XNLI, and Brown's repeats are left out.
                if row["text"] in places and row["text"] != "Demographic data could be averaged.":
                    whole[name, source].add((row["text"], places[row["text"]]))
        if name == genres.XNLI:  # the README: 10 genres x 1,000
            assert [len(texts) for side in (found.reference, found.candidate) for texts in side.values()] == [500] * 20
    assert len(whole) == 2500 + 500  # premises, and documents of the Brown corpus
    repeated = [source for source, texts in whole.items() if len({side for _, side in texts}) > 1]
    # A sentence of the Brown corpus that comes again in another document is kept in the first one only.
    assert all(source[0] == genres.BROWN for source in repeated) and len(repeated) < 250


def test_shares():
    for total in range(0, 30):
        for parts in range(1, 9):
            made = genres.shares(total, parts)
            assert sum(made) == total and len(made) == parts and max(made) - min(made) <= 1


@pytest.mark.parametrize("counts", [((3, 3), (3, 3)), ((1, 9), (4, 2)), ((5, 1, 2), (1, 5, 4)), ((4, 4, 4), (9, 9, 1))])
def test_shares_are_as_level_as_can_be(counts):
    """Against all ways to take so many: the smallest part is as large as it can be, then the next, and so on."""
    sides = [
        {str(at): [f"{at} {number}" for number in range(count)] for at, count in enumerate(side)} for side in counts
    ]
    has = [min(pair) for pair in zip(*counts, strict=True)]
    for most in range(1, sum(has) + 3):
        total = min(most, sum(has))
        ways = [way for way in itertools.product(*(range(each + 1) for each in has)) if sum(way) == total]
        found = genres.levelled(genres.Genres("", *sides), most)
        for side in found:
            taken = [sum(text.startswith(str(at)) for text in side) for at in range(len(has))]
            assert sorted(taken) == max(sorted(way) for way in ways) and len(set(side)) == total
        assert [text.split()[0] for text in found[0]] == [text.split()[0] for text in found[1]]


@pytest.mark.parametrize(
    "lines, message",
    [
        ([{"genre": "a", "role": "premise", "text": "x"}] * 4, "at least two genres"),
        ([{"genre": genre, "role": "premise", "text": "x"} for genre in "ab"], "at least two sources"),
        ([{"genre": "a", "text": "x"}], "line 1 has no field 'role'"),
    ],
)
def test_bad_files(tmp_path, lines, message):
    (tmp_path / genres.XNLI).mkdir()
    with gzip.open(tmp_path / genres.XNLI / "sentences.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    with pytest.raises(InputError, match=message):
        genres.load(Setup(tmp_path), genres.XNLI)


def test_absent_folder(tmp_path):
    with pytest.raises(InputError, match=r"it should hold sentences.jsonl.gz: genre, role"):
        find_study("k-sweep").run(Setup(tmp_path))


# The sweep


def test_sweep_gives_the_settled_check_values():
    """Values of the project's page of settled formulas: 200 v 150 rows of numpy's RandomState 0 and 1."""
    x = np.random.RandomState(0).randn(200, 8)
    y = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7
    found = k_sweep.sweep(x, y, (1, 3))
    estimates = {name: [350 * each for each in values] for name, values in found["estimate"].items()}
    assert estimates["petersen"] == pytest.approx([390.0, 356.391837], abs=1e-6)
    assert estimates["quality"] == pytest.approx([439.953271, 377.066667], abs=1e-6)
    assert estimates["diversity"] == pytest.approx([407.881137, 356.923077], abs=1e-6)
    assert estimates["capture"] == pytest.approx([376, 350], abs=1e-9)
    assert [found["score"][name][0] for name in ("petersen", "quality", "diversity", "capture")] == pytest.approx(
        [0.885714, 0.742991, 0.834625, 0.925714], abs=1e-6
    )


def test_sets_that_never_meet_converge_to_one_all_the_same():
    """Schnabel's estimate is then P (k + 1) / k, a score of 1 - 1/k, which nothing is left of once adjusted."""
    rng = np.random.default_rng(0)
    ks = tuple(range(1, 41))
    found = k_sweep.sweep(rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 1e4, ks)
    for name in ("quality", "diversity"):
        assert found["score"][name] == pytest.approx([1 - 1 / k for k in ks], abs=1e-12)
        assert found["adjusted"][name] == pytest.approx([0] * 40, abs=1e-12)
    assert found["score"]["petersen"] == [0] * 40


@pytest.mark.traced
@pytest.mark.slow
def test_quick_form(data, own_cache):
    findings = find_study("k-sweep").run(Setup(data, quick=True, encoder="bag-of-words"))
    table = next(each.table for each in findings.tables if each.name == "sweep")
    rows = [dict(zip(table.heads, row, strict=True)) for row in table.rows]
    assert len(rows) == 3 * 3 * 3 * 4
    for row in rows:
        if row["number"] == "estimate / true size" and row["estimator"] != "capture":
            assert float(row["1"]) >= float(row["40"]) >= 1  # spheres only grow with k
        if row["number"] == "score" and row["estimator"] in ("quality", "diversity"):
            assert all(float(row[str(k)]) >= 1 - 1 / k - 5e-4 for k in (1, 2, 3, 5, 10, 20, 40))  # the floor
    assert {claim.holds for claim in find_study("k-sweep").claims(findings)} <= {
        "holds",
        "holds in part",
        "does not hold",
    }
    assert any("0.975 even to sets that never meet" in line for line in findings.verdict)  # 1 - 1/k at the last k


def test_contrast_is_between_like_and_other():
    """Two numbers a k, worked out by hand."""

    def made(*scores):
        return {"score": {"quality": scores}, "adjusted": {"quality": (scores[0], None)}}

    sweeps = {"like": [made(0.8, 1.0), made(1.0, 1.0)], "other": [made(0.4, 1.0), made(0.6, 1.0)]}
    swept = Swept(sweeps, 10, 5)
    assert swept.of("like", "score", "quality") == pytest.approx([0.9, 1.0])
    assert swept.contrast("score", "quality") == pytest.approx([0.4, 0.0])
    assert np.isnan(swept.contrast("adjusted", "quality")[1])
    # Variances .02 each, so a gap of .4 is .4 / sqrt(.02) = 2.828; no spread, no answer.
    assert swept.separation("quality")[0] == pytest.approx(0.4 / np.sqrt(0.02))
    assert np.isnan(swept.separation("quality")[1])


def test_the_paper_stands_beside_only_where_there_is_its_k():
    """Four estimators at k = 1, 2 with estimates 1.1 to 1.4; the paper's k = 40 is not among ours."""
    numbers = {"petersen": 1.1, "quality": 1.2, "diversity": 1.3, "capture": 1.4}
    sweep = {
        "estimate": {name: [value, 1.0] for name, value in numbers.items()},
        "score": {name: [1 / value, 1.0] for name, value in numbers.items()},
    }
    rows = beside_table({"XNLI": Swept({"whole": [sweep]}, 50, 20)}, (1, 2)).table.rows
    assert [row[:2] + row[3:] for row in rows] == [
        ["1", "estimate / true size", "1.100 to 1.400"],
        ["1", "score", "0.714 to 0.909"],
    ]
