"""cuDNN's attention is left alone outside, whatever happens inside."""

import pytest

from recapture.representations.attention import ready_attention


@pytest.mark.parametrize("before", [True, False])
def test_what_was_set_is_set_again(before, monkeypatch):
    cuda = pytest.importorskip("torch").backends.cuda
    usual = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(before)
    try:
        with pytest.raises(ZeroDivisionError), ready_attention():
            assert not cuda.cudnn_sdp_enabled()
            _ = 1 / 0
        assert cuda.cudnn_sdp_enabled() == before
    finally:
        cuda.enable_cudnn_sdp(usual)
