"""The page of all findings, steps that are kept, and presets."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from recapture import InputError, Table
from recapture.cli.app import run
from recapture_studies.paper import statements
from recapture_studies.presets import PRESETS, find_preset
from recapture_studies.rejudge import rejudge
from recapture_studies.results_page import results_page
from recapture_studies.steps import steps_of
from recapture_studies.study import Claim, Findings, Section, Setup, find_study, list_studies
from recapture_studies.verdicts import PARTS, PIECES, RULES, SAMPLES, Verdict
from recapture_studies.write import write_findings

ROOT = Path(__file__).parent.parent.parent


def findings(verdict="Said in a sentence."):
    table = Table(["what", "paper", "here"], [["a | b", ".5", ".6"]], ["A caption."])
    adds = Section("more", Table(["k"], [["1"]]), "Something of ours")
    return Findings([Section("beside-the-paper", table), adds], lambda figure: None, [verdict])


def saying(*claims):
    """A study that finds the same whatever its tables say."""
    return lambda tables, settings: claims


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    output = tmp_path / "pages"
    verdict = Verdict("does not hold", "change -3", "course")
    claim = Claim("mark-evaluate/figure-3/fid", verdict, "it falls by 3", "Brown", "other data")
    for name, said in (("sensitivity", ()), ("wmt17", (claim,))):
        study = replace(find_study(name), judge=saying(*said))
        write_findings(study, findings(), Setup(tmp_path), output)
    return output


def test_page_has_claims_tables_and_links(folder, tmp_path):
    page = results_page(folder, tmp_path / "results.md")
    said = statements()["mark-evaluate/figure-3/fid"]
    row = ["", said.where, said.says, said.reports, "**does not hold**", "it falls by 3", "Brown: out of sample",
           "does not hold; course: change -3", "other data", "[wmt17](pages/wmt17.md)", ""]  # fmt: skip
    assert " | ".join(row).strip() in page
    for words in (*RULES.values(), PARTS, PIECES, SAMPLES):
        assert words in page  # the rules are printed as they are
    assert page.index("## Mark-Evaluate") < page.index("## Distribution-aware metrics")
    assert r"| a \| b | .5 | .6 |" in page and "A caption." in page and "Said in a sentence." in page
    assert "**Something of ours** ([wmt17](pages/wmt17.md))" in page
    count = sum(each.paper == "Mark-Evaluate" for each in statements().values())
    assert f"| Mark-Evaluate | 0 | 0 | 1 | 0 | {count - 1} |" in page  # the last: not judged yet
    assert "Not run: " in page and "k-sweep" in page.split("Not run: ")[1]


def test_a_study_without_claims_and_tables_of_its_own(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    silent = Findings([Section("more", Table(["k"], [["1"]]))], lambda figure: None, ["Said in a sentence."])
    write_findings(replace(find_study("wmt17"), judge=saying()), silent, Setup(tmp_path), tmp_path)
    page = results_page(tmp_path, tmp_path / "results.md")
    assert "## Mark-Evaluate" in page and "Said in a sentence." in page
    assert "the paper says" not in page and "What the papers do not have" not in page and "beside the paper" not in page


def test_page_alone_is_one_command(folder, tmp_path, capsys):
    page = tmp_path / "results.md"
    assert run(["reproduce", "--output", str(folder), "--page", str(page)]) == 0
    assert page.read_text() == results_page(folder, page)


def test_nothing_to_show_quick_forms_and_damage(folder, tmp_path):
    with pytest.raises(InputError, match="holds no findings"):
        results_page(tmp_path / "nowhere", tmp_path / "results.md")
    content = json.loads((folder / "wmt17.json").read_text())
    (folder / "wmt17.json").write_text(json.dumps({**content, "quick": True}))
    with pytest.raises(InputError, match="of a quick form"):
        results_page(folder, tmp_path / "results.md")
    (folder / "wmt17.json").write_text("{")
    with pytest.raises(InputError, match="is not what a study writes"):
        results_page(folder, tmp_path / "results.md")


def test_the_page_in_the_docs_is_what_the_studies_files_give():
    """One command makes it: nothing on it is typed."""
    page = ROOT / "docs" / "results.md"
    assert page.read_text(encoding="utf-8") == results_page(ROOT / "docs" / "evidence", page)


def test_stored_claims_are_those_of_todays_rules(tmp_path):
    """Judging the stored tables anew changes nothing: no file keeps a verdict of rules that are gone."""
    evidence = ROOT / "docs" / "evidence"
    for name in list_studies():
        for kind in ("json", "md"):
            shutil.copy(evidence / f"{name}.{kind}", tmp_path)
    outcome = rejudge(tmp_path)
    assert set(outcome) == set(list_studies()) and not [what for what in outcome.values() if "run the study" in what]
    for path in tmp_path.iterdir():
        assert path.read_text(encoding="utf-8") == (evidence / path.name).read_text(encoding="utf-8"), path.name


def test_every_claim_of_the_papers_is_judged_and_has_one_row():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for claim, said in statements().items():
        assert page.count(f"| {said.where} | {said.says} | ") == 1, claim
    counts = page.split("|---:|---:|---:|---:|\n")[1].split("\n\n")[0]
    assert sum(int(cell) for cell in counts.replace("|", " ").split() if cell.isdigit()) == len(statements())


def test_tables_that_lack_what_a_rule_needs_stay_as_they_are(folder):
    before = (folder / "wmt17.json").read_text()
    content = json.loads(before)
    del content["tables"], content["verdict"]
    (folder / "wmt17.json").write_text(json.dumps({**content, "tables": {}}))
    assert "run the study again" in rejudge(folder)["sensitivity"]
    assert json.loads((folder / "sensitivity.json").read_text())["claims"] == []


def test_every_study_was_run_and_its_data_is_documented():
    documented = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    for study in list_studies().values():
        assert (ROOT / "docs" / "evidence" / f"{study.name}.md").is_file(), study.name
        for folder in study.data:
            assert f"`{folder}`" in documented, folder
            assert folder in study.layout, (study.name, folder)
        assert study.takes or not study.data, study.name


def test_pictures_are_small_and_there_once():
    evidence = ROOT / "docs" / "evidence"
    assert {path.stem for path in evidence.glob("*.svg")} == set(list_studies()) and not list(evidence.glob("*.png"))
    for path in evidence.glob("*.svg"):
        assert path.stat().st_size < 100_000, path.name
        assert "<text" in path.read_text(encoding="utf-8"), f"{path.name} is a picture of a drawing"
        assert f"({path.name})" in path.with_suffix(".md").read_text(encoding="utf-8")


def test_files_of_the_evidence_begin_with_the_number_of_their_shape():
    for path in (ROOT / "docs" / "evidence").glob("*.json"):
        assert next(iter(json.loads(path.read_text(encoding="utf-8")).items())) == ("schema", 2), path.name


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--page", "x.md"], "--page is made from the files in --output"),
        (["all", "--metrics", "bleu"], "--metrics is for one study"),
        (["wmt17", "--data", ".", "--preset", "bert-bas"], "unknown preset 'bert-bas': did you mean bert-base"),
        (["sensitivity", "--data", ".", "--model", "x"], "uses no masked language model"),
        (["--output", "nowhere", "--page", "x.md"], "holds no findings"),
    ],
)
def test_bad_input(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_presets_have_a_model_and_a_place_in_a_paper():
    for name, preset in PRESETS.items():
        assert find_preset(name) is preset and preset.used and (preset.encoder or preset.model)


class TestSteps:
    def make(self, tmp_path, seed=0, k=1):
        file = tmp_path / "data"
        if not file.exists():
            file.write_text("texts")
        setup = Setup(tmp_path, seed=seed, encoder="bag-of-words")
        return steps_of(setup, "made-up", {"k": k, "test": str(tmp_path)}, [file])  # tests share a cache

    def test_a_step_is_made_once(self, tmp_path, own_cache):
        calls = []
        for _ in range(2):
            steps = self.make(tmp_path)
            assert steps.get("a", lambda: calls.append(1) or {"x": (1, 2.5)}) == {"x": [1, 2.5]}
        assert len(calls) == 1

    def test_other_seed_settings_or_data_are_other_steps(self, tmp_path, own_cache):
        self.make(tmp_path).get("a", lambda: 1)
        assert self.make(tmp_path, seed=1).get("a", lambda: 2) == 2
        assert self.make(tmp_path, k=2).get("a", lambda: 3) == 3
        (tmp_path / "data").write_text("other texts")
        assert self.make(tmp_path).get("a", lambda: 4) == 4

    def test_a_line_that_was_cut_off_is_made_again(self, tmp_path, own_cache):
        steps = self.make(tmp_path)
        steps.get("a", lambda: 1)
        steps.get("b", lambda: 2)
        path = steps.path
        path.write_bytes(path.read_bytes()[:-9])
        again = self.make(tmp_path)
        assert again.get("a", lambda: 9) == 1 and again.get("b", lambda: 3) == 3
        assert self.make(tmp_path).get("b", lambda: 9) == 3
