"""Triangle ranks on a device: whole numbers, against loops over fractions, and the processor's own."""

import numpy as np
import pytest
from brute_force import all_credits

import recapture as rc
from recapture.geometry import device_triangles as module
from recapture.geometry import devices, triangle_moments, triangles
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine

torch = pytest.importorskip("torch")
ACCELERATORS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
TILES = [1 << 28, 1 << 9, 1]


def squares(seed, groups, points, top, symmetric):
    """Few different numbers, so that edges tie everywhere; next numbers of float64 in one case, so that they do not."""
    made = np.random.default_rng(seed).integers(0, top, (groups, points, points))
    made = (made + made.transpose(0, 2, 1) if symmetric else made) + 0.5
    made = made if top > 3 else 1 + 2.0**-52 * made
    made[:, np.arange(points), np.arange(points)] = 0
    return made


def labellings(seed, count, points, references):
    """The observed one first."""
    rng = np.random.default_rng(seed)
    rows = rng.permuted(np.broadcast_to(np.arange(points), (count, points)), axis=1)
    rows[0] = np.arange(points)
    return Labels(rows < references, rows >= references)


def sixths(earned, candidates, references):
    """(2, 3) by definition."""
    counted = np.zeros((2, 3), int)
    for (single, one, other), credit in earned.items():
        for side, (alone, paired) in enumerate(((candidates, references), (references, candidates))):
            if alone[single] and paired[one] and paired[other]:
                counted[side] += [int(6 * each) for each in credit]
    return counted


@pytest.fixture(params=TILES)
def tile(request, monkeypatch):
    monkeypatch.setattr(module, "_CELLS", request.param)


@pytest.mark.parametrize("accelerator", ACCELERATORS)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("ties", ["split", "paper"])
@pytest.mark.parametrize("points, references, top", [(7, 3, 4), (8, 5, 3), (6, 5, 50)])
def test_against_fractions(points, references, top, ties, symmetric, accelerator, tile):
    distances = squares(points, 3, points, top, symmetric)
    labels = labellings(1, 9, points, references)
    with engine(accelerator=accelerator):
        found = triangles.counts_under(distances, labels, ties)
        observed = [triangles.observed_counts(square, references, ties) for square in distances]
    for square, counted, first in zip(distances, found, observed, strict=True):
        earned = all_credits(square.tolist(), ties)
        expected = [sixths(earned, *each) for each in zip(labels.candidate, labels.reference, strict=True)]
        np.testing.assert_array_equal(counted, expected)
        np.testing.assert_array_equal(first, expected[0])


@pytest.mark.parametrize("accelerator", ACCELERATORS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_moments_are_the_processors(symmetric, accelerator, tile):
    """To the last digit: both add up the same whole numbers (the moments themselves: test_triangle_moments)."""
    for points, top in ((9, 4), (23, 6), (30, 10**6)):
        distances = squares(points, 1, points, top, symmetric)[0]
        expected = triangle_moments.triangle_moments(distances, points // 2)
        with engine(accelerator=accelerator):
            found = triangle_moments.triangle_moments(distances, points // 2)
        assert all(np.array_equal(*each) for each in zip(found, expected, strict=True))


@pytest.mark.parametrize("accelerator", ACCELERATORS)
def test_more_pairs_than_one_product_takes(accelerator, monkeypatch):
    """Sums beyond what float32 holds are made in parts."""
    monkeypatch.setattr(module, "_PAIRS", 13)
    distances, labels = squares(0, 2, 20, 5, False), labellings(2, 40, 20, 11)
    expected = triangles.counts_under(distances, labels, "split")
    with engine(accelerator=accelerator):
        np.testing.assert_array_equal(triangles.counts_under(distances, labels, "split"), expected)
    assert 12 * (1 << 18) < 2**22


def test_a_gpu_is_taken_where_there_is_much_to_do(monkeypatch):
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    assert module.device_for(1 << 30) == "cuda" and module.device_for((1 << 30) - 1) is None
    assert module.device_for(1 << 20, 1 << 16) == "cuda" and module.device_for(1 << 20, (1 << 16) - 1) is None
    with engine(device="cpu"):
        assert module.device_for(1 << 40) is None
    with engine(device="cuda:1"):  # asked for, but perhaps for an encoder
        assert module.device_for(1 << 23) == "cuda:1" and module.device_for((1 << 23) - 1) is None


def test_the_public_functions_pass_the_device_on(monkeypatch):
    asked = []

    def seen(triangles, labellings=64):
        asked.append(devices.engine_options().device)

    for each in (triangles, triangle_moments):
        monkeypatch.setattr(each, "device_for", seen)
    points = np.random.default_rng(3).standard_normal((24, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    contexts = [{"references": ["a b", "b c"], "candidates": ["a", "b a c"]}]
    expected = rc.triangle_rank([None] * 12, [None] * 12, distances, pvalue="analytic").pvalue
    assert rc.triangle_rank([None] * 12, [None] * 12, distances, pvalue="analytic", device="cpu").pvalue == expected
    rc.evaluate_contexts(contexts, "trm-rouge-l", device="cpu", resume=False)
    assert asked == ["auto"] * 3 + ["cpu"] * 5
    with pytest.raises(rc.InputError, match="no such kind of device is known"):
        rc.triangle_rank([None] * 12, [None] * 12, distances, device="gpu")


def test_little_memory(monkeypatch):
    distances, labels = squares(0, 2, 12, 5, False), labellings(2, 40, 12, 7)
    expected = triangles.counts_under(distances, labels, "split")
    product, room = module.half_product, [2000]

    def limited(left, right):
        if len(left) * len(right) > room[0]:
            raise torch.cuda.OutOfMemoryError("too much")
        return product(left, right)

    monkeypatch.setattr(module, "half_product", limited)
    monkeypatch.setattr(module, "_LEAST", 64)
    with engine(accelerator="cpu"):
        np.testing.assert_array_equal(triangles.counts_under(distances, labels, "split"), expected)
        room[0] = 1
        with pytest.raises(rc.InputError, match="memory does not suffice"):
            triangles.counts_under(distances, labels, "split")
