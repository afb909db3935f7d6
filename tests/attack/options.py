"""Random command lines over small files: every command, its options in any combination, values right and wrong.

Whatever is asked for, the program ends with exit code 0, or 2 and one sentence; nothing that it was given is changed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shlex
from pathlib import Path

import click
import numpy as np

import recapture as rc
from recapture.cli.app import app, run

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "under", "over", "green", "old", "tree", "river", "and", "by", "home"]
NUMBERS = ["0", "1", "2", "3", "7", "-1", "0.5", "0.95", "1.5", "nan", "inf", "1e3", "", "x", "٣", "1" * 5000]
NAMES = ["a", "a|b", "a\\b", "é", "=1+1", "\x1b]0;x\x07", "x" * 300, "<b>", "", "a b", "a,b"]
QUICK = {
    "score": ["mark-evaluate", "precision-recall", "density-coverage", "mmd", "frechet", "mauve", "prd"],
    "compare": ["mark-evaluate", "precision-recall", "density-coverage", "mmd"],
    "pairs": ["bleu", "chrf", "meteor", "rouge", "ter", "cider", "cross-entropy"],
    "plan": ["mark-evaluate", "precision-recall", "density-coverage", "mmd"],
    "contexts": ["trm-meteor", "trm-sentence-bleu", "meteor", "cider"],
    "correlate": ["bleu"],
}
"""Metrics by command that need no model."""
BASE = {
    "score": ["-r", "REFERENCE", "-c", "CANDIDATE"],
    "compare": ["-r", "REFERENCE", "-c", "CANDIDATE", "-c", "REFERENCE"],
    "inspect": ["-r", "REFERENCE", "-c", "CANDIDATE"],
    "baseline": ["-r", "REFERENCE", "-c", "CANDIDATE", "-o", "kept.safetensors"],
    "pairs": ["-r", "human.txt", "-c", "model.txt"],
    "contexts": ["contexts.jsonl"],
    "correlate": ["scores.jsonl", "--human", "human"],
    "embed": ["human.txt", "-o", "out.npy"],
    "plan": ["-r", "human.npy", "-c", "model.npy", "-o", "planned"],
    "run": ["begun", "1/2"],
    "merge": ["begun"],
    "list": [],
    "cache": [],
}
"""What works."""
PLACES = ["begun", "-", "--", "*.txt", ".", "/", "/dev/null", "no/such/file.txt", "empty.txt", "odd.txt"]
GOOD = {
    "output": ["out.md", "out.json", "out.csv", "out.tex", "out.html", "human.txt", "model.jsonl", "words.vec"],
    "per_item": ["items.jsonl", "items.csv", "model.txt"],
    "per_text": ["rows.jsonl", "rows.csv", "model.txt"],
    "report": ["page.html", "page.txt", "human.txt"],
    "form": ["table", "json", "json", "csv", "latex", "html", "markdown"],
    "field": ["text", "id"],
    "reference_field": ["text", "id"],
    "group": ["group", "id"],
    "id_field": ["id"],
    "name": NAMES,
    "pvalue": ["auto", "exact", "sampled", "analytic", "50"],
    "interval": ["0.5", "0.95"],
    "k": ["1", "2", "50"],
    "balance": ["2"],
    "sample": ["2", "5"],
    "resamples": ["10", "100"],
    "batch_size": ["1", "7"],
    "seed": ["0", "7", "99999999999999999999"],
    "device": ["cpu", "quantum"],
    "input_format": ["lines", "jsonl", "csv", "json"],
    "reference_format": ["lines", "jsonl"],
    "level": ["system", "text", "global", "system,text", "0.1"],
    "coefficient": ["pearson", "kendall", "spearman,pearson"],
    "test": ["williams", "bootstrap", "permutation"],
    "over": ["systems", "items", "both"],
    "over_references": ["best", "mean"],
    "max_size": ["1MB", "0", "x"],
    "older_than": ["0", "3"],
}
"""Values that options take, or nearly; any other option gets a number, or the name of a file."""
ROUNDS = 150
"""In the tests."""


def attack(rng: random.Random, folder: Path) -> None:
    """One random command line."""
    given = files(rng, folder)
    command = rng.choice(["score", "score", "pairs", "pairs", *sorted(app.commands)])
    arguments = [command, *line(rng, app.commands[command], given)]
    before = {path: path.read_bytes() for path in given}
    code, shown = answer(arguments, folder)
    told = f"recapture {shlex.join(arguments)}\nexit code {code}\n{shown[-2000:]}"
    assert code in (0, 2), told
    assert "Traceback" not in shown, told
    # A file that only --output names is no input.
    free = [name for name in sorted({*arguments}) if arguments.count(name) == 1 and "*.txt" not in arguments]
    changed = [path.name for path, content in before.items() if not path.is_file() or path.read_bytes() != content]
    changed = [name for name in changed if name not in free]
    assert not changed, f"inputs were changed: {changed}\n{told}"
    if code == 2:
        # The reason is the last line, and one line; progress and warnings may stand before it.
        assert shown.rstrip("\n").splitlines()[-1].startswith(("recapture: ", "Usage: ", "  ")), told


def answer(arguments: list[str], folder: Path) -> tuple[int, str]:
    """The exit code, and what was said on stderr."""
    out, err = io.StringIO(), io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
    finally:
        os.chdir(here)
    return code, err.getvalue()


def files(rng: random.Random, folder: Path) -> list[Path]:
    """Small inputs of every kind, most of them good."""
    texts = [sentence(rng) for _ in range(rng.choice([1, 2, 6, 7]))]
    other = [rng.choice([sentence(rng), rng.choice(texts), ""]) for _ in texts]
    (folder / "human.txt").write_text("\n".join(texts) + "\n", "utf-8")
    (folder / "model.txt").write_text("\n".join(other) + "\n", "utf-8")
    records = [{"text": text, "id": place, "group": place // 2} for place, text in enumerate(other)]
    (folder / "model.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    rows = "".join(f'"{text}",{place}\n' for place, text in enumerate(other))
    (folder / "model.csv").write_text("text,id\n" + rows, "utf-8")
    contexts = [{"id": at, "references": texts[:2], "candidates": other[:3]} for at in range(3)]
    (folder / "contexts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in contexts), "utf-8")
    scores = [
        {"system": system, "id": at, "bleu": rng.random(), "length": at, "human": rng.random()}
        for system in "abc"
        for at in range(4)
    ]
    (folder / "scores.jsonl").write_text("".join(json.dumps(record) + "\n" for record in scores), "utf-8")
    np.save(folder / "human.npy", np.array([[rng.random(), rng.random()] for _ in texts], np.float32))
    np.save(folder / "model.npy", np.array([[rng.random(), rng.random()] for _ in texts], np.float32))
    with contextlib.suppress(rc.InputError):  # there may be a single row
        rc.make_plan(folder / "human.npy", folder / "model.npy", folder / "begun", parts=2)
        rc.run_plan(folder / "begun", 1, rng.choice([1, 2]))
    (folder / "words.vec").write_text("".join(f"{word} {rng.random()} {rng.random()}\n" for word in WORDS), "utf-8")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "odd.txt").write_bytes(bytes(rng.randrange(256) for _ in range(60)))
    return sorted(path for path in folder.iterdir() if path.is_file())


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 8)))


def line(rng: random.Random, command: click.Command, given: list[Path]) -> list[str]:
    """A command line that works, with some more options; now and then a word of it is lost or another."""
    name = str(command.name)
    texts = rng.random() < 0.7
    reference = "human.txt" if texts else "human.npy"
    candidate = rng.choice(["model.txt", "model.jsonl", "model.csv"]) if texts else "model.npy"
    arguments = [{"REFERENCE": reference, "CANDIDATE": candidate}.get(word, word) for word in BASE[name]]
    if name in QUICK:
        arguments += ["--metrics", ",".join(rng.sample(QUICK[name], min(len(QUICK[name]), rng.choice([1, 1, 2]))))]
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3]))):
        if option.name in ("help", "metrics", "encoder"):  # models take seconds to load, and have attacks of their own
            continue
        arguments.append(rng.choice(option.opts))
        if not option.is_flag:
            arguments.append(value(rng, option, given))
    if rng.random() < 0.1:
        arguments.pop(rng.randrange(len(arguments))) if arguments else None
    if rng.random() < 0.1 and arguments:
        arguments[rng.randrange(len(arguments))] = rng.choice([*NUMBERS, *NAMES, *PLACES])
    names = {word for option in options for word in option.opts}
    if (
        name == "embed"
        or (texts and name in ("score", "compare", "inspect", "baseline"))
        or ("--encoder" in names and rng.random() < 0.1)
    ):
        arguments += ["--encoder", rng.choice(["bag-of-words", "bag-of-words", "words.vec", "nobody/nothing"])]
    return arguments + [word for word in ("--offline", "--no-cache") if word in names]


def value(rng: random.Random, option: click.Option, given: list[Path]) -> str:
    """Mostly one that the option takes."""
    if rng.random() < 0.1:
        return rng.choice([*NUMBERS, *NAMES, *PLACES])
    if str(option.name) in GOOD:
        return rng.choice(GOOD[str(option.name)])
    if isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType)):
        return rng.choice(NUMBERS)
    return rng.choice([path.name for path in given])
