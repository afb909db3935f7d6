"""Numbers on the command line: every option of every command, found by introspection, ends with exit code 0 or 2."""

import contextlib
import io
import json
import os
from pathlib import Path

import click
import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import app, run
from recapture.cli.compare import KINDS
from recapture.representations.vector_cache import VectorCache

NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "1e999", "1e-999", "0.5", "٣", "", " 1 ", "1_0", "0x1", "1,2", "--1"]
NUMBERS += ["9" * 30, "9" * 400, "9" * 5000, "0." + "9" * 5000, "9" * 5000 + "e-4999", "1e" + "9" * 400]


NAMES = {
    "--baseline", "--candidate", "--candidates-field", "--data", "--device", "--encoder", "--field", "--format",
    "--group", "--human", "--id-field", "--item-field", "--jar", "--metrics", "--model", "--name", "--output", "--page",
    "--paraphrases", "--pooling", "--preset", "--reference", "--reference-field", "--references-field", "--report",
    "--system-field", "--wordnet",
}  # fmt: skip
NOT_NAMES = ["nan", "-1", "٣", "", " 1 ", "9" * 5000]
"""For options that take a name, to which all other numbers are but more names."""


def texts(folder: Path) -> None:
    lines = [f"the {word} sat on a {other}" for word in ("cat", "dog", "bird") for other in ("mat", "tree", "chair")]
    (folder / "human.txt").write_text("\n".join(lines) + "\n")
    (folder / "model.txt").write_text("\n".join(reversed([line.upper() for line in lines])) + "\n")
    contexts = {"id": 1, "references": lines[:3], "candidates": lines[3:5]}
    (folder / "contexts.jsonl").write_text(json.dumps(contexts) + "\n")
    several = [{"id": at, "references": lines[at : at + 3], "a": lines[3:5], "b": lines[5:7]} for at in range(4)]
    (folder / "several.jsonl").write_text("".join(json.dumps(row) + "\n" for row in several))
    rows = [
        {"system": system, "item": item, "bleu": (place * 7 + item * 3) % 10, "human": (place * 5 + item) % 7}
        for place, system in enumerate("abcd")
        for item in range(4)
    ]
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


SIDES = ["-r", "human.txt", "-c", "model.txt"]
FIELDS = ["--candidates-field", "a", "--candidates-field", "b"]
COMMANDS = {
    "score": [*SIDES, "--encoder", "bag-of-words", "--metrics", "mark-evaluate,mmd", "--no-ceiling"],
    "inspect": [*SIDES, "--encoder", "bag-of-words"],
    "pairs": [*SIDES, "--metrics", "chrf"],
    "contexts": ["contexts.jsonl", "--metrics", "rouge-l"],
    "compare": [*SIDES, "-c", "human.txt", "--encoder", "bag-of-words", "--metrics", "mmd", "--no-ceiling"],
    "compare --pairs": [*SIDES, "-c", "human.txt", "--metrics", "chrf"],
    "compare --contexts": ["several.jsonl", *FIELDS, "--metrics", "rouge-l"],
    "baseline": [*SIDES, "--encoder", "bag-of-words", "--metrics", "mmd", "-o", "kept.safetensors"],
    "correlate": ["scores.jsonl", "--human", "human", "--higher-is-better", "bleu", "--resamples", "9"],
    "embed": ["human.txt", "--encoder", "bag-of-words", "-o", "vectors.npy"],
    "plan": ["-r", "human.npy", "-c", "model.npy", "-o", "planned"],
    "run": ["done"],
    "merge": ["done"],
    "cache": [],
    "list": [],
    "reproduce": ["--list"],
}  # fmt: skip
"""What each command gets beside."""


def options():
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                yield name, parameter.opts[0]
    for flag, command in KINDS.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                yield f"compare {flag}", parameter.opts[0]


OPTIONS = list(options())


def told(arguments: list[str]) -> tuple[int, str]:
    """The exit code, and all that was said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(arguments)
    return code, said.getvalue()


def test_all_commands_are_known():
    assert {name for name, _ in OPTIONS} <= set(COMMANDS)
    assert {("score", "--seed"), ("pairs", "--temperature"), ("cache", "--older-than")} <= set(OPTIONS)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_option_is_taken_or_refused(command, option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("RECAPTURE_OFFLINE", "1")
    texts(tmp_path)
    if command in ("plan", "run", "merge"):
        np.save("human.npy", np.eye(9))
        np.save("model.npy", np.eye(9) + 1)
        rc.make_plan("human.npy", "model.npy", "done")
        rc.run_plan("done")
    for number in NOT_NAMES if option in NAMES else NUMBERS:
        if command == "cache":  # there is something to remove
            VectorCache().put({"encoder": "a"}, ["a text"], np.ones((1, 3), np.float32))
        # Last, so that it stands in the place of what the command gets beside.
        code, said = told([*command.split(), *COMMANDS[command], f"{option}={number}"])
        assert code in (0, 2), (number[:40], said)
        if code == 2:
            assert len(said.strip().splitlines()) == 1, said
            assert len(said) < 1000, said[:200]


@pytest.mark.parametrize("threads", ["9" * 5000, "0", "-1", "٣", "2.0", "nan", "100000"])
def test_threads_of_the_environment(threads, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts(tmp_path)
    monkeypatch.setitem(os.environ, "RECAPTURE_THREADS", threads)
    code, said = told(["score", *COMMANDS["score"]])
    assert code == 2
    assert "RECAPTURE_THREADS" in said
    assert len(said) < 400
