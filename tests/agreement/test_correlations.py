"""Correlations by level and coefficient, against scipy.stats; bootstrap intervals against loops over the same draws."""

import csv
import io
import json
from itertools import product

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture.agreement.data.directions import declared_direction
from recapture.agreement.statistics.correlation_values import metric_correlations
from recapture.agreement.statistics.levels import agreement
from recapture.agreement.statistics.resampling import BootstrapCase, bootstrap, input_draws
from recapture.errors import InputError

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
LEVELS = ("system", "text", "global")
HIGHER = {"directions": "higher"}


def made(systems=7, inputs=9, missing=0, seed=0):
    """Scores with many ties, some of them missing, but no system or input without any."""
    random = np.random.default_rng(seed)
    quality = random.normal(size=(systems, 1)) + 0.3 * random.normal(size=(systems, inputs))
    metric, human = (np.round(2 * quality + random.normal(size=quality.shape)) / 4 for _ in range(2))
    for side in (metric, human):
        cells = random.permutation((systems) * (inputs // 2))[:missing]  # only in the first half of inputs
        side[cells % systems, cells // systems] = np.nan
    return metric, human


def plainly(metric, human, level, coefficient, kept=None):
    """By scipy, one input after another. kept: the inputs whose means count."""
    scipy = SCIPY[coefficient]

    def one(x, y):
        both = np.isfinite(x) & np.isfinite(y)
        x, y = x[both], y[both]
        return scipy(x, y)[0] if len(x) > 1 and len(set(x)) > 1 and len(set(y)) > 1 else np.nan

    if level == "global":
        return one(metric.ravel(), human.ravel())
    if level == "text":
        found = [one(metric[:, at], human[:, at]) for at in range(metric.shape[1])]
        found = [value for value in found if not np.isnan(value)]
        return np.mean(found) if found else np.nan
    if kept is None:
        kept = [at for at in range(metric.shape[1]) if np.isfinite(metric[:, at] + human[:, at]).all()]
    means = [np.array([np.round(np.mean([row[at] for at in kept]), 12) for row in side]) for side in (metric, human)]
    return one(*means)


@pytest.mark.parametrize("missing", [0, 6])
@pytest.mark.parametrize("level, coefficient", list(product(LEVELS, SCIPY)))
def test_values_are_scipys(level, coefficient, missing):
    metric, human = made(missing=missing)
    result = rc.correlate(metric, human, level, coefficient)
    assert result.value == pytest.approx(plainly(metric, human, level, coefficient), abs=1e-12)


@pytest.mark.parametrize("missing", [0, 6])
@pytest.mark.parametrize("level, coefficient", list(product(LEVELS, SCIPY)))
def test_bootstrap_is_that_of_plain_loops(level, coefficient, missing):
    """The same draws of inputs, one resample after another, by scipy. Means count over the inputs that count in the
    data."""
    metric, human = made(5, 8, missing, seed=3)
    (draws,) = input_draws(8, 20, seed=5)
    whole = np.isfinite(metric + human).all(axis=0)
    expected = []
    for columns in draws:
        kept = np.flatnonzero(whole[columns])
        lost = level == "system" and not len(kept)
        expected.append(np.nan if lost else plainly(metric[:, columns], human[:, columns], level, coefficient, kept))
    found = bootstrap([BootstrapCase(metric, human, level, coefficient)], 8, 20, seed=5)[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    known = np.array(expected)[~np.isnan(expected)]
    result = rc.correlate(metric, human, level, coefficient, interval=0.8, over="inputs", resamples=20, seed=5)
    assert result.interval == pytest.approx(tuple(np.percentile(known, [10, 90])), abs=1e-12)
    assert "for these systems and other inputs: percentiles of 20 bootstrap resamples of inputs, seed 5" in str(result)
    assert result.settings["interval_method"] == "percentiles"


@pytest.mark.parametrize("coefficient", ["kendall-a", "gamma", "acc-eq"])
@pytest.mark.parametrize("level", LEVELS)
def test_other_coefficients_are_resampled_too(level, coefficient):
    """Against loops over `correlate` itself: what each is, is tested with the coefficients."""
    metric, human = made(5, 8, seed=4)
    (draws,) = input_draws(8, 12, seed=0)
    found = bootstrap([BootstrapCase(metric, human, level, coefficient)], 8, 12, seed=0)[0]
    for value, columns in zip(found, draws, strict=True):
        expected = rc.correlate(metric[:, columns], human[:, columns], level, coefficient).value
        assert value == pytest.approx(expected, abs=1e-12)


def test_resamples_hang_on_nothing_but_the_seed():
    metric, human = made(5, 8, 4)
    cases = [BootstrapCase(metric, human, level, coefficient) for level in LEVELS for coefficient in SCIPY]
    all_at_once = bootstrap(cases, 8, 30, 0)
    np.testing.assert_allclose(bootstrap(cases, 8, 30, 0, cells=70), all_at_once, atol=1e-13)
    assert not np.array_equal(bootstrap(cases, 8, 30, 1), all_at_once, equal_nan=True)


def test_all_metrics_share_the_resamples():
    metric, human = made()
    result = rc.correlate({"a": metric, "b": metric * 3 + 1}, human, interval=0.9, directions="higher")
    assert result.find("a").interval == pytest.approx(result.find("b").interval, abs=1e-12)
    alone = rc.correlate({"b": metric * 3 + 1}, human, interval=0.9, directions="higher")
    assert alone.interval == result.find("b").interval


def test_order_of_rows_does_not_matter():
    metric, human = made(6, 12, 5)
    rows = [
        {"system": f"s{s}", "item": f"i{i}", "m": metric[s, i], "h": human[s, i]} for s in range(6) for i in range(12)
    ]
    results = []
    for order in (range(72), np.random.default_rng(1).permutation(72)):
        matrix = rc.ScoreMatrix.from_records([rows[at] for at in order])
        options = {"metrics": ["m"], "directions": {"m": "higher"}, "interval": 0.9, "resamples": 50}
        results.append(rc.correlate(matrix, "h", ["system", "text"], ["pearson", "kendall"], **options))
    assert results[0].rows == results[1].rows


def test_worked_by_hand():
    """Means 1, 2, 3 v 2, 1, 3: two of three pairs alike, tau (2 - 1) / 3; r = rho = 1 - 6 (1 + 1) / (3 x 8) = 1/2."""
    metric, human = np.array([[0, 2], [2, 2], [4, 2]]), np.array([[2, 2], [1, 1], [3, 3]])
    result = rc.correlate({"m": metric}, {"h": human}, coefficient=["pearson", "spearman", "kendall"], **HIGHER)
    assert [row.value for row in result] == pytest.approx([0.5, 0.5, 1 / 3])
    text = rc.correlate({"m": metric}, {"h": human}, "text", **HIGHER)
    # The second input has one score for all systems: it is dropped, and the first is the same three numbers again.
    assert text.value == pytest.approx(0.5) and (text.rows[0].inputs, text.rows[0].dropped) == (1, 1)


def test_missing_scores_are_dropped_and_counted():
    metric, human = made(5, 8)
    metric[2, 0] = human[1, 3] = metric[1, 3] = np.nan
    system, text, everything = (rc.correlate(metric, human, level).rows[0] for level in LEVELS)
    assert (system.systems, system.inputs, system.dropped) == (5, 6, 2)
    assert system.value == pytest.approx(
        plainly(metric[:, [1, 2, 4, 5, 6, 7]], human[:, [1, 2, 4, 5, 6, 7]], "system", "pearson")
    )
    assert (text.inputs, text.dropped) == (8, 0) and (everything.inputs, everything.dropped) == (8, 2)
    assert [row.missing for row in (system, text, everything)] == [2, 2, 2]  # cells, of which one lacks both numbers
    shown = rc.correlate(metric, human, "text")
    assert "8 inputs, 0 dropped; 2 missing cells" in str(shown)
    assert json.loads(shown.to_json())["results"]["correlations"][0]["missing_cells"] == 2
    assert "missing_cells" in shown.to_csv().splitlines()[0]


def test_directions_are_the_declarations():
    known = {
        "bleu": "higher", "ter": "lower", "bertscore.f1": "higher", "infolm.fisher_rao": "lower", "BLEU": "higher",
        "infolm.l2@0.5": "lower", "me_words.capture": "higher", "trm-meteor": "lower", "frechet": "lower",
        "rouge.rougeL_recall": "higher", "cross-entropy.forward": "lower",
    }  # fmt: skip
    assert {name: declared_direction(name) for name in known} == known
    for metric in (*rc.list_metrics().values(), *rc.list_pair_metrics().values()):
        assert declared_direction(metric.name) == metric.direction
    assert [declared_direction(name) for name in ("mine", "bleu.nothing", "dispersion-meteor")] == [None] * 3


def test_scores_are_oriented():
    metric, human = made()
    expected = rc.correlate(metric, human).value
    result = rc.correlate({"ter": -metric, "bleu": metric, "mine": -metric}, human, directions={"mine": "lower"})
    assert [row.value for row in result] == pytest.approx([expected] * 3)
    assert [row.direction for row in result] == ["lower", "higher", "lower"]
    penalties = rc.correlate({"bleu": metric}, {"errors": -human}, directions={"errors": "lower"})
    assert penalties.value == pytest.approx(expected) and "ratings errors" in str(penalties)
    with pytest.raises(InputError, match=r"not known of mine: say whether .* \(see directions\)$"):
        rc.correlate({"mine": metric, "bleu": metric}, human)
    patterns = rc.correlate({"x.a": -metric, "y.b": metric}, human, directions={"x.*": "lower", "y.*": "higher"})
    assert [row.value for row in patterns] == pytest.approx([expected] * 2)
    for given in ({"x.*": "lower", "x.b": "higher"}, {"x.*": "lower", "*.b": "higher"}):
        with pytest.raises(InputError, match=r"'x\.b' is said to be better lower \(by 'x\.\*'\) and higher"):
            rc.correlate({"x.a": -metric, "x.b": metric}, human, directions=given)
    # A pattern is of ratings, too: both sides turned round agree as before.
    turned = rc.correlate({"bleu": metric}, {"h.errors": -human}, directions={"h.*": "lower"})
    assert turned.value == pytest.approx(expected) and turned.rows[0].criterion_direction == "lower"


def test_one_name_is_of_one_side():
    """With one direction for both sides, -x v x would be as good as x v x."""
    metric, human = made()
    sides = [rc.ScoreMatrix.from_arrays({"score": side}) for side in (metric, human)]
    for given, options in (
        (({"score": metric}, {"score": human}), {"directions": {"score": "lower"}}),
        (sides, {"metrics": "score", "directions": {"score": "lower"}}),
    ):
        with pytest.raises(InputError, match="'score' is named as a metric and as people's ratings"):
            rc.correlate(*given, **options)
    # Where nobody asks for it, the scores' copy of a rating is no metric, and its direction is the rating's.
    scores = rc.ScoreMatrix.from_arrays({"bleu": metric, "errors": metric})
    found = rc.correlate(scores, rc.ScoreMatrix.from_arrays({"errors": -human}), directions={"errors": "lower"})
    assert [row.metric for row in found] == ["bleu"]
    assert found.value == pytest.approx(plainly(metric, human, "system", "pearson"), abs=1e-12)


def test_infinite_scores_are_told_of_whatever_the_name():
    metric, human = made()
    metric[0, 0] = np.inf
    found = rc.correlate({"mine: new": metric}, human, **HIGHER)
    assert found.warnings == ("mine: new: 1 infinite score, treated as missing",)
    assert rc.correlate(metric, human).warnings == ("metric: 1 infinite score, treated as missing",)


def test_systems_that_nobody_rated_do_not_count():
    """Of five systems four have a rating; the fifth's missing score costs no input."""
    metric, human = made(5, 6)
    rated = human.mean(axis=1)
    rated[4] = metric[4, 0] = np.nan
    found = agreement(metric, rated, "system")
    assert (found.systems, found.inputs, found.dropped, found.missing) == (4, 6, 0, 0)
    assert found.value == pytest.approx(stats.pearsonr(metric[:4].mean(axis=1), rated[:4])[0])


def test_the_callers_word_on_a_direction_wins_with_a_warning():
    metric, human = made()
    for given in ({"bleu": "lower"}, "lower"):
        result = rc.correlate({"bleu": metric}, human, directions=given)
        assert result.value == pytest.approx(-rc.correlate(metric, human).value)
        assert result.warnings == (
            "bleu: lower is taken as better, as asked for, though recapture knows it as higher-is-better",
        )
    assert rc.correlate({"ter": metric}, human, directions={"ter": "lower"}).warnings == ()


def test_other_names_and_near_names():
    metric, human = made()
    result = rc.correlate({"bleu": metric}, human, coefficient="kendall-b")
    assert result.rows[0].coefficient == "kendall"
    assert result.value == pytest.approx(plainly(metric, human, "system", "kendall"), abs=1e-12)
    with pytest.raises(InputError, match=r"there is no metric 'bluu': did you mean bleu\?"):
        result.find("bluu")
    with pytest.raises(InputError, match="not by 'system'"):
        result.find(system="a")
    matrix = rc.ScoreMatrix.from_arrays({"bertscore.f1": metric, "bertscore.recall": metric, "h": human})
    with pytest.raises(InputError, match=r"but bertscore.f1, bertscore.recall: did you mean 'bertscore\.\*'"):
        rc.correlate(matrix, "h", metrics="bertscore")
    assert len(rc.correlate(matrix, "h", metrics="bertscore.*")) == 2


def test_numbers_that_are_nothing_but_rounding():
    """Orthogonal by construction: 0 but for rounding, which nobody wants to read."""
    shown = str(rc.correlate(np.array([[0.1], [0.4], [0.1]]) / 3, np.array([[0.1], [0.2], [0.3]])))
    assert "metric ↑    0.0000" in shown


def test_columns_of_one_matrix():
    metric, human = made()
    matrix = rc.ScoreMatrix.from_arrays({"bleu": metric, "h.one": human, "h.two": human + metric, "length": human})
    result = rc.correlate(matrix, ["h.one", "h.two"])
    assert [(row.metric, row.criterion) for row in result] == [("bleu", "h.one"), ("bleu", "h.two")]
    assert result.warnings == ("left out, since which way is better is not known: length",)
    assert len(rc.correlate(matrix, ["h.*"])) == 2 and len(rc.correlate(matrix, "h.one,h.two")) == 2
    assert rc.correlate(matrix, "h.one", metrics="length", directions="higher").value == pytest.approx(1)
    with pytest.raises(AttributeError, match="2 correlations"):
        result.value  # noqa: B018
    assert result.find(criterion="h.one").value == rc.correlate(metric, human).value


def test_ratings_of_whole_systems():
    metric, human = made()
    means = human.mean(axis=1)
    expected = rc.correlate(metric, human).value
    assert rc.correlate(metric, means).value == pytest.approx(expected)
    assert rc.correlate(metric.mean(axis=1), human).value == pytest.approx(expected)
    both = rc.correlate(metric.mean(axis=1), means, interval=0.9)
    assert both.value == pytest.approx(expected) and both.rows[0].inputs == 0 and both.interval is not None
    assert rc.correlate(metric, means, interval=0.9, over="inputs", resamples=50).interval is not None
    with pytest.raises(InputError, match="'human' has scores of whole systems, so there is no text level"):
        rc.correlate(metric, means, "text")
    with pytest.raises(InputError, match="no inputs to draw"):
        rc.correlate(means, means * 2, interval=0.9, over="inputs")


def test_names_join_two_matrices():
    metric, human = made(6, 4)
    scores = rc.ScoreMatrix.from_arrays({"bleu": metric}, list("abcdef"), list("wxyz"))
    ratings = rc.ScoreMatrix.from_arrays({"h": human[::-1][:5]}, list("fedcb"), list("wxyz"))
    result = rc.correlate(scores, ratings)
    assert result.value == pytest.approx(rc.correlate(metric[1:], human[1:]).value)
    assert result.warnings == ("1 system only in scores, left out: a",)
    assert rc.correlate(scores, human).value == pytest.approx(rc.correlate(metric, human).value)
    with pytest.raises(InputError, match="without names they must be the same"):
        rc.correlate(scores, human[:5])


def test_a_system_without_any_rating_is_left_out():
    metric, human = made(6, 4)
    human[2] = np.nan
    result = rc.correlate(metric, human)
    assert result.warnings == ("left out, without any score by human: 2",)
    assert result.value == pytest.approx(rc.correlate(np.delete(metric, 2, 0), np.delete(human, 2, 0)).value)


def test_metrics_with_each_other():
    metric, human = made()
    names, found = metric_correlations({"bleu": metric, "ter": -human, "mine": human}, directions={"mine": "higher"})
    expected = plainly(metric, human, "system", "pearson")
    assert names == ("bleu", "ter", "mine")
    np.testing.assert_allclose(found, [[1, expected, expected], [expected, 1, 1], [expected, 1, 1]], atol=1e-12)


def test_comparing_metrics_of_any_form():
    """The tests have tests of their own: here, that what goes in is oriented and joined."""
    metric, human = made(8, 10)
    other = human + 0.1 * metric
    found = rc.compare_metrics({"bleu": metric, "ter": -other}, human, test="williams")
    assert found.agreements == pytest.approx(
        {"ter": rc.correlate(other, human).value, "bleu": rc.correlate(metric, human).value}
    )
    r23 = plainly(metric, other, "system", "pearson")
    r12, r13 = found.agreements["ter"], found.agreements["bleu"]
    assert found.pairs[0].greater == pytest.approx(rc.williams_test(r12, r13, r23, 8, "greater").pvalue)
    means = rc.compare_metrics({"bleu": metric.mean(1), "ter": -other.mean(1)}, human, test="williams")
    assert means.pairs[0].greater == pytest.approx(found.pairs[0].greater)
    with pytest.raises(InputError, match="only be compared by Williams"):
        rc.compare_metrics({"bleu": metric.mean(1), "ter": -other}, human)
    with pytest.raises(InputError, match="one criterion, but there are a, b"):
        rc.compare_metrics({"bleu": metric, "ter": metric}, {"a": human, "b": human})


def test_forms():
    metric, human = made()
    result = rc.correlate({"bleu": metric, "ter": -metric}, {"a|b": human}, interval=0.95, resamples=20)
    content = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert (
        content["results"]["correlations"][0]["value"] == result.rows[0].value
        and content["signature"]["resamples"] == 20
    )
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [float(row["low"]) for row in rows] == [row.interval[0] for row in result]
    assert "\\toprule" in result.to_latex() and result.to_markdown().startswith("| metric | pearson |\n|---|---:|\n")
    assert "1 is best" in str(result) and "ter ↓" in str(result) and "<td>ter ↓</td>" in result._repr_html_()


X = np.arange(12.0).reshape(4, 3)
NAMED = rc.ScoreMatrix.from_arrays({"bleu": X, "fluency": X, "adequacy": X})
BAD = {
    "no input shared": (
        (np.where(np.eye(4, 3) + np.eye(4, 3, -1), np.nan, X), X),
        {},
        "no input has the scores of all 4",
    ),
    "constant metric": (({"bleu": X * 0 + 1}, X), {}, "'bleu' is the same for all 4 systems"),
    "constant ratings": (({"bleu": X}, {"tone": X * 0}), {}, "'tone' is the same for all 4 systems"),
    "two systems": ((X[:2], X[:2]), {}, "2 systems: a correlation at the system level needs at least 3"),
    "one system": ((X[:1], X[:1], "text"), {}, "one system only"),
    "no text varies": ((X, X * 0, "text"), {}, "no input on which both vary"),
    "unknown criterion": ((NAMED, "fluensy"), {}, "no column 'fluensy': did you mean fluency?"),
    "unknown metric": ((NAMED, "fluency"), {"metrics": "blue"}, "no column 'blue': did you mean bleu"),
    "metric twice": ((NAMED, "fluency"), {"metrics": "fluency,bleu"}, "as a metric and as people's ratings"),
    "level": ((X, X, "sentence"), {}, r"unknown level 'sentence': did you mean text\?"),
    "coefficient": ((X, X, "text", "pearsn"), {}, "unknown coefficient 'pearsn': did you mean pearson"),
    "interval": ((X, X), {"interval": 95}, "level between 0 and 1"),
    "interval of words": ((X, X), {"interval": "x"}, "level between 0 and 1 such as 0.95, not 'x'"),
    "level of numbers": ((X, X, 3), {}, "a level is named by a text, several by a list of texts, not by 3"),
    "no level": ((X, X, None), {}, "a level is named by a text"),
    "coefficient of numbers": ((X, X, "text", 3), {}, "a coefficient is named by a text"),
    "no ratings": ((X, None), {}, "'human' must be numbers, systems x inputs, not None"),
    "no scores": (({"a": None}, X), {}, "'a' must be numbers, systems x inputs, not None"),
    "directions of numbers": (({"a": X}, X), {"directions": 3}, "a mapping from names to these, not 3"),
    "names of numbers": (({"bleu": X}, X), {"metrics": 3}, "a column is named by a text"),
    "over": ((X, X), {"over": "rows"}, "both, systems or inputs"),
    "resamples": ((X, X), {"resamples": 0}, "resamples must be a whole number of at least 1"),
    "direction": (({"bleu": X}, X), {"directions": {"bleu": "up"}}, "must be 'higher' or 'lower', not 'up'"),
    "direction of nothing": (({"bleu": X}, X), {"directions": {"blue": "lower"}}, "'blue', which is no column"),
    "shapes": ((X, X[:3]), {}, "one side has 3 systems and 3 inputs, the other 4 systems and 3 inputs"),
    "no system shared": (
        (
            rc.ScoreMatrix.from_dicts({"bleu": {"a": [1], "b": [2]}, "h": {"A": [1], "B": [2]}}),
            "h",
        ),
        {},
        "'bleu' and 'h' have no system in common: one begins with 'a', the other with 'A'",
    ),
    "no direction at all": ((rc.ScoreMatrix.from_arrays({"a": X, "b": X}), "a"), {}, "not known of b"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_sentence(name):
    given, options, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        rc.correlate(*given, **options)
    assert "\n" not in str(caught.value)


def test_two_systems_at_the_text_level_bring_a_warning():
    assert "every input's correlation is 1 or -1" in rc.correlate(X[:2], X[:2], "text").warnings[0]


def test_inputs_of_two_systems_are_counted():
    """Of the four inputs, two have two systems only; on one of these people rate both alike, so it is dropped."""
    metric, human = made(5, 4, seed=1)
    human[:, :2] = [[np.nan, 1], [1, 2], [2, np.nan], [np.nan, np.nan], [np.nan, np.nan]]
    metric[:3, 0], metric[:2, 1] = [1, 2, 3], [4, 4]
    human[:, 2:] += np.arange(5)[:, None]
    found = rc.correlate(metric, human, "text")
    assert (found.rows[0].inputs, found.rows[0].dropped) == (3, 1)
    assert found.warnings == (
        "metric: on 1 of 3 inputs only two systems have a score and a rating, so that the correlation there is 1 or -1",
    )
    assert rc.correlate(metric[:, 2:], human[:, 2:], "text").warnings == ()
    assert rc.correlate(metric, human, "text", "acc-eq").warnings == ()


def test_a_share_of_pairs_is_not_called_a_correlation():
    metric, human = made()
    assert "correlation" not in str(rc.correlate(metric, human, "text", "acc-eq")).replace("is no correlation", "")
    assert str(rc.correlate(metric, human, "text", ["pearson", "acc-eq"])).count("agreement with human") == 1


@pytest.mark.traced
@pytest.mark.slow
def test_stored_scores_of_realsumm(data_folder):
    """The data's README prints, for the scores that the authors stored, Pearson / Kendall at the system level."""
    printed = {
        ("abs", "rouge_2_recall"): (0.983, 0.868), ("abs", "bert_recall_score"): (0.824, 0.626),
        ("abs", "mover_score"): (0.858, 0.868), ("ext", "rouge_2_recall"): (0.739, 0.491),
        ("ext", "bert_recall_score"): (0.333, 0.127), ("ext", "mover_score"): (0.012, -0.018),
    }  # fmt: skip
    path = data_folder / "realsumm" / "summaries.jsonl.gz"
    if not path.exists():
        pytest.skip("no realsumm/summaries.jsonl.gz")
    with pytest.raises(InputError, match="both have scores of system 'bart_out'"):
        rc.read_scores(path)  # in both types
    for kind in ("abs", "ext"):
        matrix = rc.read_scores(path, where={"type": kind})
        result = rc.correlate(
            matrix, "litepyramid_recall", coefficient=["pearson", "kendall"], directions={"auto_scores.*": "higher"}
        )
        for name in ("rouge_2_recall", "bert_recall_score", "mover_score"):
            found = [result.find(f"auto_scores.{name}", coefficient=each).value for each in ("pearson", "kendall")]
            assert tuple(np.round(found, 3)) == printed[kind, name]
