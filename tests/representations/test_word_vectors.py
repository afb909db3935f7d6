"""Word vectors from self-made files, small enough for means by hand."""

from __future__ import annotations

import gc
import gzip
import json
import lzma
import os
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.representations.encode import encode
from recapture.representations.encoder import Encoder, resolve_encoder
from recapture.representations.encoders.word_vectors import WordVectors, words
from recapture.representations.vector_cache import VectorCache
from recapture.representations.word_table import WordTable

LINES = ["the 1 0 0.5", "cat 3 -2 0.5", "Paris 0 8 1", "paris 9 9 9", "sat 0 0 -1e-1", "do 2 4 8", "n't 4 0 0"]
GLOVE = "\n".join(LINES) + "\n"


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.3d.txt"
    file.write_text(GLOVE, "utf-8")
    return file


def write(folder: Path, content: str | bytes, name: str = "vectors.txt") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_mean_by_hand(glove: Path) -> None:
    # (the + cat + sat) / 3, (the + the + cat) / 3; punctuation is no word.
    expected = [[4 / 3, -2 / 3, 0.3], [5 / 3, -2 / 3, 0.5], [1, 0, 0.5]]
    vectors = encode(["the cat sat", "The, THE — cat!", "(the)..."], glove)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)


def test_as_written_before_lower_case(glove: Path) -> None:
    np.testing.assert_array_equal(encode(["Paris", "paris", "PARIS"], glove), [[0, 8, 1], [9, 9, 9], [9, 9, 9]])


def test_words_known_in_parts_only(glove: Path) -> None:
    # don't = do + n't, as in GloVe's own tokeniser; the-cat = the + cat; catzzz's is nothing.
    expected = [[3, 2, 4], [3, 2, 4], [2, -1, 0.5], [0, 0, 0]]
    np.testing.assert_array_equal(encode(["don't", "DON’T", "the-cat", "catzzz's"], glove), expected)


def test_words_of_a_text() -> None:
    text = "“Well-known,” he said… _twice_: it’s 3.5% (U.S., example.com). E\u0301cole — ... ok"
    expected = ["Well-known", "he", "said", "twice", "it's", "3.5", "U.S.", "example.com", "École", "ok"]
    assert words(text) == expected
    assert words(" ... — !?\n") == []


def test_full_stops_of_abbreviations_and_of_sentences(tmp_path: Path) -> None:
    file = write(tmp_path, "u.s. 1 0\nexample.com 2 0\nno. 3 0\nno 4 0\nu 5 0\ns 7 0\n")
    # The last one is known in parts only: (5 + 7) / 2.
    texts = ["U.S.", "the U.S., and", "See example.com.", "Oh no.", "u/s."]
    np.testing.assert_array_equal(encode(texts, file)[:, 0], [1, 1, 2, 4, 6])


@pytest.mark.parametrize(
    "form",
    [
        *("header", "trailing spaces", "windows", "mark", "no line end", "blank end", "tabs", "double blanks"),
        *("a double blank after the word", "a tab after the word", "blanks before the word"),
    ],
)
def test_forms_of_the_same_table(form: str, tmp_path: Path) -> None:
    content = {
        "header": f"{len(LINES)} 3\n{GLOVE}",
        "trailing spaces": f"{len(LINES)} 3 \n" + GLOVE.replace("\n", " \n"),  # as fastText writes
        "windows": GLOVE.replace("\n", "\r\n"),
        "mark": "\ufeff" + GLOVE,
        "no line end": GLOVE.rstrip("\n"),
        "blank end": GLOVE + "\n  \n\n",
        "tabs": GLOVE.replace(" ", "\t"),
        "double blanks": GLOVE.replace(" ", "  "),
        "a double blank after the word": "".join(line.replace(" ", "  ", 1) + "\n" for line in LINES),
        "a tab after the word": "".join(line.replace(" ", "\t", 1) + "\n" for line in LINES),
        "blanks before the word": GLOVE.replace("\n", "\n "),
    }[form]
    table = WordTable(write(tmp_path, content))
    assert (len(table), table.dimensions) == (len(LINES), 3)
    for line in LINES:
        word, *numbers = line.split()
        np.testing.assert_array_equal(table.get(word), np.array(numbers, np.float32))
    assert table.get("dog") is None
    assert table.get("3") is None


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(suffix: str, pack: object, glove: Path, tmp_path: Path) -> None:
    assert callable(pack)
    file = write(tmp_path, pack(GLOVE.encode()), f"packed.vec{suffix}")
    texts = ["the cat sat", "Paris"]
    np.testing.assert_array_equal(encode(texts, file), encode(texts, glove))
    packed, plain = (resolve_encoder(path).identity() for path in (file, glove))
    assert packed["revision"] == plain["revision"]  # what counts is the content
    damaged = write(tmp_path, pack(GLOVE.encode() * 50)[:-20], f"damaged.vec{suffix}")
    with pytest.raises(InputError, match=r"damaged\.vec\.\w\w is cut off or damaged"):
        encode(texts, damaged)


