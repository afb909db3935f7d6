"""Random attacks on what recapture keeps and writes: the vector cache, journals, outputs, names in tables.

`attack(rng, folder)` makes one attack in an empty folder. Whatever is damaged, the numbers are those of undamaged
stores, inputs stay as they are, and bad situations are one sentence: anything else raises AssertionError with a
description of the attack. The same rng state makes the same attack.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import re
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc
from recapture.cli.app import run
from recapture.journal import kept_until_the_end
from recapture.representations.vector_cache import VectorCache

ROUNDS = 40
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What no terminal, and no page, may get."""
_ODD = ["\x1b]0;title\x07", "\x1b[31m", "\x9b2J", "\u202eabc", "|", "\\", "`x`", "\n", "\r", "\t", "<b>", "&", "=1+1",
        "-x", "+c", "@sum", "\x00", "é", "猫", '"', "'", "$x_1^2$", "%", "{", "}", "#", "~", "\ud800", " ",
        "a", ","]  # fmt: skip
_TEXTS = ["a cat sat on a mat", "the dog ran home", "rain fell", "we ate soup", "they saw a boat", "an old net"]
_WORDS = sorted({word for text in _TEXTS for word in text.split()})


def attack(rng: random.Random, folder: Path) -> None:
    """One random attack in an empty folder."""
    chosen = rng.choice(ATTACKS)
    try:
        chosen(rng, folder)
    except AssertionError as error:
        raise AssertionError(f"{chosen.__name__}: {error}") from error
    except Exception as error:  # whatever is not InputError is a defect
        raise AssertionError(f"{chosen.__name__}: {type(error).__name__}: {error}") from error


