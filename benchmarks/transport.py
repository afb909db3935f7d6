"""Many small transport problems, and MoverScore on given vectors, against a plain loop over ot.emd2."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.timing import ratio, seconds, side_by_side

_WIDTH = 384
_LAYERS = 5
_SIZES = {"10 to 60": (10, 60, 400), "30": (30, 30, 400), "60": (60, 60, 200), "512": (512, 512, 4)}


def _vectors(rng: np.random.Generator, sizes: tuple[int, int]) -> list[np.ndarray]:
    """Two texts of made-up words, six in ten of the second taken from the first, each in a context of its own."""
    words = rng.standard_normal((300, _WIDTH))
    shares = 1 / np.arange(1, 301)
    first, second = (rng.choice(300, size, p=shares / shares.sum()) for size in sizes)
    places = np.arange(sizes[1]) * sizes[0] // sizes[1]
    second = np.where(rng.random(sizes[1]) < 0.6, first[places], second)
    common = rng.standard_normal(_WIDTH)  # contextual vectors share a direction
    return [
        (common + words[text] + 0.5 * rng.standard_normal((_LAYERS, len(text), _WIDTH))).astype(np.float32)
        for text in (first, second)
    ]


def _power_means(vectors: np.ndarray) -> np.ndarray:
    return np.concatenate([vectors.mean(0), vectors.max(0), vectors.min(0)], axis=1).astype(np.float64)


def _unit(vectors: np.ndarray) -> np.ndarray:
    made: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return made


def main() -> None:
    import ot
    from scipy.spatial.distance import cdist

    from recapture.geometry.parallel import engine, engine_options
    from recapture.geometry.transport import Problem, transport_costs
    from recapture.pairs.metrics.moverscore import PieceTable, mover_costs

    print(f"transport, {engine_options().thread_count()} threads, POT {ot.__version__}")
    rng = np.random.default_rng(0)
    for name, (low, high, count) in _SIZES.items():
        problems = []
        for _ in range(count):
            n, m = rng.integers(low, high + 1, 2)
            sides = [_power_means(vectors) for vectors in _vectors(rng, (n, m))]
            one, other = map(_unit, sides)
            a, b = rng.random(n) + 0.1, rng.random(m) + 0.1
            problems.append(Problem(cdist(one, other), a / a.sum(), b / b.sum()))

        def loop(problems: list[Problem] = problems) -> np.ndarray:
            return np.array([ot.emd2(rows, columns, costs) for costs, rows, columns in problems])

        def ours(problems: list[Problem] = problems) -> np.ndarray:
            return transport_costs(problems.__getitem__, len(problems), metric=True)

        def ours_alone(problems: list[Problem] = problems) -> np.ndarray:
            with engine(threads=1):
                return transport_costs(problems.__getitem__, len(problems), metric=True)

        off = float(np.abs(loop() - ours()).max())
        best = side_by_side({"loop": loop, "ours": ours, "alone": ours_alone}, rounds=7)
        bar = ">= 3" if name == "10 to 60" else "none"
        per_problem = 1e6 * best["ours"] / count
        ratio(f"{name}: loop / ours ({per_problem:.0f} us each; off by {off:.0e})", best["loop"] / best["ours"], bar)
        ratio(f"{name}: the same, one thread", best["loop"] / best["alone"], "none")

    texts = [_vectors(rng, (int(n), int(m))) for n, m in rng.integers(10, 61, (200, 2))]
    weights = [[rng.random(vectors.shape[1]) + 0.1 for vectors in pair] for pair in texts]

    def script(distances: Any) -> np.ndarray:
        """What a script does: power means, unit vectors, distances and ot.emd2, pair by pair."""
        found = []
        for pair, (a, b) in zip(texts, weights, strict=True):
            one, other = (_unit(_power_means(vectors)) for vectors in pair)
            found.append(ot.emd2(a / a.sum(), b / b.sum(), distances(one, other, metric="euclidean")))
        return 1 - np.array(found)

    given = [PieceTable(*one) for pair in zip(texts, weights, strict=True) for one in zip(*pair, strict=True)]
    places = [(2 * number, 2 * number + 1) for number in range(len(texts))]

    def whole() -> np.ndarray:
        return 1 - mover_costs(given, places, 1)

    off = float(np.abs(script(cdist) - whole()).max())
    print(f"MoverScore on vectors given, 200 pairs of 10 to 60 pieces (off by {off:.0e})")
    best = side_by_side(
        {"with ot.dist": lambda: script(ot.dist), "with SciPy's cdist": lambda: script(cdist), "ours": whole}, rounds=7
    )
    for name in ("with ot.dist", "with SciPy's cdist"):
        ratio(f"a loop over ot.emd2 {name} / ours", best[name] / best["ours"], ">= 3")
    seconds("1,000 such pairs", best["ours"] * 1000 / len(texts))


if __name__ == "__main__":
    main()
