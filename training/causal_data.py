"""Texts for the causal language model: the corpus, scenes that many people described, and prompts nobody trained on.

Two tasks. Prose: a paragraph that was held out begins with a prompt, and what its writer wrote next is the one human
continuation. Scenes: some people's descriptions of a scene are the prompt, and the model adds one more; the other
people's descriptions are the human side, so that a context has many. Scenes for training and for prompts are apart.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

PAD, END, AND = 0, 1, 2
SPECIAL = ("<pad>", "<end>", "<and>")
"""No text; begin and end of a text; between two descriptions of one scene."""


class Pieces:
    """Byte-level byte pairs learned from the training texts: any text comes back as it was."""

    def __init__(self, texts: Sequence[str], vocabulary: int) -> None:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

        self._tokenizer = Tokenizer(models.BPE())
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self._tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        self._tokenizer.train_from_iterator(texts, trainer)
        self.size = self._tokenizer.get_vocab_size()
        words = self._tokenizer.decode_batch([[number] for number in range(self.size)], skip_special_tokens=False)
        self.blank = tuple(number for number, word in enumerate(words) if not word.strip())
        """Pieces of white space alone."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Special tokens that a text spells out are dropped."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [[number for number in each.ids if number >= len(SPECIAL)] for each in encoded]

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        return list(self._tokenizer.decode_batch([list(each) for each in ids], skip_special_tokens=True))

    def save(self, path: Path) -> None:
        self._tokenizer.save(str(path))


class Stream:
    """Paragraphs one after another, cut into rows: each epoch in another order."""

    def __init__(self, texts: Sequence[Sequence[int]], length: int) -> None:
        self._texts = [np.array([*ids, END], np.int32) for ids in texts]
        self._length = length
        self.tokens = sum(map(len, self._texts))

    def epoch(self, seed: int, number: int) -> np.ndarray:
        order = np.random.default_rng([seed, number]).permutation(len(self._texts))
        ids = np.concatenate([[END], *(self._texts[at] for at in order)])
        rows = len(ids) // self._length
        if not rows:
            return np.pad(ids, (0, self._length - len(ids)), constant_values=PAD)[None]
        return ids[: rows * self._length].reshape(rows, self._length)


class Scene(NamedTuple):
    id: str
    texts: list[str]
    ids: list[list[int]]


class SceneRows:
    """Descriptions of one scene in a row, each epoch in another order: a description follows from those before it."""

    def __init__(self, scenes: Sequence[Scene], length: int) -> None:
        self._scenes, self._length = scenes, length
        self.tokens = sum(len(ids) + 1 for scene in scenes for ids in scene.ids)

    def epoch(self, seed: int, number: int) -> np.ndarray:
        rng = np.random.default_rng([seed, number])
        rows = []
        for scene in self._scenes:
            row = [END]
            for at in rng.permutation(len(scene.ids)):
                if len(row) + len(scene.ids[at]) + 1 > self._length:
                    rows.append(row)
                    row = [END]
                row += [*scene.ids[at][: self._length - 2], AND]
            rows.append(row)
        made = np.full((len(rows), self._length), PAD, np.int32)
        for at, row in enumerate(rows):
            made[at, : len(row)] = row
        return made[rng.permutation(len(made))]


class Prompt(NamedTuple):
    """A context: what the model reads, and what people wrote there."""

    id: str
    group: str
    prompt: str
    human: list[str]
    ids: list[int]


def read_scenes(path: Path) -> list[tuple[str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    # Some descriptions go over several lines; a text here is one line.
    return [(str(row["id"]), [" ".join(text.split()) for text in row["references"] if text.strip()]) for row in rows]


def split_scenes(scenes: Sequence[Scene], held_out: int, checked: int, seed: int) -> list[list[Scene]]:
    """Scenes to train on, to choose by, and to draw texts for. Versions of one scene (name_1, name_2) stay together."""
    names = sorted({_family(scene.id) for scene in scenes})
    order = [names[at] for at in np.random.default_rng(seed).permutation(len(names))]
    part = {name: 2 if n < held_out else 1 if n < held_out + checked else 0 for n, name in enumerate(order)}
    return [[scene for scene in scenes if part[_family(scene.id)] == number] for number in range(3)]


def _family(name: str) -> str:
    return name.rpartition("_")[0] or name


def scene_prompts(scenes: Sequence[Scene], shown: int, seed: int) -> list[Prompt]:
    """So many people's descriptions to read, drawn at random; all others are the human side."""
    made = []
    for number, scene in enumerate(scenes):
        order = np.random.default_rng([seed, number]).permutation(len(scene.texts))
        first, rest = order[:shown], order[shown:]
        ids = [END, *(token for at in first for token in (*scene.ids[at], AND))]
        made.append(
            Prompt(
                scene.id, "scenes", " / ".join(scene.texts[at] for at in first), [scene.texts[at] for at in rest], ids
            )
        )
    return made


def read_heldout(path: Path) -> list[tuple[str, str]]:
    """Source and text of every line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [tuple(line.split("\t", 1)) for line in lines if "\t" in line]  # type: ignore[misc]


def prose_prompts(rows: Sequence[tuple[str, str]], pieces: Pieces, begin: int, after: int) -> list[Prompt]:
    """Paragraphs of at least `begin` + `after` words: the first `begin` are the prompt, the next `after` what its
    writer wrote."""
    chosen = [(n, source, text.split()) for n, (source, text) in enumerate(rows)]
    chosen = [each for each in chosen if len(each[2]) >= begin + after]
    prompts = [" ".join(words[:begin]) for _, _, words in chosen]
    return [
        Prompt(f"{source}-{n}", source, prompt, [" ".join(words[begin : begin + after])], [END, *ids])
        for (n, source, words), prompt, ids in zip(chosen, prompts, pieces.encode(prompts), strict=True)
    ]
