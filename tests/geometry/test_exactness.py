"""The engine against whole float64 matrices, to the last integer, on inputs made to trip it up."""

import itertools
from importlib.util import find_spec

import numpy as np
import oracles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recapture.geometry.overlap import overlap
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet

KS = (1, 2, 5, 9)


def normal(seed, rows, dimensions=6):
    return np.random.default_rng(seed).standard_normal((rows, dimensions))


def whole(seed, rows, dimensions=3, top=5):
    return np.random.default_rng(seed).integers(0, top, (rows, dimensions))


def jitter(seed, shape, size):
    return size * np.random.default_rng(seed).standard_normal(shape)


TWO_CLUSTERS = np.where(np.arange(90)[:, None] % 2, 1e6, -1e6)
INPUTS = {
    "random": (normal(1, 120), 1.3 * normal(2, 90) + 0.5),
    "many dimensions": (normal(3, 70, 300), normal(4, 60, 300)),
    "one dimension": (normal(5, 80, 1), normal(6, 80, 1)),
    "integer grid": (whole(7, 150), whole(8, 130)),
    "grid of tenths": (whole(9, 150) * 0.1, whole(10, 130) * 0.1),
    "unsigned bytes": (whole(11, 100).astype(np.uint8), whole(12, 100).astype(np.uint8)),
    "large integers": (whole(13, 60, top=2**40), whole(14, 60, top=2**40)),
    "repeated rows": (np.repeat(normal(15, 40), 3, axis=0), np.concatenate([normal(16, 50), normal(15, 40)])),
    "signed zeros": (np.where(whole(17, 60) == 0, -0.0, 1.0), np.where(whole(18, 60) == 0, 0.0, 1.0)),
    "constant rows": (np.full((30, 4), 2.5), np.full((20, 4), 2.5)),
    "constant rows apart": (np.full((30, 4), 2.5), np.full((20, 4), 3.5)),
    "one constant side": (np.full((30, 4), 0.1), normal(19, 40, 4)),
    "equal sets": (normal(20, 100), normal(20, 100)[::-1]),
    "far from the origin": (normal(21, 100) + 1e4, normal(22, 100) + 1e4),
    "far, float32": ((normal(21, 100) + 1e4).astype(np.float32), (normal(22, 100) + 1e4).astype(np.float32)),
    "float16": (normal(23, 100).astype(np.float16), normal(24, 100).astype(np.float16)),
    "mixed types": (normal(25, 80).astype(np.float16), normal(26, 70)),
    "near-ties": (whole(27, 120) + jitter(28, (120, 3), 1e-9), whole(29, 110) + jitter(30, (110, 3), 1e-9)),
    "two far clusters": (normal(31, 90) + TWO_CLUSTERS, normal(32, 90) + TWO_CLUSTERS),
    "one wild row": (np.vstack([normal(33, 80), np.full((1, 6), 1e9)]), normal(34, 80)),
    "tiny numbers": (1e-20 * normal(35, 80), 1e-20 * normal(36, 80)),
    "huge numbers": (1e60 * normal(37, 80), 1e60 * normal(38, 80)),
    "one set far away": (normal(39, 80), normal(40, 80) + 1e5),
    "integers against fractions": (whole(41, 60, 1, 600), whole(42, 60, 1, 600) + jitter(43, (60, 1), 1e-6)),
    "fractions against integers": (whole(44, 60, 2, 60) + jitter(45, (60, 2), 1e-7), whole(46, 60, 2, 60)),
    "far integers against near fractions": (np.array([[-500], [0], [500]] * 4), np.arange(1, 13)[:, None] * 1e-6),
    "integral float16 against float64": (whole(47, 60, 2, 900).astype(np.float16), 900 * np.abs(normal(48, 60, 2))),
    "integers against next to nothing": (whole(69, 40, 1, 9) * 8, 1e-35 * normal(70, 40, 1)),
    "integers and next to nothing": (
        np.vstack([whole(71, 40, 1, 9) * 8, 1e-20 * normal(72, 9, 1)]),
        whole(73, 40, 1, 9),
    ),
    "a wild candidate": (normal(49, 50, 8), normal(50, 50, 8) * np.where(np.arange(50) == 3, 1e20, 1)[:, None]),
    "a huge candidate set": (normal(51, 40), 1e40 * normal(52, 40)),
    "a huge reference": (1e25 * normal(53, 40), normal(54, 40)),
    "a tiny reference": (1e-30 * normal(55, 40), normal(56, 40)),
    "tiny numbers squared": (1e-150 * normal(57, 30, 3), 1e-150 * normal(58, 30, 3)),
    "squares that underflow": (1e-157 * normal(59, 30, 3), 1e-157 * normal(60, 30, 3)),
    "subnormal numbers": (1e-310 * normal(61, 30, 3), 1e-310 * normal(62, 30, 3)),
    "tiny against ordinary": (1e-160 * normal(63, 40), normal(64, 40)),
    "largest numbers": (1e149 * normal(65, 40, 3), 1e149 * normal(66, 40, 3)),
    "other orders of bytes": (normal(74, 60).astype(">f4"), normal(75, 50).astype(">f8")),
    "many ties, mixed": (np.repeat(whole(67, 40, 2, 9), 2, axis=0), whole(68, 70, 2, 9) * 0.5),
}


