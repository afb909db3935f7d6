"""Commands in unusual use: notes on standard error, unfinished runs in the cache, options that exclude each other."""

import os
import time

import numpy as np
import pytest

from recapture.cli.app import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "human.txt").write_text("one boat\n\na net\n")
    (tmp_path / "human.csv").write_text("image,caption\na,A cat.\na,One cat.\n")
    (tmp_path / "model.csv").write_text("image,caption\na,A cat.\na,A dog.\n")
    np.save(tmp_path / "rows.npy", np.eye(3))
    return tmp_path


def refused(arguments, capsys, sentence):
    assert run(arguments) == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_embed_counts_empty_texts_and_keeps_them(folder, capsys):
    assert run(["embed", "human.txt", "--encoder", "bag-of-words", "-o", "v.npy"]) == 0
    assert "1 of 3 texts of human.txt are empty; they were kept" in capsys.readouterr().err
    assert np.load("v.npy").shape[0] == 3 and not np.load("v.npy")[1].any()


def test_embed_refuses_vectors(folder, capsys):
    refused(["embed", "rows.npy", "--encoder", "bag-of-words", "-o", "v.npy"], capsys, "holds vectors, not texts")


def test_options_for_a_file_of_contexts_go_with_one(folder, capsys):
    arguments = ["contexts", "-r", "human.csv", "-c", "model.csv", "--group", "image", "--field", "caption"]
    refused([*arguments, "--id-field", "x", "--metrics", "meteor"], capsys, "--id-field goes with a file of contexts")


def test_unfinished_runs_are_counted_and_removed(folder, capsys):
    """Two journals that interrupted runs left: an old one goes by age, both go by --all."""
    cache = folder / "cache" / "runs"
    cache.mkdir(parents=True)
    for name, age in (("contexts-old.jsonl", 40), ("contexts-new.jsonl", 0)):
        (cache / name).write_text("{}\n" * 400)
        then = time.time() - age * 86_400
        os.utime(cache / name, (then, then))
    assert run(["cache"]) == 0
    assert "unfinished runs of recapture contexts: 2, 2.4 kB" in capsys.readouterr().out
    assert run(["cache", "--older-than", "30"]) == 0
    assert [path.name for path in cache.glob("contexts-*")] == ["contexts-new.jsonl"]
    assert run(["cache", "--all"]) == 0
    assert not list(cache.glob("contexts-*"))


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--page", "page.md", "--quick", "--output", "o"], "leave --quick and --made-up out"),
        (["--page", "page.md"], "name that folder"),
        (["all", "--metrics", "bleu"], "--metrics is for one study"),
        (["all", "--quick"], "name the folder that holds the data"),
        (["all", "--quick", "--data", "."], "see docs/data.md for what belongs there"),
        (["wmt17", "--quick"], "name the folder that holds"),
    ],
)
def test_reproduce_refuses_what_does_not_go_together(folder, capsys, monkeypatch, arguments, sentence):
    pytest.importorskip("recapture_studies", reason="reproduce is in recapture-studies")
    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    refused(["reproduce", *arguments], capsys, sentence)


def test_no_command_is_a_request_for_help(capsys):
    assert run([]) == 2
    assert "Usage" in capsys.readouterr().err


def test_a_full_disk_is_a_sentence(folder, capsys, monkeypatch):
    """An error about our own output names no file; one about a file is a mistake of ours and is not hidden."""
    import recapture.cli.app as program

    discarded = []
    monkeypatch.setattr(program, "discard", lambda _: discarded.append(True))

    def fail(error):
        def main(**_):
            raise error

        monkeypatch.setattr(program.app, "main", main)

    fail(OSError(28, "No space left on device"))
    refused(["list"], capsys, "cannot write the results: No space left on device")
    fail(BrokenPipeError())
    assert run(["list"]) == 0 and discarded == [True, True]
    fail(FileNotFoundError(2, "No such file", "gone.txt"))
    with pytest.raises(FileNotFoundError):
        run(["list"])


WRITTEN = {"output", "per_item", "per_text", "report"}
NO_FILE = {
    "name", "metrics", "k", "field", "input_format", "reference_field", "reference_format", "pooling", "device",
    "batch_size", "offline", "truncate", "no_cache", "balance", "sample", "interval", "pvalue", "no_ceiling", "group",
    "paired", "seed", "form", "arrays", "id_field", "over_references", "measure", "temperature", "alpha", "beta", "idf",
    "budget", "dtype",
    "layer", "layers", "batch_tokens", "references_field", "candidates_field", "ties", "directed", "no_resume", "level",
    "coefficient", "lower_is_better", "higher_is_better", "over", "test", "accuracy", "soft_ties", "matrix",
    "system_field", "item_field", "where", "average", "resamples", "series", "every", "labelled",
    "rows", "tables", "digits", "transpose", "intervals", "fail_if", "tolerance", "clusters", "context_group",
    "engine", "address",
}  # fmt: skip
COMMANDS = ["score", "compare", "compare --pairs", "compare --contexts", "inspect", "baseline"]