def damage(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Changed bytes, and what was done to them."""
    changed = bytearray(content)
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 10])):
        if not changed:
            break
        place = rng.choice([rng.randrange(len(changed)), rng.randrange(min(len(changed), 400))])
        kind = rng.choice(["bit", "byte", "cut", "zeros", "insert", "repeat", "end"])
        done.append(f"{kind} at {place}")
        if kind == "bit":
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == "byte":
            changed[place] = rng.randrange(256)
        elif kind == "cut":
            del changed[place : place + rng.randrange(1, 60)]
        elif kind == "zeros":
            size = len(changed[place : place + rng.randrange(1, 60)])
            changed[place : place + size] = bytes(size)
        elif kind == "insert":
            changed[place:place] = rng.randbytes(rng.randrange(1, 20))
        elif kind == "repeat":
            changed += changed[place : place + 200]
        else:
            del changed[place:]
    return bytes(changed), ", ".join(done)


def cache(rng: random.Random, folder: Path) -> None:
    """A damaged cache gives out right vectors or none, can be written to, and can be emptied."""
    texts, space = [f"text {number}" for number in range(30)], {"encoder": "owner/name", "revision": "1"}
    vectors = np.random.default_rng(rng.randrange(2**32)).normal(size=(30, 6)).astype(np.float32)
    store = VectorCache(folder)
    store.put(space, texts, vectors)
    content, done = damage(rng, store.path.read_bytes())
    store.path.write_bytes(content)
    if rng.random() < 0.2:
        Path(f"{store.path}-journal").write_bytes(rng.randbytes(600))
        done += ", with a journal of noise"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in ("read", "read again"):
            found, mask = VectorCache(folder).get(space, texts)
            assert not mask.any() or np.array_equal(found, vectors[mask]), f"{done}: wrong vectors, {turn}"
            VectorCache(folder).put(space, texts, vectors)
        for action in (lambda: VectorCache(folder).summary(), lambda: VectorCache(folder).prune(everything=True)):
            with contextlib.suppress(rc.InputError):
                action()


def journal(rng: random.Random, folder: Path) -> None:
    """A damaged journal holds right values or none."""
    path = folder / "work.jsonl"
    kept = {f"{rng.choice(_ODD)}{number}": [rng.random(), rng.choice(_ODD), None] for number in range(8)}
    for key, value in kept.items():
        rc.Journal(path).add({key: value})
    content, done = damage(rng, path.read_bytes())
    path.write_bytes(content)
    found = rc.Journal(path).finished()
    assert all(kept.get(key) == value for key, value in found.items()), f"{done}: wrong values {found}"
    again = rc.Journal(path)
    assert all(again.get(key, lambda value=value: value) == value for key, value in kept.items()), done
    assert rc.Journal(path).finished() == kept, f"{done}: not mended"


def run_over_contexts(rng: random.Random, folder: Path) -> None:
    """A run that goes on from a damaged journal ends with the numbers of one that was never interrupted."""
    contexts = [
        rc.Context(str(number), tuple(rng.sample(_TEXTS, 3)), tuple(rng.sample(_TEXTS, 3))) for number in range(20)
    ]
    metrics = rng.choice(["rouge-l", "trm-rouge-l,distinct-1", "self-bleu"])
    with _environment(RECAPTURE_CACHE=str(folder)):
        whole = rc.evaluate_contexts(contexts, metrics, resume=False)
        with contextlib.suppress(_StopError), kept_until_the_end():
            rc.evaluate_contexts(contexts, metrics)
            raise _StopError
        (path,) = (folder / "runs").iterdir()
        content, done = damage(rng, path.read_bytes())
        path.write_bytes(content)
        again = rc.evaluate_contexts(contexts, metrics)
    assert again.to_jsonl() == whole.to_jsonl() and again.to_json() == whole.to_json(), f"{metrics}: {done}"
    assert not list((folder / "runs").iterdir()), f"{metrics}: {done}: the journal is still there"


def parts_of_a_plan(rng: random.Random, folder: Path) -> None:
    """Parts that are damaged, swapped or stale are done again, a damaged plan is refused and made again: what is merged
    is what one process finds."""
    drawn = np.random.default_rng(rng.randrange(2**32))
    reference, candidate = drawn.normal(size=(2, rng.choice([6, 25, 40]), 3)).round(rng.choice([0, 1, 9]))
    files = {"human.npy": reference, "model.npy": candidate}
    for name, values in files.items():
        np.save(folder / name, values)

    def plan(name: str, candidate: str = "model.npy") -> Path:
        rc.make_plan(folder / "human.npy", folder / candidate, folder / name, "mark-evaluate,density-coverage", parts=3)
        return folder / name

    kept = plan("kept")
    rc.run_plan(kept)
    whole = rc.evaluate(reference, {"model.npy": candidate}, "mark-evaluate,density-coverage", ceiling=False,
                        reference_name=str(folder / "human.npy"))  # fmt: skip
    np.save(folder / "other.npy", -candidate)
    rc.run_plan(plan("stale", "other.npy"))
    for _ in range(rng.choice([1, 1, 4])):
        path = rng.choice(sorted(kept.iterdir()))
        kind = rng.choice(["damaged", "damaged", "swapped", "stale", "gone"])
        if kind == "damaged":
            content, done = damage(rng, path.read_bytes())
            path.write_bytes(content)
        elif kind == "gone":
            path.unlink()
        else:
            source = rng.choice(sorted(kept.iterdir())) if kind == "swapped" else folder / "stale" / path.name
            path.write_bytes(source.read_bytes())
        done = f"{path.name}: {kind}" + (f" ({done})" if kind == "damaged" else "")
        if path.name == "plan.json":
            if kind == "stale":  # a plan for other files, as good as any
                plan_of = rc.run_plan(kept).missing == [] and rc.merge_plan(kept)
                assert list(plan_of) == ["other.npy"], done
                path.unlink()
            with contextlib.suppress(rc.InputError):
                rc.run_plan(kept)
            plan("kept")
        with contextlib.suppress(rc.InputError):
            assert rc.merge_plan(kept).to_json(arrays=True) == whole.to_json(arrays=True), f"{done}: merged"
        assert rc.run_plan(kept).missing == [], done
        assert rc.merge_plan(kept).to_json(arrays=True) == whole.to_json(arrays=True), f"{done}: not mended"


def shards_of_a_plan(rng: random.Random, folder: Path) -> None:
    """The same where texts are encoded by parts: shards of vectors, the file they are joined to, the list of equal
    texts. What is merged is what one process finds."""
    _make_inputs(folder)
    sets = {name: [" ".join(rng.choices(_WORDS, k=rng.randint(1, 3))) for _ in range(30)] for name in ("one", "two")}
    for name, texts in (*sets.items(), ("other", sets["two"][::-1])):
        (folder / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))

    def plan(name: str, candidate: str) -> Path:
        rc.make_plan(folder / "one.txt", folder / f"{candidate}.txt", folder / name, "mark-evaluate", parts=2,
                     encoder=folder / "vectors.txt", candidate_name="two")  # fmt: skip
        return folder / name

    vectors = [rc.encode(texts, folder / "vectors.txt", cache=False) for texts in sets.values()]
    expected = rc.mark_evaluate(*vectors)
    kept, stale = plan("kept", "two"), plan("stale", "other")
    for each in (kept, stale):
        rc.run_plan(each)
    stages = ["vectors", "rows", "radii", "counts"]
    for stage in stages[rng.randrange(5) :]:  # some were not made yet
        for path in kept.glob(f"{stage}-*.part"):
            path.unlink()
    done = ""
    for _ in range(rng.choice([1, 1, 3])):
        path = rng.choice(sorted(path for path in kept.iterdir() if path.name != "plan.json"))
        kind = rng.choice(["damaged", "damaged", "swapped", "stale", "gone"])
        done += f" {path.name}: {kind}"
        if kind == "damaged":
            content, how = damage(rng, path.read_bytes())
            path.write_bytes(content)
            done += f" ({how})"
        elif kind == "gone":
            path.unlink()
        else:
            source = rng.choice(sorted(kept.iterdir())) if kind == "swapped" else stale / path.name
            path.write_bytes(source.read_bytes())
    try:
        assert rc.run_plan(kept).missing == [], done
    except rc.InputError:  # which texts are equal is found out when a plan is made
        plan("kept", "two")
        assert rc.run_plan(kept).missing == [], done
    found = rc.merge_plan(kept)["two"]["mark-evaluate"]
    assert found.values == expected.values and found.counts == expected.counts, f"{done}: other numbers"


def item_scores(rng: random.Random, folder: Path) -> None:
    """Scores that a study kept and that were damaged are made again."""
    try:
        from recapture_studies.item_scores import Part, Task, making, scores_of
    except ImportError:
        return
    systems = {name: rng.sample(_TEXTS, 4) for name in ("one", "two")}
    part = Part("toy", _TEXTS[:4], systems, [Task("chrf", "chrf")])
    how = making(folder=folder)
    good = scores_of(part, how)["chrf"]
    (path,) = folder.iterdir()
    content, done = damage(rng, path.read_bytes())
    path.write_bytes(content)
    found = scores_of(part, how)["chrf"]
    assert np.array_equal(found.items["value"], good.items["value"]), done
    assert np.array_equal(found.totals["value"], good.totals["value"]) and found.warnings == good.warnings, done


def outputs(rng: random.Random, folder: Path) -> None:
    """No input is written, a refusal changes nothing, and what is written is whole and keeps its rights."""
    _make_inputs(folder)
    inputs = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    arguments, read = _command(rng, folder)
    target, means = _target(rng, folder, read)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    rights = stat.S_IMODE(target.stat().st_mode) if os.path.isfile(target) else None  # noqa: PTH113 - names too long
    option = "--per-item" if arguments[0] in ("contexts", "pairs") and rng.random() < 0.4 else "-o"
    given = [*arguments, option, str(target)]
    where = f"{' '.join(given)} ({means})"
    out, err = io.StringIO(), io.StringIO()
    cache_kept = _environment(RECAPTURE_CACHE=str(folder / "cache"))
    with cache_kept, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(given)
    assert code in (0, 2), f"{where}: exit code {code}: {err.getvalue()}"
    assert not RAW.search(err.getvalue() + out.getvalue()), f"{where}: raw characters {err.getvalue()!r}"
    for path, content in inputs.items():
        assert path.read_bytes() == content, f"{where}: the input {path} was written"
    if means.startswith("input"):
        assert code == 2, f"{where}: an input was not refused"
    now = {path for path in folder.rglob("*") if path.is_file() and folder / "cache" not in path.parents}
    assert code == 0 or now == set(before), f"{where}: {sorted(now ^ set(before))}"
    assert not [path for path in now if path.name.startswith(".")], f"{where}: something is left behind"
    if code == 0 and os.path.isfile(target):  # noqa: PTH113
        assert rights is None or stat.S_IMODE(target.stat().st_mode) == rights, f"{where}: other rights"
        assert target.stat().st_size, f"{where}: nothing in it"


def names(rng: random.Random, folder: Path) -> None:
    """Names with anything in them: harmless in every form, the same again in JSON, one row each in CSV."""
    called = list({"".join(rng.choices(_ODD, k=rng.randint(1, 5))) for _ in range(3)})
    rows = np.random.default_rng(1).normal(size=(12, 3))
    results = rc.evaluate(rows, {name: rows + place for place, name in enumerate(called)}, "mmd", ceiling=False)
    forms = {form: getattr(results, f"to_{form}")() for form in ("table", "markdown", "latex", "html", "csv", "json")}
    for form, text in forms.items():
        assert not RAW.search(text), f"{called}: raw characters in {form}"
    assert list(json.loads(forms["json"])["results"]) == called, f"{called}: other names in JSON"
    table = list(csv.reader(io.StringIO(forms["csv"])))
    assert len(table) == 1 + len(called) and len({len(row) for row in table}) == 1, f"{called}: other rows in CSV"
    for row in table[1:]:
        assert row[0][:1] not in ("=", "@", "\t", "\r"), f"{called}: a formula in CSV"
    lines = [line for line in forms["markdown"].splitlines() if line.startswith("|")]
    columns = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(lines) == 2 + len(called) and len(columns) == 1, f"{called}: other rows in Markdown"


ATTACKS: tuple[Callable[[random.Random, Path], None], ...] = (
    cache, journal, run_over_contexts, parts_of_a_plan, shards_of_a_plan, item_scores, outputs, names,
)  # fmt: skip


class _StopError(Exception):
    """Ends a block early."""


@contextlib.contextmanager
def _environment(**values: str) -> Any:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _make_inputs(folder: Path) -> None:
    lines = "".join(f"{text}\n" for text in _TEXTS)
    for name in ("human.txt", "model.txt"):
        (folder / name).write_text(lines)
    words = sorted({word for text in _TEXTS for word in text.split()})
    (folder / "vectors.txt").write_text("".join(f"{word} {place} {place % 3} 1\n" for place, word in enumerate(words)))
    record = {"id": "1", "references": _TEXTS[:3], "candidates": _TEXTS[3:]}
    (folder / "contexts.jsonl").write_text(json.dumps(record) + "\n")
    rc.DocumentFrequencies({("a",): 3, ("cat",): 1}, documents=3).write(folder / "df.json")
    (folder / "phrases").write_text("0.5\na cat\none cat\n")
    rows = [{"system": name, "item": item, "bleu": item / 3, "people": item} for name in "abc" for item in range(3)]
    (folder / "rated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "people.csv").write_text(
        "system,item,people\n" + "".join(f"{s},{i},{i}\n" for s in "abc" for i in range(3))
    )


def _command(rng: random.Random, folder: Path) -> tuple[list[str], list[Path]]:
    """A command, and the files that it reads."""
    human, model, vectors = (folder / f"{name}.txt" for name in ("human", "model", "vectors"))
    contexts, df, phrases = folder / "contexts.jsonl", folder / "df.json", folder / "phrases"
    rated, people = folder / "rated.jsonl", folder / "people.csv"
    score = ["score", "-r", human, "-c", model, "--metrics", "mmd", "--no-ceiling", "--encoder"]
    commands: list[tuple[list[Any], list[Path]]] = [
        ([*score, vectors], [human, model, vectors]),
        ([*score, "bag-of-words"], [human, model]),
        (["pairs", "-r", human, "-c", model, "--metrics", "bleu"], [human, model]),
        (["contexts", contexts, "--metrics", "cider", "--cider-df", df], [contexts, df]),
        (["contexts", contexts, "--metrics", "meteor", "--paraphrases", phrases], [contexts, phrases]),
        (["correlate", rated, "--human", "people", "--metrics", "bleu"], [rated]),
        (["correlate", rated, "--human-file", people, "--human", "people", "--metrics", "bleu"], [rated, people]),
        (["embed", human, "--encoder", vectors], [human, vectors]),
    ]
    arguments, read = rng.choice(commands)
    return [str(argument) for argument in arguments], read


def _target(rng: random.Random, folder: Path, read: list[Path]) -> tuple[Path, str]:
    """Where to write, and what that is."""
    kinds = [
        "new",
        "old",
        "input",
        "input by a link",
        "input by a hard link",
        "folder",
        "nowhere",
        "below a file",
        "long",
    ]
    kind = rng.choice([*kinds, "device", "odd", "circle", "link to nowhere"])
    ending = rng.choice([".json", ".md", ".txt", ".npy", ""])
    target = folder / f"out{ending}"
    source = rng.choice(read)
    if kind == "input":
        target = source
    elif kind == "input by a link":
        target.symlink_to(source)
    elif kind == "input by a hard link":
        target.hardlink_to(source)
    elif kind == "old":
        target.write_text("old")
        target.chmod(rng.choice([0o600, 0o644, 0o664]))
    elif kind == "folder":
        target.mkdir()
    elif kind == "nowhere":
        target = folder / "no" / "where" / "out.json"
    elif kind == "below a file":
        target = source / "out.json"
    elif kind == "long":
        target = folder / ("x" * rng.choice([200, 5_000]) + ending)
    elif kind == "device":
        target = Path(rng.choice(["/dev/null", "/dev/full"]))
    elif kind == "odd":
        target = folder / os.fsdecode(rng.choice([b"\xff\x1b[31m.json", b"\x07.md", "\u202e.txt".encode(), b"-x.json"]))
    elif kind == "circle":
        target.symlink_to(target)
    elif kind == "link to nowhere":
        target.symlink_to(folder / "gone" / "out.json")
    return target, kind
