"""Records of systems and inputs in another order: names decide what is drawn, so every table stays the same."""

import numpy as np
import pytest

import recapture as rc

RECORDS = [
    {"system": f"s{system}", "item": f"i{item}", "bleu": own + noise[0], "ter": noise[1] - own, "human": round(own, 1)}
    for system in range(9)
    for item in range(12)
    for noise in [np.random.default_rng([system, item]).standard_normal(3)]
    for own in [0.2 * system + noise[2]]
]
MIXED = [RECORDS[at] for at in np.random.default_rng(0).permutation(len(RECORDS))]
DIRECTIONS = {"bleu": "higher", "ter": "lower"}


@pytest.mark.parametrize("level", ["system", "text", "global"])
def test_intervals_tests_and_accuracies(level):
    one, other = (
        rc.correlate(
            rc.ScoreMatrix.from_records(records), "human", level, metrics=["bleu", "ter"], directions=DIRECTIONS,
            interval=0.9, tests=["bootstrap", "permutation"], accuracy=level == "system", resamples=60,
        )
        for records in (RECORDS, MIXED)
    )  # fmt: skip
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
@pytest.mark.parametrize("level", ["system", "text", "global"])
def test_comparisons_of_metrics(level, test):
    one, other = (
        rc.compare_metrics(
            rc.ScoreMatrix.from_records(records), "human", level, test=test, metrics=["bleu", "ter"],
            directions=DIRECTIONS, resamples=60,
        )
        for records in (RECORDS, MIXED)
    )  # fmt: skip
    assert one.to_json() == other.to_json()
