"""evaluate: parameters of single metrics."""

import numpy as np
import pytest

import recapture as rc

X = np.random.RandomState(0).randn(40, 4)
Y = np.random.RandomState(1).randn(30, 4)


def test_each_metric_gets_its_own():
    options = {"prd": {"clusters": 5}, "mark_evaluate": {"k": 2}}
    results = rc.evaluate(X, Y, ["prd", "mark-evaluate", "precision-recall"], ceiling=False, options=options)[
        "candidate"
    ]
    assert results["prd"].f8 == rc.prd(X, Y, clusters=5).f8 != rc.prd(X, Y).f8
    assert results["mark-evaluate"].petersen == rc.mark_evaluate(X, Y, k=2).petersen
    assert results["precision-recall"].recall == rc.precision_recall(X, Y).recall


def test_a_seed_of_its_own_is_that_of_clusterings():
    """Half-samples of seed 7 around the value of seed 0."""
    own = rc.evaluate(X, Y, "prd", interval=0.9, ceiling=False, seed=7, options={"prd": {"seed": 0}})["candidate"][
        "prd"
    ]
    assert own.f8 == rc.prd(X, Y, seed=0).f8 != rc.prd(X, Y, seed=7).f8
    assert own.inference["intervals"]["seed"] == 7


@pytest.mark.parametrize(
    "options, message",
    [
        ({"frechet": {}}, "options were given for frechet, which is not among the metrics"),
        ({"prd": {"cluster": 5}}, "prd has no option 'cluster': did you mean clusters"),
        ({"nothing": {}}, "unknown metric"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(rc.InputError, match=message):
        rc.evaluate(X, Y, "prd", options=options)
