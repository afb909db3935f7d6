"""Pages: one whole file that asks nothing of a network, with sections in order, and pictures that tell the truth."""

import base64
import copy
import hashlib
import json
import pickle
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.page import map_data
from recapture.page.axes import Axis, tick_words
from recapture.page.map_data import MapSamples, map_of, map_of_records
from recapture.page.page_parts import (
    Card,
    Curve,
    Forest,
    HumanBand,
    Line,
    Picture,
    Plane,
    Point,
    Stroke,
    TextLists,
    TextMap,
    page_of,
)
from recapture.report.report import beginning

NASTY = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- a comment <![CDATA[",
    "&lt;b&gt; & \"quoted\" 'too'",
    "שלום עולם \u202eright to left",
    "emoji 👩‍👩‍👧 and NUL \x00 and escape \x1b[31m",
    "line\u2028separator \ud800 half",
)


class Seen(HTMLParser):
    """All elements with their attributes, and the text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.scripts, self._in = [], [], [], {}, None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self._in = (tag, dict(attributes).get("id", "")) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.tags.append("/" + tag)
        self._in = None

    def handle_data(self, words):
        if self._in:
            self.scripts[self._in] = self.scripts.get(self._in, "") + words
        else:
            self.text.append(words)


def everything(words="harmless"):
    """A page with all kinds of parts, in each of which stand the same words."""
    systems = [f"{words} one", "two"]
    lines = [Line(words, 0.5, 0.4, 0.7, 0), Line("two", 0.2, system=1)]
    card = Card(words, lines, "higher", HumanBand(0.3, 0.5, 0.6), words)
    shown = TextMap(["human", *systems], np.array([0, 1, 2]), np.array([0.0, 1, 2]), np.array([3.0, 1, 2]), [words] * 3,
                    np.array([1, 0, 0]), np.array([0.5, 0.5, 1]), {"flag": [words, "", words]}, [words])  # fmt: skip
    return rc.Page(
        words,
        [words, "second"],
        systems,
        words,
        [Forest(words, [card], [words])],
        [
            Plane(
                words,
                words,
                words,
                [Point(words, 1, 2, 0), Point("b", 2, 1, 1)],
                (HumanBand(0, 1, 2), HumanBand(0, 1, 2)),
            )
        ],
        [rc.Table(["a", "b"], [[words, "0.5"], ["two", "0.25"]], [words], title=words)],
        shown,
        [
            rc.Table(["index", "text"], [["1", words]], left=2, title="Lost"),
            TextLists(words, [words], [rc.Table(["index", "text"], [["1", beginning(f"{words} " * 60, 60)]], left=2)]),
        ],
        [Curve(words, words, words, [Stroke(words, [0, 1, 2], [1, 0.5, 0], 0)], note=words)],
        [Picture(words, "<svg xmlns='http://www.w3.org/2000/svg'/>", words)],
        [words],
        {"setting": words},
        [words],
        f"recapture {words}",
        [Curve(words, words, words, [Stroke(words, [0, 1], [1, 0.5], 0)], note=words)],
    )


def test_sections_stand_in_their_order_and_headings_in_theirs():
    page = everything().to_html()
    seen = Seen(page)
    names = [value for tag, name, value in seen.attributes if (tag, name) == ("section", "id")]
    assert names == ["verdict", "order", "numbers", "plane", "tables", "map", "texts", "curves", "pictures", "how"]
    assert page.startswith("<!doctype html>") and ("html", "lang", "en") in seen.attributes
    counted = Counter(seen.tags)
    assert [counted[tag] for tag in ("h1", "main", "header", "nav", "footer")] == [1] * 5
    assert counted["caption"] == counted["table"] == 3  # every table says what it is
    levels = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and 2 in levels
    ids = [value for _, name, value in seen.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    named = [value for tag, name, value in seen.attributes if name in ("aria-labelledby", "aria-describedby")]
    assert set(named) <= set(ids)
    assert all(value.startswith("#") and value[1:] in ids for tag, name, value in seen.attributes if name == "href")
    open_tags = [tag for tag in seen.tags if not tag.startswith("/") and tag not in ("meta", "input", "img", "br")]
    closed = Counter(tag[1:] for tag in seen.tags if tag.startswith("/"))
    assert Counter(open_tags) == closed


def test_nothing_is_fetched_and_only_our_script_runs():
    seen = Seen(everything().to_html())
    assert not set(seen.tags) & {"link", "iframe", "object", "embed", "base", "form", "audio", "video"}
    for tag, name, value in seen.attributes:
        assert not name.startswith("on") and name != "style", (tag, name)
        if name in ("src", "href", "srcset", "action", "data", "poster"):
            assert value.startswith(("#", "data:image/svg+xml;base64,")), value
    (policy,) = [value for tag, name, value in seen.attributes if tag == "meta" and "default-src" in (value or "")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:" and "unsafe" not in policy
    for rule, element in (("script-src", "script"), ("style-src", "style")):
        digest = base64.b64encode(hashlib.sha256(seen.scripts[element, ""].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    code = seen.scripts["script", ""] + seen.scripts["style", ""]
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttp|WebSocket|eval\(|innerHTML", code)


@pytest.mark.parametrize("words", NASTY, ids=range(len(NASTY)))
def test_texts_appear_as_text(words):
    """The page of such words has the elements of a page of harmless ones as long, and the words can be read."""
    page = everything(words).to_html()
    page.encode("utf-8")  # half characters would not be written
    seen, plain = Seen(page), Seen(everything("h" * len(words)).to_html())
    assert seen.tags == plain.tags
    assert [(tag, name) for tag, name, _ in seen.attributes] == [(tag, name) for tag, name, _ in plain.attributes]
    assert not re.search("[\x00-\x08\x0e-\x1f\u202e\u2028]", page)
    text = "".join(seen.text)
    for part in re.findall(r"[A-Za-z\u05d0-\u05ea👩]{4,}", words):
        assert text.count(part) >= 10
    data = json.loads(seen.scripts["script", "data"])
    shown = data["map"]["texts"][0]
    assert re.sub(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4})", "", shown) == re.sub(
        "[\x00-\x1f\u202e\u2028\ud800]", "", words
    )  # nothing else is changed


def circles(svg, tag="circle"):
    return [float(x) for x in re.findall(rf'<{tag} cx="([-\d.]+)"', svg)]


def test_dots_whiskers_and_bands_stand_where_their_numbers_are():
    """The scale is read off the ticks of the picture, as a reader would."""
    lines = [Line("a", 0.62, 0.41, 0.77, 0), Line("b", 0.18, 0.11, 0.3, 5)]
    page = rc.Page(
        "t", systems=["a", "b"], forests=[Forest("", [Card("n", lines, band=HumanBand(0.5, 0.6, 0.7))])]
    ).to_html()
    svg = re.search(r'<svg[^>]*aria-label="n:.*?</svg>', page, re.DOTALL)[0]
    ticks = [(float(x), float(n)) for x, n in re.findall(r'<text x="([\d.]+)"[^>]*class="tick">([-\d.]+)<', svg)]
    (x0, n0), (x1, n1) = ticks[0], ticks[-1]

    def number(x):
        return n0 + (float(x) - x0) * (n1 - n0) / (x1 - x0)

    assert [number(x) for x in circles(svg)] == pytest.approx([0.62, 0.18], abs=0.004)
    whiskers = re.findall(r'<line x1="([\d.]+)"[^>]*x2="([\d.]+)"[^>]*class="whisker', svg)
    assert [[number(x) for x in each] for each in whiskers] == [
        pytest.approx([0.41, 0.77], abs=0.004), pytest.approx([0.11, 0.3], abs=0.004)]  # fmt: skip
    left, wide = map(float, re.search(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*class="band"', svg).groups())
    assert [number(left), number(left + wide)] == pytest.approx([0.5, 0.7], abs=0.004)
    assert "human 0.6000 (0.5000 to 0.7000)" in svg  # said to those who do not see it


@pytest.mark.parametrize(
    "values", [[0, 1], [-1e-9, 1e-9], [3, 3], [1e6, 1.00001e6], [float("nan")], [], [0.2, 0.200004]]
)
def test_axes_have_ticks_that_differ(values):
    axis = Axis(values, 0, 100)
    ticks = axis.ticks(3)
    assert 2 <= len(ticks) <= 12 and len(set(tick_words(ticks))) == len(ticks)
    assert all(-0.5 <= axis.at(tick) <= 100.5 for tick in ticks)


def test_nearest_of_clumps_far_apart_is_the_nearest():
    """By differences in float64: products of such coordinates in float32 would lose what tells neighbours apart."""
    rng = np.random.default_rng(0)
    clumps = 1e4 * rng.standard_normal((5, 1, 3))
    people, model = ((clumps + 0.01 * rng.standard_normal((5, 20, 3))).reshape(-1, 3) for _ in range(2))
    drawn = map_of(MapSamples({"human": people, "model": np.concatenate([model, model[:7]])}, None))
    apart = np.linalg.norm(people[:, None] - model[None], axis=2)
    assert (drawn.nearest[:100] == 100 + apart.argmin(axis=1)).all()  # of equal ones the first
    assert (drawn.nearest[100:] == np.concatenate([apart.argmin(axis=0), apart.argmin(axis=0)[:7]])).all()
    assert drawn.distance[:100] == pytest.approx(apart.min(axis=1))


def test_nearest_on_the_other_side_is_the_nearest():
    rng = np.random.default_rng(0)
    sets = {name: rng.standard_normal((size, 3)) + 5 for name, size in (("human", 20), ("a", 15), ("b", 9))}
    shown = map_of(MapSamples(sets, None))
    every = np.concatenate(list(sets.values()))
    gaps = np.linalg.norm(every[:, None] - every[None], axis=2)
    gaps[np.ix_(shown.side == 0, shown.side == 0)] = np.inf
    gaps[np.ix_(shown.side > 0, shown.side > 0)] = np.inf
    assert shown.nearest.tolist() == gaps.argmin(axis=1).tolist()
    assert shown.distance == pytest.approx(gaps.min(axis=1))
    assert shown.texts[:2] == ["sample 1", "sample 2"] and shown.of is None


def test_many_texts_are_thinned_and_said_to_be():
    rng = np.random.default_rng(0)
    shown = map_of(MapSamples({"human": rng.random((300, 2)), "a": rng.random((100, 2))}, None), most=100)
    assert np.bincount(shown.side).tolist() == [75, 25] and shown.of == 400
    assert "100 of 400 samples are shown" in shown.caption[0]
    assert MapSamples.kept({"a": np.zeros((map_data.KEPT + 1, 1))}, None) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["a plain sentence of usual length. " * 9, "漢字の長い文章です。" * 30, "\x00<&>" * 80]
)
def test_twenty_thousand_texts_are_below_five_megabytes(text):
    count = 20_000
    rng = np.random.default_rng(0)
    shown = TextMap(["human", "a"], np.arange(count) % 2, rng.random(count), rng.random(count), [text] * count,
                    rng.integers(0, count, count), rng.random(count),
                    {"cluster": [f"{at % 12}: some typical words" for at in range(count)]},
                    layouts={"another": (rng.random(count), rng.random(count))})  # fmt: skip
    page = rc.Page("many", map=shown).to_html()
    assert len(page.encode()) < 5_000_000
    assert "texts are cut after" in page


@pytest.fixture(scope="module")
def compared():
    people, near, far = np.random.default_rng(0).standard_normal((3, 60, 4))
    return rc.compare(people, {"near": near, "far": far + 1}, "mark-evaluate,mmd", ceiling=4)


@pytest.mark.traced
@pytest.mark.slow
def test_the_page_of_a_comparison_holds_what_it_says(compared, tmp_path):
    path = tmp_path / "out.html"
    assert compared.to_html(path) is None
    page = path.read_text("utf-8")
    seen = Seen(page)
    text = "".join(seen.text)
    assert all(sentence in text for sentence in compared.verdict)
    assert "far - near" in text or "near - far" in text
    assert "Gretton et al. 2012" in text  # whom to cite
    data = json.loads(seen.scripts["script", "data"])
    assert len(data["map"]["x"]) == 180 and data["map"]["sides"] == ["reference", "near", "far"]
    # What is copied is what the tables write: the forms have tests of their own.
    first = next(table for table in compared.report().tables if table.title == "Differences")
    assert data["tables"][0]["csv"] == first.to_csv()
    assert data["tables"][0]["md"].startswith("**Differences**") and "\\toprule" in data["tables"][0]["tex"]
    assert {"verdict", "numbers", "plane", "tables", "map", "curves", "how"} <= {
        value for tag, name, value in seen.attributes if (tag, name) == ("section", "id")
    }
    assert "<table>" in compared.to_html() and "<style>" in compared._repr_html_()  # for other pages, for notebooks


@pytest.mark.traced
@pytest.mark.slow
def test_of_many_systems_the_best_is_drawn_against_all_others():
    rng = np.random.default_rng(5)
    systems = {f"s{at}": rng.standard_normal((30, 2)) + at for at in range(7)}
    parts = page_of(rc.compare(rng.standard_normal((30, 2)), systems, "mmd", ceiling=False))
    (card,) = parts.forests[-1].cards
    assert [line.label for line in card.lines] == [f"s0 - s{at}" for at in range(1, 7)]
    assert "the table has every pair" in parts.forests[-1].caption[-1]
    assert len(parts.tables[0].rows) == 21


def test_names_of_many_systems_do_not_hide_each_other():
    """Seven systems have their names in the plane; those of eight stand in the legend alone."""
    for count, there in ((7, 2), (8, 1)):
        points = [Point(f"system {at}", at, at % 3, at) for at in range(count)]
        page = rc.Page("p", systems=[each.label for each in points], planes=[Plane("p", "x", "y", points)])
        seen = Seen(page.to_html())
        assert sum(words == "system 5" for words in seen.text) == there


def picture_of(page, start):
    """The elements of the first picture behind some words: tags, attributes, and the words inside."""
    drawn = page.to_html().partition(start)[2].partition("</svg>")[0]
    return [
        (tag, dict(re.findall(r'(\S+?)="([^"]*)"', attributes)), words)
        for tag, attributes, words in re.findall(r"<(text|circle|line)\b([^>]*)>([^<]*)", drawn)
    ]


def test_names_cover_neither_the_ring_of_people_nor_signs():
    """Systems right beside the ring, on all sides: a letter is about half as wide as it is high, 12 here."""
    middle = HumanBand(0.0, 0.5, 1.0)
    points = [Point("to the left", 0.42, 0.5, 0), Point("to the right", 0.58, 0.5, 1), Point("above", 0.5, 0.55, 2)]
    page = rc.Page("p", systems=["a", "b", "c"], planes=[Plane("plane", "x", "y", points, (middle, middle))])
    drawn = picture_of(page, "<h4>plane")
    (ring,) = (own for tag, own, _ in drawn if tag == "circle" and "ring" in own["class"])
    names = [(own, words) for tag, own, words in drawn if tag == "text" and words in {each.label for each in points}]
    assert len(names) == 3
    boxes = [(float(own["x"]), float(own["y"]) - 9, 6 * len(words)) for own, words in names]
    for left, top, wide in boxes:
        assert not (left - 5 < float(ring["cx"]) < left + wide + 5 and top - 5 < float(ring["cy"]) < top + 14)
    for one, (left, top, wide) in enumerate(boxes):
        for other_left, other_top, _ in boxes[one + 1 :]:
            assert abs(top - other_top) >= 10 or not left < other_left < left + wide


def test_names_of_differences_do_not_cross_the_line_at_0():
    pairs = ["a rather long name - another one", "short - a rather long name, too"]
    card = Card("mmd", [Line(name, 0.2, -0.1, 0.5) for name in pairs], zero=True)
    drawn = picture_of(rc.Page("p", forests=[Forest("Differences", [card])]), "Differences")
    zeros = [(float(own["y1"]), float(own["y2"])) for tag, own, _ in drawn if tag == "line" and own["class"] == "zero"]
    names = [float(own["y"]) for tag, own, words in drawn if tag == "text" and words in pairs]
    assert len(zeros) == len(names) == 2
    for baseline in names:
        assert all(end <= baseline - 9 or start >= baseline for start, end in zeros)
    assert [words for tag, own, words in drawn if own.get("class") == "value"] == ["+0.2000"] * 2  # as in the table


def test_copies_of_results_leave_the_samples_behind(compared):
    assert compared.results.samples is not None
    for other in (pickle.loads(pickle.dumps(compared.results)), copy.deepcopy(compared.results)):
        assert other.samples is None and dict(other).keys() == dict(compared.results).keys()
        assert page_of(other).map is None


@pytest.mark.traced
@pytest.mark.slow
def test_systems_in_their_order_are_curves_against_the_human_band(compared, tmp_path):
    plain, ordered = page_of(compared), page_of(compared, series=True)
    added = ordered.ordered
    assert not plain.ordered and ordered.curves == plain.curves
    cards = list(plain.forests[0].cards)
    assert [curve.band for curve in added] == [card.band for card in cards]
    assert [list(curve.strokes[0].y) for curve in added] == [[line.value for line in card.lines] for card in cards]
    # The verdict goes along the order, which numbers may turn round.
    assert "in their order: further from people from near to far" in ordered.verdict[0]
    assert "in their order: closer to people from far to near" in page_of(compared, series=[2, 1]).verdict[0]
    assert "in their order" not in compared.verdict[0] + plain.verdict[0]
    turned = page_of(compared, series=[2, 1]).ordered[0]
    assert list(turned.strokes[0].x) == [1, 2] and [point.label for point in turned.points] == ["far", "near"]
    compared.to_html(tmp_path / "series.html", series=[0.5, 1.5])
    for wrong in ([1], [1, float("nan")]):
        with pytest.raises(rc.InputError, match="takes 2 numbers"):
            page_of(compared, series=wrong)


@pytest.mark.traced
@pytest.mark.slow
def test_every_result_has_a_page():
    """Pairs, contexts, agreement; and a result that only has a report."""
    from recapture.report.report import Report, Reported

    class Plain(Reported):
        def report(self):
            return Report("texts", [rc.Table(["a"], [["b"]])], ["a note"], verdict=["It is so."])

    pairs = rc.evaluate_pairs(["a cat", "a dog"], {"x": ["a cat", "two dogs"]}, ["bleu", "rouge"], interval=0.95)
    one = rc.Context("one", ["a b c", "a b d", "c d"], ["a b c", "b c d"])
    contexts = rc.evaluate_contexts([one], ["trm-rouge-l"], interval=0.9)
    agreement = rc.correlate({"bleu": [[0, 0.2], [0.1, 0.3], [0.3, 0.5]]}, {"people": [[0, 2], [1, 3], [2, 4]]})
    for result, words in (
        (pairs, "Papineni"),
        (contexts, "trm-rouge-l"),
        (agreement, "people, system level, pearson"),
        (Plain(), "It is so."),
    ):
        text = "".join(Seen(page_of(result).to_html()).text)
        assert words in text


def test_the_page_of_agreement_opens_with_what_was_told():
    """Scores that are the ratings agree with 1; a metric that says the opposite is told from it by every test."""
    people = np.arange(48.0).reshape(8, 6) % 17 + np.arange(8)[:, None] * 4
    noise = np.random.default_rng(1).standard_normal((8, 6))
    scores = {"same": people, "noise": noise}
    ways = dict.fromkeys(("same", "noise", "a", "b"), "higher")

    def page(given, **options):
        own = {name: ways[name] for name in given}
        return page_of(rc.correlate(given, {"people": people}, "text", directions=own, **options))

    untested = page(scores)
    assert untested.verdict[0].startswith("same has the highest pearson with people (text level): 1.000")
    assert untested.verdict[-1] == "Whether any metric agrees better than another was not tested."
    tested = page(scores, tests="permutation")
    assert "that is more than noise (adjusted p below 0.05, permutation test)" in tested.verdict[0]
    tied = page({"a": people, "b": people * 2}, tests="permutation")
    assert tied.verdict[0].startswith("a and b have the highest") and "no other metric is told" in tied.verdict[0]


SCORE = ["score", "-r", "human.npy", "-c", "model.npy", "--metrics", "mmd", "--no-ceiling"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("human", "model", "other"):
        np.save(f"{name}.npy", np.random.default_rng(len(name)).standard_normal((30, 3)))
    return tmp_path


def test_the_command_writes_its_page(files, capsys):
    assert run([*SCORE, "--report", "out.html", "--name", "a <b> name"]) == 0
    assert "wrote out.html" in capsys.readouterr().err
    text = "".join(Seen((files / "out.html").read_text("utf-8")).text)
    assert "recapture score -r human.npy -c model.npy --metrics mmd --no-ceiling --report out.html" in text
    assert run([*SCORE, "--report", "short.htm"]) == 0  # the older ending
    assert (files / "short.htm").read_text("utf-8").startswith("<!doctype html>")
    assert run([*SCORE, "-c", "other.npy", "--series", "0.5,1", "--report", "out.html"]) == 0
    assert "mmd, in order" in (files / "out.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--report", "out.txt"], "ends in .html or .htm"),
        (["--report", "-"], "name files"),
        (["--report", "nowhere/out.html"], "no directory"),
        (["--report", "folder.html"], "it is a directory"),
        (["--report", "out.html", "--output", "out.html", "--format", "json"], "both name out.html"),
        (["--report", "out.html", "--series", "1,two"], "--series takes"),
        (["-c", "other.npy", "--report", "out.html", "--series", "1,nan"], "--series takes"),
        (["-c", "other.npy", "--report", "out.html", "--series", "1"], "takes 2 numbers"),
        (["--series"], "--report"),
        (["--report", "out.html", "--series"], "two systems or more"),
    ],
)
def test_bad_targets_are_one_sentence_before_the_work_and_nothing_is_written(
    files, capsys, monkeypatch, options, words
):
    monkeypatch.setattr("recapture.cli.score.read_sets", None)
    (files / "folder.html").mkdir()
    before = sorted(path.name for path in files.iterdir())
    assert run([*SCORE, *options]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""
    assert sorted(path.name for path in files.iterdir()) == before


def test_an_input_is_never_overwritten_by_a_page(files, capsys):
    (files / "human.html").write_text("one\ntwo\nthree\n")
    command = ["score", "-r", "human.html", "-c", "human.html", "--encoder", "bag-of-words", "--report", "human.html"]
    assert run(command) == 2
    assert "it is an input" in capsys.readouterr().err


def test_whole_texts_stand_behind_their_beginnings():
    """In a terminal they fill the width, on a page they open, and what is copied for a spreadsheet has all of them."""
    text = "once upon a time " * 30 + "<b>the end</b>"
    table = rc.Table(
        ["index", "text", "near", "score"], [["1", beginning(text, 60), "short", "0.5"]], left=3, repeated=1
    )
    assert table.rows[0][1] == text[:57] + "..." and table.rows[0][1].whole == text
    for width in (60, 80, 160):
        lines = table.to_table(width).splitlines()
        assert width - 12 <= max(map(len, lines)) <= width and "once upon a time" in lines[2]
    assert text.strip() in table.to_csv() and "the end" not in table.to_markdown()
    page = rc.Page("t", lists=[table]).to_html()
    seen = Seen(page)
    assert [tag for tag in seen.tags if tag in ("details", "summary")] == ["details", "summary"]
    assert text in seen.text and text[:97] + "..." in seen.text
    many = beginning("a\nb", 60)
    assert many == "a b" and many.whole == "a\nb" and beginning("a b", 60).whole == ""


def test_texts_with_known_places_make_a_map():
    """Records as `--per-text` writes them: six texts a side, each nearest to the one opposite."""
    records = [
        {"side": side, "index": place, "text": f"{side} {place}", "x": place, "y": row, "cluster": place // 3,
         "nearest": 5 - place, "distance": 0.5, "flags": "lost" if (side, place) == ("reference", 4) else ""}
        for row, side in enumerate(("reference", "candidate")) for place in range(6)
    ]  # fmt: skip
    shown = map_of_records(records, ("human", "model"))
    assert [shown.texts[place] for place in shown.nearest] == [
        f"{side} {5 - place}" for side in ("candidate", "reference") for place in range(6)
    ]
    assert list(shown.colours) == ["cluster", "flag"] and shown.colours["flag"].count("lost") == 1
    few = map_of_records(records, ("human", "model"), most=4)
    assert "reference 4" in few.texts and "candidate 1" in few.texts  # a flag, and its nearest
    assert len(few.texts) <= 4 and few.of == 12 and "of 12 texts are shown" in few.caption[0]
    assert map_of_records([], ("a", "b")) is None
    page = rc.Page(
        "Which texts", map=shown, lists=[rc.Table(["index", "text"], [["4", "reference 4"]], left=2)]
    ).to_html()
    assert 'id="map-colour"' in page and 'id="texts"' in page


def test_plots_of_compared_contexts_have_the_numbers_of_the_table():
    """Means by hand over the contexts in which both systems have two candidates, not over each one's own."""
    people = [[f"a cat sat on mat {n}", f"the cat sleeps on mat {n}"] for n in range(6)]
    good, poor = people, [[f"mat {n}", f"two dogs {n}"] if n else ["a cat sat on mat 0"] for n in range(6)]
    compared = rc.compare_contexts(people, {"good": good, "poor": poor}, "trm-rouge-l,rouge-l", resume=False)
    cards = {card.title: card for card in page_of(compared).forests[0].cards}
    assert list(cards) == list(compared.numbers)
    (name,) = [each for each in cards if each.startswith("trm-rouge-l")]
    for line in cards[name].lines:
        own = compared.results[line.label].contexts
        scores = [record["scores"]["trm-rouge-l"]["value"] for record in own[1:]]
        assert line.value == pytest.approx(np.mean(scores)) == pytest.approx(compared.values[line.label][name])


@pytest.mark.traced
@pytest.mark.slow
def test_systems_compared_on_items_and_contexts_have_their_pages(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = {
        "refs": ["a cat sat", "a dog ran", "two boats"],
        "x": ["a cat", "a dog", "boats"],
        "y": ["the", "of", "and"],
    }
    for name, texts in lines.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
    rows = [{"id": f"{at}", "references": lines["refs"], "x": lines["x"], "y": lines["y"]} for at in range(3)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    contexts = [
        "--contexts",
        "c.jsonl",
        "--candidates-field",
        "x",
        "--candidates-field",
        "y",
        "--metrics",
        "trm-rouge-l",
    ]
    for kind in (["--pairs", "-r", "refs.txt", "-c", "x.txt", "y.txt", "--metrics", "chrf"], contexts):
        assert run(["compare", *kind, "--no-cache", "--series", "--report", "out.html"]) == 0
        seen = Seen((tmp_path / "out.html").read_text("utf-8"))
        text = "".join(seen.text)
        assert capsys.readouterr().out.splitlines()[0] in text  # the verdict
        assert "Differences between systems" in text and "in order" in text


@pytest.mark.traced
@pytest.mark.slow
def test_lists_of_texts_and_their_map_are_on_the_page_of_inspect(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text("".join(f"a text about boats and nets number {at}\n" for at in range(40)))
    (tmp_path / "model.txt").write_text("the very same words <b>again</b>\n" * 40)
    command = ["inspect", "-r", "human.txt", "-c", "model.txt", "--encoder", "bag-of-words", "--report", "out.html"]
    assert run(command) == 0
    seen = Seen((tmp_path / "out.html").read_text("utf-8"))
    assert capsys.readouterr().out.splitlines()[0] in "".join(seen.text)
    shown = json.loads(seen.scripts["script", "data"])["map"]
    assert len(shown["texts"]) == 80 and {"cluster", "flag"} == set(shown["colours"])
    assert "the very same words <b>again</b>" in shown["texts"]
    assert ("section", "id", "texts") in seen.attributes and "Repeated" in "".join(seen.text)


def test_numbers_of_tables_stand_before_all_others(compared):
    """What the verdict rests on is seen first, in pictures of parts and in curves along an order."""
    results = compared.results.copy()
    every = [card.title for card in page_of(results).forests[0].cards]
    results.show(("mmd", "mark-evaluate.diversity"), "more")
    page = page_of(results, series=True)
    first = ["mark-evaluate diversity", "mmd"]
    expected = [*first, *(title for title in every if title not in first)]
    assert [card.title for card in page.forests[0].cards] == expected and every != expected
    assert [curve.y for curve in page.ordered] == expected
