"""A corpus of one paragraph a line -> a tokeniser of its own -> pairs of sentences that follow each other."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from training.data import read_paragraphs

PAD, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_FEWEST_WORDS = 4
"""A sentence of fewer says too little about its neighbour."""
_RARE = 5
"""Words that occur less often in the corpus are spelled by shorter pieces."""
_LETTERS = 300
_ENDINGS = range(2, 6)
"""Letters of endings that may be a piece."""
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
# Where a sentence ends: behind its mark and quotes, before a blank and what a sentence begins with.
_END = re.compile(r"(?<=[.!?])(?P<quote>[\"'”’)]*)\s+(?=[\"'“‘(]*[A-Z0-9])")
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|vs|etc|No|Fig|e\.g|i\.e)|\b[A-Z])\.$")


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph in their order; what stands behind a title or an initial goes on."""
    found, start = [], 0
    for end in _END.finditer(paragraph):
        until = end.end("quote")
        if not _ABBREVIATED.search(paragraph[start:until]):
            found.append(paragraph[start:until].strip())
            start = end.end()
    return [sentence for sentence in (*found, paragraph[start:].strip()) if sentence]


def neighbours(paragraphs: list[str]) -> tuple[list[str], np.ndarray]:
    """All sentences but very short ones, and the places (n, 2) of every two that follow each other."""
    texts: list[str] = []
    pairs = []
    for paragraph in paragraphs:
        before = -1  # the place of the sentence that ends where this one begins
        for sentence in sentences(paragraph):
            if len(sentence.split()) < _FEWEST_WORDS:
                before = -1
                continue
            texts.append(sentence)
            if before >= 0:
                pairs.append((before, len(texts) - 1))
            before = len(texts) - 1
    return texts, np.array(pairs, np.int64).reshape(-1, 2)


def learn_pieces(texts: list[str], size: int) -> Any:
    """A WordPiece tokeniser with at most `size` pieces, in lower case, that marks where a text begins and ends.

    Frequent words are whole; others are spelled by their longest known beginning, frequent endings and letters. The
    library's own trainer is not used: it breaks ties in another way each time.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    normalizer = normalizers.BertNormalizer(lowercase=True)
    words: Counter[str] = Counter()
    for text in texts:
        words.update(_WORD.findall(normalizer.normalize_str(text)))
    letters: Counter[str] = Counter()
    endings: Counter[str] = Counter()
    for word, count in words.items():
        for letter in word:
            letters[letter] += count
        for length in _ENDINGS:
            if len(word) > length:
                endings[word[-length:]] += 1
    alphabet = _most(letters, min(_LETTERS, size // 8))
    pieces = [*SPECIAL, *alphabet, *(f"##{each}" for each in (*alphabet, *_most(endings, size // 12)))]
    known = dict.fromkeys(pieces)
    known |= dict.fromkeys(word for word in _most(words, size) if words[word] >= _RARE)
    tokenizer = Tokenizer(
        models.WordPiece({piece: at for at, piece in enumerate(list(known)[:size])}, unk_token=SPECIAL[UNKNOWN])
    )
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[BEGIN]} $A {SPECIAL[END]}", special_tokens=[(SPECIAL[at], at) for at in (BEGIN, END)]
    )
    return tokenizer


def _most(counts: Counter[str], number: int) -> list[str]:
    """The most frequent, ties by alphabet."""
    return sorted(counts, key=lambda each: (-counts[each], each))[:number]


@dataclass(frozen=True)
class Pieces:
    """Texts as rows of pieces, filled up with PAD."""

    rows: np.ndarray
    """(n, length) of int32."""
    words: np.ndarray
    """The same shape: to which word of its text, counted from 0, each piece belongs."""

    @property
    def lengths(self) -> np.ndarray:
        return (self.rows != PAD).sum(axis=1)


def to_pieces(tokenizer: Any, texts: list[str], longest: int) -> Pieces:
    """A text beyond `longest` pieces loses its end, its last mark included."""
    rows = np.full((len(texts), longest), PAD, np.int32)
    for start in range(0, len(texts), 8192):
        for row, each in zip(rows[start:], tokenizer.encode_batch_fast(texts[start : start + 8192]), strict=False):
            ids = each.ids[:longest]
            row[: len(ids)] = ids
    begins = np.ones(max(tokenizer.get_vocab().values()) + 1, bool)
    for piece, number in tokenizer.get_vocab().items():
        begins[number] = not piece.startswith("##")
    return Pieces(rows, np.cumsum(begins[rows], axis=1, dtype=np.int32) - 1)


@dataclass(frozen=True)
class Neighbours:
    pieces: Pieces
    pairs: np.ndarray


def read_neighbours(path: Path, size: int, longest: int) -> tuple[Neighbours, Any, str]:
    """The pairs of a corpus, the tokeniser that learnt from it, and its content hash."""
    paragraphs, digest = read_paragraphs(path)
    texts, pairs = neighbours(paragraphs)
    if not len(pairs):
        raise SystemExit(f"{path} holds no two sentences that follow each other")
    tokenizer = learn_pieces(paragraphs, size)
    return Neighbours(to_pieces(tokenizer, texts, longest), pairs), tokenizer, digest


def read_held_out(path: Path, tokenizer: Any, longest: int) -> Neighbours:
    """Pairs of a file of lines "source<TAB>text": of each line the first one, so that no two are of one text."""
    lines = path.read_text(encoding="utf-8").split("\n")
    paragraphs = [line.partition("\t")[2] for line in lines if line.strip()]
    found = [neighbours([paragraph]) for paragraph in paragraphs]
    texts = [text for texts, pairs in found if len(pairs) for text in (texts[pairs[0][0]], texts[pairs[0][1]])]
    return Neighbours(to_pieces(tokenizer, texts, longest), np.arange(len(texts)).reshape(-1, 2))
