"""A short run of every kind of attack; `make attack` goes on for an hour."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

import pytest

from attack.run import kinds


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds())
def test_nothing_but_right_answers_and_sentences(kind: str, tmp_path: Path) -> None:
    module = import_module(f"attack.{kind}")
    for number in range(getattr(module, "ROUNDS", 20)):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            module.attack(random.Random(f"{kind}:{number}"), folder)
        except Exception as error:
            raise AssertionError(f"python tests/attack/run.py --only {kind}:{number}") from error
