"""Files of every format, damaged at random: each gives a result or one sentence, soon and in little memory.

`attack` makes one small valid file, damages it, and reads it by the door that users have.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import resource
import struct
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc
from recapture.errors import InputError
from recapture.lexical.function_words import function_words
from recapture.lexical.jar_files import JarFiles
from recapture.lexical.paraphrases import Paraphrases
from recapture.lexical.wordnet import WordNet
from recapture.pairs.baselines import read_baseline
from recapture.representations.word_table import WordTable
from recapture.texts import format_names, read_samples
from recapture.texts.aligned import read_aligned
from recapture.texts.context_files import read_grouped
from recapture.texts.group_labels import read_group_labels

ROUNDS = 300
"""In a short run."""
SECONDS = 60.0
MEGABYTES = 500

TEXTS = ["The rain stopped before noon.", "Her boat was the last to leave.", "", "naïve “quotes”, a comma; 雨"]


def attack(rng: random.Random, folder: Path) -> None:
    """One file damaged in one to four ways, read by one door. AssertionError: what to do to see it again."""
    name = rng.choice(sorted(MADE))
    content = MADE[name](rng)
    door = rng.choice(DOORS[name.split(".", 1)[1]])
    ways = [rng.choice(WAYS) for _ in range(rng.choice((1, 1, 2, 4)))]
    for way in ways:
        content = way(content, rng)
    path = folder / name
    path.write_bytes(content)
    before, start = _peak(), time.process_time()
    outcome = "a result"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door(path)
    except InputError as error:
        outcome = str(error)
        outcome.encode()  # a message that cannot be printed is a failure, too
        assert "\n" not in outcome, _told(path, ways, outcome)
    except Exception as error:
        raise AssertionError(_told(path, ways, f"{type(error).__name__}: {error}")) from error
    seconds, megabytes = time.process_time() - start, _peak() - before
    assert seconds < SECONDS, _told(path, ways, f"{seconds:.0f} s, then {outcome}")
    assert megabytes < MEGABYTES, _told(path, ways, f"{megabytes:.0f} MB, then {outcome}")


def _told(path: Path, ways: list[Callable[..., bytes]], what: str) -> str:
    damage = ", ".join(way.__name__ for way in ways)
    return f"{path.name} after {damage} (left in {path}): {what}"


def _peak() -> float:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Valid files. The part of a name after its first dot says which doors it goes through.


def _records(rng: random.Random) -> list[dict[str, Any]]:
    return [
        {"id": number, "system": rng.choice("ab") + str(number), "text": rng.choice(TEXTS), "bleu": rng.random(),
         "references": TEXTS[:2], "candidates": TEXTS[1:3], "meta": {"e": [1, 2.5], "\u2028": None}}
        for number in range(rng.randint(1, 6))
    ]  # fmt: skip


def _table(rng: random.Random, between: str = ",") -> bytes:
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=between, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow(["id", "system", "text", "bleu"])
    for record in _records(rng):
        writer.writerow([record[name] for name in ("id", "system", "text", "bleu")])
    return stream.getvalue().encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))


def _lines(rng: random.Random) -> bytes:
    return "".join(f"{rng.choice(TEXTS)}\n" for _ in range(rng.randint(1, 9))).encode()


def _jsonl(rng: random.Random) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=rng.random() < 0.5) + "\n" for each in _records(rng)).encode()


def _parquet(rng: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = _records(rng)
    text = pa.array([each["text"] for each in records], rng.choice([pa.string(), pa.large_string()]))
    columns = {
        "text": text.dictionary_encode() if rng.random() < 0.3 else text,
        "id": [each["id"] for each in records],
        "system": [each["system"] for each in records],
        "bleu": [each["bleu"] for each in records],
    }
    if rng.random() < 0.3:
        columns = {"e": pa.array([[1.0, 2.0]] * len(records), pa.list_(pa.float32()))}
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, row_group_size=2, compression=rng.choice(["snappy", "none", "gzip"]))
    return stream.getvalue()


def _npy(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    array = np.arange(12.0).reshape(4, 3).astype(rng.choice(["<f4", ">f8", "<i4", "<f2"]))
    if rng.random() < 0.2:
        array = np.asfortranarray(array)
    np.lib.format.write_array(stream, array, version=rng.choice([(1, 0), (2, 0), (3, 0)]))
    return stream.getvalue()


def _npz(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    save = rng.choice([np.savez, np.savez_compressed])
    save(stream, embeddings=np.arange(12.0).reshape(4, 3), other=np.ones((1, 1)))
    return stream.getvalue()


def _safetensors(rng: random.Random) -> bytes:
    header = {"embeddings": {"dtype": rng.choice(["F32", "I32", "BF16"]), "shape": [2, 2], "data_offsets": [0, 16]}}
    if header["embeddings"]["dtype"] == "BF16":
        header["embeddings"]["shape"] = [4, 2]
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + bytes(range(16))


def _vectors(rng: random.Random) -> bytes:
    head = b"3 3\n" if rng.random() < 0.5 else b""
    return head + b"the 1 0 0.5\nboat 3 -2 0.5\nrain 0 8 1\n"


def _wordnet(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for part in ("noun", "verb", "adj", "adv"):
            archive.writestr(f"dict/index.{part}", "  1 the licence\nboat n 2 1 @ 2 1 02858304 00012345\n" * 3)
            archive.writestr(f"dict/{part}.exc", "mice mouse\n")
    return stream.getvalue()


def _jar(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        archive.writestr("function/english.words", "the\na\n")
        archive.writestr("nonbreaking/english.prefixes", "# titles\nMr\nNo #NUMERIC_ONLY#\n")
        archive.writestr("synonym/english.synsets", "boat\n02858304 00012345\nship\n02858304\n" * rng.randint(1, 3))
        archive.writestr("synonym/english.exceptions", "mouse\nmice\n")
    return stream.getvalue()


MADE: dict[str, Callable[[random.Random], bytes]] = {
    "a.lines": _lines,
    "a.txt": _lines,
    "a.txt.gz": lambda rng: gzip.compress(_lines(rng), mtime=0),
    "a.txt.xz": lambda rng: lzma.compress(_lines(rng)),
    "a.csv": _table,
    "a.tsv": lambda rng: _table(rng, "\t"),
    "semicolons.csv": lambda rng: _table(rng, ";"),
    "a.jsonl": _jsonl,
    "a.jsonl.gz": lambda rng: gzip.compress(_jsonl(rng), mtime=0),
    "a.json": lambda rng: json.dumps(_records(rng)).encode(),
    "vectors.json": lambda rng: json.dumps([[1.5, 2, 3]] * rng.randint(1, 5)).encode(),
    "a.parquet": _parquet,
    "a.npy": _npy,
    "a.npz": _npz,
    "a.safetensors": _safetensors,
    "a.vec": _vectors,
    "a.vec.gz": lambda rng: gzip.compress(_vectors(rng), mtime=0),
    "a.wordnet": _wordnet,
    "a.jar": _jar,
    "a.paraphrases": lambda rng: b"0.5\nbig\nlarge\n0.25\nthe dog\nit\n" * rng.randint(1, 4),
    "a.baselines": lambda rng: b"LAYER,P,R,F\n0,0.3,0.3,0.3\n1,0.4,0.5,0.6\n",
    "a.df": lambda rng: json.dumps({"documents": 3, "order": 4, "counts": {"a": 3, "a dog": 1}}).encode(),
    "a.df.gz": lambda rng: gzip.compress(b'{"documents": 3, "counts": {"a": 3, "a dog": 1}}', mtime=0),
    "a.study": _jsonl,
}


# Doors


def _scores(path: Path) -> None:
    rc.read_scores(path, average=True)
    rc.read_scores(path, where={"system": "a1"}, average=True)


def _pairs(path: Path) -> None:
    read_aligned([str(path)], [str(path)])


def _contexts(path: Path) -> None:
    rc.read_contexts(path)


def _groups(path: Path) -> None:
    read_group_labels(path, "system")
    read_grouped(str(path), str(path), group="system")


def _paraphrases(path: Path) -> None:
    table = Paraphrases(path)
    table.prepare(["the", "dog"])


def _word_vectors(path: Path) -> None:
    table = WordTable(path)
    for word in ("the", "boat", "rain", "snow"):
        vector = table.get(word)
        assert vector is None or vector.shape == (table.dimensions,)


def _samples(path: Path) -> None:
    samples = read_samples(path)
    assert len(samples) == len(samples.content) > 0
    # What is read has one meaning: the same bytes by the same door give the same samples.
    again = read_samples(path)
    assert (
        np.array_equal(np.asarray(samples.content, object), np.asarray(again.content, object)) or samples.texts is None
    )


def _field(path: Path) -> None:
    read_samples(path, field="system")


def _any_format(path: Path) -> None:
    for name in format_names():
        try:
            read_samples(path, format=name)
        except InputError as error:  # noqa: PERF203 - each format on its own
            str(error).encode()


def _study(path: Path) -> None:
    from recapture_studies import files

    fields = {"id": files.NAME, "system": str, "text": str, "bleu": files.NUMBER, "references": files.TEXTS}
    list(files.records(path, fields))


def _frequencies(path: Path) -> None:
    rc.DocumentFrequencies.read(path).count("a dog")


_TEXTS = [_samples, _field, _any_format, _pairs, _groups, lambda path: function_words(path)]
DOORS: dict[str, list[Callable[[Path], Any]]] = {
    **{name: [*_TEXTS, _contexts] for name in ("lines", "txt", "txt.gz", "txt.xz")},
    **{name: [*_TEXTS, _scores, _contexts] for name in ("csv", "tsv", "jsonl", "jsonl.gz", "json", "parquet")},
    **{name: [_samples, _any_format, _pairs, _field] for name in ("npy", "npz", "safetensors")},
    **{name: [_word_vectors] for name in ("vec", "vec.gz")},
    **{name: [_frequencies] for name in ("df", "df.gz")},
    "wordnet": [lambda path: WordNet(path).synsets("mice")],
    "jar": [lambda path: JarFiles(path).tokenize("Mr. No. 5"), lambda path: WordNet(path).synsets("mice")],
    "paraphrases": [_paraphrases],
    "baselines": [lambda path: read_baseline(path, 1)],
    "study": [_study],
}


# Damage


def nothing(content: bytes, rng: random.Random) -> bytes:
    return content


def flipped(content: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if damaged:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def without_middle(content: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:first] + content[last:]


def spliced(content: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randint(0, len(content)) for _ in range(2))
    at = rng.randint(0, len(content))
    return content[:at] + content[first:last] + content[at:]


def repeated(content: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:first] + content[first:last] * rng.choice((2, 10, 300)) + content[last:]


ODD = [
    *(b"\0", b"\r", b"\r\r\n", b"\x0c", b"\x1b[31m", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1a", b"\x7f", b"\n\n\n"),
    *(b'"', b"'", b"  ", b"\t", b";", b"\\", b"\xff", b"\xed\xa0\x80", b"\\ud83d", b"\xef\xbb\xbf"),
    *(b"[" * 950, b'{"a":' * 300, b'{"a":' * 95, b"9" * 5000, b"-1", b"1e999", b"NaN", b"null", b"true"),
    *(b"10000000000000", b'"text": 1, '),
]


def odd_bytes(content: bytes, rng: random.Random) -> bytes:
    odd = rng.choice(ODD)
    at = rng.randint(0, len(content))
    return content[:at] + odd + content[at:]


def larger_numbers(content: bytes, rng: random.Random) -> bytes:
    """Numbers in headers grow: counts, sizes and offsets that promise what is not there."""
    digits = [at for at, byte in enumerate(content) if 48 <= byte <= 57]
    if not digits:
        return content
    at = rng.choice(digits)
    return content[:at] + str(rng.choice((0, 255, 10**6, 10**9, 10**12, 2**63, 10**40))).encode() + content[at + 1 :]


def larger_words(content: bytes, rng: random.Random) -> bytes:
    """Four bytes somewhere become a large binary number."""
    at = rng.randint(0, max(0, len(content) - 4))
    return content[:at] + struct.pack("<I", rng.choice((0, 1, 2**16, 2**31 - 1, 2**32 - 1))) + content[at + 4 :]


def other_encoding(content: bytes, rng: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7"]), "replace")


def other_line_ends(content: bytes, rng: random.Random) -> bytes:
    return content.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\n", b"\xe2\x80\xa8", b"\x0c"]))


def packed(content: bytes, rng: random.Random) -> bytes:
    return gzip.compress(content, mtime=0) if rng.random() < 0.5 else lzma.compress(content)


def unpacked(content: bytes, rng: random.Random) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return content


def damaged_inside(content: bytes, rng: random.Random) -> bytes:
    """What is compressed is damaged before it is compressed."""
    try:
        return gzip.compress(rng.choice(WAYS)(gzip.decompress(content), rng), mtime=0)
    except (OSError, EOFError, zlib.error):  # not compressed, or damaged already
        return content


WAYS: list[Callable[[bytes, random.Random], bytes]] = [
    nothing, flipped, cut, without_middle, spliced, repeated, odd_bytes, odd_bytes, larger_numbers, larger_words,
    other_encoding, other_line_ends, packed, unpacked, damaged_inside,
]  # fmt: skip
