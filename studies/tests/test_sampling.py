"""The study of sampling: what theory forces it to find, what it refuses, and what it says where nothing is there."""

import json

import numpy as np
import pytest

from recapture import InputError
from recapture.cli.app import run
from recapture_studies.distribution_aware import sampling
from recapture_studies.distribution_aware.captions import Scoring
from recapture_studies.distribution_aware.samples import Drawn, read_samples
from recapture_studies.distribution_aware.sampling_curves import PEOPLE, compared
from recapture_studies.distribution_aware.sampling_tables import temperature_curves, top_p_curves
from recapture_studies.files import plain
from recapture_studies.made_up import drawn_texts
from recapture_studies.made_up.writing import write_records
from recapture_studies.paper import statements
from recapture_studies.study import Setup, find_study, rows_of
from recapture_studies.write import write_findings

WORDS = ["cat", "dog", "sun", "tree", "lake", "road", "bird", "boat", "rain", "hill"]


def row(**changes):
    made = {"id": 1, "human": ["a b", "a c", "b c", "c d"], "samples": [{"temperature": 1, "texts": ["a", "b"]}]}
    return {**made, **changes}


def texts(rng, count):
    """Any two share a word."""
    return [" ".join(["sky", *rng.choice(WORDS, 4)]) for _ in range(count)]


def test_ways_in_words():
    assert str(Drawn(0.7)) == "temperature 0.7"
    assert str(Drawn(1.2, 0.9, 20)) == "temperature 1.2, top-p 0.9, top-k 20"
    assert str(Drawn(search="beam", beams=8)) == "beam 8"


def test_which_ways_make_a_curve():
    ways = [Drawn(1.0), Drawn(0.5), Drawn(1.0, 0.9, 20), Drawn(0.5, 0.9, 20), Drawn(1.0, 0.5), Drawn(search="greedy")]
    by_temperature = temperature_curves(ways)
    assert list(by_temperature) == ["all tokens", "top-p 0.9, top-k 20"]
    assert by_temperature["all tokens"] == [Drawn(0.5), Drawn(1.0)]
    assert top_p_curves(ways) == {"temperature 1": [Drawn(1.0, 0.5), Drawn(1.0)]}


