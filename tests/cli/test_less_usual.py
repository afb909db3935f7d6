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
