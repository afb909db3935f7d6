"""Pages in a real Chromium, from a file: what a person sees, points at, types and presses."""

import json
import re

import numpy as np
import pytest
from test_page_structure import NASTY, everything

import recapture as rc
from chromium import browser, found
from recapture.page.map_data import MapSamples, map_of
from recapture.page.page_parts import TextLists, TextMap
from recapture.report.report import beginning

pytestmark = [
    pytest.mark.slow,
    pytest.mark.traced,
    pytest.mark.skipif(found() is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
]
TEXTS = ["a red boat", "a blue boat", "the old library", NASTY[0], NASTY[5], "nets on the pier", NASTY[4], "bread"]

LONG = "the old library " * 20 + NASTY[0]


@pytest.fixture(scope="module")
def opened_browser():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def tab(opened_browser):
    return opened_browser.tab()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Texts on a grid of known places: the first four are people's."""
    x, y = np.meshgrid(np.arange(4.0), np.arange(2.0))
    shown = TextMap(
        ["human", "model"], np.repeat([0, 1], 4), x.ravel(), y.ravel(), TEXTS, np.array([4, 5, 6, 7, 0, 1, 2, 3]),
        np.full(8, 0.5), {"flag": ["lost", "", "", "", "invented", "", "", ""]},
        layout="as it is", layouts={"turned round": (-x.ravel(), -y.ravel())},
    )  # fmt: skip
    rows = [["b", "0.5"], ["a", "-1e-3"], ["c", "10"], ["d", "2 [1, 3]"]]
    path = tmp_path_factory.mktemp("pages") / "page.html"
    parts = everything(NASTY[0])
    rc.Page("A page", parts.verdict, parts.systems, "", parts.forests, parts.planes,
            [rc.Table(["name", "score"], rows, title="Numbers")], shown,
            [rc.Table(["index", "text"], [["1", beginning(LONG, 60)]], left=2, title="Lost")]).write(path)  # fmt: skip
    return path


@pytest.fixture
def opened(tab, page):
    tab.errors.clear()
    tab.requests.clear()
    tab.look()
    tab.open(page)
    tab.wait("document.documentElement.dataset.ready === 'yes'")
    yield tab
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in tab.requests if url.startswith("file:")]) == 1


def place(tab, across, down):
    """Where a text of the grid lies in the window: both axes are filled, with a small margin (page.js: whole)."""
    tab.run("document.querySelector('.stage').scrollIntoView({behavior: 'instant', block: 'center'})")
    told_box = "document.getElementById('map-over').getBoundingClientRect()"
    box = tab.run(f"(({{left, top, width, height}}) => [left, top, width, height])({told_box})")
    return (
        box[0] + (across / 3 + 0.02) / 1.04 * box[2],
        box[1] + (1 - down + 0.03) / 1.06 * box[3],
    )


def told(tab):
    return tab.run("document.getElementById('map-told').innerText")


def test_texts_are_read_and_never_run(opened):
    assert opened.run("document.querySelectorAll('script').length") == 2
    assert opened.run("document.querySelectorAll('img, iframe').length") == 0
    assert NASTY[0] in opened.run("document.querySelector('.verdict').innerText")


def test_pointing_at_a_text_shows_it_and_its_nearest(opened):
    opened.mouse("mouseMoved", *place(opened, 3, 0))
    words = told(opened)
    assert NASTY[0] in words and "human" in words
    assert "bread" in words and "nearest on the other side, model, distance 0.5" in words
    opened.mouse("mouseMoved", *place(opened, 0, 1))
    assert r"NUL \x00" in told(opened) and "👩‍👩‍👧" in told(opened) and "flag: invented" in told(opened)
    opened.mouse("mouseMoved", *place(opened, 2, 1))
    assert "שלום" in told(opened) and r"\u202e" in told(opened)


def test_search_finds_and_counts(opened):
    opened.run("document.getElementById('map-search').focus()")
    for letter in "BOAT":
        opened.press(letter, letter)
    opened.wait("document.getElementById('map-list').innerText.startsWith('2 found: human 2')")
    assert opened.run("[...document.querySelectorAll('#map-list li bdi')].map((each) => each.innerText)") == TEXTS[:2]
    opened.press("Escape")
    opened.wait("document.getElementById('map-list').innerText === ''")


def test_dragging_selects(opened):
    a, b = place(opened, 1, 0), place(opened, 2, 1)
    opened.mouse("mousePressed", a[0] - 12, b[1] - 12, held=True)
    opened.mouse("mouseMoved", b[0] + 12, a[1] + 12, held=True)
    opened.mouse("mouseReleased", b[0] + 12, a[1] + 12)
    assert opened.run("document.querySelector('#map-list p').innerText") == "4 selected: human 2, model 2"
    opened.run("document.getElementById('map-zoom').click()")
    opened.run("document.getElementById('map-whole').click()")
    opened.run("document.getElementById('map-clear').click()")
    assert opened.run("document.getElementById('map-list').innerText") == ""


