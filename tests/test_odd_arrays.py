"""Arrays of odd kinds: the number that the same values as float64 give, or a sentence."""

import warnings

import numpy as np
import pytest

import recapture as rc
from number_doors import canonical
from odd_arrays import LIMIT, SCORES, TABLES, torch_tables
from recapture.checks import array_of, numbers_of
from recapture.errors import InputError

RANDOM = np.random.default_rng(2)
X, Y = RANDOM.integers(0, 100, (2, 40, 3)).astype(float)
S, T, H = RANDOM.integers(0, 100, (3, 5, 7)).astype(float)
ON_SPHERES = "precision-recall,density-coverage"
VECTORS = {"kendall_tau", "correlation", "score_distributions"}

SETS = {
    "mark-evaluate": rc.mark_evaluate,
    "frechet": rc.frechet,
    "mmd": rc.mmd,
    "prd": lambda one, other: rc.prd(one, other, clusterings=1),
    "mauve": lambda one, other: rc.mauve(one, other, clusterings=1),
    "evaluate": lambda one, other: rc.evaluate(one, other, ON_SPHERES, ceiling=False)["candidate"],
    "human": lambda one, other: rc.evaluate(Y[::-1] + 0.5, one, ON_SPHERES, human=other, ceiling=3)["candidate"],
}
AGREEMENT = {
    "correlate": lambda s, h: rc.correlate(s, h).rows,
    "compare_metrics": lambda s, h: rc.compare_metrics({"a": s, "b": T}, h, directions="higher", resamples=5),
    "correlation": lambda s, h: rc.correlation(h, s),
    "kendall_tau": rc.kendall_tau,
    "paired_bootstrap": lambda s, h: rc.paired_bootstrap(s, T, h, resamples=20),
    "swapping_test": lambda s, h: rc.swapping_test(s, T, h, resamples=20),
    "pairwise_accuracy": lambda s, h: rc.pairwise_accuracy(s, h),
    "soft_pairwise_accuracy": lambda s, h: rc.soft_pairwise_accuracy(s, h, 20),
    "score_distributions": lambda s, h: rc.score_distributions(s, h, 40),
    "sweep": lambda s, h: rc.sweep({"a": s, "b": T}, h, folds=2),
    "tie_calibration": rc.tie_calibration,
    "metric_correlations": lambda s, h: rc.metric_correlations({"a": s, "b": h}, directions="higher"),
    "from_arrays": lambda s, h: rc.ScoreMatrix.from_arrays({"a": s, "b": h}),
    "ScoreMatrix": lambda s, h: rc.ScoreMatrix(tuple("abcde"), tuple("1234567"), {"a": s, "b": h}),
}


def outcome(call, *sides):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return canonical(call(*sides))
        except InputError as error:
            assert str(error)
            return "refused"


def check(call, odd, first, second, kind):
    assert (first > LIMIT).any()  # what masks hide is there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sides = [((odd.make(first), second), odd.means and (odd.means(first), second))]
        sides += [((first, odd.make(second)), odd.means and (first, odd.means(second)))]
    for given, meant in sides:
        found = outcome(call, *given)
        assert found == (outcome(call, *meant) if meant else "refused"), kind


@pytest.mark.slow
@pytest.mark.parametrize("metric", SETS)
def test_sets(metric):
    for kind, odd in TABLES.items():
        check(SETS[metric], odd, X, Y, kind)


@pytest.mark.slow
def test_sets_of_torch():
    pytest.importorskip("torch")
    for kind, odd in torch_tables().items():
        for metric in ("mark-evaluate", "mmd", "evaluate", "human"):
            check(SETS[metric], odd, X, Y, kind)


@pytest.mark.slow
@pytest.mark.parametrize("function", AGREEMENT)
def test_scores_and_ratings(function):
    for kind, odd in SCORES.items():
        if function in VECTORS and kind in ("masked rows", "records"):  # which are tables
            continue
        if function in ("ScoreMatrix", "from_arrays") and kind == "infinity":
            # A matrix holds what it is given; from_arrays leaves infinite scores out and says so.
            matrix = rc.ScoreMatrix.from_arrays({"a": odd.make(S)})
            assert np.isnan(matrix["a"]).sum() == (S > LIMIT).sum()
            continue
        sides = (S.ravel(), H.ravel()) if function in VECTORS else (S, H)
        check(AGREEMENT[function], odd, *sides, kind)


def test_masked_scores_are_not_scored():
    """Without the masked item the ranks agree; with it they would not."""
    scores = np.ma.array([1, 2, 3, 100], mask=[False, False, False, True])
    assert rc.correlation([1, 2, 3, 0], scores, "spearman") == pytest.approx(1)
    assert rc.kendall_tau(scores, [1, 2, 3, 0]) == pytest.approx(1)
    assert np.isnan(rc.ScoreMatrix.from_arrays({"a": scores})["a"][3])


@pytest.mark.parametrize("test", [rc.holm, rc.fisher, rc.harmonic_mean_p, rc.benjamini_hochberg])
def test_pvalues(test):
    expected = canonical(test([0.25, 0.5]))
    for given in (np.array([0.25, 0.5], np.float16), (p for p in (0.25, 0.5)), np.array([0.25, 0.5], object)):
        assert canonical(test(given)) == expected
    for given in (np.ma.array([0.25, 0.5], mask=[0, 1]), [0.25, 0.5j], ["0.25"], [10**400], 5, None, "0.5", [[0.5]]):
        with pytest.raises(InputError):
            test(given)


