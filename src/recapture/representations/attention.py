"""Which of torch's ways to attend is taken on a GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def ready_attention() -> Iterator[None]:
    """Inside, attention is computed by kernels that are there already.

    cuDNN's, which newer releases of torch prefer on newer GPUs, are planned anew for every shape: 15 ms each were seen
    on an H200. Batches of texts have hundreds of shapes, so that the first call took seconds that no later one needed.
    """
    import torch

    cuda: Any = torch.backends.cuda
    if not hasattr(cuda, "enable_cudnn_sdp") or not cuda.cudnn_sdp_enabled():
        yield
        return
    cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        cuda.enable_cudnn_sdp(True)
