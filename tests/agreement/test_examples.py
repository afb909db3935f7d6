"""The examples in the docstrings of the public functions of agreement."""

import doctest
import importlib
import sys

import pytest

import recapture as rc

NAMES = (
    "ScoreMatrix", "compare_metrics", "correlate", "kendall_tau", "metric_correlations", "paired_bootstrap",
    "pairwise_accuracy", "read_scores", "score_distributions", "soft_pairwise_accuracy", "swapping_test", "sweep",
    "tie_calibration", "williams_test",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_examples_print_what_they_say(name):
    public = getattr(rc, name)
    module = sys.modules[public.__module__] if public.__module__ in sys.modules else importlib.import_module(name)
    examples = [test for test in doctest.DocTestFinder().find(public, name, module) if test.examples]
    assert examples
    runner = doctest.DocTestRunner()
    printed = []
    for test in examples:
        runner.run(test, out=printed.append)
    assert not runner.failures, "".join(printed)
