"""What the Mark-Evaluate paper prints for WMT 2017: Pearson correlations of systems' scores with people's."""

from __future__ import annotations

_PAIRS = ("cs-en", "de-en", "ru-en", "tr-en", "zh-en")


def _row(*numbers: float) -> dict[str, float]:
    return dict(zip(_PAIRS, numbers, strict=True))


BEST_K = {
    "me-words capture": _row(0.987, 0.953, 0.908, 0.959, 0.936),
    "me-words petersen": _row(0.988, 0.953, 0.908, 0.960, 0.936),
    "me-words quality": _row(0.989, 0.944, 0.902, 0.970, 0.957),
    "pr-words precision": _row(0.987, 0.934, 0.896, 0.959, 0.933),
    "bertscore f1": _row(0.966, 0.859, 0.868, 0.938, 0.894),
    "moverscore": _row(0.983, 0.920, 0.921, 0.931, 0.943),
}
"""Table 2; PRD, which the paper has as well, is left out."""

DEFAULT_K = {
    "me-words capture": _row(0.971, 0.953, 0.897, 0.929, 0.936),
    "me-words petersen": _row(0.970, 0.953, 0.895, 0.917, 0.936),
    "me-words quality": _row(0.975, 0.940, 0.887, 0.917, 0.957),
    "pr-words precision": _row(0.981, 0.934, 0.888, 0.941, 0.895),
}
"""Table 6."""

SEPARATE = {
    "me-words capture": 0.963,
    "me-words petersen": 0.958,
    "me-words quality": 0.951,
    "me-words diversity": 0.960,
}
"""Another implementation with all-MiniLM-L6-v2, K = 1, text as stored: mean over five language pairs."""
