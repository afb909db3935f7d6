"""Which device looks for neighbours: asked for, found, refused."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.geometry import device_spheres, devices, near_pairs
from recapture.geometry.device_triangles import observed_on
from recapture.geometry.parallel import engine, engine_options
from recapture.pairs.greedy import token_table_on
from recapture.representations.words import WordStore
from torch_devices import ON_TORCH, short_of_memory

A, B = np.random.default_rng(0).standard_normal((2, 40, 3))
FUNCTIONS = {
    "one metric": lambda device: rc.precision_recall(A, B, device=device).values,
    "evaluate": lambda device: rc.evaluate(A, {"b": B}, "mark-evaluate", device=device)["b"]["mark-evaluate"].values,
    "compare": lambda device: rc.compare(A, {"b": B, "a": A}, "mmd", device=device, ceiling=False).ranks,
    "diagnose": lambda device: [row.index for row in rc.diagnose(A, B, device=device).invented],
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_cannot_be_used_is_refused_everywhere(function, monkeypatch):
    torch = pytest.importorskip("torch")
    assert function("cpu") == function("auto") == function(None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(rc.InputError, match="device 'cuda' cannot be used here: PyTorch finds no CUDA device"):
        function("cuda")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for kind in ("mps", "npu:1"):  # the second is of a package that is not there
        told = f"device '{kind}' cannot be used here: PyTorch finds no {kind[:3].upper()} device"
        with pytest.raises(rc.InputError, match=told):
            function(kind)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert function("mps") == function("cpu")  # it encodes texts, and there are none
    for wrong in ("gpu", "cuda:x", "", 3):
        with pytest.raises(rc.InputError, match="cannot be used here: no such kind of device is known"):
            function(wrong)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(rc.InputError, match="'cuda:1' cannot be used here: there is 1"):
        function("cuda:1")


def test_commands_refuse_a_gpu_that_is_not_there(tmp_path, monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", A)
    np.save("b.npy", B)
    assert run(["score", "-r", "a.npy", "-c", "b.npy", "--device", "cuda", "-o", "made.json"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and "PyTorch finds no CUDA device" in said.err
    assert not (tmp_path / "made.json").exists()


def test_large_sets_go_where_a_gpu_is(monkeypatch):
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    large = 1 << 15
    assert devices.accelerator_for(large, large) == "cuda" and devices.accelerator_for(large, large - 1) is None
    with engine(device="cpu"):
        assert devices.accelerator_for(large, large) is None
    with engine(device="cuda:1"):
        assert devices.accelerator_for(2, 2) == "cuda:1"
    with engine(device="mps"):  # no float64 there, so it encodes alone
        assert devices.accelerator_for(large, large) is None
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: False)
    assert devices.accelerator_for(large, large) is None


def test_a_torch_that_cannot_be_loaded_is_not_taken_unasked(monkeypatch):
    monkeypatch.setattr(devices.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert not devices._cuda_is_there.__wrapped__()


def test_where_memory_does_not_suffice_less_is_held_at_once(monkeypatch):
    expected = rc.precision_recall(A, B).values
    asked = short_of_memory(monkeypatch, device_spheres, 1 << 21)
    with engine(accelerator="cpu"):
        assert rc.precision_recall(A, B).values == expected
    assert max(asked) == 1 << 27 and asked[-1] == 1 << 21


def test_where_memory_never_suffices(monkeypatch):
    expected = rc.mark_evaluate(A, B).values
    asked = short_of_memory(monkeypatch, device_spheres, 0)
    with engine(accelerator="cpu"), pytest.raises(rc.InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        rc.mark_evaluate(A, B)
    assert min(asked) == 1 << 20
    # Nobody asked for the device: then the processor does it.
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    monkeypatch.setattr(devices, "_WORTH", 1)
    monkeypatch.setattr(devices, "_AUTO", "cpu")
    assert rc.mark_evaluate(A, B, device="auto").values == expected


def test_whatever_finds_no_memory_is_one_sentence_or_the_processors():
    """Not only what is done again in smaller parts: sets themselves, labels, centres."""
    torch = pytest.importorskip("torch")

    def work(device):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    assert devices.tried_on("cpu", work) is None
    for asked in ({"accelerator": "cpu"}, {"device": "cuda"}):
        with engine(**asked), pytest.raises(rc.InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
            devices.tried_on("cpu", work)


@pytest.mark.parametrize(
    "said",
    [
        "CUDA error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "MPS backend out of memory (MPS allocated: 17.9 GB, other allocations: 2.1 MB, max allowed: 18.1 GB)",
    ],
)
def test_libraries_that_find_no_memory_say_so_in_their_own_way(said):
    """As they do on a device that other programs have filled."""
    pytest.importorskip("torch")

    def work(size):
        if size > 2:
            raise RuntimeError(said)
        return size

    assert devices.within_memory(work, 8, 1) == 2
    with pytest.raises(rc.InputError, match="memory does not suffice"):
        devices.within_memory(work, 8, 3)
    with pytest.raises(RuntimeError, match="sizes do not match"):
        devices.within_memory(lambda _: (_ for _ in ()).throw(RuntimeError("sizes do not match")), 8, 1)


def test_word_vectors_that_find_no_memory_are_one_sentence():
    torch = pytest.importorskip("torch")

    class Full:
        def transpose(self, *_):
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

        __getitem__ = transpose

    store = object.__new__(WordStore)
    store._kept = {"text": SimpleNamespace(vectors=Full())}
    for work in (
        lambda: store.table(["text"], [0]),
        lambda: token_table_on(SimpleNamespace(vectors=Full()), [np.ones(1)]),
    ):
        with pytest.raises(rc.InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
            work()


@pytest.mark.parametrize("problem", [None, RuntimeError("Failed to find C compiler.")], ids=str)
def test_kernels_that_cannot_be_compiled_are_left_to_torch(problem, monkeypatch):
    """As in many containers, which have Triton and no compiler."""
    pytest.importorskip("torch")

    def exact_squared(*_):
        if problem is not None:
            raise problem

    kernels = SimpleNamespace(exact_squared=exact_squared)
    monkeypatch.setitem(sys.modules, "recapture.geometry.triton_pairs", kernels)
    assert near_pairs._triton.__wrapped__("cpu") is (kernels if problem is None else None)


def test_kernels_that_find_no_memory_are_tried_again(monkeypatch):
    """What is decided once must not depend on what else is on the device."""
    pytest.importorskip("torch")

    def exact_squared(*_):
        raise RuntimeError("CUDA error: out of memory")

    monkeypatch.setitem(sys.modules, "recapture.geometry.triton_pairs", SimpleNamespace(exact_squared=exact_squared))
    with pytest.raises(RuntimeError, match="out of memory"):
        near_pairs._triton.__wrapped__("cpu")


def test_tensors_say_where(monkeypatch):
    class Tensor:
        device = "cuda:1"
        detach = None

    Tensor.__module__ = "torch"
    assert devices._lying_on((A, {"b": Tensor()})) == "cuda:1"
    assert devices._lying_on((A, B, "cuda:1", None)) is None


@pytest.mark.parametrize("changed", [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a.astype(">f4")[::-1, ::-1]])
def test_arrays_that_run_backwards(changed, there):
    """Repeated rows, too: NumPy's choices of rows run backwards as their arrays do."""
    a, b = (changed(np.vstack([each, each[:5]])) for each in (A, B))
    copies = [np.ascontiguousarray(each.astype(each.dtype.newbyteorder("="))) for each in (a, b)]
    assert all(each.strides != copy.strides for each, copy in zip((a, b), copies, strict=True))
    np.testing.assert_array_equal(devices.to_device(a, "cpu").numpy(), copies[0])
    for measure in (rc.precision_recall, rc.mmd, rc.frechet):
        assert measure(a, b).values == pytest.approx(measure(*copies).values, rel=1e-9)
    distances = np.abs(a[:9, :1] - a[None, :9, 0]).astype(np.float64)
    backwards = np.ascontiguousarray(distances[::-1, ::-1])[::-1, ::-1]
    for single in ([0, 1, 2], [5]):
        sides = np.array(single), np.setdiff1d(np.arange(9), single)
        np.testing.assert_array_equal(observed_on(there, backwards, *sides), observed_on(there, distances, *sides))


