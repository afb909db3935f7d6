"""InfoLM beside its model's own forward on the same batches, what half precision does to scores, and lists of alpha.

    python -m benchmarks infolm_device [--pairs 3000] [--profile]

The forward is timed on tensors that lie ready on the device, rows of one length together, once with the savings of
recapture (the last layer and the vocabulary in the masked place alone) and once as the model comes. InfoLM goes from
texts to scores: cutting, masking, distributions, measures. Where the default model is not installed, one of its shape
with random weights and made-up words stands for it. On CUDA where there is one, else on the processor. --profile also
says where the time of this program and of the device goes.
"""

from __future__ import annotations

import argparse
import functools
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from recapture.errors import InputError
from recapture.pairs.evaluate import Shared, aligned_texts, measured_pairs
from recapture.pairs.metrics.infolm import METRIC
from recapture.representations.batches import GPU_TOKENS
from recapture.representations.masked import MaskedStore
from recapture.representations.masked_device import batches

from .timing import ratio, seconds

LISTED = [0.25, 0.5, 0.75, 1.5, 2.0]


def made_model(folder: Path) -> str:
    """A BERT of MiniLM's shape: random weights, a vocabulary of made-up words."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    listed = [*special, *["the", "and", "a", "was", "then", "on", "in", "of", "to", "is", "."], *made_words()]
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(listed)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True))
    tokens = {f"{name}_token": token for name, token in names.items()}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **tokens).save_pretrained(folder)
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=len(listed), hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
        initializer_range=0.05,  # wider than usual, so that answers differ from text to text
    )  # fmt: skip
    BertForMaskedLM(settings).save_pretrained(folder, safe_serialization=True)
    return str(folder)


def made_words() -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    rng = random.Random(0)
    found: dict[str, None] = {}
    while len(found) < 30_500:
        found["".join(rng.choices(letters, k=rng.randint(3, 7)))] = None
    return list(found)


class Bench:
    def __init__(self, model: str | None, device: str, pairs: int) -> None:
        self.device, self.model, self.pairs = device, model, pairs
        self.loaded: dict[str | None, Any] = {}
        known = self.store().model.tokenizer._tokenizer.get_vocab()
        words = (word for word in known if word.isascii() and word.isalpha() and len(word) > 2)
        self.words = sorted(words, key=known.__getitem__)[:4000]

    @functools.cache  # noqa: B019 - texts are no part of what is timed
    def sentences(self, seed: int) -> tuple[list[str], list[str]]:
        """References of 15 to 35 words (on a processor 8 to 16), and candidates with a quarter of the words changed."""
        rng = random.Random(seed)
        shortest, longest = (15, 35) if self.device != "cpu" else (8, 16)
        originals = [rng.choices(self.words, k=rng.randint(shortest, longest)) for _ in range(self.pairs)]
        changed = [[rng.choice(self.words) if rng.random() < 0.25 else word for word in text] for text in originals]
        cut = [text[: rng.randint(shortest, longest)] for text in changed]
        return [" ".join(text) for text in originals], [" ".join(text) for text in cut]

    def store(self, dtype: str | None = None) -> MaskedStore:
        """Nothing kept, but the model loaded once."""
        made = MaskedStore(self.model, device=self.device, dtype=dtype, offline=True, cache=False)
        made.model = self.loaded.setdefault(dtype, made.model)
        return made

    def shared(self, dtype: str | None = None) -> Shared:
        shared = Shared(None, self.model, device=self.device, dtype=dtype, offline=True, cache=False)
        shared._masked[self.model or ""] = self.store(dtype)
        return shared

    def score(self, seed: int, dtype: str | None = None, **parameters: Any) -> Any:
        texts = aligned_texts(*self.sentences(seed))
        return measured_pairs([(METRIC, parameters)], texts, None, self.shared(dtype)).results["candidate"]["infolm"]

    def ready(self, seed: int) -> list[tuple[Any, Any]]:
        """All rows of all texts, masked, on the device."""
        import torch

        store = self.store()
        references, candidates = self.sentences(seed)
        pieces = store._cut([*references, *candidates])
        nowhere = np.zeros(len(pieces), np.int64)  # vectors are not kept
        tokens = GPU_TOKENS if self.device != "cpu" else 2048
        ready = []
        parts = store.as_windows(pieces.values())
        for ids, owner, place, _ in batches(parts, nowhere, tokens, torch.device(self.device)):
            masked = ids[owner]
            masked.scatter_(1, place[:, None], int(store.model.tokenizer.mask or 0))
            ready.append((masked, place))
        return ready

    def forward(self, ready: list[tuple[Any, Any]], dtype: str | None = None) -> Callable[[], Any]:
        model = self.store(dtype).model

        def run() -> None:
            with model.computing():
                made = [model.head_tensor(ids, None, place) for ids, place in ready]
            for vectors in made:
                model.logits_there(vectors)

        return run

    def plain_forward(self, ready: list[tuple[Any, Any]]) -> Callable[[], Any]:
        model = self.store().model
        whole = model._load().float().eval().to(self.device)

        def run() -> None:
            with model.computing():
                for ids, _ in ready:
                    whole(input_ids=ids)

        return run

    def timed(self, work: Callable[[], Any]) -> float:
        self.wait()
        begun = time.perf_counter()
        work()
        self.wait()
        return time.perf_counter() - begun

    def wait(self) -> None:
        if self.device != "cpu":
            import torch

            torch.cuda.synchronize()


def turns(bench: Bench, jobs: dict[str, Callable[[], Any]], rounds: int) -> list[float]:
    """Least seconds of each job, which are printed; jobs take turns."""
    taken = [[bench.timed(job) for job in jobs.values()] for _ in range(rounds)]
    best = [min(each) for each in zip(*taken, strict=True)]
    for name, value in zip(jobs, best, strict=True):
        seconds(name, value)
    return best


def main(rounds: int = 2) -> None:
    import torch

    parser = argparse.ArgumentParser("python -m benchmarks infolm_device")
    parser.add_argument("benchmark", nargs="*")
    parser.add_argument("--pairs", type=int, help="by default 3000 on CUDA, 8 on the processor")
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = options.pairs or (3000 if device == "cuda" else 8)
    with tempfile.TemporaryDirectory() as folder:
        model: str | None = None
        try:
            _ = MaskedStore(None, device=device, offline=True, cache=False).model.width
        except InputError as error:
            print(f"  {error}\n  so a model of its shape with random weights is used", flush=True)
            model = made_model(Path(folder))
        bench = Bench(model, device, pairs)
        ready = bench.ready(1)
        throughput(bench, ready, rounds)
        lists(bench, rounds)
        precision(bench, ready)
        if options.profile:
            profiled(bench)


def throughput(bench: Bench, ready: list[tuple[Any, Any]], rounds: int) -> None:
    tokens = sum(ids.numel() for ids, _ in ready)
    rows = sum(len(ids) for ids, _ in ready)
    print(f"InfoLM on {bench.device}, {bench.pairs:,} pairs, {rows:,} masked rows, {tokens:,} tokens", flush=True)
    seconds("the first call, in which libraries load", bench.timed(lambda: bench.score(0)))
    texts = [text for side in bench.sentences(1) for text in side]
    jobs = {
        "cutting texts into pieces": lambda: bench.store().pieces(texts),
        "the model's forward, ready tensors, masked place alone": bench.forward(ready),
        "the model's whole forward, ready tensors": bench.plain_forward(ready),
        "InfoLM from texts to scores": lambda: bench.score(1),
    }
    _, forward, plain, ours = turns(bench, jobs, rounds)
    ratio("share of the forward's throughput", forward / ours, "at least 0.80")
    ratio("share of the whole forward's throughput", plain / ours, "at least 0.80")
    print(f"  {'tokens a second through InfoLM':<66} {tokens / ours:12,.0f}", flush=True)


def lists(bench: Bench, rounds: int) -> None:
    print("alpha and beta lists", flush=True)
    measures: dict[str, Any] = {"measure": ["renyi", "ab"], "beta": [0.5, 1.0]}
    jobs = {
        "renyi and ab at one alpha, one beta": lambda: bench.score(1, **{**measures, "alpha": 0.5, "beta": 0.5}),
        f"renyi and ab at {len(LISTED)} alphas, 2 betas: 15 numbers": lambda: bench.score(1, **measures, alpha=LISTED),
    }
    one, several = turns(bench, jobs, rounds)
    ratio("15 numbers / 2 numbers", several / one, "none; 7.5x would be one pass each")


def precision(bench: Bench, ready: list[tuple[Any, Any]]) -> None:
    """What half precision does to scores, and to the time of the forward: each once, float32 takes longest."""
    exact = bench.score(1, "float32")
    print(f"beside float32, scores of {bench.pairs:,} pairs from {exact.scores.min():.3f} to {exact.scores.max():.3f}",
          flush=True)  # fmt: skip
    for dtype in ("bfloat16", "float16"):
        half = bench.score(1, dtype)
        apart = np.abs(half.scores - exact.scores)
        places = [np.argsort(np.argsort(each.scores)) for each in (exact, half)]
        for what, value in (
            ("difference of the mean", f"{half.value - exact.value:12.2e}"),
            ("mean difference of a score", f"{apart.mean():12.2e}"),
            ("largest difference of a score", f"{apart.max():12.2e}"),
            ("largest, of the scores' standard deviation", f"{apart.max() / exact.scores.std():12.2e}"),
            ("correlation of ranks", f"{np.corrcoef(*places)[0, 1]:12.6f}"),
        ):
            print(f"  {dtype + ': ' + what:<66} {value}", flush=True)
    turns(bench, {f"forward, {name}": bench.forward(ready, name) for name in ("float32", "bfloat16")}, 1)


def profiled(bench: Bench) -> None:
    """Where this program's own time goes while the device works."""
    import cProfile
    import io
    import pstats

    profile = cProfile.Profile()
    profile.runcall(bench.score, 1)
    written = io.StringIO()
    pstats.Stats(profile, stream=written).sort_stats("tottime").print_stats(14)
    print("\n".join(line[:110] for line in written.getvalue().splitlines() if line.strip()), flush=True)
    if bench.device != "cpu":
        kernels(bench)


def kernels(bench: Bench) -> None:
    """Where the device's time goes."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        bench.score(1)
        bench.wait()
    listed = found.key_averages().table(sort_by="self_cuda_time_total", row_limit=14, max_name_column_width=60)
    print("\n".join(line[:150] for line in listed.splitlines()), flush=True)