def test_matrices_of_scores_and_distances():
    square = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    texts = ["a", "b"], ["c"]
    expected = canonical(rc.triangle_rank(*texts, square.astype(float)))
    for kind in (np.int8, np.uint8, np.float16, object):
        assert canonical(rc.triangle_rank(*texts, square.astype(kind))) == expected
    wrong = (square * 1j, np.ma.array(square, mask=square > 2), square.astype(str), square.astype("timedelta64[s]"))
    for given in (*wrong, [[10**400] * 3] * 3, 5, b"abc"):
        for call in (
            lambda given: rc.triangle_rank(*texts, given),
            lambda given: rc.dispersion(*texts, given),
            lambda given: rc.aggregate(*texts, scores=given),
        ):
            with pytest.raises(InputError):
                call(given)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (np.ones((2, 2)) * 1j, "must be an array of numbers, not complex128"),
        (np.ma.array(np.ones((2, 2)), mask=[[1, 0], [0, 0]]), "no number for text"),
        (np.ones((2, 2), "datetime64[s]"), "must be an array of numbers"),
        ([[1], [1, 2]], "must be a rectangular table of numbers"),
        ([["1"], ["2"]], "must be an array of numbers"),
        ([[10**400], [1]], "must be an array of numbers"),
        (np.full((2, 2), 1e300), "gave infinity or no number"),
        (None, "one vector per text"),
    ],
)
def test_vectors_of_a_callers_encoder(answer, sentence):
    with pytest.raises(InputError, match=sentence):
        rc.encode(["a", "b"], lambda texts: answer)


def test_statistics_of_a_callers_function():
    sides = [1.0, 2.0, 3.0], [11.0, 12.0, 13.0]
    expected = canonical(rc.permutation_test(*sides, lambda r, c: abs(sum(r) - sum(c))))
    for kind in (np.float16, np.float32, np.longdouble):
        assert canonical(rc.permutation_test(*sides, lambda r, c, kind=kind: kind(abs(sum(r) - sum(c))))) == expected
    for answer in (1j, "3", None, [1, 2], 10**400, np.timedelta64(2, "s")):
        with pytest.raises(InputError):
            rc.permutation_test(*sides, lambda r, c, answer=answer: answer)
    with pytest.raises(InputError, match="references have masked values"):
        rc.permutation_test(np.ma.array([1, 2], mask=[0, 1]), np.array([1, 2]), lambda r, c: 0.0)


def test_a_second_human_set_of_lists():
    sets = [rows.tolist() for rows in (X, Y, X[::-1] + 0.5)]
    found = rc.evaluate(sets[0], sets[1], ON_SPHERES, human=sets[2], ceiling=3)
    assert canonical(found) == canonical(rc.evaluate(X, Y, ON_SPHERES, human=X[::-1] + 0.5, ceiling=3))


@pytest.mark.slow
def test_samples_of_torch_are_drawn_in_order_of_content():
    torch = pytest.importorskip("torch")
    one, other = X[:, 0], Y[:, 0]  # whole numbers below 100, which bfloat16 holds

    def found(*sides):
        return rc.permutation_test(*sides, lambda r, c: abs(sum(map(float, r)) - sum(map(float, c))), pvalue=19).pvalue

    expected = found(one, other)
    for make in (
        lambda rows: torch.tensor(rows).bfloat16(),
        lambda rows: list(torch.tensor(rows)),
    ):
        assert found(make(one), make(other)) == found(make(one[::-1].copy()), make(other)) == expected
    grown = [torch.tensor(rows, requires_grad=True) for rows in (one, other)]
    assert rc.permutation_test(*grown, lambda r, c: abs(len(r) - len(c)), pvalue=19).pvalue == 1
    assert 0 < found(torch.tensor(one).to_sparse(), other) <= 1  # an order that is not known


def test_what_cannot_be_an_array():
    class Stubborn:
        def __array__(self, *_, **__):
            raise RuntimeError("not today\nnor tomorrow")

    with pytest.raises(InputError, match=r"scores must be a rectangular table of numbers: not today$"):
        array_of(Stubborn(), "scores")
    assert numbers_of([1, None], "scores").tolist()[0] == 1
    assert numbers_of([True, False], "scores").tolist() == [1, 0]


def test_sets_whose_squared_distances_vanish_are_refused():
    """Squares of numbers below 1e-162 are 0 in float64: by distances alone all samples would be one."""
    for call in (SETS[name] for name in SETS if name != "human"):
        with pytest.raises(InputError, match="and candidate hold no value beyond 1e-150"):
            call(X * 1e-200, Y * 1e-200)
    assert rc.mark_evaluate(X * 0, Y * 0).petersen == 1  # all samples are one


def test_lists_are_read_without_a_change_to_the_filters_of_warnings():
    """Which all threads share: whoever changes and restores them while others do leaves them changed."""
    hidden = np.ma.array([1, 2], mask=[0, 1])
    lists = [[1, np.ma.masked], [[1, np.ma.masked]], [hidden], ([hidden],), list(hidden), (1.0, np.ma.masked)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(warnings, "catch_warnings", None)
            found = [numbers_of(given, "scores").ravel() for given in lists]
    for numbers in found:
        np.testing.assert_array_equal(numbers, [1, np.nan])
