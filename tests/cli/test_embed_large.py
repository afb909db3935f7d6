"""`recapture embed` of files too large to be held: the same vectors, each text once, and on from where it stopped."""

import random
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.representations import embedded_files
from recapture.representations import encoder as encoder_module
from recapture.representations.encoders.word_vectors import WordVectors

WORDS = ["a", "the", "cat", "dog", "boat", "net", "map", "rain", "ran", "sat", "sold", "saw"]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Many equal ones, near each other and far apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    rng = random.Random(1)
    Path("words.txt").write_text("".join(f"{word} {rng.random():.3f} {rng.random():.3f}\n" for word in WORDS))
    listed = [" ".join(rng.choices(WORDS, k=rng.randint(1, 3))) for _ in range(400)]
    Path("human.txt").write_text("".join(f"{text}\n" for text in listed))
    return listed


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(embedded_files, "_LARGE", 0)
    monkeypatch.setattr(embedded_files, "HELD", 30)


def test_the_same_vectors(texts, large, capsys):
    assert run(["embed", "human.txt", "--encoder", "words.txt", "-o", "vectors.npy"]) == 0
    assert "wrote vectors.npy: 400 vectors of 2 dimensions" in capsys.readouterr().err
    np.testing.assert_array_equal(np.load("vectors.npy"), rc.encode(texts, "words.txt", cache=False))


def test_equal_texts_have_equal_vectors_without_a_cache(texts, large, monkeypatch):
    seen = []

    def noisy(given, *_, **options):
        assert options == {"cache": False} and len(given) <= 30
        seen.extend(given)
        return np.random.default_rng(len(seen)).random((len(given), 2), np.float32)

    monkeypatch.setattr(embedded_files, "encode_rows", noisy)
    assert run(["embed", "human.txt", "--encoder", "words.txt", "--no-cache", "-o", "vectors.npy"]) == 0
    assert len(seen) == len(set(texts)) and set(seen) == set(texts)
    vectors = {}
    for text, vector in zip(texts, np.load("vectors.npy"), strict=True):
        np.testing.assert_array_equal(vector, vectors.setdefault(text, vector))
    assert len({vector.tobytes() for vector in vectors.values()}) == len(vectors)


def test_what_was_encoded_before_an_end_is_not_encoded_again(texts, large, monkeypatch):
    made = []
    usual = WordVectors.encode_batch

    def counting(self, given):
        made.extend(given)
        return usual(self, given)

    monkeypatch.setattr(WordVectors, "encode_batch", counting)
    real, times = embedded_files.encode_rows, []

    def third(*args, **options):
        times.append(1)
        if len(times) == 3:
            raise KeyboardInterrupt
        return real(*args, **options)

    monkeypatch.setattr(embedded_files, "encode_rows", third)
    assert run(["embed", "human.txt", "--encoder", "words.txt", "-o", "vectors.npy"]) == 130
    assert not Path("vectors.npy").exists() and not list(Path().glob(".vectors*"))
    before = len(made)
    assert run(["embed", "human.txt", "--encoder", "words.txt", "-o", "vectors.npy"]) == 0
    assert before > 30 and len(made) == len(set(made)) == len(set(texts))


@pytest.mark.parametrize("arguments", [["--encoder", "bag-of-words"], ["--encoder", "words.txt", "--field", "x"]])
def test_what_cannot_be_streamed(texts, large, arguments, capsys):
    code = run(["embed", "human.txt", *arguments, "-o", "vectors.npy"])
    if "bag-of-words" in arguments:  # it learns from all texts
        assert code == 0 and len(np.load("vectors.npy")) == 400
    else:
        assert code == 2 and "plain lines, which have no field 'x'" in capsys.readouterr().err
        assert not Path("vectors.npy").exists()


def test_a_dry_run_of_many_texts_writes_nothing(texts, large, capsys):
    before = sorted(Path().rglob("*"))
    assert run(["embed", "human.txt", "--encoder", "words.txt", "-o", "vectors.npy", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("This would take ")
    assert sorted(Path().rglob("*")) == before


def test_options_reach_the_encoder_of_many_texts(texts, large, monkeypatch):
    given = {}
    found = encoder_module.resolve_encoder("words.txt")
    monkeypatch.setattr(encoder_module, "resolve_encoder", lambda _, **options: given.update(options) or found)
    options = {"pooling": "max", "device": "cpu", "dtype": "bfloat16"}
    typed = [part for name, value in options.items() for part in (f"--{name}", value)]
    command = ["embed", "human.txt", "--encoder", "words.txt", "-o", "vectors.npy"]
    assert run([*command, *typed, "--truncate", "--offline"]) == 0
    assert given == {**options, "truncate": True, "offline": True}
