"""Items, the references of an item, and systems in another order: every number stays, and so does every interval."""

import numpy as np
import pytest
from pair_texts import CANDIDATES, REFERENCES

import recapture as rc
from recapture.pairs.declaration import METRICS


@pytest.mark.slow
def test_every_metric(tiny_bert):
    names = list(METRICS.all())
    few = {
        name: {key: 2 for key in ("layer", "layers") if key in each.defaults} for name, each in METRICS.all().items()
    }
    own = {name: layers for name, layers in few.items() if layers}  # the tiny model has three
    options = {
        "options": own,
        "encoder": tiny_bert,
        "model": tiny_bert,
        "device": "cpu",
        "cache": False,
        "interval": 0.9,
        "seed": 4,
    }
    references = [[one, other] for one, other in zip(REFERENCES, REFERENCES[1:] + REFERENCES[:1], strict=True)]
    systems = {"b": CANDIDATES, "a": CANDIDATES[::-1]}
    plain = rc.evaluate_pairs(references, systems, names, **options)
    order = np.random.default_rng(5).permutation(len(references))
    again = rc.evaluate_pairs(
        [references[at][::-1] for at in order],
        {system: [systems[system][at] for at in order] for system in ("a", "b")},
        names,
        **options,
    )
    with_intervals = set()
    for system, by_metric in plain.items():
        for name, one in by_metric.items():
            other = again[system][name]
            # Vectors are float32; batches of other texts round otherwise.
            assert one.values == pytest.approx(other.values, rel=1e-5, abs=1e-7), name
            assert one.intervals.keys() == other.intervals.keys()
            for number, bounds in one.intervals.items():
                with_intervals.add(name)
                assert bounds == pytest.approx(other.intervals[number], rel=1e-5, abs=1e-7), (name, number)
    # Numbers of the whole corpus, which are no means, have none.
    means = {name for name, one in plain["a"].items() if set(one.values) - set(one.details.get("corpus", ()))}
    assert with_intervals == means and len(means) > len(names) / 2