def test_words_with_spaces_odd_bytes_and_repeats(tmp_path: Path) -> None:
    lines = [
        ". . . 1 2",  # the first line need not begin with a simple word
        "at name@domain.com 3 4",
        "at 5 6",
        "na\u00a0ïve 7 8",  # blanks of other kinds belong to the word
        "\u2028 9 9",
        "ждать -1 -2",
        "at 99 99",
    ]
    file = write(tmp_path, "\n".join(lines).encode() + b"\nbad\xff\xfe 1 1\n")
    table = WordTable(file)
    assert (len(table), table.dimensions) == (8, 2)
    np.testing.assert_array_equal(table.get("at"), [5, 6])  # the first one wins
    np.testing.assert_array_equal(table.get("at name@domain.com"), [3, 4])
    np.testing.assert_array_equal(table.get(". . ."), [1, 2])
    np.testing.assert_array_equal(table.get("na\u00a0ïve"), [7, 8])
    np.testing.assert_array_equal(encode(["ЖДАТЬ at"], file), [[2, 2]])
    assert table.get("bad") is None


def test_agrees_with_a_plain_reader(tmp_path: Path) -> None:
    """Oracle: every line split and parsed at once into a dict, the mean taken in float64."""
    random = np.random.default_rng(4)
    letters = list("abcdefghijklmnopqrstuvwxyzäßж")
    listed = ["".join(random.choice(letters, random.integers(1, 5))) for _ in range(3000)]
    numbers = random.normal(size=(3000, 20))
    lines = [f"{word} " + " ".join(f"{x:.5f}" for x in row) for word, row in zip(listed, numbers, strict=True)]
    file = write(tmp_path, f"3000 20\n{chr(10).join(lines)}\n", "random.vec")
    known: dict[str, np.ndarray] = {}
    for word, *fields in (line.split(" ") for line in lines):
        known.setdefault(word, np.array(fields, np.float32).astype(float))
    texts = [" ".join(random.choice([*listed, "xyzzy", "äöüäö"], random.integers(1, 30))) for _ in range(200)]
    found = [[known[word] for word in text.split() if word in known] for text in texts]
    expected = np.array([np.mean(rows, axis=0) if rows else np.zeros(20) for rows in found])
    for batch_size in (1, 64):
        np.testing.assert_allclose(
            encode(texts, file, batch_size=batch_size, cache=False), expected, rtol=1e-6, atol=1e-7
        )