@pytest.mark.parametrize("name", [*COMMANDS, "pairs", "contexts", "correlate", "embed", "merge"])
def test_whatever_an_option_names_is_never_written(name):
    """Every option either names no file, or is known to the check of --output as one that is read."""
    import click

    from recapture.cli.app import app
    from recapture.cli.compare import KINDS
    from recapture.cli.options import _read_by

    own, _, kind = name.partition(" ")
    command = KINDS.get(kind, app.commands[own])
    flags = {option.name for option in command.params if getattr(option, "is_flag", False)}
    for option in command.params:
        several = option.nargs == -1 or option.multiple
        context = click.Context(command)
        context.params = {option.name: ("human.txt",) if several else "human.txt"}
        read = list(_read_by(context))
        if option.name in WRITTEN | NO_FILE | flags or (name, option.name) == ("correlate", "human"):
            assert read == [], option.name
            assert option.name in WRITTEN or not (option.metavar or "").startswith("FILE"), option.name
        elif option.name != "candidate":  # which may be a pattern or a folder, and is given by its files
            assert read == ["human.txt"], option.name


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "-r", "human.txt", "-c", "human.txt", "--encoder", "IT"],
        ["score", "-r", "human.txt", "-c", "human.txt", "--human", "IT", "--encoder", "bag-of-words"],
        ["contexts", "c.jsonl", "--metrics", "cider", "--cider-df", "IT"],
        ["contexts", "c.jsonl", "--metrics", "meteor", "--paraphrases", "IT"],
        ["contexts", "c.jsonl", "--metrics", "meteor", "--wordnet", "folder"],
        ["correlate", "c.jsonl", "--human", "x", "--human-file", "IT"],
        ["embed", "human.txt", "--encoder", "bag-of-words", "--fit", "IT"],
        ["pairs", "-r", "human.txt", "-c", "human.txt", "--metrics", "infolm", "--model", "folder"],
    ],
)
def test_files_that_options_name_are_never_written(folder, capsys, arguments):
    (folder / "folder").mkdir()
    it = folder / "folder" / "it.npy"
    it.write_text("kept")
    (folder / "c.jsonl").write_text("{}\n")
    arguments = [str(it) if argument == "IT" else argument for argument in arguments]
    refused([*arguments, "-o", str(it)], capsys, "it is an input, which would be lost")
    assert it.read_text() == "kept"


@pytest.mark.traced
@pytest.mark.slow
def test_standard_input_is_an_input_too(folder, tmp_path):
    import subprocess
    import sys

    line = [sys.executable, "-m", "recapture", "score", "-r", "-", "-c", "human.txt", "--encoder", "bag-of-words"]
    (tmp_path / "given.txt").write_text("a cat\na dog\n")
    with (tmp_path / "given.txt").open() as stream:
        done = subprocess.run([*line, "-o", "given.txt"], stdin=stream, capture_output=True, text=True)
    assert done.returncode == 2 and "it is an input" in done.stderr


def test_neither_file_nor_journal_is_lost_where_the_output_cannot_be_written(folder, capsys, monkeypatch):
    """The disk fills up at the very end: nothing is written, and the run goes on from its journal."""
    import json

    from recapture.contexts import evaluate as evaluation

    records = [{"id": str(n), "references": ["a b", f"c {n}"], "candidates": ["a b", "d"]} for n in range(3)]
    (folder / "c.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    arguments = ["contexts", "c.jsonl", "--metrics", "meteor", "--per-item", "items.jsonl", "-o"]
    assert run([*arguments, "/dev/full"]) == 2
    assert "No space left" in capsys.readouterr().err and not (folder / "items.jsonl").exists()
    assert len(list((folder / "cache" / "runs").iterdir())) == 1
    monkeypatch.setattr(evaluation._Run, "_chunk", lambda *_: pytest.fail("made again"))
    assert run([*arguments, "totals.md"]) == 0
    assert (folder / "items.jsonl").exists() and not list((folder / "cache" / "runs").iterdir())
