"""Attack the program for as long as one likes: `make attack`, or python tests/attack/run.py --minutes 5 readers.

Every attack is made from one number, which is printed where it succeeds: `--only readers:123456` repeats it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
LONGEST = 60
"""Seconds after which an attack counts as a hang."""


def kinds() -> list[str]:
    """Files beside this one that attack something."""
    return sorted(file.stem for file in HERE.glob("*.py") if "\ndef attack(" in file.read_text("utf-8"))


def one(kind: str, number: int) -> str | None:
    """Run one attack in a folder of its own; what went wrong, or None."""
    attack = importlib.import_module(f"attack.{kind}").attack
    with tempfile.TemporaryDirectory(prefix="recapture-attack-") as folder:
        signal.signal(signal.SIGALRM, _hangs)
        signal.alarm(LONGEST)
        try:
            attack(random.Random(f"{kind}:{number}"), Path(folder))
        except Exception:  # that is what is looked for
            return traceback.format_exc()
        finally:
            signal.alarm(0)
    return None


def _hangs(*_: object) -> None:
    raise AssertionError(f"still running after {LONGEST} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*kinds(), []], help="what to attack; all of them unless named")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the first number; another one each time unless given")
    parser.add_argument("--only", help="KIND:NUMBER: repeat one attack")
    asked = parser.parse_args()
    sys.path.insert(0, str(HERE.parent))
    with tempfile.TemporaryDirectory(prefix="recapture-attack-cache-") as cache:
        os.environ["RECAPTURE_CACHE"] = cache
        if asked.only:
            kind, _, number = asked.only.partition(":")
            wrong = one(kind, int(number))
            print(wrong or "held")
            return 1 if wrong else 0
        number = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
        end, made, succeeded = time.monotonic() + 60 * asked.minutes, 0, 0
        while time.monotonic() < end:
            for kind in asked.kinds or kinds():
                wrong = one(kind, number)
                made += 1
                if wrong:
                    succeeded += 1
                    print(f"--only {kind}:{number}\n{wrong}", flush=True)
            number += 1
    print(f"{made:,} attacks, {succeeded:,} of them succeeded")
    return 1 if succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
