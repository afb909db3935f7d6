"""Rows against slabs of a set that is never held whole: the counts of brute force, wherever the cuts fall."""

import tracemalloc
from itertools import pairwise

import numpy as np
import oracles
import pytest
from test_exactness import INPUTS, KS, ON_TORCH

from recapture.errors import InputError
from recapture.geometry import device_spheres, device_streamed, devices, streamed
from recapture.geometry.arrays import as_matrix
from recapture.geometry.distinct import fold_rows
from recapture.geometry.parallel import engine
from recapture.geometry.streamed import StreamedRows, memberships, squared_radii
from torch_devices import short_of_memory


def cuts(count, parts):
    edges = np.linspace(0, count, min(parts, count) + 1).astype(int).tolist()
    return [slice(*edge) for edge in pairwise(edges)]


def streamed_rows(points):
    values = as_matrix(points, "points")
    return StreamedRows(values, fold_rows(values))


def counted(reference, candidate, ks, parts):
    """The counts of every k, put together from parts."""
    sides = [streamed_rows(points) for points in (reference, candidate)]
    radii = [np.concatenate([squared_radii(side, part, ks) for part in cuts(len(side), parts)]) for side in sides]
    found = [memberships(*sides, part, ks, radii[0][part], radii[1]) for part in cuts(len(sides[0]), parts)]
    weights = [side.weight for side in sides]
    a, b = (
        np.cumsum(np.sum([getattr(one, name) for one in found], axis=0))
        for name in ("reference_pairs", "candidate_pairs")
    )
    inside = np.min([one.candidate_first for one in found], axis=0)
    reached = np.concatenate([one.reference_first for one in found])
    covered = np.concatenate([one.covered_first for one in found])
    return {
        k: {
            "x": int(weights[1][inside <= place].sum()),
            "y": int(weights[0][reached <= place].sum()),
            "a": int(a[place]),
            "b": int(b[place]),
            "covered": int(weights[0][covered <= place].sum()),
        }
        for place, k in enumerate(ks)
    }


@pytest.fixture(params=["usual", "small"])
def cut(request, monkeypatch):
    """Sets of real size are many panels and slabs; so are these."""
    if request.param == "small":
        for name, value in {"_MOST_ROWS": 13, "_LEAST_ROWS": 13, "_QUERIES": 5, "_TARGETS": 11}.items():
            monkeypatch.setattr(streamed, name, value)
    return request.param


@pytest.mark.parametrize("name", INPUTS)
def test_parts_equal_brute_force(name, cut):
    reference, candidate = INPUTS[name]
    with engine(tile=17 if cut == "small" else 960, threads=2):
        found = counted(reference, candidate, KS, parts=4)
    assert found == {k: oracles.counts(reference, candidate, k) for k in KS}


@pytest.mark.parametrize("options", ON_TORCH, ids=str)
@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("name", INPUTS)
def test_parts_on_a_device_equal_brute_force(name, parts, options, monkeypatch):
    """The code of a GPU, on torch's CPU: panels and slabs of a few rows, and so little room that pairs do not fit."""
    pytest.importorskip("torch")
    small = {
        device_streamed: {"_MOST_ROWS": 24, "_LEAST_ROWS": 24, "_SAMPLE": 64, "_ROOM": 400},
        device_spheres: {"_GROUPS": 64, "_FEW_ROWS": 8},
    }
    for module, changes in small.items():
        for attribute, value in changes.items():
            monkeypatch.setattr(module, attribute, value)
    reference, candidate = INPUTS[name]
    with engine(**options):
        found = counted(reference, candidate, KS, parts)
    assert found == {k: oracles.counts(reference, candidate, k) for k in KS}


@pytest.mark.parametrize("most", [1 << 22, 0])
def test_where_memory_does_not_suffice_less_is_held_at_once(most, monkeypatch):
    """Smaller slabs; then the processor, unless the device was asked for."""
    asked = short_of_memory(monkeypatch, device_streamed, most)
    reference, candidate = INPUTS["random"]
    expected = {k: oracles.counts(reference, candidate, k) for k in KS}
    if most:
        with engine(accelerator="cpu"):
            assert counted(reference, candidate, KS, 2) == expected
        assert max(asked) == 1 << 27 and asked[-1] == most
        return
    with engine(accelerator="cpu"), pytest.raises(InputError, match="the device's memory does not suffice"):
        counted(reference, candidate, KS, 2)
    for name, value in {"_cuda_is_there": lambda: True, "_WORTH": 1, "_AUTO": "cpu"}.items():
        monkeypatch.setattr(devices, name, value)
    assert counted(reference, candidate, KS, 2) == expected


@pytest.mark.parametrize("cut", ["small"], indirect=True)
@pytest.mark.parametrize("name", INPUTS)
def test_radii_equal_brute_force(name, cut):
    for points in INPUTS[name]:
        rows = streamed_rows(points)
        radii = np.concatenate([squared_radii(rows, part, KS) for part in cuts(len(rows), 3)])
        own = radii[fold_rows(as_matrix(points, "points")).inverse]
        for place, k in enumerate(KS):
            # Compared as distances: squares of subnormal ones are all 0.
            np.testing.assert_allclose(np.sqrt(own[:, place]), np.sqrt(oracles.squared_radii(points, k)), rtol=4e-15)


def peak_of(rows, monkeypatch):
    for name in ("_MOST_ROWS", "_LEAST_ROWS"):
        monkeypatch.setattr(streamed, name, 256)
    sides = [streamed_rows(np.random.default_rng(seed).standard_normal((rows, 32)).astype("f4")) for seed in range(2)]
    with engine(tile=128, threads=1):
        tracemalloc.start()
        try:
            radii = [squared_radii(side, slice(0, 256), (1, 5)) for side in sides]
            memberships(*sides, slice(0, 256), (1, 5), radii[0], np.tile(radii[1], (rows // 256, 1)))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_memory_grows_with_the_tiles_not_with_the_set(monkeypatch):
    """A set sixteen times as large adds a few bytes for every row: its rows, 128 bytes each, are not held."""
    peak_of(512, monkeypatch)  # libraries load
    small, large = peak_of(1024, monkeypatch), peak_of(16 * 1024, monkeypatch)
    assert large - small < 15 * 1024 * 64


@pytest.mark.parametrize("kind", [np.float32, np.int16])
@pytest.mark.parametrize("repeats", [1, 3])
def test_rows_are_taken_into_memory_that_is_there(kind, repeats):
    """As a GPU's pinned memory is filled: different rows alone, whole numbers as float64."""
    values = np.repeat(np.arange(60).reshape(20, 3).astype(kind), repeats, axis=0)
    room = np.zeros((20, 3), kind if kind is np.float32 else np.float64)
    rows = streamed_rows(values)
    rows.take_into(slice(2, 11), room[2:11])
    np.testing.assert_array_equal(room[2:11], values[::repeats][2:11])
    assert not room[:2].any() and not room[11:].any()