def test_the_map_answers_to_the_keyboard(opened):
    opened.run("document.getElementById('map-over').focus()")
    opened.press("ArrowRight")  # the first key chooses a text in the middle
    first = opened.run("document.querySelector('#map-told bdi').innerText")
    assert first in TEXTS
    opened.press("n", "n")
    assert opened.run("document.querySelector('#map-told bdi').innerText") == TEXTS[(TEXTS.index(first) + 4) % 8]
    opened.press("n", "n")
    for key in ("ArrowLeft",) * 4:
        opened.press(key)
    at = opened.run("document.querySelector('#map-told bdi').innerText")
    assert at[:7] == TEXTS[TEXTS.index(first) // 4 * 4][:7]  # the first of its row
    opened.press(" ")
    for key in ("ArrowRight",) * 4:
        opened.press(key)
    opened.press(" ")
    assert opened.run("document.querySelector('#map-list p').innerText").startswith("4 selected")
    opened.press("Escape")
    assert "No text is chosen" in told(opened)


def test_texts_are_coloured_by_their_flag(opened):
    chosen = "document.getElementById('map-colour')"
    opened.run(f"{chosen}.value = 'flag'; {chosen}.dispatchEvent(new Event('change'))")
    names = "[...document.querySelectorAll('#map-legend bdi')].map((each) => each.innerText)"
    assert opened.run(names) == ["none", "invented", "lost"]
    across, down = place(opened, 0, 1)  # the invented text, which is human 0's opposite
    script = f"""(() => {{ const at = document.getElementById('map-points'), box = at.getBoundingClientRect();
        const scale = at.width / box.width, x = ({across} - box.left) * scale, y = ({down} - box.top) * scale;
        return [...at.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3); }})()"""
    red, green, blue = opened.run(script)
    assert blue > red + 60 and blue > green  # the first colour is a blue; those without a flag are grey
    opened.run(f"{chosen}.value = ''; {chosen}.dispatchEvent(new Event('change'))")
    assert opened.run(names) == ["human", "model"]


def test_whole_texts_open_by_key(opened):
    seen = "document.querySelector('.text p').checkVisibility()"
    assert not opened.run(seen)
    opened.run("document.querySelector('.text summary').focus()")
    opened.press("Enter")
    assert opened.run(seen) and opened.run("document.querySelector('.text p').innerText") == LONG
    opened.press("Enter")
    assert not opened.run(seen)


def test_who_hears_the_page_finds_every_part(opened):
    """What browsers tell screen readers: landmarks, names of pictures, tables, controls and the map."""
    opened.send("Accessibility.enable")
    nodes = opened.send("Accessibility.getFullAXTree")["nodes"]
    told_of = [(each.get("role", {}).get("value"), each.get("name", {}).get("value", "")) for each in nodes]
    roles = {role for role, _ in told_of}
    assert {"main", "banner", "navigation", "contentinfo", "region", "table", "columnheader", "rowheader"} <= roles
    named = ("button", "searchbox", "combobox", "checkbox", "link", "image", "img", "table", "region", "application")
    assert [each for each in told_of if each[0] in named and not each[1].strip()] == []
    assert ("application", "Map of texts") in told_of and ("table", "Numbers") in told_of
    opened.send("Accessibility.disable")


def test_another_layout_puts_texts_elsewhere(opened):
    def change(to):
        opened.run(f"document.getElementById('map-layout').value = '{to}'")
        opened.run("document.getElementById('map-layout').dispatchEvent(new Event('change'))")

    change("turned round")
    opened.mouse("mouseMoved", *place(opened, 0, 1))
    assert NASTY[0] in told(opened)  # the text that stood at the other end
    change("")
    opened.mouse("mouseMoved", *place(opened, 3, 0))
    assert NASTY[0] in told(opened)


def column(tab, index):
    return tab.run(f"[...document.querySelectorAll('#tables tbody tr')].map((row) => row.cells[{index}].innerText)")


def test_tables_are_sorted_by_click_and_by_key(opened):
    head = "document.querySelectorAll('#tables thead th')[1]"
    assert opened.run(f"{head}.getAttribute('aria-sort')") == "none"
    opened.run(f"{head}.querySelector('button').click()")
    assert opened.run(f"{head}.getAttribute('aria-sort')") == "ascending"
    assert column(opened, 1) == ["-1e-3", "0.5", "2 [1, 3]", "10"]  # as numbers, not as words
    opened.run(f"{head}.querySelector('button').focus()")
    opened.press("Enter")
    assert column(opened, 0) == ["c", "d", "b", "a"]
    assert opened.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"  # focus is seen
    opened.press(" ")
    assert column(opened, 0) == ["b", "a", "c", "d"]


def test_tables_are_copied(opened):
    taking = "{writeText: async (words) => { window.taken = words; }}"
    opened.run(f"Object.defineProperty(navigator, 'clipboard', {{value: {taking}}})")
    opened.run("document.querySelectorAll('[data-form=csv]')[0].click()")
    opened.wait("window.taken !== undefined")
    assert opened.run("window.taken").splitlines()[:3] == ["name,score", "b,0.5", "a,-1e-3"]


def test_dark_mode_phones_and_contrast(opened, page):
    """Ratios by WCAG 2's formula: 4.5 for words, 3 for signs."""

    def light(colour):
        parts = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def ratio(one, other):
        low, high = sorted((light(one), light(other)))
        return (high + 0.05) / (low + 0.05)

    names = ["ink", "quiet", "link", "people", *(f"c{each}" for each in range(8))]
    papers = set()
    for dark in (False, True):
        opened.look(390, 800, dark)
        wanted = json.dumps([*names, "card", "paper", "band"])
        made = "const at = document.createElement('i'); document.body.append(at);"
        read = "(name) => { at.style.color = `var(--${name})`; return getComputedStyle(at).color; }"
        script = f"(() => {{ {made} return {wanted}.map({read}); }})()"
        *tones, card, paper, band = opened.run(script)
        papers.add(paper)
        for name, tone in zip(names, tones, strict=True):
            least = 4.5 if name in ("ink", "quiet", "link") else 3
            for ground in (card, paper):
                assert ratio(tone, ground) >= least, (dark, name)
            if name.startswith("c") and name != "card":
                assert ratio(tone, band) >= 2.4, (dark, name)
        assert opened.run("document.documentElement.scrollWidth") <= 390  # nothing but tables scrolls aside
    assert len(papers) == 2


def test_long_names_and_long_tables_stay_in_their_place(tab, tmp_path):
    name = "a_system_whose_name_holds_everything_about_it-step-10000.txt"
    rows = [[f"{name} - {name}", "mmd", str(at)] for at in range(200)]
    table = rc.Table([name, "number", f"in {name}"], rows, left=2, title=name)
    parts = everything(name)
    lists = [TextLists(f"{name}: lost 0", [name], [table])]
    rc.Page(name, [name], [name, "b"], name, parts.forests, parts.planes, [table], parts.map, lists, parts.curves,
            command=name).write(tmp_path / "long.html")  # fmt: skip
    for width in (390, 1280):
        tab.look(width, 800)
        tab.open(tmp_path / "long.html")
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert tab.run("document.querySelector('#tables .scroll').offsetHeight") < 800
        tab.run("document.querySelector('#tables .scroll').scrollTop = 3000")
        head, frame = (
            f"document.querySelector('#tables {each}').getBoundingClientRect().top" for each in ("th", ".scroll")
        )
        assert abs(tab.run(head) - tab.run(frame)) < 3  # what the columns are is still seen


def test_without_scripts_all_is_there_to_be_read(tab, page):
    tab.open(page, scripts=False)
    seen = "(name) => [...document.querySelectorAll(name)].filter((each) => each.getClientRects().length).length"
    assert tab.run(f"({seen})('.still')") == 1  # the map as a picture
    assert tab.run(f"({seen})('table')") == 2 and tab.run(f"({seen})('.card svg')") >= 2
    assert tab.run(f"({seen})('button, canvas, input')") == 0  # nothing that would not work


def test_twenty_thousand_texts_answer_within_three_seconds(opened_browser, tmp_path):
    """Until the map answers, in time of the page's own thread: other programs on the machine must not decide."""
    rng = np.random.default_rng(0)
    sets = {"human": rng.standard_normal((10_000, 4)), "model": rng.standard_normal((10_000, 4)) + 1}
    texts = {name: [f"{name} text number {at} " + "of some length " * 8 for at in range(10_000)] for name in sets}
    path = tmp_path / "many.html"
    rc.Page("Many", map=map_of(MapSamples(sets, texts))).write(path)
    assert path.stat().st_size < 5_000_000
    tab = opened_browser.tab()  # with a thread of its own, whose clock begins with it
    tab.look()
    tab.send("Performance.enable", timeDomain="threadTicks")

    def worked():
        return {each["name"]: each["value"] for each in tab.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    tab.open(path)
    tab.wait("document.documentElement.dataset.ready === 'yes'", 60)
    assert 0.05 < worked() < 3
    before = worked()
    click = "document.getElementById('map-whole').click()"
    tab.run(click)
    assert worked() - before < 1
    assert tab.errors == []
