"""InfoLM beside torchmetrics 1.9: same model, same texts, same process, nothing kept from before.

As it comes, torchmetrics restores the order of its length-sorted texts by the sorting permutation instead of its
inverse, which mismatches pairs; it weighs the two sides by two idf tables; and with idf it fails as soon as two of its
batches differ in width. So its own steps are called here, with the order put back rightly, the references' table for
both sides. That is done twice: all texts in one batch, padded to the longest, which is the only way its public function
runs with idf on texts of different lengths (the bar is about this one); and in batches of 8 texts of similar length,
each a data set of its own, which is better than it can do by itself.

Texts that occur several times go through recapture's model once. So there are two forms: every reference for four
candidates, as where several systems are compared, and every reference for one.
"""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from torchmetrics.functional.text.helper_embedding_metric import TokenizedDataset, _load_tokenizer_and_model
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM
from transformers.utils import logging

from recapture.pairs.metrics.infolm import infolm
from recapture.representations.loading import transformer_folder
from recapture.representations.locate import find_weights
from recapture.representations.shipped import HEAD, load_shipped

from .timing import ratio, run, seconds

# The package puts a function in its module's place.
peer_steps: Any = importlib.import_module("torchmetrics.functional.text.infolm")
BETTER_BATCH = 8


def made_model(folder: Path, layers: int, width: int, seed: int = 0) -> str:
    """A random BERT with the encoder package's tokenizer."""
    package = transformer_folder(find_weights("all-MiniLM-L6-v2", True)).folder
    tokenizer = AutoTokenizer.from_pretrained(str(package), local_files_only=True)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    settings = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * width,
        # wider than usual, so that answers differ from text to text
        initializer_range=0.05,
    )
    BertForMaskedLM(settings).save_pretrained(folder, safe_serialization=True)
    return str(folder)


def shipped_model(folder: Path) -> str:
    """The default model written as an ordinary folder, which the peer can load."""
    package = transformer_folder(find_weights("all-MiniLM-L6-v2", True))
    AutoTokenizer.from_pretrained(str(package.folder), local_files_only=True).save_pretrained(folder)
    load_shipped(HEAD, package).save_pretrained(folder)
    return str(folder)


def sentences(pairs: int, distinct: int, seed: int = 0) -> tuple[list[str], list[str], list[str]]:
    """References of 20 to 30 words, as many different ones as asked for, and the outputs of two systems."""
    rng = random.Random(seed)
    package = transformer_folder(find_weights("all-MiniLM-L6-v2", True)).folder
    known = AutoTokenizer.from_pretrained(str(package), local_files_only=True).get_vocab()
    words = sorted((word for word in known if word.isascii() and word.isalpha() and len(word) > 2), key=known.get)[
        :4000
    ]
    common = [1 / (rank + 20) for rank in range(len(words))]
    originals = [rng.choices(words, common, k=rng.randint(20, 30)) for _ in range(distinct)]

    def rewritten(text: list[str]) -> str:
        """A quarter of the words changed, up to three dropped."""
        kept = [rng.choice(words) if rng.random() < 0.25 else word for word in text]
        for _ in range(rng.randint(0, 3)):
            kept.pop(rng.randrange(len(kept)))
        return " ".join(kept) + "."

    listed = [originals[place % distinct] for place in range(pairs)]
    references = [" ".join(text) + "." for text in listed]
    return references, list(map(rewritten, listed)), list(map(rewritten, listed))


def peer(
    folder: str, references: Sequence[str], candidates: Sequence[str], idf: bool = True, batch: int | None = None
) -> np.ndarray:
    tokenizer, model = _load_tokenizer_and_model(folder, None)
    longest = max(len(tokenizer(text)["input_ids"]) for text in (*references, *candidates))
    ids, marks, reference_ids, reference_marks = peer_steps._infolm_update(
        list(candidates), list(references), tokenizer, longest
    )
    table = TokenizedDataset(reference_ids, reference_marks, idf).tokens_idf
    special = peer_steps._get_special_tokens_map(tokenizer)
    sides = []
    for side_ids, side_marks in ((ids, marks), (reference_ids, reference_marks)):
        order = side_marks.sum(1).argsort()
        found = []
        for some in order.split(batch or len(order)):
            texts = TokenizedDataset(side_ids[some], side_marks[some], idf, table)
            made = peer_steps._get_data_distribution(model, DataLoader(texts, len(texts)), 1.0, idf, special, False)
            found.append(made[texts.sorting_indices.argsort()])
        sides.append(torch.cat(found)[order.argsort()])
    scores: np.ndarray = peer_steps._InformationMeasure("fisher_rao_distance")(*sides).numpy()
    return scores


