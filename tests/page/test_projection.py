"""Layouts of a map: principal components always, neighbours by openTSNE where the extra `report` is installed."""

import importlib.util

import numpy as np
import pytest

from recapture.page import projection
from recapture.page.map_data import MapSamples, map_of
from recapture.page.projection import LIBRARY, PRINCIPAL, projected

with_library = pytest.mark.skipif(
    importlib.util.find_spec(LIBRARY) is None, reason="openTSNE is not installed (the extra report has it)"
)


def clumps(each=40, apart=20.0):
    """Three clumps in 30 dimensions; rows of each follow each other."""
    rng = np.random.default_rng(1)
    centres = apart * np.eye(3, 30)
    return np.repeat(centres, each, axis=0) + rng.standard_normal((3 * each, 30))


def own_neighbours(at, each=40):
    """The share of rows whose nearest other one is of their own clump."""
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return np.mean(gaps.argmin(axis=1) // each == np.arange(len(at)) // each)


def test_without_the_library_there_are_principal_components(monkeypatch):
    monkeypatch.setattr(projection, "LIBRARY", "a_library_that_is_nowhere")
    found = projected(clumps())
    assert [each.name for each in found.layouts] == [PRINCIPAL]
    assert own_neighbours(found.layouts[0].at) == 1
    shown = map_of(MapSamples({"human": clumps(), "a": clumps()}, None))
    assert shown.layout == PRINCIPAL and not shown.layouts and "principal components:" in shown.caption[0]


def test_clusters_are_the_clumps(monkeypatch):
    monkeypatch.setattr(projection, "LIBRARY", "a_library_that_is_nowhere")
    rows = np.concatenate([clumps(60), clumps(60)[:20]])  # 200 rows: four clusters at most, the largest first
    found = projected(rows)
    clump = np.append(np.repeat([0, 1, 2], 60), np.zeros(20, int))
    for label in np.unique(found.cluster):
        assert len(set(clump[found.cluster == label])) == 1
    sizes = np.bincount(found.cluster)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)


@with_library
def test_the_library_puts_neighbours_together_the_same_way_each_time(monkeypatch):
    monkeypatch.setattr(projection, "_FITTED", 80)  # the others are put among their neighbours
    rows = np.concatenate([clumps(), clumps()[:5]])
    found = projected(rows, seed=3)
    first, second = found.layouts
    assert first.name == "neighbours (t-SNE)" and second.name == PRINCIPAL
    assert own_neighbours(first.at[:120]) == 1
    np.testing.assert_array_equal(first.at[:5], first.at[120:])  # equal rows at one place
    np.testing.assert_array_equal(first.at, projected(rows, seed=3).layouts[0].at)
    assert "80 different ones" in first.said


@pytest.mark.traced
@pytest.mark.slow
@with_library
def test_a_page_has_both_layouts():
    rows = clumps()
    shown = map_of(MapSamples({"human": rows, "a": rows + 0.1}, None))
    assert shown.layout == "neighbours (t-SNE)" and list(shown.layouts) == [PRINCIPAL]
    assert len(shown.caption) >= 3
