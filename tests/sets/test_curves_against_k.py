"""Curves against k: the numbers that single runs at each k have, and what theory says of them."""

import numpy as np
import pytest

import recapture as rc
from recapture.page.page_parts import page_of
from recapture.sets import k_sweep
from recapture.sets.k_sweep import SPLITS, k_curves

METRICS = "precision-recall,density-coverage,mmd"


@pytest.fixture(scope="module")
def sets():
    reference, good, poor = np.random.default_rng(2).standard_normal((3, 90, 3))
    return reference, {"good": good, "poor": poor * 0.5 + 1}


@pytest.fixture(scope="module")
def curves(sets):
    return {curve.title: curve for curve in k_curves(rc.evaluate(*sets, METRICS, ceiling=4))}


def test_each_point_is_what_a_run_at_that_k_says(sets, curves):
    assert list(curves) == [
        f"{name} against k"
        for name in (
            "precision-recall precision", "precision-recall recall", "density-coverage density",
            "density-coverage coverage",
        )
    ]  # fmt: skip
    ks = [int(name) for _, name in curves["precision-recall recall against k"].places]
    assert curves["precision-recall recall against k"].strokes[0].x == pytest.approx(np.log2(ks))
    assert ks == [1, 2, 3, 5, 7, 10, 15, 20]  # spheres of more would hold most of a part of 45
    for k in (2, 7):
        run = rc.evaluate(*sets, METRICS, k=k, ceiling=SPLITS)
        for metric, name in (("precision-recall", "recall"), ("density-coverage", "density")):
            curve = curves[f"{metric} {name} against k"]
            for stroke in curve.strokes:
                found = run[stroke.label][metric].at_human_size[name].mean
                assert stroke.y[ks.index(k)] == pytest.approx(found)
            human = run["good"][metric].human[name]
            low, high = run["good"][metric].ranges[name]
            assert dict(curve.bands)[np.log2(k)] == pytest.approx(
                (max(low, human.low), human.mean, min(high, human.high))
            )


def test_spheres_grow_with_k(curves):
    """More neighbours, larger spheres: precision, recall and coverage cannot fall."""
    for name in ("precision-recall precision", "precision-recall recall", "density-coverage coverage"):
        for stroke in curves[f"{name} against k"].strokes:
            assert (np.diff(stroke.y) >= 0).all()


@pytest.mark.traced
@pytest.mark.slow
def test_the_k_of_the_tables_is_marked_and_pages_draw_it(sets, curves):
    assert [mark.x for mark in curves["density-coverage density against k"].marks] == [np.log2(5)]
    results = rc.evaluate(*sets, METRICS, k=4, ceiling=4)
    page = page_of(results)
    drawn = {curve.title: curve for curve in page.curves}
    assert [mark.x for mark in drawn["precision-recall recall against k"].marks] == [2]
    assert 2 in drawn["precision-recall recall against k"].strokes[0].x
    assert page.to_html().count("against k</h4>") == 4
    assert k_curves(rc.evaluate(*sets, "mmd", ceiling=False)) == []
    assert k_curves(rc.evaluate(np.eye(4), np.eye(4), "precision-recall", k=1, ceiling=False)) == []


def test_curves_go_on_where_all_human_parts_score_the_same():
    """Corners of a simplex are all equally far from each other, so every sphere holds all of them."""
    _, recall = k_curves(rc.evaluate(np.eye(40), {"a": np.eye(40)}, "precision-recall", ceiling=4))
    assert len(recall.strokes[0].x) == len(recall.bands) == len(recall.places) == 5
    assert set(recall.strokes[0].y) == {1.0} and {band for _, band in recall.bands} == {(1.0, 1.0, 1.0)}


def test_large_sets_are_cut_and_groups_stay(sets, monkeypatch):
    monkeypatch.setattr(k_sweep, "MOST", 60)
    reference, systems = sets
    labels = np.arange(90) // 3
    results = rc.evaluate(
        reference, systems, "precision-recall", ceiling=4, reference_groups=labels,
        candidate_groups=dict.fromkeys(systems, labels + 100),
    )  # fmt: skip
    (first, *_) = k_curves(results)
    assert "parts of 2" in first.note or "parts of 3" in first.note  # half of 60, in whole groups
    second = rc.evaluate(reference, systems, "precision-recall", human=systems["good"], ceiling=4)
    assert len(k_curves(second)) == 2