def compare(what: str, model: Any, folder: str, pairs: int, distinct: int, bar: str, rounds: int) -> None:
    references, first, second = sentences(pairs, distinct)
    print(f"InfoLM, {pairs} pairs with {distinct} distinct references, {what}")
    options = {"model": model, "cache": False, "offline": True, "device": "cpu"}
    made: dict[str, Any] = {}
    jobs = {
        "recapture": lambda: infolm(references, first, **options),
        "recapture, two systems": lambda: infolm(references, {"one": first, "two": second}, **options),
        "torchmetrics, batches of 8": lambda: peer(folder, references, first, batch=BETTER_BATCH),
        "torchmetrics, one batch": lambda: peer(folder, references, first),
    }
    infolm(references[:1], first[:1], **options)  # libraries load
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            best[name] = min(best[name], run(lambda name=name, job=job: made.update({name: job()})))
    for name, value in best.items():
        seconds(name, value)
    ours, two, better, default = best.values()
    texts = len(set(references) | set(first))
    seconds("recapture, for each text of 20 to 30 words", ours / texts)
    ratio("torchmetrics, one batch / recapture", default / ours, bar)
    ratio("torchmetrics by hand, batches of 8 / recapture", better / ours, "none")
    ratio("two systems / one", two / ours, f"{len({*references, *first, *second})} texts / {texts}")
    for name in ("torchmetrics, batches of 8", "torchmetrics, one batch"):
        apart = np.abs(made[name] / np.pi - made["recapture"].scores).max()
        print(f"  {f'largest difference of a score, {name}':<66} {apart:8.0e}", flush=True)


_CHILD = """
import sys
import numpy as np
from recapture.pairs.declaration import METRICS
from recapture.pairs.evaluate import Shared
from recapture.representations.masked_model import MaskedModel
words = "the old river ran under a small green tree and then the bird sang to us".split()
texts = [" ".join(words[(3 * at + place * (at + 1)) % 16] for place in range(510)) for at in range(2)]
shared = Shared(None, sys.argv[1], device="cpu", offline=True, cache=False)
metric = METRICS.find("infolm")
scorer = metric.prepare([[text] for text in texts], shared, **metric.defaults)
# Loading the model and starting threads is no extra memory.
scorer.score([("the cat sat", "a cat sat")])
whole, known = MaskedModel.head_vectors, []
def some(model, rows, places):
    # Hundreds of batches of one size need what three of them do: the rest is a copy of the third.
    assert len(rows[0]) == 512
    if len(known) < 3:
        known.append(whole(model, rows, places))
    return np.resize(known[-1], (len(rows), model.width))
MaskedModel.head_vectors = some
open("/proc/self/clear_refs", "w").write("5")
resident = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1]) / 1024
base = resident("VmRSS")
scorer.score([(texts[0], texts[1])])
print(resident("VmHWM") - base)
"""


def memory(what: str, folder: str) -> None:
    child = subprocess.run([sys.executable, "-c", _CHILD, folder], capture_output=True, text=True, check=True)
    extra = float(child.stdout)
    print(f"  {f'memory beyond the model, texts of 512 tokens, {what}':<66} {extra:8.0f} MiB   (bar: below 1000)")


def main(base: bool = True, shipped: bool = True, rounds: int = 1) -> None:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        if base:
            model = made_model(Path(folder) / "base", 12, 768)
            for distinct, bar in ((2, "at least 4"), (8, "at least 2")):
                compare("BERT-base size", model, model, 8, distinct, bar, rounds)
            memory("BERT-base size", model)
        if shipped:
            model = shipped_model(Path(folder) / "shipped")
            for distinct, bar in ((15, "at least 4"), (60, "at least 2")):
                compare("the model that ships (6 layers, 384 wide)", None, model, 60, distinct, bar, rounds)
            memory("the model that ships", model)
