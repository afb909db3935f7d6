"""Real contexts with many repeated texts: the E2E development set. Skipped where the data is absent."""

import gzip
import json

import numpy as np
import pytest
from brute_force import trm_test

import recapture as rc


@pytest.fixture(scope="module")
def outputs(data_folder):
    with gzip.open(data_folder / "e2e_dev_multi" / "contexts.jsonl.gz", "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    return [record for record in records if len(record["references"]) >= 4]


def cut(record, size=4):
    return {key: record[key][:size] if isinstance(record[key], list) else record[key] for key in record}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cider", "meteor", "sentence-bleu", "rouge-l", "chrf"])
def test_exact_p_values_of_real_texts(outputs, name):
    """4 v 4 of each context against plain loops over fractions, from distances of texts scored one pair at a time."""
    given = [cut(record) for record in outputs[:4]]
    options = {"df": rc.DocumentFrequencies.from_references([each["references"] for each in given])}
    options = options if name == "cider" else {}
    results = rc.evaluate_contexts(given, f"trm-{name}", pvalue=True, options={name: options} if options else None)
    scorer = rc.list_pairwise()[name].scorer(**options)
    for context, record in zip(given, results.contexts, strict=True):
        texts = context["references"] + context["candidates"]
        scores = np.array([[scorer.cross([a], [b])[0, 0] for b in texts] for a in texts])
        distances = rc.list_pairwise()[name].range[1] - scores
        np.fill_diagonal(distances, 0)
        value, p, smallest, _ = trm_test(np.maximum(distances, 0).tolist(), 4)
        found = record["scores"][f"trm-{name}"]
        assert found["value"] == pytest.approx(float(value), abs=1e-14)
        assert (found["pvalue"], found["smallest_pvalue"]) == (float(p), float(smallest))


@pytest.mark.slow
def test_humans_against_humans_are_not_found_different(outputs):
    """Four references against four others: p-values of one distribution, so at most about 5 % reach .05."""
    halves = [
        {"id": record["id"], "references": record["references"][:4], "candidates": record["references"][4:8]}
        for record in outputs
        if len(record["references"]) >= 8
    ]
    (total,) = rc.evaluate_contexts(halves, "trm-cider", pvalue=True).totals
    assert total.contexts == len(halves) > 100
    assert total.pvalues.below <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(halves))
    models = [cut(record) for record in outputs]
    (other,) = rc.evaluate_contexts(models, "trm-cider", pvalue=True).totals
    assert other.mean > total.mean and other.pvalues.below > total.pvalues.below
