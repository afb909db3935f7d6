from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations import vector_cache as cache_module
from recapture.representations.vector_cache import VectorCache

SPACE = {"encoder": "owner/one", "revision": "1"}
OTHER = {"encoder": "two", "revision": "1"}


def numbers(count: int, width: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@pytest.fixture
def store(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "store")


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    today = [20_000]
    monkeypatch.setattr(cache_module, "_today", lambda: today[0])
    return today


def test_what_is_put_comes_back_bit_by_bit(store: VectorCache) -> None:
    texts = ["", "a", "naïve 猫", "a\nb", "a" * 10_000]
    vectors = numbers(5)
    vectors[0, :3] = [-0.0, np.finfo(np.float32).tiny / 2, np.finfo(np.float32).max]
    store.put(SPACE, texts, vectors)
    asked = [texts[place] for place in (3, 0, 4, 1)]
    found, mask = store.get(SPACE, [*asked, "unknown", "a"])
    assert mask.tolist() == [True, True, True, True, False, True]
    assert found.tobytes() == vectors[[3, 0, 4, 1, 1]].tobytes()


def test_more_entries_than_fit_in_one_query(store: VectorCache) -> None:
    texts = [f"text {number}" for number in range(2_345)]
    vectors = numbers(len(texts), 16)
    store.put(SPACE, texts, vectors)
    order = np.random.default_rng(1).permutation(len(texts))
    found, mask = store.get(SPACE, [texts[place] for place in order])
    assert mask.all()
    np.testing.assert_array_equal(found, vectors[order])


def test_empty_cache_has_nothing_and_makes_no_file(store: VectorCache) -> None:
    found, mask = store.get(SPACE, ["a"])
    assert found.shape == (0, 0)
    assert not mask.any()
    assert store.summary().entries == 0
    assert store.prune(everything=True) == (0, 0)
    assert not store.path.exists()


def test_every_part_of_the_identity_counts(store: VectorCache) -> None:
    store.put(SPACE, ["a"], numbers(1))
    assert not store.get({**SPACE, "revision": "2"}, ["a"])[1].any()
    assert not store.get({**SPACE, "torch": "3"}, ["a"])[1].any()
    assert store.get(dict(reversed(SPACE.items())), ["a"])[1].all()


def test_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert VectorCache().path.parent == tmp_path / "cache"
    monkeypatch.delenv("RECAPTURE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert VectorCache().path.parent == tmp_path / "xdg" / "recapture"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert VectorCache().path.parent == tmp_path / "home" / ".cache" / "recapture"


def test_summary_counts_per_encoder(store: VectorCache) -> None:
    store.put(SPACE, ["a", "b"], numbers(2))
    store.put({**SPACE, "revision": "2"}, ["a"], numbers(1))
    store.put(OTHER, ["a"], numbers(1, 10))
    summary = store.summary()
    # Four bytes a number: 3 vectors of 4 and one of 10.
    assert [(use.encoder, use.entries, use.bytes) for use in summary.spaces] == [("owner/one", 3, 48), ("two", 1, 40)]
    assert (summary.entries, summary.bytes, summary.path) == (4, 88, store.path)


@pytest.mark.parametrize(
    "damage", [lambda blob: blob[:-4], lambda blob: bytes([blob[0] ^ 1]) + blob[1:], lambda _: "x"]
)
def test_damaged_entries_are_not_given_out_and_get_replaced(store: VectorCache, damage: object) -> None:
    vectors = numbers(3)
    store.put(SPACE, ["a", "b", "c"], vectors)
    db = sqlite3.connect(store.path)
    blob = vectors[1].tobytes()
    changed = db.execute("UPDATE vectors SET vector = ? WHERE vector = ?", (damage(blob), blob))  # type: ignore[operator]
    assert changed.rowcount == 1
    db.commit()
    db.close()
    found, mask = store.get(SPACE, ["a", "b", "c"])
    assert mask.tolist() == [True, False, True]
    np.testing.assert_array_equal(found, vectors[[0, 2]])
    store.put(SPACE, ["b"], vectors[1:2])
    np.testing.assert_array_equal(store.get(SPACE, ["a", "b", "c"])[0], vectors)
    assert store.summary().entries == 3


def test_swapped_entries_are_noticed(store: VectorCache) -> None:
    store.put(SPACE, ["a", "b"], numbers(2))
    db = sqlite3.connect(store.path)
    (first, second) = db.execute("SELECT vector, checksum FROM vectors").fetchall()
    db.execute("UPDATE vectors SET vector = ?, checksum = ? WHERE vector = ?", (*second, first[0]))
    db.commit()
    db.close()
    assert store.get(SPACE, ["a", "b"])[1].tolist() == [False, True]


def test_a_file_that_is_no_database_is_set_aside(store: VectorCache) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(b"certainly not a database " * 1000)
    journal = Path(f"{store.path}-journal")
    journal.write_bytes(b"left over")
    with pytest.warns(UserWarning, match="damaged"):
        assert not store.get(SPACE, ["a"])[1].any()
    store.put(SPACE, ["a"], numbers(1))
    assert store.get(SPACE, ["a"])[1].all()
    (aside,) = [file for file in store.path.parent.glob("*.damaged-*") if not file.name.endswith("-journal")]
    assert aside.read_bytes().startswith(b"certainly not")
    assert not journal.exists()  # or it would be played back into the fresh file


def test_a_file_damaged_in_the_middle_is_set_aside(store: VectorCache) -> None:
    texts = [f"text {number}" for number in range(3_000)]
    store.put(SPACE, texts, numbers(3_000, 32))
    content = bytearray(store.path.read_bytes())
    content[16_384:] = np.random.default_rng(0).bytes(len(content) - 16_384)  # all pages but the first
    store.path.write_bytes(content)
    with pytest.warns(UserWarning, match="damaged"):
        assert not store.get(SPACE, texts)[1].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put(SPACE, texts, numbers(3_000, 32))
        assert store.get(SPACE, texts)[1].all()


def test_names_in_the_file_that_are_not_utf_8(store: VectorCache) -> None:
    """SQLite quotes damaged names in its messages, which Python then cannot read: a damaged file like any other."""
    store.put(SPACE, ["a"], numbers(1))
    content = store.path.read_bytes()
    damages = (
        (b"vectors (", b"vector\xff ("),
        (b"CREATE TABLE", b"CREATE \xffABLE"),
    )
    for name, other in damages:
        assert name in content
        for action in (
            lambda kept: kept.get(SPACE, ["a"]),
            lambda kept: kept.put(SPACE, ["a"], numbers(1)),
            lambda kept: kept.summary(),
            lambda kept: kept.prune(everything=True),
        ):
            store.path.write_bytes(content.replace(name, other))
            with pytest.warns(UserWarning, match="damaged"):
                action(VectorCache(store.path.parent))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                VectorCache(store.path.parent).put(SPACE, ["a"], numbers(1))
                assert VectorCache(store.path.parent).get(SPACE, ["a"])[1].all()


def test_an_unusable_folder_costs_speed_only_and_says_so_once(tmp_path: Path) -> None:
    from recapture.representations.encode import encode

    (tmp_path / "file").write_text("in the way")

    class Ones:
        name = "ones"
        cacheable = True

        def identity(self) -> dict[str, str]:
            return {"encoder": self.name}

        def fit(self, texts: object) -> Ones:
            return self

        def encode_batch(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 2))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vectors = encode([str(number) for number in range(3_000)], Ones(), cache=tmp_path / "file" / "cache")
    assert vectors.sum() == 6_000
    assert [str(warning.message).startswith("going on without") for warning in caught] == [True]


def test_a_locked_cache_costs_speed_only(store: VectorCache, monkeypatch: pytest.MonkeyPatch) -> None:
    from recapture.representations import database

    assert database._PATIENCE <= 5  # seconds
    monkeypatch.setattr(database, "_PATIENCE", 0.05)
    store.put(SPACE, ["a"], numbers(1))
    blocker = sqlite3.connect(store.path, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    with pytest.warns(UserWarning, match="locked"):
        store.put(SPACE, ["b"], numbers(1))
    with pytest.raises(InputError, match="locked"):
        VectorCache(store.path.parent).prune(everything=True)
    monkeypatch.setattr(database, "_PATIENCE", 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once, and not waited for again
        assert not store.get(SPACE, ["a"])[1].any()
    blocker.execute("ROLLBACK")
    blocker.close()
    assert store.get(SPACE, ["a"])[1].all()  # whoever held it has let go
    assert VectorCache(store.path.parent).get(SPACE, ["a", "b"])[1].tolist() == [True, False]


def test_prune_needs_a_reason(store: VectorCache) -> None:
    with pytest.raises(InputError, match="say what"):
        store.prune()
    with pytest.raises(InputError, match="negative"):
        store.prune(max_bytes=-1)


def test_prune_removes_the_least_recently_used(store: VectorCache, day: list[int]) -> None:
    texts = [f"text {number}" for number in range(10)]
    store.put(SPACE, texts, numbers(10))  # 16 bytes each
    day[0] += 5
    store.get(SPACE, texts[:3])
    assert store.prune(max_bytes=5 * 16 + 7) == (5, 80)
    # Kept: the three used later, and of the rest those written last.
    assert store.get(SPACE, texts)[1].tolist() == [True] * 3 + [False] * 5 + [True] * 2


def test_prune_keeps_no_old_entry_in_place_of_a_newer_one(store: VectorCache) -> None:
    store.put(SPACE, ["oldest, short"], numbers(1, 1))
    store.put(SPACE, ["long"], numbers(1, 100))
    store.put(SPACE, ["newest"], numbers(1, 10))
    assert store.prune(max_bytes=100) == (2, 404)  # 4 + 400 bytes; the 40 of the newest stay


def test_prune_by_age(store: VectorCache, day: list[int]) -> None:
    store.put(SPACE, ["old", "used"], numbers(2))
    day[0] += 20
    store.get(SPACE, ["used"])
    store.put(SPACE, ["new"], numbers(1))
    day[0] += 15
    assert store.prune(older_than_days=35) == (0, 0)
    assert store.prune(older_than_days=30) == (1, 16)
    assert store.get(SPACE, ["old", "used", "new"])[1].tolist() == [False, True, True]


def test_prune_by_encoder_and_everything(store: VectorCache) -> None:
    for space in (SPACE, OTHER):
        store.put(space, ["a", "b"], numbers(2))
    assert store.prune(encoder="one") == (2, 32)  # the owner may be left out
    assert [use.encoder for use in store.summary().spaces] == ["two"]
    assert store.prune(max_bytes=16, encoder="two") == (1, 16)
    assert store.prune(encoder="nobody") == (0, 0)
    assert store.prune(everything=True) == (1, 16)
    assert store.summary().entries == 0


def test_prune_shrinks_the_file(store: VectorCache) -> None:
    store.put(SPACE, [str(number) for number in range(2_000)], numbers(2_000, 128))
    before = store.path.stat().st_size
    store.prune(max_bytes=100 * 512)
    assert store.path.stat().st_size < before / 5  # a twentieth of the vectors stays


WRITER = """
import sys, numpy as np
from recapture.representations.vector_cache import VectorCache
folder, own = sys.argv[1:]
store = VectorCache(folder)
for turn in range(25):
    texts = [f"{who} {turn} {number}" for who in ("shared", own) for number in range(20)]
    store.put({"encoder": "e"}, texts, np.array([[float(sum(map(ord, text)))] * 8 for text in texts], np.float32))
    found, mask = store.get({"encoder": "e"}, texts)
    assert mask.all() and found[:, 0].tolist() == [sum(map(ord, text)) for text in texts]
"""


@pytest.mark.slow
def test_processes_share_one_cache(tmp_path: Path) -> None:
    names = ["p", "q", "r"]
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, str(tmp_path), name], stderr=subprocess.PIPE, text=True
        )
        for name in names
    ]
    assert [process.communicate()[1] for process in running] == ["", "", ""]
    texts = [f"{who} {turn} {number}" for who in ("shared", *names) for turn in range(25) for number in range(20)]
    found, mask = VectorCache(tmp_path).get({"encoder": "e"}, texts)
    assert mask.all()
    assert found[:, 0].tolist() == [sum(map(ord, text)) for text in texts]
    assert VectorCache(tmp_path).summary().entries == len(texts)
    with sqlite3.connect(VectorCache(tmp_path).path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
