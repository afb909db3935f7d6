"""Batches by tokens, texts cut beside the model's work, other number types: the same vectors as one text at a time."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.representations import encoder_batches
from recapture.representations.batches import token_batches
from recapture.representations.encode import encode
from recapture.representations.encoder import resolve_encoder
from recapture.representations.encoder_batches import EncoderBatches, made_ahead
from recapture.representations.encoders import sentence
from recapture.representations.known_words import KnownWords
from recapture.representations.long_texts import LongTexts
from recapture.representations.vector_cache import VectorCache
from torch_devices import no_memory

_RNG = random.Random(5)
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree", "red", "and", "then", "was", "."]
TEXTS = [" ".join(_RNG.choices(WORDS, k=_RNG.randint(1, 30))) + f" {number}" for number in range(60)] + ["", "cat"]


def one_at_a_time(folder: Path, texts: list[str], dtype: str = "float32") -> np.ndarray:
    """Outside oracle: plain transformers, every text alone and so without padding, mean in float64."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
    with torch.no_grad():
        tokens = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in texts]
    return np.array([each.double().numpy().mean(axis=0) for each in tokens])


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> int:
    """Budgets so small that sixty texts need many batches and several portions."""
    monkeypatch.setattr(encoder_batches, "CPU_TOKENS", 96)
    monkeypatch.setattr(encoder_batches, "_BATCHES_AT_ONCE", 2)
    return 96


def shapes_seen(encoder: Any, work: Callable[[], object]) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    hook = encoder._model[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]["input_ids"].shape))
    work()
    hook.remove()
    return seen


def test_batches_hold_a_budget_of_tokens(tiny_bert: Path, small_batches: int) -> None:
    encoder: Any = resolve_encoder(tiny_bert)
    encode(["a"], encoder, cache=False)
    assert encoder._batches is not None
    vectors: list[np.ndarray] = []
    seen = shapes_seen(encoder, lambda: vectors.append(encode(TEXTS, encoder, cache=False)))
    assert max(rows * width for rows, width in seen) <= small_batches
    # Tokens by hand: a piece a word or full stop, and two special ones. Sorting keeps what is filled up small.
    tokens = sum(len(text.replace(".", " . ").split()) + 2 for text in TEXTS)
    assert tokens <= sum(rows * width for rows, width in seen) < 1.15 * tokens
    assert len(seen) < 2 * tokens / small_batches
    np.testing.assert_allclose(vectors[0], one_at_a_time(tiny_bert, TEXTS), atol=1e-5)
    few = shapes_seen(encoder, lambda: encode(TEXTS, encoder, batch_size=3, cache=False))
    assert max(rows for rows, _ in few) == 3


