"""Figures for papers: they show the numbers, fit a column, and are saved without a display."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np
import pytest

import recapture as rc

pytest.importorskip("matplotlib")
HUMAN, NEAR, FAR, MIDDLE = np.random.default_rng(3).standard_normal((4, 60, 3))
SYSTEMS = {"near": NEAR, "far": FAR + 1, "a $name$ with_signs & <b>, far too long for the column": MIDDLE + 0.3}


@pytest.fixture(scope="module")
def compared():
    return rc.compare(HUMAN, SYSTEMS, ["mmd", "density-coverage"])


def words_of(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def dots(axes):
    """Where the marks of one panel stand, in the order of its rows."""
    return [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() not in ("None", "", None)]


def spans(axes):
    """Lines from one end of an interval to the other."""
    lines = [line.get_xydata() for line in axes.lines if line.get_marker() in ("None", "", None)]
    return [(a[0], b[0]) for a, b in (line for line in lines if len(line) == 2) if a[1] == b[1] and a[0] != b[0]]


def test_differences_are_drawn_where_they_are(compared):
    figure = compared.plot()
    assert figure.get_figwidth() == 3.35
    names = list(compared.differences["near", "far"])
    assert len(figure.axes) == len(names) == 3
    pairs = [("near", "far"), ("near", list(SYSTEMS)[2]), ("far", list(SYSTEMS)[2])]
    for axes, name in zip(figure.axes, names, strict=True):
        expected = [compared.differences[pair][name] for pair in pairs]
        assert dots(axes) == [(each.value, row) for row, each in enumerate(expected)]
        assert spans(axes) == [(each.low, each.high) for each in expected]
        low, high = axes.get_xlim()
        assert low == -high  # 0 in the middle
    assert "neither surely" in words_of(figure) and "density-coverage.coverage" in words_of(figure)
    # Every system that is closer somewhere is named beside its sign, and no other.
    closer = {a for a, b in compared.differences if compared.closer(a, b)}
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(legend) == len(closer) + 1 and "near is closer" in legend and "far is closer" not in legend


def test_numbers_stand_beside_the_human_band(compared):
    figure = compared.results.plot(rows=["coverage", "mmd"])
    result = compared.results["near"]["density-coverage"]
    axes = figure.axes[0]
    assert dots(axes)[0] == (result.at_human_size["coverage"].mean, 0) and len(dots(axes)) == 3
    (band,) = (patch for patch in axes.patches)
    left, right = band.get_extents().transformed(axes.transData.inverted()).intervalx
    assert left == pytest.approx(result.human["coverage"].low, abs=1e-9)
    assert right == pytest.approx(min(1, result.human["coverage"].high), abs=1e-9)
    assert [words for words in words_of(figure) if words.startswith(("density", "mmd"))] == [
        "density-coverage coverage ↑", "mmd ↓",
    ]  # fmt: skip
    assert "where 95 % of human texts fall; dotted: their mean" in words_of(figure)


@pytest.mark.traced
@pytest.mark.slow
def test_without_names_a_picture_has_the_rows_of_the_tables(compared):
    usual = rc.compare(HUMAN, {"near": NEAR, "far": FAR + 1}, ceiling=False)
    assert 0 < len(usual.shown) < len(usual.numbers)
    assert len(usual.plot().axes) == len(usual.plot(what="numbers").axes) == len(usual.shown)
    (left_out, *_) = (name for name in usual.numbers if name not in usual.shown)
    assert left_out in words_of(usual.plot(rows=left_out))


@pytest.mark.traced
@pytest.mark.slow
def test_a_series_is_a_curve_for_every_number(compared):
    figure = compared.plot(series=[0.7, 1.2, 0.9])
    first = figure.axes[0]
    (curve,) = (line for line in first.lines if len(line.get_xydata()) == 3)
    values = [compared.results[name]["mmd"].at_human_size["value"].mean for name in SYSTEMS]
    assert curve.get_xydata().tolist() == [[0.7, values[0]], [0.9, values[2]], [1.2, values[1]]]  # in their order
    named = compared.plot("mmd", series=True)
    assert [text.get_text() for text in named.axes[0].get_xticklabels()][:2] == ["near", "far"]
    with pytest.raises(rc.InputError, match="takes 3 numbers"):
        compared.plot(series=[1, 2])
    with pytest.raises(rc.InputError, match="have no order"):
        compared.plot(what="differences", series=True)


def inside(figure):
    """Whether everything with words lies within the paper, by matplotlib's own measure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    box = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    return box.x0 >= -0.02 and box.y0 >= -0.02 and box.x1 <= width + 0.02 and box.y1 <= height + 0.02


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("width", [3.35, 6.9, 2.5])
def test_everything_fits_its_width(compared, width):
    for figure in (
        compared.plot(width=width),
        compared.results.plot(width=width),
        compared.plot(series=True, width=width),
        compared.plot(series=[1, 2, 3], width=width, rows="mmd"),
        compared.plot(what="map", width=width),
    ):
        assert figure.get_figwidth() == width and inside(figure)


def test_one_system_has_one_line_a_number():
    scored = rc.evaluate(HUMAN, {"near": NEAR}, ["mmd", "density-coverage"], interval=0.9)
    figure, whole = scored.plot(), scored.plot(what="whole")
    assert len(figure.axes) == 3 and figure.get_figheight() < 2
    assert dots(whole.axes[0]) == [(scored["near"]["mmd"].value, 0)]
    assert spans(whole.axes[0]) == [scored["near"]["mmd"].interval]


