"""Pieces found again by their words: always those that the tokenizer itself gives, and no word is cut twice."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recapture.representations import known_words
from recapture.representations.known_words import KnownWords, cuts_at_blanks, cutter_of, token_rows

tokenizers = pytest.importorskip("tokenizers")

LETTERS = "abcdeéßσςİ日中한.,!#[]'-0"
ODD = " \t\n\r\x00\x01\x1c\x85\xa0\u3000\u200b\u0301\u0308\ufffd🎉ΑΣÀ"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def made_tokenizer(**normalizing: bool) -> Any:
    """BERT's steps, with so few pieces that words are cut into several and some are unknown."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = [*SPECIAL, *"abcdes.,!#[]'-0日", "##a", "##b", "##c", "##d", "##s", "ab", "##abc", "##abd", "mask", "日中"]
    made = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(**normalizing)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    made.add_special_tokens(SPECIAL)
    return made


def by_itself(cutter: Any, texts: list[str]) -> list[list[int]]:
    """Outside oracle: the tokenizer, each text as a whole."""
    return [each.ids for each in cutter.encode_batch(texts)]


def agree(known: KnownWords, cutter: Any, texts: list[str]) -> None:
    rows = known.rows(texts)
    assert [rows.ids_of(row) for row in range(len(texts))] == by_itself(cutter, texts)


@pytest.fixture(
    scope="module", params=[{}, {"lowercase": False}, {"strip_accents": False, "handle_chinese_chars": False}]
)
def cutter(request: pytest.FixtureRequest) -> Any:
    return made_tokenizer(**request.param)


PARTS = st.one_of(st.text(LETTERS, max_size=4), st.text(ODD, max_size=3), st.sampled_from(SPECIAL), st.just(" "))
TEXTS = st.lists(st.one_of(st.lists(PARTS, max_size=8).map("".join), st.text(max_size=12)), min_size=1, max_size=12)


@given(texts=TEXTS)
@settings(max_examples=60, deadline=None)
def test_pieces_are_the_tokenizers_own(texts: list[str], cutter: Any) -> None:
    assert cuts_at_blanks(cutter)
    known = KnownWords(cutter)
    for _ in range(2):  # when words are new, and when they are known
        agree(known, cutter, texts)


def test_words_of_any_length(cutter: Any) -> None:
    """Around 8, 16, 24 and 31 bytes, where one number more is needed; and beyond, where a word is kept whole."""
    rng = random.Random(3)
    words = ["".join(rng.choices("abcd", k=size)) for size in range(45) for _ in range(4)]
    words += (
        [word + "\x00" for word in words]
        + [word[:-1] + "é" for word in words if word]
        + ["日" * size for size in range(14)]
    )
    texts = [" ".join(rng.sample(words, 9)) for _ in range(300)]
    known = KnownWords(cutter)
    agree(known, cutter, texts)
    agree(known, cutter, texts[::-1])


