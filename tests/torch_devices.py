"""Where engines work: the same tests on the processor's threads, on torch's processor tensors, and on a GPU."""

from __future__ import annotations

import pytest

from recapture.geometry.parallel import engine

ON_TORCH = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
"""torch's own processor tensors take the same way as a GPU's."""


@pytest.fixture(params=[None, *ON_TORCH], ids=str)
def anywhere(request):
    """Here, and on every device: whatever is measured in the test."""
    if request.param is not None:
        pytest.importorskip("torch")
    with engine(accelerator=request.param):
        yield request.param


@pytest.fixture(params=ON_TORCH)
def there(request):
    """On every device."""
    pytest.importorskip("torch")
    with engine(accelerator=request.param):
        yield request.param


def short_of_memory(monkeypatch, module, most):
    """A device on which `module` can list at most so many pairs at once; the numbers that were asked for."""
    torch = pytest.importorskip("torch")
    asked = []

    def listed(block, room, there=module.listed):
        asked.append(room)
        if room > most:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return there(block, room)

    monkeypatch.setattr(module, "listed", listed)
    return asked


def unasked_beside_models(monkeypatch):
    """A device that compares what models make, though nobody asked for it."""
    from recapture.representations import masked, words

    for module in (masked, words):
        monkeypatch.setattr(module, "accelerator_beside", lambda device: "cpu")


def no_memory(*_, **__):
    torch = pytest.importorskip("torch")
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
