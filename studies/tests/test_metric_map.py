"""The map of metrics on scores whose correlations are chosen: what its tables, claims and sentences must then say."""

import itertools
import math

import numpy as np
import pytest

from recapture_studies.infolm import metric_map
from recapture_studies.infolm.metric_map import PEOPLE
from recapture_studies.rated import shown

# Of mean 0, of one length and at right angles: Pearson's r of two sums of them is the cosine, known by hand.
BASIS = np.array([[1.0, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])


def along(first, second=0.0):
    """Scores of four systems with these correlations with the first two directions."""
    return np.array([first, second, math.sqrt(max(0.0, 1 - first**2 - second**2))]) @ BASIS


def map_of(scores):
    """Every document scores as the mean does, so that both levels have the same numbers."""
    metrics = metric_map._Map()
    for name, totals in scores.items():
        metrics.add(name, totals, np.stack([totals, totals], axis=1))
    return metrics


def infolm(model, *directions):
    return {f"{model} {measure}": scores for measure, scores in zip(metric_map._RELATED, directions, strict=True)}


SAME = [along(1.0)] * 4
BERT = along(0.7, math.sqrt(1 - 0.49))
"""r = .7 with the first direction, nothing of the third."""


def beside_bert(own, bert):
    """Scores with these correlations with the first direction and with BERT."""
    return along(own, (bert - 0.7 * own) / math.sqrt(1 - 0.49))


def judge(**rows):
    """Claims from a row for each group: mean r, half its interval, lowest r (the mean where it is not given)."""
    listed = []
    for name, (value, half, *lowest) in rows.items():
        printed = {"among": "> .880", "flat": "-"}.get(name, "about .700")
        listed.append({"metrics": GROUPS[name], "paper": printed, "mean r": shown(value),
                       "95 % over systems": f"{shown(value - half)} to {shown(value + half)}",
                       "lowest r": shown(lowest[0] if lowest else value)})  # fmt: skip
    return metric_map.judge({"beside-the-paper": listed}, {"sizes": [14, 100]})


GROUPS = {"among": "infolm: among alpha, gamma, AB, Fisher-Rao", "bert": "infolm: these with BERTScore",
          "ngrams": "infolm: these with n-gram metrics", "rouge": "BERTScore with ROUGE",
          "authors": "authors' BERTScore with authors' ROUGE-2"}  # fmt: skip


def held(**rows):
    return [claim.holds for claim in judge(**rows)]


def test_chosen_correlations():
    metrics = map_of({"a": along(1.0), "b": BERT, "c": beside_bert(0.5, 0.8)})
    expected = [[1, 0.7, 0.5], [0.7, 1, 0.8], [0.5, 0.8, 1]]
    np.testing.assert_allclose(metrics.matrix(), expected, atol=1e-12)
    np.testing.assert_allclose(metrics.matrix(), np.corrcoef(list(metrics.totals.values())), atol=1e-12)


def test_a_metric_that_does_not_tell_systems_apart_has_no_place():
    assert list(map_of({"a": along(0.3), "flat": np.ones(4)}).totals) == ["a"]


def test_like_stands_by_like():
    """Two groups that agree within and not between: each is in one piece in the order."""
    rows = [along(1.0), along(0.0, 1.0), along(0.95), along(0.2, 0.95)]
    order = metric_map._order(map_of(dict(zip("abcd", rows, strict=True))).matrix())
    assert sorted(order) == [0, 1, 2, 3]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    assert metric_map._order(map_of({"a": along(0.5), "b": BERT}).matrix()) == [0, 1]


def test_groups_beside_the_paper():
    metrics = map_of(infolm("infolm", along(1.0), along(1.0), along(1.0), BERT) | {"bertscore f1": BERT,
                     "rouge rouge1": beside_bert(0.6, 0.9), "bleu": along(0.4), "infolm l1": along(-1.0)})  # fmt: skip
    table = metric_map._beside(metrics, metric_map._groups(metrics), 0)
    rows = {row[0]: dict(zip(table.heads, row, strict=True)) for row in table.rows}
    # Six pairs of four measures, three with r = 1 and three with .7; L1 says the opposite of three and is -.7 of one.
    among = rows["infolm: among alpha, gamma, AB, Fisher-Rao"]
    assert (among["pairs"], among["mean r"], among["lowest r"]) == ("6", ".850", ".700")
    assert among["text level"] == ".850" and among["paper"] == "> .880"
    ngrams = rows["infolm: these with n-gram metrics"]
    expected = [0.6, 0.6, 0.6, 0.9, 0.4, 0.4, 0.4, 0.7 * 0.4]
    assert ngrams["pairs"] == "8" and ngrams["lowest r"] == shown(min(expected))
    assert ngrams["mean r"] == shown(np.mean(expected)) and ngrams["paper"] == "about .700"
    assert rows["infolm: these with L1, L2, Linf"]["mean r"] == shown(-(3 + 0.7) / 4)
    assert rows["infolm: these with L1, L2, Linf"]["paper"] == "-"
    assert rows["BERTScore with ROUGE"]["mean r"] == ".900"
    # No stored scores, no second model: no rows for them.
    assert len(rows) == 5
    for row in rows.values():
        low, high = (float(end) for end in row["95 % over systems"].split(" to "))
        assert -1 <= low <= float(row["mean r"]) <= high <= 1


def test_the_interval_against_all_draws_of_systems():
    """Four systems can be drawn in 256 ways: the quantiles of all of them, where r exists, and of many random draws."""
    one, other = along(1.0), along(0.6, 0.5)
    metrics = map_of({"one": one, "other": other})
    every = []
    for drawn in itertools.product(range(4), repeat=4):
        x, y = one[list(drawn)], other[list(drawn)]
        if np.ptp(x) and np.ptp(y):
            every.append(np.corrcoef(x, y)[0, 1])
    low, high = metrics.interval_of([("one", "other")], 0)
    assert low == pytest.approx(np.quantile(every, 0.025), abs=0.05)
    assert high == pytest.approx(np.quantile(every, 0.975), abs=0.05)


def test_all_claims_hold_of_the_papers_own_numbers():
    """The four as one, .7 with BERTScore and n-grams, BERTScore .8 with ROUGE: what the paper's text says."""
    assert held(among=(0.95, 0.01), bert=(0.7, 0.02), ngrams=(0.7, 0.02), rouge=(0.8, 0.02)) == ["holds"] * 3


def test_claims_in_part_not_at_all_and_not_to_be_told():
    assert held(among=(0.95, 0.01, 0.7)) == ["holds in part"]  # the mean is above .88, the lowest is not
    assert held(among=(0.7, 0.01)) == ["does not hold"]
    # .7 within .05 by its whole interval; .1 by none of it.
    assert held(bert=(0.7, 0.04), ngrams=(0.1, 0.04)) == ["holds in part"]
    assert held(bert=(0.7, 0.3), ngrams=(0.7, 0.3)) == ["cannot be told"]
    # Nearer to ROUGE than to InfoLM, but not about .8; farther, and far from .8.
    assert held(bert=(0.7, 0.02), rouge=(0.95, 0.02))[1] == "holds in part"
    assert held(bert=(0.7, 0.02), rouge=(0.3, 0.02))[1] == "does not hold"
    # .8 and .75, each known to .1: which is nearer is open, and so is whether it is about .8.
    assert held(bert=(0.75, 0.1), rouge=(0.8, 0.1))[1] == "cannot be told"


def test_no_infolm_no_claims():
    assert held(rouge=(0.8, 0.02)) == []
    metrics = map_of({"bertscore f1": BERT, "rouge rouge1": along(0.5), PEOPLE: along(0.1)})
    assert list(metric_map._groups(metrics)) == ["BERTScore with ROUGE"]


def test_the_authors_own_scores_are_told():
    claims = judge(bert=(0.7, 0.02), rouge=(0.8, 0.02), authors=(0.65, 0.1))
    assert claims[1].here.endswith("authors' BERTScore with authors' ROUGE-2 .650 (.550 to .750)")


def verdict(scores):
    metrics = map_of(scores)
    return metric_map._verdict(metrics, list(metrics.totals), metrics.matrix())


def test_sentences_name_the_nearest_and_the_farthest():
    lines = verdict(infolm("infolm", *SAME) | {"bertscore f1": BERT, "bleu": along(0.2), PEOPLE: along(0.9, -0.1)})
    assert lines[0] == (
        "Outside InfoLM, Fisher-Rao of infolm is nearest to bertscore f1 (.700) and farthest from bleu (.200)."
    )
    assert lines[1].startswith("Nearest to people: infolm alpha .900")
    assert lines[2:] == ["4 systems are few: see the intervals. Signs are turned where lower is better."]


@pytest.mark.parametrize("r, words", [(0.5, "The model matters, too"), (0.95, "The model matters little")])
def test_two_models_side_by_side(r, words):
    lines = verdict(infolm("infolm-head", *SAME) | infolm("infolm-mlm", *[along(r)] * 4))
    assert lines[0] == f"{words}: Fisher-Rao with one shipped model against the other has r = {shown(r)}."
    assert len(lines) == 2  # nothing outside InfoLM, no people


def test_a_model_whose_fisher_rao_says_nothing_is_passed_over():
    scores = infolm("infolm-head", *SAME) | infolm("infolm-mlm", *SAME[:3], np.zeros(4)) | {"bleu": along(0.2)}
    lines = verdict(scores)
    assert (
        lines[0] == "Outside InfoLM, Fisher-Rao of infolm-head is nearest to bleu (.200) and farthest from bleu (.200)."
    )
    assert len(lines) == 2
    assert len(verdict({"bleu": along(0.2)})) == 1
