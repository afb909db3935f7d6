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