def test_words_are_cut_once(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder: Any = resolve_encoder(tiny_bert)
    vectors = encode(TEXTS, encoder, cache=False)
    monkeypatch.setattr(KnownWords, "_learn", lambda *_: pytest.fail("a known word is cut again"))
    np.testing.assert_array_equal(encode(TEXTS[::-1], encoder, cache=False), vectors[::-1])


def test_neither_order_nor_budget_changes_a_vector(tiny_bert: Path, small_batches: int) -> None:
    encoder = resolve_encoder(tiny_bert)
    vectors = encode(TEXTS, encoder, cache=False)
    order = np.random.default_rng(1).permutation(len(TEXTS))
    # Equal, not only near: batches are made of sorted texts.
    np.testing.assert_array_equal(encode([TEXTS[place] for place in order], encoder, cache=False), vectors[order])
    for batch_size in (1, 7):
        np.testing.assert_allclose(encode(TEXTS, encoder, batch_size=batch_size, cache=False), vectors, atol=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
def test_texts_are_filled_up_and_cut_off_as_the_library_does(side: str, with_modules: Callable[..., Path]) -> None:
    from sentence_transformers import SentenceTransformer

    folder = with_modules(side, "Pooling", "Dense", "Normalize")
    settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**settings, "padding_side": side, "truncation_side": side}), "utf-8"
    )
    prompts = {"prompts": {"own": "the red "}, "default_prompt_name": "own"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    encoder: Any = resolve_encoder(folder, truncate=True)
    texts = ["a cat sat on the mat", "dog", "the dog ran", "the red cat " + " ".join(TEXTS[:20])]
    vectors = encoder.encode_batch(texts)
    assert encoder._batches is not None
    library = SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(vectors[:3], library.encode(texts[:3], batch_size=3), atol=1e-5)
    np.testing.assert_allclose(vectors[3:], library.encode(texts[3:]), atol=1e-5)


@pytest.mark.parametrize("wrong", ["another vector", "an error"])
def test_where_the_fast_way_differs_the_library_encodes(
    wrong: str, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = EncoderBatches.all

    def differing(*arguments: Any) -> np.ndarray:
        if wrong == "an error":
            raise KeyError("what a module of the model asks for")
        return own(*arguments) * 1.01

    monkeypatch.setattr(EncoderBatches, "all", differing)
    encoder: Any = resolve_encoder(tiny_bert)
    vectors = encode(TEXTS, encoder, cache=False)
    assert encoder._batches is None
    np.testing.assert_allclose(vectors, one_at_a_time(tiny_bert, TEXTS), atol=1e-5)


def test_a_library_that_strips_blanks_encodes_by_itself(tmp_path: Path) -> None:
    """With a tokenizer that makes tokens of blanks, as those of decoders do, stripping changes vectors."""
    SentenceTransformer = pytest.importorskip("sentence_transformers").SentenceTransformer
    folder = byte_model(tmp_path / "bytes")
    texts = ["  a", "a", "b c\n"]
    plain: Any = resolve_encoder(folder)
    apart = encode(texts, plain, cache=False)
    assert plain._batches is not None and np.abs(apart[0] - apart[1]).max() > 0.01
    np.testing.assert_allclose(apart, plain._model.encode(texts), atol=1e-5)
    with pytest.MonkeyPatch.context() as patched:
        own = SentenceTransformer.encode
        patched.setattr(
            SentenceTransformer,
            "encode",
            lambda self, given, **options: own(self, [text.strip() for text in given], **options),
        )
        strips: Any = resolve_encoder(folder)
        stripped = encode(texts, strips, cache=False)
    assert strips._batches is None
    np.testing.assert_allclose(stripped[0], apart[1], atol=1e-5)


def byte_model(folder: Path) -> Path:
    """A tiny decoder: a token a byte, blanks too, no special tokens and none to fill up with."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    vocabulary = {token: at for at, token in enumerate(["<end>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    torch.manual_seed(3)
    settings = GPT2Config(
        vocab_size=len(vocabulary),
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.5,
    )
    GPT2Model(settings).save_pretrained(folder)
    return folder


def test_the_next_is_made_while_the_last_is_used() -> None:
    made: list[int] = []
    second = threading.Event()

    def make(number: int) -> int:
        made.append(threading.get_ident())
        if number == 1:
            second.set()
        return number * number

    results = made_ahead(make, range(5))
    assert next(results) == 0
    assert second.wait(30)  # though nobody has asked for it yet
    assert list(results) == [1, 4, 9, 16]
    assert threading.get_ident() not in made


def test_errors_and_early_ends_of_work_ahead() -> None:
    def make(number: int) -> int:
        if number == 2:
            raise InputError("no such number")
        return number

    results = made_ahead(make, range(5))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(InputError, match="no such number"):
        next(results)
    threads = {*threading.enumerate()}
    stopped: Iterator[int] = made_ahead(lambda number: number, range(1000))
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert not {*threading.enumerate()} - threads


@pytest.mark.parametrize("most", [None, 1, 4])
def test_token_batches_hold_every_row_once(most: int | None) -> None:
    lengths = [_RNG.randint(1, 50) for _ in range(200)]
    batches = list(token_batches(lengths, 120, most))
    assert sorted(place for batch in batches for place in batch) == list(range(200))
    for batch in batches:
        assert len(batch) <= (most or 200)
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= 120


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 200), st.one_of(st.none(), st.integers(1, 5)))
def test_token_batches_take_a_row_at_a_time(lengths: list[int], budget: int, most: int | None) -> None:
    """By hand, one row after another: what goes together decides the last digits of a processor's vectors."""
    expected: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        last = expected[-1] if expected else []
        fits = last and (len(last) + 1) * lengths[last[0]] <= budget and len(last) != most
        expected = [*expected[:-1], [*last, place]] if fits else [*expected, [place]]
    assert [batch.tolist() for batch in token_batches(lengths, budget, most)] == expected


def test_portions_grow_and_hold_every_text_once(tiny_bert: Path, small_batches: int) -> None:
    encoder: Any = resolve_encoder(tiny_bert)
    encoder.encode_batch(["a"])
    texts = sorted(TEXTS, key=len, reverse=True)
    portions = list(encoder._batches._portions(texts))
    assert [text for portion in portions for text in portion.texts] == texts
    assert [portion.start for portion in portions] == [0, *np.cumsum([len(each.texts) for each in portions])[:-1]]
    # Four characters a token, about, and one more a text: a portion ends with the text that makes it full.
    tokens = [sum(len(text) // 4 + 1 for text in portion.texts) for portion in portions]
    budgets = [small_batches] + [2 * small_batches] * (len(portions) - 1)
    for portion, made, budget in zip(portions[:-1], tokens, budgets, strict=False):
        assert made - (len(portion.texts[-1]) // 4 + 1) < budget <= made
    assert len(portions) > 2


@pytest.mark.parametrize("said", ["", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"])
def test_too_little_memory_means_smaller_batches(said: str, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """said: by a library of CUDA, on a device that other programs have filled."""
    import torch

    encoder: Any = resolve_encoder(tiny_bert)
    expected = encode(TEXTS, encoder, cache=False)
    own = EncoderBatches._forward
    most, refused = 100, []

    def limited(self: Any, batch: Any) -> Any:
        if batch.ids.numel() > most:
            refused.append(batch.ids.numel())
            raise RuntimeError(said) if said else torch.cuda.OutOfMemoryError("no memory")
        return own(self, batch)

    monkeypatch.setattr(EncoderBatches, "_forward", limited)
    np.testing.assert_allclose(encode(TEXTS, encoder, cache=False), expected, atol=1e-5)
    assert refused
    most = 20
    with pytest.raises(InputError, match=r"tiny-bert needs more memory than cpu has for a text of \d+ tokens"):
        encode(TEXTS, encoder, cache=False)


def test_too_little_memory_means_fewer_windows(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    encoder: Any = resolve_encoder(tiny_bert)
    long = [" ".join(["cat", "dog"] * count) for count in (40, 60, 90)]
    expected, own = encode(long, encoder, cache=False), LongTexts._forward

    def few(self: Any, rows: Any, seen: Any) -> int:
        if len(rows) > 3:
            raise torch.cuda.OutOfMemoryError("no memory")
        return own(self, rows, seen)

    monkeypatch.setattr(LongTexts, "_forward", few)
    np.testing.assert_allclose(encode(long, encoder, cache=False), expected, atol=1e-5)


LONG = [" ".join(["cat", "dog"] * count) for count in (40, 60, 90)]


class Full:
    """A device that has no room from some call of a function on, until an encoder leaves it. In a machine without a GPU
    that is the processor, if nobody asked for it.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, calls: int) -> None:
        own, leave = getattr(owner, name), sentence.SentenceEncoder._leave_device
        self.calls, self.refused, self.was_left = 0, 0, False

        def limited(*given: Any, **more: Any) -> Any:
            self.calls += 1
            if self.calls > calls and not self.was_left:
                self.refused += 1
                no_memory()
            return own(*given, **more)

        def leaving(encoder: Any) -> None:
            assert encoder._device is None
            self.was_left = True
            leave(encoder)
            assert encoder._device == "cpu"

        monkeypatch.setattr(owner, name, limited)
        monkeypatch.setattr(sentence.SentenceEncoder, "_leave_device", leaving)


@pytest.fixture(
    params=[
        ("torch.nn.Module.to", 0),  # not even the model has room
        ("EncoderBatches._forward", 0),
        ("EncoderBatches._forward", 12),  # some texts have their vectors by then
        ("LongTexts._forward", 0),
        ("LongTexts._forward", 2),  # some windows have been there
    ],
    ids=str,
)
def full(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, small_batches: int) -> Callable[[], Full]:
    import torch

    name, calls = request.param
    owners = {"torch.nn.Module": torch.nn.Module, "EncoderBatches": EncoderBatches, "LongTexts": LongTexts}
    owner, _, function = name.rpartition(".")
    return lambda: Full(monkeypatch, owners[owner], function, calls)


def test_texts_that_a_device_has_no_room_for_are_encoded_here(
    full: Callable[[], Full], tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = one_at_a_time(tiny_bert, TEXTS)
    in_windows = encode(LONG, tiny_bert, device="cpu", cache=False)
    device, encoder = full(), cast(Any, resolve_encoder(tiny_bert))
    threads = {*threading.enumerate()}
    vectors = encode([*TEXTS, *LONG], encoder, cache=tmp_path)
    assert device.refused and device.was_left and not {*threading.enumerate()} - threads
    np.testing.assert_allclose(vectors, [*expected, *in_windows], atol=1e-5)
    assert encoder._batches is not None
    refused = device.refused
    encode(["a dog"], encoder, cache=False)
    assert device.refused == refused  # it is not tried again
    # Where a vector was made is said nowhere: the cache has each once, for whatever device.
    monkeypatch.setattr(sentence.SentenceEncoder, "_load", lambda _: pytest.fail("a vector is made again"))
    np.testing.assert_array_equal(encode([*TEXTS, *LONG], tiny_bert, device="cpu", cache=tmp_path), vectors)


def test_a_device_that_was_asked_for_and_has_no_room_is_one_sentence(full: Callable[[], Full], tiny_bert: Path) -> None:
    device = full()
    with pytest.raises(InputError, match=r"tiny-bert .*CUDA out of memory. Tried to allocate 2.00 GiB") as said:
        encode([*TEXTS, *LONG], tiny_bert, device="cpu", cache=False)
    assert "\n" not in str(said.value) and "these sets" not in str(said.value) and not device.was_left


@pytest.mark.parametrize("wanted", [None, "cpu"])
@pytest.mark.parametrize("most", [5, 0])
def test_the_library_takes_fewer_texts_where_memory_does_not_suffice(
    most: int, wanted: str | None, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """most: texts that the device has room for; 0: the processor encodes, if nobody asked for the device."""
    monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    expected = encode([*TEXTS, *LONG], tiny_bert, cache=False)
    encoder: Any = resolve_encoder(tiny_bert, device=wanted)
    encoder.encode_batch(["a"])
    kind = type(encoder._model[0])
    own, refused = kind.forward, []

    def limited(self: Any, features: Any, **more: Any) -> Any:
        if encoder._device == wanted and len(features["input_ids"]) > most:
            refused.append(len(features["input_ids"]))
            no_memory()
        return own(self, features, **more)

    monkeypatch.setattr(kind, "forward", limited)
    if wanted is not None and not most:
        with pytest.raises(InputError, match=r"tiny-bert needs more memory than cpu has for a text: .* 2.00 GiB"):
            encode([*TEXTS, *LONG], encoder, cache=False)
    else:
        np.testing.assert_allclose(encode([*TEXTS, *LONG], encoder, cache=False), expected, atol=1e-5)
    assert refused and encoder._device == (wanted if most else "cpu")


def test_scores_of_texts_that_a_device_has_no_room_for(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask: dict[str, Any] = {"metrics": "mark-evaluate,mmd", "encoder": tiny_bert, "ceiling": False, "cache": False}
    expected = rc.evaluate(TEXTS[:30], {"c": TEXTS[30:]}, device="cpu", **ask)["c"]
    full = Full(monkeypatch, EncoderBatches, "_forward", 1)
    found = rc.evaluate(TEXTS[:30], {"c": TEXTS[30:]}, **ask)["c"]
    assert full.was_left
    for metric, result in expected.items():
        assert found[metric].values == pytest.approx(result.values, abs=1e-5)
        assert found[metric].signature == result.signature and found[metric].warnings == result.warnings
    full.was_left = False
    (tmp_path / "a.txt").write_text("\n".join(TEXTS[:30]))
    command = [
        "embed",
        str(tmp_path / "a.txt"),
        "-o",
        str(tmp_path / "a.npy"),
        "--encoder",
        str(tiny_bert),
        "--no-cache",
    ]
    assert run([*command, "--device", "cpu"]) == 2
    assert "needs more memory than cpu has for a text of" in capsys.readouterr().err
    assert run(command) == 0 and full.was_left
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), encode(TEXTS[:30], tiny_bert), atol=1e-5)


@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize("fast", [True, False])
def test_threads_may_share_an_encoder(
    fast: bool, truncate: bool, tiny_bert: Path, small_batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fast:
        monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    texts = [*TEXTS, *LONG]
    expected = encode(texts, resolve_encoder(tiny_bert, truncate=truncate), cache=False)
    encoder: Any = resolve_encoder(tiny_bert, truncate=truncate)
    own, loaded = sentence.SentenceEncoder._load, []
    monkeypatch.setattr(sentence.SentenceEncoder, "_load", lambda self: loaded.append(1) or own(self))
    with ThreadPoolExecutor(4) as pool:
        parts = [texts[number % 3 :] for number in range(24)]
        for part, vectors in zip(parts, pool.map(lambda part: encode(part, encoder, cache=False), parts), strict=True):
            np.testing.assert_allclose(vectors, expected[-len(part) :], atol=1e-5)
    assert loaded == [1] and (encoder._batches is not None) == fast


@pytest.mark.parametrize("fast", [True, False])
def test_threads_leave_a_device_together(fast: bool, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not fast:
        monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    expected = encode(TEXTS, tiny_bert, cache=False)
    encoder: Any = resolve_encoder(tiny_bert)
    encoder.encode_batch(["a"])
    place = (EncoderBatches, "_forward") if fast else (type(encoder._model[0]), "forward")
    own, there = getattr(*place), encoder._model[0]
    together = threading.Barrier(3, timeout=30)

    def limited(self: Any, *given: Any) -> Any:
        if (self._model[0] if fast else self) is not there:
            return own(self, *given)
        if fast:  # all of them have begun by then; the library takes one at a time
            with contextlib.suppress(threading.BrokenBarrierError):
                together.wait()
            together.abort()
        return no_memory()

    monkeypatch.setattr(*place, limited)
    with ThreadPoolExecutor(3) as pool:
        for vectors in pool.map(lambda _: encode(TEXTS, encoder, cache=False), range(3)):
            np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert encoder._device == "cpu"


def test_an_error_leaves_no_thread_behind(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch, small_batches: int) -> None:
    """Not even while somebody looks at it."""
    encoder: Any = resolve_encoder(tiny_bert)
    encoder.encode_batch(["a"])
    threads = {*threading.enumerate()}
    for error in (ValueError("broken"), KeyboardInterrupt()):
        monkeypatch.setattr(EncoderBatches, "_forward", lambda *_, error=error: (_ for _ in ()).throw(error))
        with pytest.raises(type(error)) as seen:
            encode(TEXTS, encoder, cache=False)
        assert seen.tb is not None and not {*threading.enumerate()} - threads


@pytest.mark.parametrize("dtype", ["bfloat16", "bf16", "float16"])
def test_half_precision_is_the_models_own(dtype: str, tiny_bert: Path) -> None:
    """As transformers computes it, one text at a time; and near to float32."""
    name = {"bf16": "bfloat16"}.get(dtype, dtype)
    vectors = encode(TEXTS, tiny_bert, dtype=dtype, cache=False)
    assert vectors.dtype == np.float32
    assert cosines(vectors, one_at_a_time(tiny_bert, TEXTS, name)).min() > 0.9995
    exact = encode(TEXTS, tiny_bert, cache=False)
    assert cosines(vectors, exact).min() > 0.999
    assert np.abs(vectors - exact).max() > 1e-5  # it is not float32 under another name
    assert resolve_encoder(tiny_bert, dtype=dtype).identity()["dtype"] == name


def test_an_int8_vector_depends_on_its_text_alone(tiny_bert: Path) -> None:
    """Inputs of layers are rounded on one scale for all rows, so that a batch of several texts would mix them."""
    encoder = resolve_encoder(tiny_bert, dtype="int8")
    texts = [*TEXTS, " ".join(["cat", "dog"] * 90)]
    vectors = encode(texts, encoder, cache=False)
    alone = np.concatenate([encode([text], encoder, cache=False) for text in texts])
    np.testing.assert_allclose(vectors, alone, atol=1e-6)


def test_int8_is_near_enough(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = encode(TEXTS, tiny_bert, cache=False)
    vectors = encode(TEXTS, tiny_bert, dtype="int8", cache=False)
    assert 0.98 < cosines(vectors, exact).min() < 0.99999
    monkeypatch.setattr(sentence, "check_device", lambda _: None)
    with pytest.raises(InputError, match="dtype int8 is for processors, not for device 'cuda': bfloat16 is fast there"):
        resolve_encoder(tiny_bert, dtype="int8", device="cuda")
    monkeypatch.setattr(sentence, "usable_device", lambda _: "mps")
    with pytest.raises(InputError, match="not for device 'mps'"):
        encode(["a"], tiny_bert, dtype="int8", cache=False)


def test_number_types_never_meet_in_the_cache(tiny_bert: Path) -> None:
    kinds = (None, "bfloat16", "int8")
    fresh = [encode(TEXTS, tiny_bert, dtype=dtype, cache=False) for dtype in kinds]
    for _ in range(2):
        for dtype, expected in zip(kinds, fresh, strict=True):
            np.testing.assert_array_equal(encode(TEXTS, tiny_bert, dtype=dtype), expected)
    assert VectorCache().summary().entries == len(kinds) * len(set(TEXTS))
    np.testing.assert_array_equal(encode(TEXTS, tiny_bert, dtype="float32"), fresh[0])
    assert VectorCache().summary().entries == len(kinds) * len(set(TEXTS))


def test_steps_behind_the_transformer_compute_in_float32(with_modules: Callable[..., Path]) -> None:
    folder = with_modules("dense", "Pooling", "Dense")
    exact, rounded = (encode(TEXTS, folder, dtype=dtype, cache=False) for dtype in (None, "bfloat16"))
    assert cosines(exact, rounded).min() > 0.999
    long = ["the cat sat " * 80]  # in windows
    exact, rounded = (encode(long, folder, dtype=dtype, cache=False) for dtype in (None, "bfloat16"))
    assert cosines(exact, rounded).min() > 0.999


def test_dtype_is_said_and_refused(tiny_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"dtype must be auto, float32, float16, bfloat16 .bf16. or int8, not"):
        encode(["a"], tiny_bert, dtype="float8")
    for wrong in ("bag-of-words", lambda texts: np.ones((len(texts), 2))):
        with pytest.raises(InputError, match="dtype"):
            encode(["a"], wrong, dtype="bfloat16")
    assert encode(["a"], "bag-of-words", dtype="float32", cache=False).shape == (1, 1)
    with pytest.raises(InputError, match="dtype was named, but the sets are vectors already"):
        rc.evaluate(np.eye(9), {"c": np.eye(9)}, dtype="bfloat16")
    texts = TEXTS[:20]
    found = rc.evaluate(texts, {"c": TEXTS[20:40]}, "mark-evaluate", encoder=tiny_bert, dtype="bf16", ceiling=False)
    assert found["c"]["mark-evaluate"].signature["encoder"]["dtype"] == "bfloat16"
    (tmp_path / "a.txt").write_text("\n".join(texts))
    shutil.copy(tmp_path / "a.txt", tmp_path / "b.txt")
    files = ["-r", str(tmp_path / "a.txt"), "-c", str(tmp_path / "b.txt")]
    options = ["--encoder", str(tiny_bert), "--format", "json", "--no-ceiling", "--metrics", "mmd"]
    assert run(["score", *files, *options, "--dtype", "bfloat16"]) == 0
    assert '"dtype": "bfloat16"' in capsys.readouterr().out
    assert run(["score", *files, *options, "--dtype", "half"]) == 2


def test_attention_needs_no_plan_for_every_shape(tiny_bert: Path) -> None:
    import torch

    encoder: Any = resolve_encoder(tiny_bert)
    encode(["a"], encoder, cache=False)
    before = torch.backends.cuda.cudnn_sdp_enabled()
    seen: list[bool] = []
    hook = encoder._model[0].register_forward_pre_hook(lambda *_: seen.append(torch.backends.cuda.cudnn_sdp_enabled()))
    encode(["a cat", "the red cat sat " * 40], encoder, cache=False)  # the second in windows
    hook.remove()
    assert len(seen) >= 2 and not any(seen)
    assert torch.backends.cuda.cudnn_sdp_enabled() == before


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_gpu_gives_the_processors_vectors(dtype: str, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_batches, "GPU_TOKENS", 256)  # several batches on their way at once
    expected = encode(TEXTS, tiny_bert, device="cpu", cache=False)
    vectors = encode(TEXTS, tiny_bert, device="cuda", dtype=dtype, cache=False)
    if dtype == "float32":
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert cosines(vectors, expected).min() > 0.999


@pytest.mark.gpu
def test_a_gpu_cuts_with_any_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_batches, "GPU_TOKENS", 256)
    folder = byte_model(tmp_path / "bytes")
    texts = [text[:60] or "a" for text in TEXTS]
    expected = encode(texts, folder, device="cpu", cache=False)
    np.testing.assert_allclose(encode(texts, folder, device="cuda", cache=False), expected, atol=1e-5)
