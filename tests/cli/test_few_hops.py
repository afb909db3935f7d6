"""From a command to its number in few hops: how many files of the package run a function on the way."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import recapture
from recapture.cli.app import run

PACKAGE = Path(recapture.__file__).parent
MOST_FOR_BLEU = 14
"""sacrebleu alone needs 7; it was 26 before readers were counted as users."""
TO_PETERSEN = {
    "cli/score.py",
    "texts/reading.py",
    "sets/evaluate.py",
    "representations/vectors.py",
    "representations/encode.py",
    "representations/encoders/bag_of_words.py",
    "sets/pair.py",
    "geometry/points.py",
    "geometry/overlap.py",
    "geometry/neighbours.py",
    "sets/metrics/mark_evaluate.py",
    "population.py",
}
"""What a reader opens, one after the other, who wants to know where Petersen's estimate comes from."""


def files_run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Files in which a function runs, once everything is imported."""
    assert run(arguments) == 0
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert run(arguments) == 0
    finally:
        sys.setprofile(before)
    capsys.readouterr()
    return {Path(name).relative_to(PACKAGE).as_posix() for name in seen if Path(name).is_relative_to(PACKAGE)}


@pytest.fixture
def sides(tmp_path):
    reference, candidate = tmp_path / "human.txt", tmp_path / "model.txt"
    reference.write_text("".join(f"a cat sat on mat {number}\n" for number in range(250)))
    candidate.write_text("".join(f"the cat lay on mat {number}\n" for number in range(250)))
    return ["-r", str(reference), "-c", str(candidate)]


def test_bleu(sides, capsys):
    found = files_run(["pairs", *sides, "--metrics", "bleu"], capsys)
    assert len(found) <= MOST_FOR_BLEU, sorted(found)


def test_petersen(sides, capsys):
    found = files_run(["score", *sides, "--metrics", "mark-evaluate", "--encoder", "bag-of-words"], capsys)
    assert found >= TO_PETERSEN