@pytest.mark.slow
def test_saved_without_a_display_and_always_the_same(compared, tmp_path, monkeypatch):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"):
        monkeypatch.delenv(variable, raising=False)
    for name in ("a.pdf", "b.pdf", "a.svg", "b.svg", "a.png"):
        compared.plot().savefig(tmp_path / name)
    pdf, svg = (tmp_path / "a.pdf").read_bytes(), (tmp_path / "a.svg").read_bytes()
    assert pdf == (tmp_path / "b.pdf").read_bytes() and svg == (tmp_path / "b.svg").read_bytes()
    # A page of 3.35 inches, 72 points each; TrueType inside (Type 3 is what conferences send back).
    width, height = (float(number) for number in re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", pdf).groups())
    assert width == pytest.approx(3.35 * 72, abs=0.01) and height > 72
    packed = re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", pdf, re.DOTALL)
    streams = b"".join(map(zlib.decompress, packed))
    assert b"/Type0" in pdf + streams and b"/Type3" not in pdf + streams
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(3.35 * 72, abs=0.01)
    assert not re.search(rb"https?://(?!www\.w3\.org|matplotlib\.org|purl\.org|creativecommons\.org)", svg)
    for picture in ((tmp_path / "a.png").read_bytes(), compared.plot()._repr_png_()):
        assert picture.startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_callers_own_pictures_are_left_alone(compared):
    """Neither settings nor pyplot's list of figures change; pyplot is not even loaded."""
    code = (
        "import sys, numpy as np, recapture as rc, matplotlib, io; before = matplotlib.rcParams.copy();"
        "x = np.random.default_rng(0).standard_normal((2, 30, 2));"
        "rc.evaluate(x[0], {'a': x[1]}, 'mmd').plot().savefig(io.BytesIO(), format='pdf');"
        "loaded = 'matplotlib.pyplot' in sys.modules;"  # before settings are read, which may load it
        "print(all(matplotlib.rcParams[name] == before[name] for name in before if name != 'backend'), loaded)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True False\n"


def test_names_are_words_and_no_formulas():
    nasty = "$\\frac{1}{$ _^ \x1b[31m \u202e \ud800"
    figure = rc.evaluate(HUMAN, {nasty: NEAR, "b": FAR}, "mmd", ceiling=False).plot()
    figure._repr_png_()
    labels = [words for words in words_of(figure) if words.startswith("$\\frac")]
    assert labels and not set("\x1b\u202e\ud800") & set("".join(labels))


@pytest.mark.slow
def test_every_kind_of_result_has_a_picture():
    texts = ["a cat sat", "a dog ran", "rain fell", "we ate soup"]
    pairs = rc.evaluate_pairs(texts, {"x": texts[::-1], "y": texts}, ["chrf"], interval=0.9)
    one = rc.Context("one", ["a b c", "a b d", "c d"], ["a b c", "b c d"])
    contexts = rc.evaluate_contexts([one], ["trm-rouge-l"], resume=False)
    bleu = [[0, 0.2], [0.1, 0.3], [0.3, 0.5]]
    agreement = rc.correlate({"bleu": bleu, "ter": bleu}, {"people": [[0, 2], [1, 3], [2, 5]]})
    assert dots(pairs.plot().axes[0])[1][0] == pairs["y"]["chrf"].value
    assert dots(contexts.plot().axes[0])[0][0] == contexts.totals[0].mean
    assert len(dots(agreement.plot(rows="bleu").axes[0])) == 1 and len(dots(agreement.plot().axes[0])) == 2
    found = rc.diagnose(texts * 5, ["zzz yyy", *texts[:2]] * 5, encoder="bag-of-words")
    (axes,) = found.plot().axes
    assert sum(len(line.get_xydata()) for line in axes.lines[:2]) == len(found.texts) == 35


@pytest.mark.parametrize(
    "how, said",
    [
        ({"rows": "coverge"}, "no row 'coverge'; did you mean coverage?"),
        ({"what": "pie"}, "there is no picture of 'pie' here: there is differences, numbers"),
        ({"width": 0}, "width must be a number of at least 1"),
        ({"height": float("nan")}, "height must be a number"),
        ({"what": "map", "rows": "mmd"}, "a map of texts has neither rows nor an order"),
    ],
)
def test_what_cannot_be_drawn_is_said(compared, how, said):
    with pytest.raises(rc.InputError, match=said):
        compared.plot(**how)


def test_a_result_without_numbers_says_so():
    from recapture.page.page_parts import Paged
    from recapture.report.report import Report

    class Bare(Paged):
        def report(self):
            return Report("texts", [rc.Table(["a"], [["b"]])])

    with pytest.raises(rc.InputError, match="nothing that could be drawn"):
        Bare().plot()


def test_without_matplotlib_one_sentence_says_what_to_do(compared, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "recapture.page.paper_figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(rc.InputError, match=r'^plot needs matplotlib: pip install "recapture\[plot\]"$'):
        compared.plot()


def test_a_picture_does_not_make_the_map_that_it_does_not_show(compared, monkeypatch):
    from recapture.page import map_data

    monkeypatch.setattr(map_data, "projected", lambda *_: pytest.fail("the map was made"))
    compared.plot()