def test_unknown_words_are_left_out_and_counted(glove: Path) -> None:
    texts = ["the zebra", "zebra zebra", "the cat", "", "!!"]
    np.testing.assert_array_equal(encode(texts, glove), [[1, 0, 0.5], [0, 0, 0], [2, -1, 0.5], [0, 0, 0], [0, 0, 0]])
    notes = WordVectors(glove).notes(texts, "reference")
    # By hand: zebra three times among six words; "zebra zebra" and "!!" have no known word, the empty text is no news.
    assert notes == [
        "words of reference without a vector in tiny.3d.txt were left out (3 of 6, 50.0%)",
        "2 of 5 texts of reference have no word of tiny.3d.txt; their vectors are zero",
    ]
    assert WordVectors(glove).notes(["the cat", ""], "reference") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2 3\ncat 1 2\n", r"vectors\.txt line 2: 2 numbers after a word, not 3"),
        ("the 1 2 3\ncat 1 2 3 4\n", r"line 2: 4 numbers after a word, not 3"),
        ("the 1 2 3\n\ncat 1 2 3\n", r"line 2: 0 numbers after a word, not 3"),
        ("2 3\nthe 1 2 3\ncat 1 2\n", r"line 3: 2 numbers after a word, not 3"),
        ("the 1 2 3\ncat 1 x 3\n", r"line 2: could not convert string to float: b?'x'"),
        ("2 3\nthe 1 2 3\ncat 1 x 3\n", r"line 3: could not convert string to float"),
        ("the 1 2 3\ncat 1 nan 3\n", r"line 2: infinity or no number"),
        ("the 1 2 3\ncat 1 1e99 3\n", r"line 2: infinity or no number"),
        ("Just some text.\n", r"line 1: no numbers after a word"),
        ("\n", r"line 1: no numbers after a word"),
        ("the 1 2 3\ncat  1 2\n", r"line 2: 2 numbers after a word, not 3"),
        ("the 1 2 3\ncat 1  2\n", r"line 2: 2 numbers after a word, not 3"),
        ("the 1 2 3\rcat 1 2 3\r", r"line 1: a carriage return"),
        ("0 3\n", r"holds no word vectors"),
        ("1000000000000 1000000000\nthe 1 2 3\n", r"line 2: 3 numbers after a word, not 1000000000"),
        (f"{'9' * 5000} 3\nthe 1 2 3\n", "line 1: no file has so many words"),
        ("5 3\nthe 1 2 3\n", r"promises 5 words in its first line but holds 1$"),
        ("", r"vectors\.txt is empty"),
        (b"3 300\nword \x00\x01\x02\n\x00\x03", r"line 2: .* numbers after a word, not 300 \(the file looks binary"),
    ],
)
def test_malformed_files(content: str | bytes, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        encode(["the cat"], file, cache=False)
    assert "\n" not in str(caught.value)


def test_choosing_a_file(glove: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    odd = write(tmp_path, GLOVE, "vectors.of.mine")
    for name in (glove, str(glove), glove.name, f"./{glove.name}", "vectors.of.mine", odd):
        encoder = resolve_encoder(name)
        assert isinstance(encoder, WordVectors)
        assert isinstance(encoder, Encoder)
        assert encoder.fit(["a"]) is encoder
    models = tmp_path / "models"
    models.mkdir()
    glove.rename(models / glove.name)
    with pytest.raises(InputError, match=r"no file of word vectors at tiny\.3d\.txt"):
        resolve_encoder(glove.name)
    monkeypatch.setenv("RECAPTURE_MODELS", str(models))
    assert encode(["cat"], glove.name).shape == (1, 3)
    with pytest.raises(InputError, match="no file of word vectors at word-vectors"):
        resolve_encoder("word-vectors")
    assert no_network == []


def test_a_bare_name_is_not_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub_cache: Path) -> None:
    """A file that happens to be called like a model does not hide the model."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GLOVE, "some-model")
    with pytest.raises(InputError, match="no encoder called 'some-model'"):
        resolve_encoder("some-model", offline=True)
    assert isinstance(resolve_encoder("./some-model"), WordVectors)
    long = "x" * 5000
    for name in (long, f"{long}.txt"):
        with pytest.raises(InputError, match=r"no encoder called|no file of word vectors"):
            resolve_encoder(name, offline=True)


def test_options_that_cannot_apply(glove: Path) -> None:
    with pytest.raises(InputError, match="pooling cannot be 'max'"):
        encode(["the"], glove, pooling="max")
    assert np.array_equal(encode(["the"], glove, device="cpu"), encode(["the"], glove))  # which looks for neighbours
    np.testing.assert_array_equal(encode(["cat"], glove, pooling="mean"), [[3, -2, 0.5]])


def test_identity_follows_the_content(glove: Path, tmp_path: Path) -> None:
    identity = resolve_encoder(glove).identity()
    assert identity == {
        "encoder": "tiny.3d.txt",
        "kind": "word-vectors",
        "revision": identity["revision"],
        "pooling": "mean",
        "words": "1",
        "dtype": "float32",
    }
    (tmp_path / "elsewhere").mkdir()
    copy = write(tmp_path / "elsewhere", GLOVE, glove.name)
    assert resolve_encoder(copy).identity() == identity
    changed = resolve_encoder(write(tmp_path / "elsewhere", GLOVE.replace("cat 3", "cat 4"), glove.name)).identity()
    assert changed["revision"] != identity["revision"]
    assert {**changed, "revision": ""} == {**identity, "revision": ""}


def test_cache_is_keyed_by_the_content(glove: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["the cat", "cat"]
    first = encode(texts, glove)
    assert VectorCache().summary().entries == 2
    with monkeypatch.context() as patched:
        patched.setattr(WordVectors, "encode_batch", None)  # nothing is left to encode
        np.testing.assert_array_equal(encode(texts, glove), first)
    glove.write_text(GLOVE.replace("cat 3", "cat 4"), "utf-8")
    os.utime(glove, ns=(1, 1))  # a coarse clock would show the same date
    np.testing.assert_array_equal(encode(texts, glove), [[2.5, -1, 0.5], [4, -2, 0.5]])
    assert VectorCache().summary().entries == 4


def test_a_file_that_changes_under_its_encoder(glove: Path) -> None:
    encoder = resolve_encoder(glove)
    encode(["cat"], encoder, cache=False)
    glove.write_text("cat 1 2 3\n", "utf-8")
    with pytest.raises(InputError, match=r"tiny\.3d\.txt has changed since it was opened"):
        encode(["the"], encoder, cache=False)
    glove.unlink()
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        encode(["the"], encoder, cache=False)


def test_scores(glove: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """Texts scored through the file agree with their means, worked out by hand, scored as ready vectors."""
    monkeypatch.chdir(tmp_path)
    human, model = ["the cat", "cat sat", "the", "Paris"], ["sat", "don't", "cat the sat", "paris!"]
    by_hand = (
        [[2, -1, 0.5], [1.5, -1, 0.2], [1, 0, 0.5], [0, 8, 1]],
        [[0, 0, -0.1], [3, 2, 4], [4 / 3, -2 / 3, 0.3], [9, 9, 9]],
    )
    expected = rc.mmd(*(np.array(rows, np.float32) for rows in by_hand))
    result = rc.mmd(human, model, encoder=glove)
    assert dict(result.values) == pytest.approx(dict(expected.values), rel=1e-5)
    assert result.signature["encoder"]["kind"] == "word-vectors"
    write(tmp_path, "\n".join(human), "human.txt")
    write(tmp_path, "\n".join(model), "model.txt")
    arguments = ["-r", "human.txt", "-c", "model.txt", "--metrics", "mmd", "--encoder", glove.name, "--format", "json"]
    assert run(["score", *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)["results"]["model.txt"]["mmd"]
    assert printed["values"] == pytest.approx(dict(expected.values), rel=1e-5)
    assert printed["signature"]["encoder"] == resolve_encoder(glove).identity()
    assert run(["embed", "model.txt", "-o", "model.npy", "--encoder", str(glove)]) == 0
    np.testing.assert_allclose(np.load("model.npy"), by_hand[1], rtol=1e-6)


@pytest.mark.slow
def test_needs_no_torch(glove: Path) -> None:
    script = (
        "import sys; from recapture.representations.encode import encode; encode(['a b'], sys.argv[1]);"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(glove)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


def test_notes_reach_the_result(glove: Path) -> None:
    result = rc.mmd(["the zebra", "cat", "!?"], ["the", "cat"], encoder=glove)
    assert result.warnings[:2] == (
        "words of reference without a vector in tiny.3d.txt were left out (1 of 3, 33.3%)",
        "1 of 3 texts of reference have no word of tiny.3d.txt; their vectors are zero",
    )


def test_lines_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recapture.representations.word_table._LONGEST_LINE", 1 << 20)
    endless = b"the" + b" 1" * (1 << 21)
    for file in (write(tmp_path, endless), write(tmp_path, gzip.compress(endless), "packed.vec.gz")):
        with pytest.raises(InputError, match="longer than 1 MB"):
            WordTable(file)
    monkeypatch.setattr("recapture.representations.word_table._MOST_UNPACKED", 1000)
    with pytest.raises(InputError, match=r"unpacks to more than .*RECAPTURE_NO_LIMITS=1"):
        WordTable(write(tmp_path, gzip.compress(GLOVE.encode() * 100), "packed.vec.gz"))


def test_no_table_leaves_its_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that nobody needs any more, nor one that turns out to be none. Python tells of such files."""
    contents = [GLOVE.encode(), b"9 3\n" + GLOVE.encode(), b"", b"a 1\nb 1 2\n"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        for content, name in product(contents, ("plain.txt", "packed.txt.gz")):
            file = write(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
            if content is contents[0]:
                WordTable(file)
                continue
            monkeypatch.setattr("recapture.representations.word_table._MOST_UNPACKED", 10)
            with pytest.raises(InputError) as refused:
                WordTable(file)
            del refused
        gc.collect()
    assert [str(each.message) for each in told] == []


def test_a_file_that_becomes_shorter_while_it_is_read(glove: Path) -> None:
    """Were the file mapped into memory, this would end the process."""
    table = WordTable(glove)
    with glove.open("r+b") as file:
        file.truncate(5)
    table._file.seek(0, os.SEEK_END)  # nothing of it is left in a buffer
    with pytest.raises(InputError, match="has become shorter"):
        table.get("n't")
