"""Files to results in one call: what `evaluate` has for the same sets, kept in parts that survive."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.plans import planned_parts, planned_work
from recapture.plans.planned_parts import PlannedParts
from recapture.plans.tile_plan import TilePlan

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]


@pytest.fixture
def sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # copies of what lies elsewhere go there
    human, good, bad = np.random.default_rng(3).standard_normal((3, 90, 5))
    for name, values in {"human": human, "good": good, "bad": bad[:50] + 1}.items():
        np.save(f"{name}.npy", values)
    return human, {"good": good, "bad: 1/2": bad[:50] + 1}


@pytest.mark.parametrize("storage", ["kept", "memory://kept/here"])
def test_several_candidates_as_from_evaluate(sets, storage):
    if storage.startswith("memory"):
        pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory").store.clear()
    human, candidates = sets
    files = {"good": "good.npy", "bad: 1/2": "bad.npy"}
    results = rc.evaluate_files("human.npy", files, storage, parts=2)
    expected = rc.evaluate(human, candidates, METRICS, ceiling=False, reference_name="human.npy")
    assert results.to_json(arrays=True) == expected.to_json(arrays=True)
    assert (results.inputs, results.notes) == (expected.inputs, expected.notes)
    again = rc.evaluate_files("human.npy", files, storage, parts=2)
    assert again.to_json(arrays=True) == expected.to_json(arrays=True)


def test_what_is_there_is_not_done_again(sets, monkeypatch):
    rc.evaluate_files("human.npy", "good.npy", "kept", k=2)
    monkeypatch.setattr("recapture.plans.planned_parts.PlannedParts.make", None)  # nobody calls it
    assert list(rc.evaluate_files("human.npy", "good.npy", "kept", k=2)) == ["good.npy"]
    with pytest.raises(InputError, match="holds a plan for other files or settings"):
        rc.evaluate_files("human.npy", "good.npy", "kept", k=3)


def test_score_with_storage_prints_what_score_prints(sets, capsys):
    command = ["score", "-r", "human.npy", "-c", "good.npy", "-c", "bad.npy", "--metrics", ",".join(METRICS)]
    for form in ("table", "json", "csv"):
        assert run([*command, "--storage", "kept", "--format", form]) == 0
        planned = capsys.readouterr().out
        assert run([*command, "--no-ceiling", "--format", form]) == 0
        assert planned == capsys.readouterr().out


def test_score_reads_urls_where_parts_are_kept(sets, tmp_path, capsys):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = f"local://{tmp_path}"
    score = ["score", "--metrics", "precision-recall", "--format", "csv"]
    assert run([*score, "-r", f"{url}/human.npy", "-c", f"{url}/good.npy", "--storage", f"{url}/kept"]) == 0
    planned = capsys.readouterr().out
    assert run([*score, "-r", "human.npy", "-c", "good.npy", "--no-ceiling"]) == 0
    assert planned == capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--storage", "kept", "--metrics", "mmd"], "plans are for metrics of neighbourhoods ("),
        (["--storage", "kept", "--pvalue"], "--pvalue cannot be had from parts: leave out --pvalue or --storage"),
        (["--storage", "kept", "--sample", "9"], "--sample cannot be had from parts"),
        (
            ["--storage", "kept", "--dry-run"],
            "--dry-run cannot be had from parts: leave out --dry-run or --storage "
            "(recapture plan --dry-run foretells parts)",
        ),
        (["--storage", "kept", "--budget", "9s"], "--budget cannot be had from parts"),
        (["--storage", "kept", "--dtype", "bfloat16"], "an encoder was named, but the sets are vectors already"),
        (["--storage", "kept", "--reference-format", "npz"], "parts are of files that are read alike"),
        (["--engine", "ray"], "--engine and --address are for work in parts: say --storage where they are kept"),
        (["--storage", "kept", "--engine", "spark"], "no engine 'spark'; there are local and ray"),
        (["--storage", "no/such/folder"], "cannot write no/such/folder: No such file or directory"),
    ],
)
def test_what_parts_cannot_say(sets, options, told, capsys):
    assert run(["score", "-r", "human.npy", "-c", "good.npy", *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines()[-1].startswith(f"recapture: {told}")
    assert not list(Path().glob("kept/*"))


@pytest.mark.parametrize(("metrics", "left_out"), [([], "other metrics and "), (["--metrics", "precision-recall"], "")])
def test_score_with_storage_says_what_it_leaves_out(sets, metrics, left_out, capsys):
    assert run(["score", "-r", "human.npy", "-c", "good.npy", "--storage", "kept", *metrics]) == 0
    assert f"recapture: {left_out}what human texts score cannot be had from parts: " in capsys.readouterr().err


def test_several_candidates_cannot_be_ranked_from_parts(sets, capsys):
    assert run(["score", "-r", "human.npy", "-c", "good.npy", "-c", "bad.npy", "--storage", "kept"]) == 0
    told = "other metrics, which candidate is closest and what human texts score cannot be had from parts: "
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_a_plans_folder_is_no_storage(sets):
    rc.make_plan("human.npy", "good.npy", "planned")
    before = sorted(Path("planned").iterdir())
    with pytest.raises(InputError, match="planned is the folder of a plan: name another storage"):
        rc.evaluate_files("human.npy", "good.npy", "planned")
    assert sorted(Path("planned").iterdir()) == before


def test_a_device_that_is_not_there_leaves_no_plan_behind(sets):
    with pytest.raises(InputError, match="device 'cuda:999' cannot be used here"):
        rc.evaluate_files("human.npy", "good.npy", "kept", device="cuda:999")
    assert not Path("kept").exists()


def test_several_candidates_have_names(sets):
    with pytest.raises(InputError, match="several candidates are given by name"):
        rc.evaluate_files("human.npy", ["good.npy", "bad.npy"], "kept")


@pytest.fixture
def made(monkeypatch):
    """Names of parts that were computed, not taken from another plan."""
    names = []
    for name in ("_encoded", "_counts"):
        usual = getattr(PlannedParts, name)
        monkeypatch.setattr(
            PlannedParts, name, lambda self, part, usual=usual: names.append(part.name) or usual(self, part)
        )
    usual_radii = planned_parts.squared_radii

    def radii(rows, part, ks):
        names.append(f"radii of {len(rows)}")
        return usual_radii(rows, part, ks)

    monkeypatch.setattr(planned_parts, "squared_radii", radii)
    return names


def test_radii_of_the_reference_are_found_once(sets, made):
    human, candidates = sets
    files = {"good": "good.npy", "bad: 1/2": "bad.npy"}
    results = rc.evaluate_files("human.npy", files, "kept", parts=2)
    assert made == [
        *["radii of 90"] * 4,
        "counts-0001",
        "counts-0002",
        *["radii of 50"] * 2,
        "counts-0001",
        "counts-0002",
    ]
    expected = rc.evaluate(human, candidates, METRICS, ceiling=False, reference_name="human.npy")
    assert results.to_json(arrays=True) == expected.to_json(arrays=True)


@pytest.mark.parametrize("other", ["other reference", "other k", "other parts", "damaged"])
def test_what_another_plan_found_is_taken_only_if_it_is_the_same(sets, made, other):
    rc.make_plan("human.npy", "good.npy", "first", k=2, parts=2)
    rc.run_plan("first")
    if other == "damaged":
        path = Path("first/radii-reference-0001.part")
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    np.save("others.npy", 2 * np.load("human.npy"))
    reference = "others.npy" if other == "other reference" else "human.npy"
    rc.make_plan(
        reference, "bad.npy", "second", k=3 if other == "other k" else 2, parts=3 if other == "other parts" else 2
    )
    made.clear()
    first, second = (TilePlan.opened(Path(name)) for name in ("first", "second"))
    planned_work.run_whole(second, first, None, None, "local", None)
    missed = {"other parts": 3, "damaged": 1}.get(other, 2)
    assert made.count("radii of 90") == missed
    expected = rc.evaluate(np.load(reference), np.load("bad.npy"), METRICS, k=second.k, ceiling=False)["candidate"]
    merged = rc.merge_plan("second")["bad.npy"]
    assert {name: merged[name].values for name in METRICS} == {name: expected[name].values for name in METRICS}


def test_texts_of_the_reference_are_encoded_once(tmp_path, made, monkeypatch):
    """Some of them stand in both candidates, too."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    words = ["a", "cat", "dog", "boat", "net", "map", "rain", "ran", "sat", "sold", "saw", "home"]
    lines = (" ".join([word, *map(str, rng.standard_normal(6).round(3))]) for word in words)
    Path("words.txt").write_text("".join(f"{line}\n" for line in lines))
    texts = [[" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(90)] for _ in range(3)]
    for name, own in zip(("human", "one", "two"), texts, strict=True):
        Path(f"{name}.txt").write_text("".join(f"{text}\n" for text in own))
    files = {"one": "one.txt", "two": "two.txt"}
    results = rc.evaluate_files("human.txt", files, "kept", encoder="words.txt", parts=2)
    assert made.count("vectors-reference-0001") == made.count("vectors-reference-0002") == 1
    assert made.count("vectors-candidate-0001") == 2 and len([name for name in made if name.startswith("radii")]) == 6
    expected = rc.evaluate(
        texts[0], {"one": texts[1], "two": texts[2]}, METRICS, "words.txt", ceiling=False, cache=False
    )
    for name in files:
        for metric in METRICS:
            assert results[name][metric].values == expected[name][metric].values


@pytest.mark.parametrize("form", ["texts", "vectors"])
def test_two_names_of_one_candidate(sets, form):
    """All parts of such plans are the same, but each of them has its own file of vectors of texts."""
    if form == "texts":
        words = ["cat", "dog", "boat", "rain"]
        Path("words.txt").write_text("cat 1 2\ndog 2 1\nboat 0 3\nrain 5 1\n")
        for name in ("human", "good"):
            Path(f"{name}.txt").write_text("".join(f"{a} {b}\n" for a in words for b in words))
    ending, more = ("txt", {"encoder": "words.txt"}) if form == "texts" else ("npy", {})
    files = {"one": f"good.{ending}", "two": f"good.{ending}"}
    results = rc.evaluate_files(f"human.{ending}", files, "kept", parts=2, **more)
    alone = rc.evaluate_files(f"human.{ending}", {"one": files["one"]}, "other", parts=2, **more)
    for metric in METRICS:
        assert results["one"][metric].values == results["two"][metric].values == alone["one"][metric].values
