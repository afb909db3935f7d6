"""Word-level metrics of real translations on a device: seconds of every stage, and the same numbers as the threads'.

    python -m benchmarks device-words --pairs 170180 [--device cpu] [--check 300]

Texts are WMT17's where RECAPTURE_DATA has them, else made-up ones of their lengths. The encoder has the default one's
shape and random weights, its tokenizer is trained on the spot: as many pieces as the real one makes, other scores.
MoverScore is left out where POT is not installed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import importlib.util
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc
from recapture.geometry.parallel import engine
from recapture.geometry.small import small_counts_at
from recapture.pairs import evaluate
from recapture.pairs.declaration import METRICS
from recapture.pairs.evaluate import Shared
from recapture.pairs.word_sets import WordSetScorer

from .timing import ratio, seconds

ALL = 170_180
"""Outputs of WMT17 to English."""
BARS = {"me-words": 120, "pr-words": 120, "bertscore": 120, "moverscore": 300}
SHAPE = {
    "vocab_size": 30_522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
}
"""Of all-MiniLM-L6-v2."""
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def translations(count: int) -> tuple[list[str], list[str], str]:
    """References and outputs, one each a pair, every language and system in turn, and where they come from."""
    folder = Path(os.environ.get("RECAPTURE_DATA") or "none") / "wmt17_to_english"
    if not folder.is_dir():
        return *_made_up(count), "made-up texts"
    with gzip.open(folder / "segments.jsonl.gz", "rt", encoding="utf-8") as lines:
        reference = {(row["lp"], row["sid"]): row["reference"] for row in map(json.loads, lines)}
    with gzip.open(folder / "outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [((row["lp"], row["sid"]), row["hyp"]) for row in map(json.loads, lines)]
    kept = {segment for segment, _ in rows}
    if count < len(rows):  # whole segments: all systems translate the same ones
        share = count / len(rows)
        kept = set(random.Random(0).sample(sorted(kept), max(1, round(share * len(kept)))))
    pairs = [(reference[segment], text) for segment, text in rows if segment in kept]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs], "WMT17 to English"


def _made_up(count: int) -> tuple[list[str], list[str]]:
    """Nine outputs a reference, a third of whose words are others; lengths spread as translations' are."""
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=1 + min(11, int(rng.expovariate(0.25))))) for _ in range(30_000)]
    common = [1 / (rank + 10) for rank in range(len(words))]
    references, outputs = [], []
    while len(outputs) < count:
        reference = rng.choices(words, common, k=max(1, min(90, round(rng.lognormvariate(3.0, 0.5)))))
        for _ in range(min(9, count - len(outputs))):
            other = rng.choices(words, common, k=len(reference))
            references.append(" ".join(reference))
            outputs.append(
                " ".join(new if rng.random() < 1 / 3 else old for old, new in zip(reference, other, strict=True))
            )
    return references, outputs


