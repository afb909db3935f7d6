"""Word vectors by GloVe's rule, in GloVe's text form, which `rc.encode(texts, "FILE.txt")` reads.

    python -m training.word_vectors --corpus train.txt.xz --output glove.100d.txt

Pennington, Socher and Manning (2014), GloVe: Global Vectors for Word Representation, Eq. 8: over all pairs of words
that stand near each other, so often as X says,

    sum f(X_ij) (w_i . v_j + b_i + c_j - log X_ij)^2,    f(x) = min(1, (x / x_max)^(3/4))

with X_ij the sum of 1 / distance over all places, at most `window` words apart in one paragraph, on both sides alike.
AdaGrad as there, but in batches: a step of a word follows the sum of its gradients in the batch. A word's vector is
w + v. On a CPU the same seed gives the same file; sums on a GPU are made in no fixed order, so the last digits move.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training.data import read_paragraphs

if TYPE_CHECKING:
    import torch

# As recapture's word vectors look words up: in lower case, English endings and parts of compounds by themselves.
_WORD = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+?(?=n't\b)|[^\W_]+")


@dataclass(frozen=True)
class Recipe:
    """All that decides the numbers, beside the corpus."""

    words: int = 30_000
    """The most frequent ones."""
    least: int = 5
    """Words that occur less often are left out."""
    window: int = 5
    dimensions: int = 100
    passes: int = 10
    x_max: float = 10.0
    rate: float = 0.05
    batch: int = 65_536
    seed: int = 0


def tokens(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def vocabulary(paragraphs: Sequence[Sequence[str]], words: int, least: int) -> dict[str, int]:
    """The number of every word that is kept; the most frequent first, equal ones in the order of the alphabet."""
    counts = Counter(word for each in paragraphs for word in each)
    kept = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(kept[:words])}


def together(paragraphs: Sequence[Sequence[str]], known: dict[str, int], window: int) -> Any:
    """How often words stand near each other, by 1 / distance: a symmetric sparse matrix.

    Words that are not kept take up room between others, as they do on the page.
    """
    from scipy.sparse import csr_matrix

    size = len(known)
    # A gap of `window` unknown words keeps paragraphs apart.
    gap = [-1] * window
    line = np.array([number for each in paragraphs for number in [*(known.get(w, -1) for w in each), *gap]], np.int32)
    total = csr_matrix((size, size), dtype=np.float32)
    for distance in range(1, window + 1):
        left, right = line[:-distance], line[distance:]
        both = (left >= 0) & (right >= 0)
        share = np.full(int(both.sum()), 1 / distance, np.float32)
        total = total + csr_matrix((share, (left[both], right[both])), shape=(size, size))
    return (total + total.T).tocsr()


def trained(near: Any, recipe: Recipe, device: str = "cpu", log: Any = print) -> np.ndarray:
    """One row for every word."""
    import torch

    pairs = near.tocoo()
    count, size = pairs.nnz, near.shape[0]
    draw = torch.Generator().manual_seed(recipe.seed)
    width = recipe.dimensions
    # Both tables with their biases as a last column; AdaGrad's sums begin at 1, as in GloVe's own program.
    tables = [((torch.rand(size, width + 1, generator=draw) - 0.5) / width).to(device) for _ in range(2)]
    sums = [torch.ones_like(table) for table in tables]
    places = [torch.from_numpy(each.astype(np.int64)).to(device) for each in (pairs.row, pairs.col)]
    often = torch.from_numpy(pairs.data).to(device)
    logs, weights = often.log(), (often / recipe.x_max).clamp(max=1).pow(0.75)
    for number in range(recipe.passes):
        start, loss = time.perf_counter(), 0.0
        order = torch.randperm(count, generator=draw).to(device)
        for first in range(0, count, recipe.batch):
            chosen = order[first : first + recipe.batch]
            loss += _step(tables, sums, [each[chosen] for each in places], logs[chosen], weights[chosen], recipe.rate)
        log(f"pass {number + 1}: mean loss {loss / count:.4f}, {time.perf_counter() - start:.1f} s")
    made: np.ndarray = (tables[0] + tables[1])[:, :width].cpu().numpy()
    return made


def _step(
    tables: list[torch.Tensor],
    sums: list[torch.Tensor],
    places: list[torch.Tensor],
    logs: torch.Tensor,
    weights: torch.Tensor,
    rate: float,
) -> float:
    import torch

    word, near = (table[at] for table, at in zip(tables, places, strict=True))
    off = (word[:, :-1] * near[:, :-1]).sum(dim=1) + word[:, -1] + near[:, -1] - logs
    slope = (weights * off).unsqueeze(1)
    for table, total, at, other in zip(tables, sums, places, (near, word), strict=True):
        grad = other.mul_(slope)
        grad[:, -1] = slope[:, 0]
        whole = torch.zeros_like(table).index_add_(0, at, grad)
        total.addcmul_(whole, whole)
        table.addcdiv_(whole, total.sqrt(), value=-rate)
    return float((weights * off * off).sum() / 2)


def write(path: Path, known: dict[str, int], vectors: np.ndarray) -> None:
    """GloVe's form: a line for each word, the word and its numbers."""
    with path.open("w", encoding="utf-8") as file:
        for word, number in known.items():
            file.write(word + " " + " ".join(f"{value:.4f}" for value in vectors[number]) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, required=True, help="one paragraph a line; .xz or plain")
    parser.add_argument("--output", type=Path, required=True, help="the text file to write")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--paragraphs", type=int, help="only so many of the first, to try it")
    for name, value in asdict(Recipe()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = parser.parse_args(arguments)
    recipe = Recipe(**{name: getattr(given, name) for name in asdict(Recipe())})
    lines, digest = read_paragraphs(given.corpus)
    split = [tokens(line) for line in lines[: given.paragraphs]]
    known = vocabulary(split, recipe.words, recipe.least)
    print(f"corpus {digest[:16]}, {sum(map(len, split)):,} words, {len(known):,} different ones kept", flush=True)
    near = together(split, known, recipe.window)
    print(f"{near.nnz:,} pairs; {recipe}", flush=True)
    vectors = trained(near, recipe, given.device, lambda line: print(line, flush=True))
    write(given.output, known, vectors)


if __name__ == "__main__":
    main()