@pytest.mark.parametrize(
    "limits", [{"_MOST_WORDS": 40}, {"_MOST_BYTES": 100}, {"_BITS": 6, "_SLOTS": 64, "_MOST_WORDS": 60}]
)
def test_full_tables(limits: dict[str, int], cutter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all is forgotten or nearly every slot is taken."""
    for name, value in {**limits, "_CHARACTERS_AT_ONCE": 40}.items():
        monkeypatch.setattr(known_words, name, value)
    rng = random.Random(4)
    known, seen = KnownWords(cutter), []
    for _ in range(20):
        texts = [" ".join("".join(rng.choices("abc", k=rng.randint(0, 4))) for _ in range(6)) for _ in range(7)]
        agree(known, cutter, texts)
        seen.append(len(known._numbers))
    assert max(seen) < 120  # 121 words of that length can be written


class Counted:
    """A tokenizer that notes what it is given."""

    def __init__(self, own: Any) -> None:
        self.own, self.given = own, []  # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def encode_batch_fast(self, texts: list[str], **options: Any) -> Any:
        self.given += texts
        return self.own.encode_batch_fast(texts, **options)


def test_no_word_is_cut_twice(cutter: Any) -> None:
    counted = Counted(cutter)
    cut = cutter_of(counted)
    texts = ["a b ab", "ab, b a", "a", ""]
    assert [cut(texts).ids_of(row) for row in range(4)] == by_itself(cutter, texts)
    cut(texts[::-1])
    assert sorted(counted.given) == ["", "a", "ab", "ab,", "b"]


def test_copies_begin_anew(cutter: Any) -> None:
    for each in (cutter, with_token("a b", False)):
        cut = cutter_of(each)
        texts = ["a b ab", "ab"]
        cut(texts)
        rows = pickle.loads(pickle.dumps(cut))(texts)
        assert [rows.ids_of(row) for row in range(2)] == by_itself(each, texts)


def test_threads_may_share_what_is_known(cutter: Any) -> None:
    known = KnownWords(cutter)
    rng = random.Random(5)
    sets = [["".join(rng.choices("abcd ", k=40)) for _ in range(200)] for _ in range(8)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda texts: agree(known, cutter, texts), sets))


@pytest.mark.parametrize("taken", [(), ("lstrip",), ("rstrip",), ("lstrip", "rstrip")], ids=str)
@pytest.mark.parametrize("single_word", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_added_tokens_may_take_blanks_or_stand_alone(
    taken: tuple[str, ...], single_word: bool, normalized: bool
) -> None:
    flags: dict[str, bool] = {**dict.fromkeys(taken, True), "single_word": single_word, "normalized": normalized}
    rng = random.Random(7)
    made = made_tokenizer()
    made.add_tokens([tokenizers.AddedToken(text, **flags) for text in ("[X]", "Ab", "0")])
    made.add_special_tokens([tokenizers.AddedToken("[MASK]", **flags)])
    assert cuts_at_blanks(made)
    parts = [*"abAB0é\n\x00\x85 ", " ", " ", "[X]", "[x]", "Ab", "ab", "[MASK]", "\u0301"]
    agree(KnownWords(made), made, ["".join(rng.choices(parts, k=12)) for _ in range(200)])


def test_what_was_interrupted_leads_to_no_other_pieces(cutter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C where the table holds the places of new words, but not yet how many pieces they have."""
    known = KnownWords(cutter)
    agree(known, cutter, ["a b"])

    class Halfway:
        starts = np.zeros(1, np.int64)

        @property
        def lengths(self) -> np.ndarray:
            raise KeyboardInterrupt

    coming = [Halfway()]
    monkeypatch.setattr(known_words, "token_rows", lambda ids: coming.pop() if coming else token_rows(ids))
    with pytest.raises(KeyboardInterrupt):
        known.rows(["ab c"])
    agree(known, cutter, ["ab, c", "a b", "", "c ab"])


def changed(**settings: Any) -> Any:
    content = json.loads(made_tokenizer().to_str())
    return tokenizers.Tokenizer.from_str(json.dumps({**content, **settings}))


def with_token(text: str, normalized: bool) -> Any:
    made = made_tokenizer()
    made.add_tokens([tokenizers.AddedToken(text, normalized=normalized)])
    return made


TWICE = [{"Sequence": {"id": "A", "type_id": 0}}] * 2


@pytest.mark.parametrize(
    "other",
    [
        lambda: changed(truncation={"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}),
        lambda: changed(
            padding={
                "strategy": {"Fixed": 9},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            }
        ),
        lambda: with_token("a b", False),
        lambda: with_token("日", True),  # blanks are put around it
        lambda: changed(normalizer={"type": "Replace", "pattern": {"String": "a b"}, "content": "c"}),
        lambda: changed(
            pre_tokenizer={"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        ),
        lambda: changed(pre_tokenizer=None),
        lambda: changed(
            post_processor={"type": "TemplateProcessing", "single": TWICE, "pair": [], "special_tokens": {}}
        ),
        lambda: changed(model={"type": "BPE", "vocab": {"a": 0, " ": 1, "a ": 2, "b": 3}, "merges": [["a", " "]]}),
    ],
)
def test_other_tokenizers_cut_whole_texts(other: Callable[[], Any]) -> None:
    cutter = other()
    assert not cuts_at_blanks(cutter)
    texts = ["a b", "日 a", "ab  b", ""]
    rows = cutter_of(cutter)(texts)
    assert [rows.ids_of(row) for row in range(len(texts))] == by_itself(cutter, texts)


def test_rows_that_are_chosen() -> None:
    rows = token_rows([[1, 2], [], [3]]).chosen(np.array([2, 0, 1]))
    assert [rows.ids_of(row) for row in range(3)] == [[3], [1, 2], []]
    assert rows.times(2).tolist() == [0, 1, 0]


def test_the_default_encoders_tokenizer(tmp_path: Path) -> None:
    """Real pieces: 30,522 of them, accents and case as the model has them."""
    from recapture.errors import InputError
    from recapture.representations.locate import find_weights

    try:
        folder = find_weights("all-MiniLM-L6-v2", True).folder
    except InputError:
        pytest.skip("the default encoder is not installed")
    cutter = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    cutter.no_truncation()
    cutter.no_padding()
    assert cuts_at_blanks(cutter)
    rng = random.Random(6)
    characters = [
        chr(code) for code in (*range(0x250), *range(0x370, 0x600), *range(0x1E00, 0x2070), *range(0x3000, 0x3100))
    ]
    texts = ["".join(rng.choices([*characters, *"etaoin " * 80], k=60)) for _ in range(400)]
    known = KnownWords(cutter)
    agree(known, cutter, texts)
    agree(known, cutter, texts[::-1])
