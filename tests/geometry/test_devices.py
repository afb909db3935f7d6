"""Which device looks for neighbours: asked for, found, refused."""

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.geometry import devices
from recapture.geometry.parallel import engine

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
