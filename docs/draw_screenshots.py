"""Screenshots of a page, for README and docs: `make screenshots`. Needs Chromium; the texts are those of examples/demo.

A folder named on the command line is written to instead of docs.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Tab, browser, found  # noqa: E402
from recapture.cli.app import run  # noqa: E402

DEMO = ROOT / "examples" / "demo"
_LARGEST = 150_000
"""Bytes of a picture: they travel with every clone."""
SYSTEMS = ("good", "collapsed", "scrambled")
_POINT = """(() => { const box = document.getElementById('map-over').getBoundingClientRect();
const map = JSON.parse(document.getElementById('data').textContent).map, place = map.side.indexOf(2);
return [box.left + (map.x[place] / map.grid + 0.02) / 1.04 * box.width,
        box.top + (map.y[place] / map.grid + 0.03) / 1.06 * box.height]; })()"""
"""Where the first text of the second system lies in the window."""


def _box(tab: Tab, element: str) -> list[float]:
    """Left, top, width and height on the page."""
    script = "(({left, top, width, height}) => [left + scrollX, top + scrollY, width, height])"
    box: list[float] = tab.run(f"{script}(document.querySelector('{element}').getBoundingClientRect())")
    return box


def _small(path: Path) -> None:
    """Few colours make a small file."""
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True)
    path.write_bytes(stream.getvalue())


def main(folder: Path) -> None:
    if found() is None:
        raise SystemExit("no Chromium is installed (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as made, browser() as opened:
        page = Path(made) / "page.html"
        os.chdir(DEMO)  # names on the page as a reader would type them
        command = ["compare", "--offline", "-r", "human.txt", "--report", str(page)]
        for name in SYSTEMS:
            command += ["-c", f"{name}.txt", "--name", name]
        if run([*command, "--output", str(Path(made) / "table.txt")]):
            raise SystemExit("the demo cannot be compared")
        tab = opened.tab()
        written = []
        for name, width, height, dark in (
            ("report-light", 1100, 1120, False), ("report-dark", 1100, 1120, True), ("report-phone", 390, 940, False)
        ):  # fmt: skip
            tab.look(width, height, dark)
            tab.open(page)
            written.append(folder / f"{name}.png")
            top = _box(tab, "#numbers")[1] - 12 if width < 600 else 0
            tab.screenshot(written[-1], x=0, y=top, width=width, height=height)
        tab.look(1100, 900)
        tab.open(page)
        tab.run("document.querySelector('.stage').scrollIntoView({behavior: 'instant', block: 'center'})")
        tab.mouse("mouseMoved", *tab.run(_POINT))
        left, top, wide, tall = _box(tab, "#map")
        written.append(folder / "report-map.png")
        tab.screenshot(written[-1], x=left - 20, y=top - 10, width=wide + 40, height=tall + 20)
        tab.run("document.querySelectorAll('.group')[1].open = true")  # the collapsed system's lists
        for name, section, tallest in (("report-texts", "#texts", 1700), ("report-curves", "#curves", 1080)):
            left, top, wide, tall = _box(tab, section)
            written.append(folder / f"{name}.png")
            tab.screenshot(written[-1], x=left - 20, y=top - 10, width=wide + 40, height=min(tallest, tall) + 20)
        for path in written:
            _small(path)
            size = path.stat().st_size
            print(f"wrote {path} ({size:,} bytes)")
            if size > _LARGEST:
                raise SystemExit(f"{path.name} is larger than {_LARGEST:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs")