def encoder(folder: Path, texts: Sequence[str]) -> Path:
    """Six layers of 384 numbers and twelve heads, random."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece({}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=16_000, special_tokens=_SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    known = tokenizer.get_vocab()
    unused = {f"[unused{number}]": number for number in range(len(known), SHAPE["vocab_size"])}
    tokenizer.model = models.WordPiece({**known, **unused}, unk_token="[UNK]")
    around = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, around)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(BertConfig(**SHAPE), add_pooling_layer=False).save_pretrained(folder, safe_serialization=True)
    return folder


class Clock:
    """Seconds by stage; what a device was asked to do is waited for."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    @contextlib.contextmanager
    def of(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        wait()
        self.spent[stage] += time.perf_counter() - start


def wait() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def prepared(shared: Shared, references: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    made = {}
    for name in names:
        metric = METRICS.find(name)
        made[name] = metric.prepare([[text] for text in references], shared, **metric.checked({}))
    return made


def main() -> None:
    options = _options()
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    names = [name for name in BARS if name != "moverscore" or importlib.util.find_spec("ot") is not None]
    references, outputs, source = translations(options.pairs)
    print(
        f"{len(outputs):,} pairs ({source}), {len(set(references)):,} references, device {options.device}", flush=True
    )
    if "moverscore" not in names:
        print("  POT is not installed: no MoverScore")
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        if options.device == "cpu" and options.torch:
            stack.enter_context(engine(accelerator="cpu"))
        folder = encoder(Path(temporary) / "encoder", list(dict.fromkeys(references))[:6000])
        loading = {"encoder": str(folder), "device": options.device, "offline": True}
        start = time.perf_counter()
        rc.evaluate_pairs(references[:50], outputs[:50], names, **loading)
        wait()
        seconds("first call in the process: libraries, model, 50 pairs", time.perf_counter() - start)
        _stages(references, outputs, names, loading, options.stages)
        for chosen in (names[:3], names) if len(names) > 3 else (names,):
            start = time.perf_counter()
            rc.evaluate_pairs(references, outputs, chosen, **loading)
            spent = time.perf_counter() - start
            seconds(f"{', '.join(chosen)}: {len(outputs):,} pairs in one call", spent)
            bar = max(BARS[name] for name in chosen)
            ratio(f"  of the {bar} s for {ALL:,}", spent * ALL / len(outputs) / bar, "at most 1")
        if options.check:
            _check(references[: options.check], outputs[: options.check], names, loading)


def _stages(
    references: Sequence[str], outputs: Sequence[str], names: Sequence[str], loading: dict[str, Any], most: int
) -> None:
    """As a run goes, chunk by chunk, each stage by itself."""
    references, outputs = references[:most], outputs[:most]
    clock = Clock()
    shared = Shared(**loading)
    scorers = prepared(shared, references, names)
    store = shared.words()
    store.ensure(["the model is loaded before the clock starts"])
    chunks = list(evaluate._chunks(set(zip(references, outputs, strict=True)), shared.chunk_characters))
    pieces = 0
    for chunk in chunks:
        texts = list(dict.fromkeys(text for pair in chunk for text in pair))
        with clock.of("tokenizing"):
            pieces += sum(len(piece.own) for piece in store.pieces(texts))
        with clock.of("encoder"):
            store.ensure(texts)
        for name, scorer in scorers.items():
            with clock.of(name):
                scorer.score(chunk)
    count = sum(map(len, chunks))
    print(
        f"  stages of {count:,} different pairs in {len(chunks)} chunks, {pieces:,} pieces; "
        f"vectors stay on: {store.accelerator}"
    )
    for stage, spent in clock.spent.items():
        stage += " (and pr-words' counts)" if stage == "me-words" else ""
        seconds(f"{stage:<32} {1e3 * spent / count:8.4f} ms a pair, all {ALL:,}: {spent * ALL / count:6.1f} s", spent)


def _check(references: Sequence[str], outputs: Sequence[str], names: Sequence[str], loading: dict[str, Any]) -> None:
    """The very same vectors compared by the threads."""
    pairs = sorted(set(zip(references, outputs, strict=True)))
    shared = Shared(**loading)
    scorer = prepared(shared, references, ["me-words", "pr-words"])["me-words"]
    assert isinstance(scorer, WordSetScorer)
    there = [scorer.counts(pairs, k) for k in (1, 3)]
    sets, sides = scorer.sets(pairs)
    ks = np.stack([each.k for each in there], axis=1)
    for threads in (1, 4, 16):
        with engine(threads=threads):
            start = time.perf_counter()
            here = small_counts_at(sets, sides, ks)
            spent = time.perf_counter() - start
        print(
            f"  processor, me-words and pr-words, {threads:2} threads {1e3 * spent / len(pairs):21.3f} ms a pair",
            flush=True,
        )
    equal = all(
        np.array_equal(getattr(counts, name), here[place, :, at])
        for at, counts in enumerate(there)
        for place, name in enumerate("xyab")
    )
    print(f"  {len(pairs)} pairs: whole numbers of me-words and pr-words equal the processor's: {equal}")
    # The same vectors for both: what a store has made on a device is handed over as arrays.
    for name in names[2:]:
        made, other = (prepared(Shared(**loading), references, [name])[name] for _ in range(2))
        found = made.score(pairs)
        other._store.ensure([text for pair in pairs for text in pair])
        _hand_over(other._store, pairs)
        expected = other.score(pairs)
        apart = max(float(np.abs(found[each] - expected[each]).max()) for each in found)
        print(f"  {name}: largest difference from the processor's float32 {apart:.1e}")
    if not equal:
        sys.exit("whole numbers differ")


def _hand_over(store: Any, pairs: Sequence[tuple[str, str]]) -> None:
    for text in {text for pair in pairs for text in pair}:
        words = store[text]
        if store.accelerator is not None:
            store._kept.put(text, words._replace(vectors=np.ascontiguousarray(words.vectors.cpu().numpy())))
    store._accelerator = None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks device-words")
    parser.add_argument("benchmark")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--stages", type=int, default=40_000, help="pairs for which stages are timed")
    parser.add_argument("--check", type=int, default=300, help="pairs that the processor compares, too")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--torch", action="store_true", help="with --device cpu: the device's way, on the processor")
    return parser.parse_args()
