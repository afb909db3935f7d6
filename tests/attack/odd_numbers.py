"""Random attacks with numbers: odd kinds of them, odd arrays, hostile JSON, options of the command line."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import random
import sys
import traceback
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import recapture as rc
from number_doors import Door, canonical, doors
from odd_arrays import NUMPY, SCORES, TABLES, Odd
from recapture.errors import InputError

KINDS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
KINDS += (np.float16, np.float32, np.float64, np.longdouble)
REFUSED = "refused"


ROUNDS = 100
"""In the tests."""


def attack(rng: random.Random, folder: Path) -> None:
    """One attack. Anything but the right result or InputError is an AssertionError that says how to repeat it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng.choice([_kind, _kind, _wrong, _wrong, _sets, _scores, _json, _option])(rng, folder)


@functools.cache
def _doors() -> list[Door]:
    return doors()


def _outcome(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return canonical(call(*arguments))
    except InputError as error:
        assert str(error).strip(), f"{what}: an error without a word"
        return REFUSED
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"[:300]
        raise AssertionError(f"{what}: {said} ({place.filename} line {place.lineno})") from error


def _shown(value: Any) -> str:
    try:
        return repr(value)[:200]
    except ValueError:  # more digits than Python prints
        return f"a whole number of {value.bit_length()} bits"


def _small(rng: random.Random, base: float) -> float:
    """A number near one that a parameter takes, and that is quickly done."""
    chosen = rng.choice([base, 1, 2, 3, 0, base + 1, base / 2, rng.randint(0, 127), rng.random()])
    return min(chosen, 127)


def _kind(rng: random.Random, _: Path) -> None:
    """A NumPy scalar is worth exactly what Python's number is."""
    door, kind = rng.choice(_doors()), rng.choice(KINDS)
    given = kind(_small(rng, door.base))
    number = int(given) if isinstance(given, np.integer) else float(given)
    held = rng.choice([given, np.array(given)])
    what = f"{door.name}: {door.parameter} = {held!r}"
    expected = _outcome(f"{door.name}: {door.parameter} = {number!r}", door.call, number)
    found = _outcome(what, door.call, held)
    assert found == expected, f"{what} gives {str(found)[:300]}, but {number!r} gives {str(expected)[:300]}"


def _any_number(rng: random.Random) -> Any:
    digits = rng.choice([1, 3, 19, 25, 400, 5000])
    whole = rng.choice([-1, 1]) * rng.randrange(10 ** (digits - 1), 10**digits)
    if digits <= 3:  # may be taken, and would then be waited for
        whole = rng.choice([-1, 0, -whole])
    real = rng.choice([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e-300, 1e308, -1.5, 2.5])
    others = [str(rng.randint(0, 9)), np.str_("1"), b"1", True, np.bool_(False), Fraction(1, 3), Decimal("sNaN"), 1j]
    others += [np.complex64(1), np.timedelta64(3, "s"), np.datetime64("NaT"), np.ma.masked, np.void(b"a"), object()]
    others += [[], [1], (1, 2), {1: 2}, {3}, np.array([1, 2]), np.array("a"), np.array(None), np.longdouble("1e4000")]
    return rng.choice([whole, real, rng.choice(others)])


def _wrong(rng: random.Random, _: Path) -> None:
    """What is no number, or none that fits, is refused and nothing else; flags and texts are no numbers."""
    door, value = rng.choice(_doors()), _any_number(rng)
    what = f"{door.name}: {door.parameter} = {_shown(value)}"
    found = _outcome(what, door.call, value)
    flag = isinstance(value, (bool, np.bool_)) and not door.takes_bool and door.parameter != "interval"
    if flag or isinstance(value, (str, bytes)):
        assert found == REFUSED, f"{what} is taken"


def _both(
    rng: random.Random, kinds: dict[str, Odd], call: Callable[..., Any], what: str, shape: tuple[int, ...]
) -> None:
    seed = rng.randrange(2**32)
    sides = list(np.random.default_rng(seed).integers(0, 100, (2, *shape)).astype(float))
    sides[0].flat[0] = sides[1].flat[1] = 99  # what masks hide is there
    name, place = rng.choice(sorted(kinds)), rng.randrange(2)
    odd = kinds[name]
    given, meant = list(sides), list(sides)
    given[place] = odd.make(sides[place])
    what = f"{what} of {name}, side {place}, integers(0, 100, {(2, *shape)}) of seed {seed} with 99 at 0 and 1"
    found = _outcome(what, call, *given)
    expected: Any = REFUSED
    if odd.means is not None:
        meant[place] = odd.means(sides[place])
        expected = _outcome(f"{what}, as float64", call, *meant)
    assert found == expected, f"{what} gives {str(found)[:300]}, not {str(expected)[:300]}"


def _sets(rng: random.Random, _: Path) -> None:
    metric = rng.choice(["mark-evaluate", "precision-recall", "density-coverage", "frechet", "mmd", "prd", "mauve"])

    def call(reference: Any, candidate: Any) -> Any:
        own = {metric: {"clusterings": 1}} if metric in ("prd", "mauve") else None
        return rc.evaluate(reference, candidate, metric, ceiling=False, options=own)

    _both(rng, TABLES, call, metric, (rng.randint(8, 60), rng.randint(1, 6)))


def _scores(rng: random.Random, _: Path) -> None:
    coefficient = rng.choice(["pearson", "spearman", "kendall", "acc-eq"])
    calls: dict[str, Callable[..., Any]] = {
        "correlate": lambda s, h: rc.correlate(s, h, rng_level, coefficient).rows,
        "swapping_test": lambda s, h: rc.swapping_test(s, s, h, resamples=9),
        "pairwise_accuracy": rc.pairwise_accuracy,
        "tie_calibration": rc.tie_calibration,
        "from_arrays": lambda s, h: rc.ScoreMatrix.from_arrays({"a": s, "b": h}).values,
    }
    rng_level = rng.choice(["system", "text", "global"])
    name = rng.choice(sorted(calls))
    kinds = {**SCORES, **NUMPY}
    _both(rng, kinds, calls[name], f"{name} ({rng_level}, {coefficient})", (rng.randint(3, 6), rng.randint(3, 9)))


def _json(rng: random.Random, folder: Path) -> None:
    """Records with hostile numbers and depths, by every reader."""
    deep = rng.choice([10, 99, 150, 900, 990, 20_000])
    values = ["9" * rng.choice([20, 400, 5000]), "-" + "9" * 5000, "1e999", "NaN", "-0", "0.1", '"a"', "null", "true"]
    values += ["[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep]
    names = ["text", "id", "references", "candidates", "system", "item", "bleu", "human"]
    fields = {name: rng.choice([*values, '"a"', "1", '["a", "b"]']) for name in rng.sample(names, rng.randint(1, 8))}
    record = "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"
    suffix = rng.choice([".jsonl", ".json"])
    path = folder / f"records{suffix}"
    path.write_text(record + "\n" if suffix == ".jsonl" else f"[{record}]")
    readers: list[Callable[..., Any]] = [rc.read, rc.read_contexts, rc.read_scores, rc.DocumentFrequencies.read]
    readers.append(lambda path: rc.Journal(path).finished())
    shown = {name: f"{value[:20]} ({len(value)} characters)" for name, value in fields.items()}
    for reader in readers:
        _outcome(f"{getattr(reader, '__qualname__', reader)} of {suffix} with {shown}", reader, path)


def _option(rng: random.Random, folder: Path) -> None:
    """A number, or something like one, for any option of the commands that are quickly done."""
    import click

    from recapture.cli.app import app, run

    command = rng.choice(["score", "pairs", "cache", "list"])
    parameters = app.get_command(click.Context(app), command).params  # type: ignore[union-attr]
    options = [one.opts[0] for one in parameters if isinstance(one, click.Option) and not one.is_flag]
    option = rng.choice(
        [one for one in options if one not in ("--output", "--per-item", "--encoder", "--model")] or options
    )
    value = rng.choice(
        ["nan", "inf", "-1", "0", "1e999", "٣", "", " 1 ", "9" * rng.randint(1, 5000), str(rng.random())]
    )
    (folder / "human.txt").write_text("the cat sat\na dog ran\nit rained\nthe end\n")
    (folder / "model.txt").write_text("the cat slept\na dog\nit rained\nthe start\n")
    sides = ["-r", str(folder / "human.txt"), "-c", str(folder / "model.txt")]
    beside = {
        "score": [*sides, "--encoder", "bag-of-words", "--metrics", "mark-evaluate", "--no-ceiling", "--no-cache"],
        "pairs": [*sides, "--metrics", "chrf"],
        "cache": ["--encoder", "none of them"],
    }
    arguments = [command, f"{option}={value}", *beside.get(command, [])]
    said = io.StringIO()
    what = f"recapture {command} {option} {value[:40]!r} ({len(value)} characters)"
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = run(arguments)
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}"[:600]) from error
    assert code in (0, 2), f"{what}: exit code {code}: {said.getvalue()[:300]}"
