"""rc.encode beside the bare model: the transformer's forward alone, on the same batches, ready on the device.

    python -m benchmarks encoders    # on the best device here, or on the one that RECAPTURE_DEVICE names

Everything is warm and in one process, and the two take turns. On a processor that others use, too, seconds of work (all
threads) say more than seconds on the clock. What is done beside the model is timed twice: each step alone, and while
`rc.encode` works, where a step may have to wait for others. On a GPU all of it takes about half a minute.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

import recapture as rc
import recapture.representations.encode as encode
import recapture.representations.encoder_batches as encoder_batches
from recapture.representations.attention import ready_attention
from recapture.representations.encoder import resolve_encoder
from recapture.representations.encoder_batches import EncoderBatches
from recapture.representations.pieces import plain_cutter
from recapture.representations.text_order import LongestFirst

from .made_encoder import folder, sentences
from .startup import best_device
from .timing import ratio, seconds

COUNTS = {"cpu": 400, "cuda": 60_000}


def real_texts(count: int) -> list[str] | None:
    """Different outputs of WMT17's systems, from all over the file."""
    file = Path(os.environ.get("RECAPTURE_DATA") or "none") / "wmt17_to_english" / "outputs.jsonl.gz"
    if not file.is_file():
        return None
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        listed = [json.loads(line)["hyp"] for line in lines]
    distinct = list(dict.fromkeys(listed))
    return distinct[:: max(1, len(distinct) // count)][:count]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and seconds of work of all threads."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    clock, work_before = time.perf_counter(), time.process_time()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - clock, time.process_time() - work_before


def order(texts: list[str]) -> list[str]:
    """As `rc.encode` gives texts to an encoder, all checks included."""
    made = encode._Encoding(encode.checked_texts(texts), rc.resolve_encoder("bag-of-words"), None)
    return list(LongestFirst(texts, made._first))


def ready_batches(encoder: Any, texts: list[str]) -> tuple[list[dict[str, Any]], int]:
    """What the encoder gives its model for these texts, on the device, and how many tokens that is."""
    batches = encoder._batches
    ordered = order(texts)
    ready, tokens = [], 0
    for portion in batches._portions(ordered):
        for batch in batches._cut(portion, None).batches:
            ids, lengths = batch.ids.to(batches._device).long(), batch.lengths.to(batches._device)
            mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long()
            ready.append({"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)})
            tokens += int(batch.lengths.sum())
    return ready, tokens


def bare(model: Any, ready: list[dict[str, Any]]) -> None:
    with torch.inference_mode(), ready_attention():
        for features in ready:
            model(**features)


def compare(device: str, model: str, dtype: str, texts: list[str], rounds: int) -> np.ndarray:
    print(f"{dtype}: {len(texts):,} texts", flush=True)
    encoder: Any = resolve_encoder(model, device=device, dtype=dtype)
    seconds("the model is loaded, and 50 texts are encoded", timed(lambda: encoder.encode_batch(texts[:50]))[0])
    beside(encoder, texts)
    ready, tokens = ready_batches(encoder, texts)
    print(f"  {tokens:,} tokens in {len(ready)} batches", flush=True)
    tower = encoder._model[0].auto_model
    vectors: list[np.ndarray] = []
    jobs: dict[str, Callable[[], object]] = {
        "the bare model": lambda: bare(tower, ready),
        "rc.encode, all of it": lambda: vectors.append(rc.encode(texts, encoder, cache=False)),
    }
    best = {name: (float("inf"), float("inf")) for name in jobs}
    for turn in range(rounds + 1):
        for name, job in jobs.items():
            spent = timed(job)
            if not turn:  # the first one warms up
                seconds(f"{name}, the first time", spent[0])
            else:
                best[name] = (min(best[name][0], spent[0]), min(best[name][1], spent[1]))
    for name, (clock, _) in best.items():
        seconds(f"{name}, {tokens / clock:,.0f} tokens a second", clock)
    first, second = best.values()
    bar = "at least 0.95" if device == "cpu" else "at least 0.90"
    ratio("throughput of rc.encode / bare model, by the clock", first[0] / second[0], bar)
    if device == "cpu":
        ratio("throughput of rc.encode / bare model, by work of all threads", first[1] / second[1], bar)
    shown_steps(encoder, texts)
    return vectors[-1]


def beside(encoder: Any, texts: list[str]) -> None:
    """What is done beside the model, each step alone."""
    batches = encoder._batches
    ordered = order(texts)
    portions = [part.texts for part in batches._portions(ordered)]
    plain = plain_cutter(encoder._model.tokenizer)
    rows: list[Any] = []
    filled: list[Any] = []
    wide = encoder.encode_batch(["a"]).shape[1]
    kept = encode._Encoding(texts, encoder, None)

    def back() -> None:
        for batch in filled:
            there = torch.empty((len(batch.places), wide), pin_memory=batches._device.type == "cuda")
            there.copy_(torch.zeros(there.shape, device=batches._device))
            kept._keep(batch.places, there.numpy())

    steps: dict[str, Callable[[], object]] = {
        "checking and sorting the texts": lambda: order(texts),
        "estimates of work for the bar": lambda: [encoder.effort(text) for text in ordered],
        "the tokenizer alone, in all its threads": lambda: [plain.encode_batch_fast(part) for part in portions],
        "cutting into pieces": lambda: rows.extend(batches._cutter(part) for part in portions),
        "cutting into pieces, once more": lambda: [batches._cutter(part) for part in portions],
        "filling batches": lambda: filled.extend(
            batch for part in rows for batch in batches._batches(part, np.arange(len(part.lengths)), None)
        ),
        "filling batches, once more": lambda: [
            batches._batches(part, np.arange(len(part.lengths)), None) for part in rows
        ],
        "copying them to the device": lambda: [batch.ids.to(batches._device, non_blocking=True) for batch in filled],
        "copying vectors back and into their rows": back,
    }
    print("  beside the model, each step alone:")
    for name, job in steps.items():
        part = timed(job)[0]
        seconds(f"  {name}, {len(texts) / part:,.0f} texts a second", part)


@contextlib.contextmanager
def watched(spent: dict[str, float]) -> Iterator[None]:
    """Seconds on the clock of what `rc.encode` does meanwhile."""

    def clocked(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return work(*arguments)
            finally:
                spent[name] += time.perf_counter() - start

        return run

    def ahead(*arguments: Any) -> Iterator[Any]:
        made = iter(own_ahead(*arguments))
        following = clocked("waiting for pieces", lambda: next(made, None))
        while (cut := following()) is not None:
            yield cut

    own_ahead = encoder_batches.made_ahead
    with contextlib.ExitStack() as stack:
        for owner, attribute, name in (
            (encode, "checked_texts", "checking the texts"),
            (LongestFirst, "__init__", "sorting them by length"),
            (LongestFirst, "_sort", "sorting ties"),
            (encode._Encoding, "__init__", "finding repeats"),
            (EncoderBatches, "_cut", "cutting and filling, in a thread of its own"),
            (EncoderBatches, "_started", "giving batches to the device"),
            (encoder_batches, "_fetched", "waiting for vectors"),
            (encode._Encoding, "_keep", "putting vectors into their rows"),
        ):
            work = clocked(name, getattr(owner, attribute))
            # A function in the place of a method is bound as one.
            stack.enter_context(mock.patch.object(owner, attribute, work))
        stack.enter_context(mock.patch.object(encoder_batches, "made_ahead", ahead))
        yield


def shown_steps(encoder: Any, texts: list[str]) -> None:
    spent: dict[str, float] = defaultdict(float)
    with watched(spent):
        whole = timed(lambda: rc.encode(texts, encoder, cache=False))[0]
    seconds("rc.encode once more, with a clock on its steps", whole)
    for name, part in spent.items():
        seconds(f"  of that: {name}", part)


def library(device: str, model: str, texts: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model, device=device, local_files_only=True)
    texts = texts[: len(texts) // 10] if device != "cpu" else texts
    for size in (32, 256):
        loaded.encode(texts[:size], batch_size=size, show_progress_bar=False)
        spent = timed(lambda size=size: loaded.encode(texts, batch_size=size, show_progress_bar=False))[0]
        seconds(f"sentence-transformers' own encode of {len(texts):,} texts, batches of {size}", spent)


def with_cache(device: str, model: str, texts: list[str]) -> None:
    encoder = resolve_encoder(model, device=device)
    encoder.encode_batch(texts[:50])
    with tempfile.TemporaryDirectory() as place:
        seconds("rc.encode, float32, vectors kept on disk", timed(lambda: rc.encode(texts, encoder, cache=place))[0])


def main(count: int | None = None, rounds: int = 3) -> None:
    begin = time.perf_counter()
    device = os.environ.get("RECAPTURE_DEVICE") or best_device()
    with tempfile.TemporaryDirectory() as place:
        model, what = folder(place)
        count = count or COUNTS[device.partition(":")[0]]
        texts = real_texts(count)
        source = "WMT17 outputs" if texts else "made-up sentences"
        texts = texts or sentences(model, count)
        print(f"encoders: {what}, {device}, {torch.get_num_threads()} threads, {source}")
        made = {dtype: compare(device, model, dtype, texts, rounds) for dtype in ("float32", "bfloat16")}
        exact = made["float32"].astype(float)
        near = made["bfloat16"].astype(float)
        cosines = (exact * near).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(near, axis=1)
        print(
            f"  cosine of vectors by bfloat16 to those by float32: mean {cosines.mean():.5f}, least {cosines.min():.5f}"
        )
        library(device, model, texts)
        with_cache(device, model, texts)
        seconds("this benchmark, without imports", time.perf_counter() - begin)