def found(reference, candidate, ks=KS):
    result = overlap(PointSet(reference), PointSet(candidate), ks)
    return {k: result.at(k) for k in ks}


ON_TORCH = [
    pytest.param({"accelerator": "cpu"}, marks=pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")),
    pytest.param({"accelerator": "cuda"}, marks=pytest.mark.gpu),
]
"""torch's own processor tensors take the same way as a GPU's, but for the fused pass."""


@pytest.fixture(params=["usual", "few"])
def rounds(request, monkeypatch):
    """Sets of real size are searched in two rounds, from a sample; so are these, with few rows and little room."""
    from recapture.geometry import device_spheres as spheres

    if request.param == "few":
        for name, value in {"_SAMPLE": 16, "_GROUPS": 8, "_ROOM": 300, "_FEW_ROWS": 7}.items():
            monkeypatch.setattr(spheres, name, value)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("options", [{}, {"tile": 17, "threads": 3}, {"tile": 64, "threads": 1}], ids=str)
def test_equals_brute_force(name, options):
    check_against_brute_force(name, options)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("options", ON_TORCH, ids=str)
def test_equals_brute_force_on_a_device(name, options, rounds):
    check_against_brute_force(name, options)


def check_against_brute_force(name, options):
    reference, candidate = INPUTS[name]
    with engine(**options):
        results = found(reference, candidate)
    for k, at in results.items():
        expected = oracles.counts(reference, candidate, k)
        covered = int(at.reference_covered.sum())
        assert {"x": at.x, "y": at.y, "a": at.a, "b": at.b, "covered": covered} == expected, k
        in_reference, in_candidate = oracles.memberships(reference, candidate, k)
        np.testing.assert_array_equal(at.candidate_inside, in_reference.any(axis=0))
        np.testing.assert_array_equal(at.reference_inside, in_candidate.any(axis=1))
        np.testing.assert_array_equal(at.reference_covered, in_reference.any(axis=1))


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("options", [{}, *ON_TORCH], ids=str)
def test_radii_equal_brute_force(name, options):
    for points in INPUTS[name]:
        with engine(**options):
            radii = PointSet(points).radii(max(KS))
        for k in KS:
            expected = oracles.squared_radii(points, k)
            # Compared as distances: squares of subnormal ones are all 0.
            np.testing.assert_allclose(radii[:, k - 1], np.sqrt(expected), rtol=4e-15)


@pytest.mark.parametrize("close", list(itertools.combinations(range(5), 3)))
def test_limits_hold_where_half_precision_tells_nothing(close):
    """In some ten thousand dimensions it overflows, and oneself seems no farther than others are. Whoever is chosen for
    that reason, limits may be too large but never too small, not even among three that are close to each other."""
    torch = pytest.importorskip("torch")
    from recapture.geometry.device_spheres import limits_from_sample
    from recapture.geometry.half_rows import HalfRows

    values = normal(77, 5)
    values[list(close)] *= 1e-3
    there, half = torch.as_tensor(values), HalfRows(torch.zeros((5, 64)), torch.full((5,), torch.inf), 1.0)
    limits = limits_from_sample(there, half, there, half, torch.arange(5), 3, 1 << 20).numpy()
    assert (limits >= oracles.squared_radii(values, 3)).all()


@pytest.mark.parametrize("options", ON_TORCH, ids=str)
def test_radii_of_rows_that_all_have_more_copies_than_neighbours(options, rounds):
    """Nobody else is near enough to be listed: every radius is the distance of a copy."""
    with engine(**options):
        assert not PointSet(np.repeat(normal(76, 200), 2, axis=0)).radii(1).any()


@pytest.mark.parametrize("name", ["random", "integer grid", "repeated rows", "near-ties"])
def test_row_order_changes_nothing(name):
    reference, candidate = INPUTS[name]
    shuffle = np.random.default_rng(41).permutation(len(reference))
    plain, shuffled = found(reference, candidate), found(reference[shuffle], candidate[::-1])
    for k in KS:
        assert (plain[k].x, plain[k].y, plain[k].a, plain[k].b) == (
            shuffled[k].x, shuffled[k].y, shuffled[k].a, shuffled[k].b,
        )  # fmt: skip
        np.testing.assert_array_equal(plain[k].reference_inside[shuffle], shuffled[k].reference_inside)
        np.testing.assert_array_equal(plain[k].candidate_inside[::-1], shuffled[k].candidate_inside)


@pytest.mark.slow
def test_several_tiles_of_real_size():
    """More rows than one default tile, float32, unit length: the everyday case."""
    reference, candidate = normal(42, 2500, 24).astype(np.float32), normal(43, 1300, 24).astype(np.float32)
    reference /= np.linalg.norm(reference, axis=1, keepdims=True)
    candidate /= np.linalg.norm(candidate, axis=1, keepdims=True)
    expected = {k: oracles.counts(reference, candidate, k) for k in (1, 3, 40)}
    for options in ({}, {"tile": 1200, "threads": 2}, {"tile": 1 << 16, "threads": 2}):
        with engine(**options):
            for k, at in found(reference, candidate, (1, 3, 40)).items():
                assert (at.x, at.y, at.a, at.b) == tuple(expected[k][name] for name in "xyab")


def test_every_k_of_a_sweep_equals_that_k_alone():
    reference, candidate = INPUTS["random"]
    together = found(reference, candidate, tuple(range(1, 41)))
    for k in (1, 7, 40):
        alone = found(reference, candidate, (k,))[k]
        assert (alone.x, alone.y, alone.a, alone.b) == (together[k].x, together[k].y, together[k].a, together[k].b)


VALUES = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.2, 0.3, 1e-7, 1 + 1e-15, 1e4, 1e4 + 1e-3]))


@pytest.mark.slow
@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), dimensions=st.integers(1, 3), k=st.integers(1, 3))
def test_equals_brute_force_on_anything(data, dimensions, k):
    rows = st.integers(k + 1, 14)
    reference = data.draw(hnp.arrays(np.float64, st.tuples(rows, st.just(dimensions)), elements=VALUES))
    candidate = data.draw(hnp.arrays(np.float64, st.tuples(rows, st.just(dimensions)), elements=VALUES))
    at = found(reference, candidate, (k,))[k]
    expected = oracles.counts(reference, candidate, k)
    assert (at.x, at.y, at.a, at.b) == tuple(expected[name] for name in "xyab")