@pytest.mark.gpu
def test_tensors_on_a_device_are_looked_at_there():
    import torch

    there = [torch.as_tensor(values).cuda() for values in (A, B)]
    assert rc.precision_recall(*there).values == rc.precision_recall(A, B).values


class Looped:
    """What the fused pass does, one pair at a time."""

    @staticmethod
    def near_words(block, start, stop, words, bits):
        found = {}
        for row in range(start, stop):
            for column in range(block.same_until > row and row + 1, len(block.columns.half)):
                product = float(block.rows.half[row] @ block.columns.half[column])
                near = product - block.columns.term[column] >= block.row_threshold[row]
                if near or product - block.rows.term[row] >= block.column_threshold[column]:
                    place = (row << 32) | (column - column % 32)
                    found[place] = found.get(place, 0) | 1 << column % 32
        for place, (word, flags) in enumerate(found.items()):
            if place < len(words):
                words[place], bits[place] = word, flags - (1 << 32) * (flags >> 31)
        return len(found)


@pytest.mark.parametrize("most", [10_000, 60, 3])
def test_words_of_the_fused_pass_become_pairs(most):
    """Most pairs are near, so that words have many bits, the last one among them."""
    torch = pytest.importorskip("torch")
    from recapture.geometry.half_rows import half_rows

    half = half_rows(torch.as_tensor(A), torch.zeros(3, dtype=torch.float64), 0.125)
    limit = half.threshold(torch.full((len(A),), 5.0, dtype=torch.float64))
    for same_until in (0, len(A)):
        block = near_pairs.Block(half, limit, half, limit, same_until)
        room = near_pairs.PairRoom(block, most)
        expected, pairs = near_pairs.near_pairs(block, 3, 40, room)
        room.kernels = Looped
        room.words, room.bits = torch.empty(most, dtype=torch.int64), torch.empty(most, dtype=torch.int32)
        found, keys = near_pairs.near_pairs(block, 3, 40, room)
        assert (keys is None) == (pairs is None) == (expected > most)
        if keys is not None:
            assert found == expected and keys.sort().values.equal(pairs.sort().values)


@pytest.mark.parametrize("device", ON_TORCH)
def test_places_that_are_repeated_without_copies(device):
    """A panel of one row: its place, repeated by torch, is one number in memory, and others follow it."""
    torch = pytest.importorskip("torch")
    values = torch.as_tensor(A, device=device)
    every = torch.arange(len(A), device=device)
    found = device_spheres.exact_squared(values, every[7:8].expand(len(A)), values, every)
    np.testing.assert_allclose(found.cpu().numpy(), ((A[7] - A) ** 2).sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize("device", [None, "cuda"])
def test_what_is_done_meanwhile(device):
    """Under the same options, whether a device works or not."""
    with engine(threads=8):
        assert devices.meanwhile(device, lambda: engine_options().thread_count())() == 8


def test_errors_of_what_is_done_meanwhile():
    waiting = devices.meanwhile("cuda", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        waiting()
