"""Every study's quick form runs with nothing but the program, and says that its texts are made up."""

import csv
import json
import xml.etree.ElementTree as ElementTree

import pytest

from recapture.cli.app import run
from recapture_studies.made_up import BUILDERS, build
from recapture_studies.study import find_study, list_studies
from recapture_studies.svg import slim

REACHED_BY_OWN_TESTS = {
    "calibration", "equal-sets", "fluency", "metric-map", "mode-collapse", "sampling", "score-distributions", "tac2009",
    "word-swap",
}  # fmt: skip
"""Studies of which other tests take every branch that a quick form does: tracing these again would only cost time."""


def test_every_data_folder_can_be_made_up(tmp_path):
    needed = {folder for study in list_studies().values() for folder in study.data}
    assert set(BUILDERS) == needed
    build(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == needed


def test_the_same_texts_every_time(tmp_path):
    for name in ("one", "two"):
        build(tmp_path / name)
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*.*")) for name in ("one", "two")
    ]
    assert files[0] == files[1]
    for file in files[0]:
        if (tmp_path / "one" / file).is_file():
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name if name in REACHED_BY_OWN_TESTS else pytest.param(name, marks=pytest.mark.traced) for name in list_studies()],
)
def test_a_newcomer_needs_no_data_and_everything_is_written(name, tmp_path, capsys, monkeypatch, tiny_bert, own_cache):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    study = find_study(name)
    arguments = ["reproduce", name, "--made-up", "--offline", "--output", str(tmp_path)]
    arguments += ["--model", str(tiny_bert)] if study.masked else []
    if study.encodes:  # word vectors come from a model alone
        arguments += ["--encoder", str(tiny_bert) if study.masked or not study.pools else "bag-of-words"]
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert {f"{name}.md", f"{name}.json", f"{name}.svg"} <= {path.name for path in tmp_path.iterdir()}
    content = json.loads((tmp_path / f"{name}.json").read_text())
    assert next(iter(content.items())) == ("schema", 2)
    assert content["study"] == name and content["quick"] is True and content["verdict"]
    assert all(paragraph in shown.out for paragraph in content["verdict"])
    for table, rows in content["tables"].items():
        with (tmp_path / f"{name}-{table}.csv").open() as stream:
            assert list(csv.DictReader(stream)) == rows
    if study.data:
        assert "made up" in shown.err and content["made_up"] is True
        assert "texts were made up" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
    ElementTree.fromstring((tmp_path / f"{name}.svg").read_text())  # a picture that can be read
    assert (tmp_path / f"{name}.svg").stat().st_size < 100_000


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["k-sweep", "--made-up", "--data", "x"], "--made-up needs no data"),
        (["all", "--made-up", "--output", "x", "--page", "y.md"], "--page is for findings of full forms"),
        (["k-sweep"], "or try --made-up"),
    ],
)
def test_bad_input(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    assert run(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_slim_pictures_say_the_same():
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure()
    axes = figure.subplots()
    axes.plot([1, 2, 3], [3, 1, 2], label="a & b")
    axes.imshow([[0, 1], [1, 0]])
    axes.set_ylabel("turned")
    axes.legend()
    import io

    stream = io.StringIO()
    figure.savefig(stream, format="svg")
    whole, small = stream.getvalue(), slim(stream.getvalue())
    assert len(small) < len(whole)
    one, other = (ElementTree.fromstring(text.encode()) for text in (whole, small))

    def drawn(tree):
        """How many of each kind of mark, and all words."""
        space = "{http://www.w3.org/2000/svg}"
        kinds = {kind: len(tree.findall(f".//{space}{kind}")) for kind in ("path", "use", "text", "image", "clipPath")}
        return kinds, [text.text for text in tree.iter(f"{space}text")]

    assert drawn(one) == drawn(other)