@pytest.mark.parametrize(
    "rows, message",
    [
        ([], "holds no contexts"),
        ([{"id": 1, "human": ["a"]}], "line 1 has no field 'samples'"),
        ([row(human="a")], "'human' must be a list of texts"),
        ([row(human=["a", " "])], "'human' must hold texts, none of them blank"),
        ([row(human=[])], "'human' must hold texts"),
        ([row(model=3)], "'model' must be a text, not 3"),
        ([row(), row()], "context 2: '1' of 'model' is there twice"),
        ([row(samples=[])], "context 1 has no samples"),
        ([row(samples=["a"])], "'samples' must be objects with a list of texts"),
        ([row(samples=[{"texts": []}])], "'samples' must be objects with a list of texts"),
        ([row(samples=[{"texts": ["a"], "topp": 0.9}])], "not by 'topp'"),
        ([row(samples=[{"texts": ["a"], "temperature": 0}])], "'temperature' must be a number above 0, not 0"),
        ([row(samples=[{"texts": ["a"], "top_p": 1.1}])], "a number above 0 and at most 1, not 1.1"),
        ([row(samples=[{"texts": ["a"], "top_k": 2.5}])], "'top_k' must be a whole number, not 2.5"),
        ([row(samples=[{"texts": ["a"], "search": "best"}])], "sampling, greedy, beam, not \"best\""),
        ([row(samples=[{"texts": ["a"]}, {"texts": ["b"], "temperature": 1}])], "of temperature 1 twice"),
        ([row(), row(id=2, samples=[{"texts": ["a"], "temperature": 2}])], "only one has temperature 1"),
        ([row()], "has 1 contexts of a model and 2 texts"),
        ([row(samples=[{"texts": ["a"]}]), row(id=2, samples=[{"texts": ["a"]}])], "and 1 texts of each way"),
        ([row(id=n, human=["a"]) for n in range(39)], "has 39 contexts of a model with fewer than 4 texts"),
    ],
)  # fmt: skip
def test_samples_that_are_refused(rows, message, tmp_path, capsys):
    write_records(tmp_path / "in" / "mine.jsonl", rows)
    arguments = ["--samples", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--encoder", "bag-of-words"]
    assert run(["reproduce", "sampling", *arguments]) == 2
    shown = capsys.readouterr().err
    assert message in shown and shown.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["sampling", "--samples", "nowhere"], "nowhere is no folder: it should hold"),
        (["sampling", "--samples", "."], "has no .jsonl or .jsonl.gz file"),
        (["decoding", "--samples", ".", "--data", "."], "decoding reads no language model's samples"),
        (["sampling", "--samples", ".", "--made-up"], "leave --samples out"),
        (["sampling"], "name the folder that holds lm_samples"),
    ],
)
def test_folders_that_are_refused(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    assert run(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_twice(tmp_path):
    for ending in ("jsonl", "jsonl.gz"):
        write_records(tmp_path / f"mine.{ending}", [row()])
    with pytest.raises(InputError, match="has mine twice"):
        read_samples(tmp_path)


def test_nothing_is_told_where_no_samples_are(tmp_path):
    findings = find_study("sampling").run(Setup(tmp_path))
    claims = find_study("sampling").claims(findings)
    assert {claim.verdict.rule for claim in claims} == {"absent"}
    assert {claim.holds for claim in claims} == {"cannot be told"}
    about = {f"distribution-aware/{place}" for place in
             ("figure-5/temperature", "figure-5/meteor-falls", "figure-5/trade-off", "figure-6/nucleus")}  # fmt: skip
    assert {claim.id for claim in claims} == about <= set(statements())


def test_references_are_of_others_and_the_same_for_both_models(tmp_path):
    rng = np.random.default_rng(0)
    human = [[f"{n} {at}" for at in range(9)] for n in range(3)]
    rows = [row(id=n, model=model, human=human[n], samples=[{"texts": texts(rng, 5)}]) for model in "ab"
            for n in (range(3) if model == "a" else (2, 0, 1))]  # fmt: skip
    write_records(tmp_path / "mine.jsonl", rows)
    (samples,) = read_samples(tmp_path)
    work = compared(samples, Setup(tmp_path))
    assert (work.several, work.contexts, work.references, work.candidates) == (True, 3, 4, 5)
    for model, ids in work.ids.items():
        for name, references, people in zip(ids, work.sides[model], work.candidates_of[model][PEOPLE], strict=True):
            assert sorted([*references, *people]) == sorted(human[int(name)])  # 4 and 5 of 9, each text once
    by_model = [dict(zip(work.ids[model], work.sides[model], strict=True)) for model in "ab"]
    assert by_model[0] == by_model[1]


def test_a_model_has_no_more_candidates_than_people_have(tmp_path):
    """Else other people's triangle ranks would be those of fewer texts."""
    ways = [{"texts": [f"a {n}" for n in range(10)]}, {"search": "greedy", "texts": ["a"]}]
    write_records(tmp_path / "mine.jsonl", [row(id=n, samples=ways) for n in range(2)])
    (samples,) = read_samples(tmp_path)
    work = compared(samples, Setup(tmp_path))
    assert (work.references, work.candidates) == (2, 2)
    assert {len(each) for listed in work.candidates_of["model"].values() for each in listed} == {2}


def test_the_folder_of_samples_is_not_written(tmp_path):
    study, setup = find_study("sampling"), Setup(tmp_path, samples=tmp_path / "in")
    setup.samples.mkdir()
    (setup.samples / "sampling.json").write_text("mine")
    with pytest.raises(InputError, match="it is an input, which would be lost"):
        write_findings(study, study.run(Setup(tmp_path)), setup, setup.samples)
    assert (setup.samples / "sampling.json").read_text() == "mine"


def test_blocks_share_no_context(tmp_path):
    rows = [row(id=n, human=[f"human {n}"], samples=[{"texts": [f"model {n}"]}]) for n in range(50)]
    write_records(tmp_path / "mine.jsonl", rows)
    (samples,) = read_samples(tmp_path)
    work = compared(samples, Setup(tmp_path))
    assert (work.several, work.contexts, work.references, work.candidates) == (False, 2, 12, 12)
    (model,) = work.ids
    seen = []
    for number in range(2):
        references, people, drawn = (
            [text.split()[1] for text in side[number]]
            for side in (
                work.sides[model],
                work.candidates_of[model][PEOPLE],
                work.candidates_of[model]["temperature 1"],
            )
        )
        assert people == drawn  # the model's text of the same contexts
        seen += references + people
    assert len(seen) == len(set(seen)) == 48


def findings_of(folder, **options):
    findings = find_study("sampling").run(Setup(folder, encoder="bag-of-words", samples=folder, **options))
    tables = json.loads(json.dumps(rows_of(findings.tables)))
    claims = find_study("sampling").claims(findings)
    assert all(claim.here and claim.data and claim.id in statements() for claim in claims)
    assert list(claims) == list(sampling.judge(tables, plain(findings.settings)))  # from the tables alone, as stored
    return findings, tables, {claim.id.partition("/")[2]: claim for claim in claims}


def number(cell):
    return float(cell.split(" ±")[0])


@pytest.fixture(scope="module")
def forced(tmp_path_factory):
    """Cold: one of the references, over and over. Near one: texts drawn as people's are. Hot: words nobody else uses,
    all different; with fewer tokens as near one."""
    rng = np.random.default_rng(7)
    rows = []
    for n in range(8):
        human = texts(rng, 20)
        hot = [f"x{n}a{at} y{n}a{at} z{n}a{at}" for at in range(10)]
        ways = [({"temperature": 0.1}, human[:1] * 10), ({"temperature": 1}, texts(rng, 10)),
                ({"temperature": 2}, hot), ({"temperature": 0.1, "top_p": 0.9}, human[:1] * 10),
                ({"temperature": 1, "top_p": 0.9}, texts(rng, 10)), ({"temperature": 2, "top_p": 0.9}, texts(rng, 10)),
                ({"search": "greedy"}, human[:1])]  # fmt: skip
        rows.append(row(id=n, human=human, samples=[{**way, "texts": drawn} for way, drawn in ways]))
    folder = tmp_path_factory.mktemp("forced")
    write_records(folder / "mine.jsonl.gz", rows)
    return folder


@pytest.mark.traced
@pytest.mark.slow
def test_what_theory_forces(forced, monkeypatch):
    _, tables, claims = findings_of(forced)
    by = {(each["drawn from"], each["temperature"]): each for each in tables["temperature"]}
    hot, cold = by["all tokens", "2"], by["all tokens", "0.1"]
    assert number(hot["meteor ↑"]) == 0  # no word in common with anybody
    # References are nearer to each other than to any hot text: 2/3 + 1/3 + 1/3. Hot texts share no word with each
    # other either: the edge within is as long as both others, and shares all ranks evenly: 0.
    assert number(hot["trm-meteor ↓"]) == pytest.approx(4 / 3, abs=0.02)
    candidates = {each["candidates"]: each for each in tables["searches-and-people"]}
    greedy, people = candidates["greedy"], candidates["people"]
    assert {head: cold[head] for head in cold if "↑" in head or "↓" in head} == {
        head: greedy[head] for head in greedy if "↑" in head or "↓" in head
    }  # the same texts
    assert number(people["trm-meteor ↓"]) < number(cold["trm-meteor ↓"])
    assert claims["figure-5/trade-off"].holds == "holds"
    assert claims["figure-6/nucleus"].verdict.because.startswith("of 2 parts 1 hold")  # at 2; at 1 both are alike
    assert claims["figure-4/variety-improves-trm"].holds == "holds"
    assert claims["figure-5/temperature"].verdict.rule == "absent"
    # Finished steps are not made again.
    for work in ("scores", "prepare"):
        monkeypatch.setattr(Scoring, work, lambda *_, **__: pytest.fail("made again"))
    assert findings_of(forced)[1] == tables


@pytest.mark.traced
@pytest.mark.slow
def test_made_up_samples_of_two_models(tmp_path):
    drawn_texts.build(tmp_path)
    findings, tables, claims = findings_of(tmp_path / "lm_samples", quick=True)
    assert {each["texts"] for each in tables["temperature"]} == {"prose", "scenes"}
    assert {each["texts"] for each in tables["two-models"]} == {"scenes"}
    # 'another' is the clumsier: the hotter, the more 'one' is ahead.
    ahead = [number(each["meteor ↑"]) for each in tables["two-models"]]
    assert ahead[-1] > 0.05 and ahead[-1] > ahead[0]
    assert "two models of our own" in claims["figure-5/temperature"].here
    assert sum("the order" in line for line in findings.verdict) == 1
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure()
    findings.draw(figure)
    assert [axes.get_xlabel() for axes in figure.axes] == ["temperature", "temperature", "top-p"] * 2  # a row a set
    assert all(axes.lines for axes in figure.axes)
