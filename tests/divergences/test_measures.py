"""Information measures against the plain definitions in 50 digits, scipy, torchmetrics and published identities."""

from __future__ import annotations

import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recapture.divergences.evaluation import evaluate
from recapture.divergences.measures import check_all, find_measure, list_measures
from recapture.errors import InputError

NAMES = ("kl", "jeffreys", "alpha", "renyi", "ab", "gamma", "l1", "l2", "linf", "fisher_rao")
ORDERS = [
    (0.3, 0.7),
    (0.5, 0.5),
    (1.7, 0.4),
    (-0.8, 2.5),
    (0.5, -1.9),
    (3.0, -2.0),
    (-1.5, -0.4),
    (1 + 1e-6, 1e-6),
    (1e-7, 1.0),
    (2.0, -2 + 1e-6),
    (40.0, 0.2),
]


def log_softmax(logits):
    logits = np.asarray(logits, dtype=np.float64)
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def usable(alpha):
    return [name for name in NAMES if name != "renyi" or alpha > 0]


def definitions(log_p, log_q, alpha, beta):
    """Every measure as defined (Renyi for alpha > 0 alone), 50 digits, from the logarithms as they were rounded."""
    with mpmath.workdps(50):
        alpha, beta = mpmath.mpf(alpha), mpmath.mpf(beta)
        raw_p = [mpmath.exp(mpmath.mpf(float(x))) for x in log_p]
        raw_q = [mpmath.exp(mpmath.mpf(float(x))) for x in log_q]
        # Rounded logarithms sum to 1 + 1e-16 or so: information is that of the distributions they stand for, and the
        # norms are those of the rounded numbers, since at a distance of 1e-8 the two differ in the eighth digit.
        p = [x / mpmath.fsum(raw_p) for x in raw_p]
        q = [x / mpmath.fsum(raw_q) for x in raw_q]
        gaps = [abs(x - y) for x, y in zip(raw_p, raw_q, strict=True)]

        def total(f):
            return mpmath.fsum(f(x, y) for x, y in zip(p, q, strict=True))

        def ab(a, b):
            return (
                mpmath.log(total(lambda x, y: x ** (a + b))) / (b * (a + b))
                + mpmath.log(total(lambda x, y: y ** (a + b))) / (a * (a + b))
                - mpmath.log(total(lambda x, y: x**a * y**b)) / (a * b)
            )

        forward, back = total(lambda x, y: x * mpmath.log(x / y)), total(lambda x, y: y * mpmath.log(y / x))
        powers = total(lambda x, y: x**alpha * y ** (1 - alpha))
        return {
            "kl": forward,
            "jeffreys": (forward + back) / 2,
            "alpha": (powers - 1) / (alpha * (alpha - 1)),
            "renyi": mpmath.log(powers) / (alpha - 1),
            "ab": ab(alpha, beta),
            "gamma": ab(mpmath.mpf(1), beta),
            "l1": mpmath.fsum(gaps),
            "l2": mpmath.sqrt(mpmath.fsum(x * x for x in gaps)),
            "linf": max(gaps),
            "fisher_rao": 2 / mpmath.pi * mpmath.acos(min(mpmath.mpf(1), total(lambda x, y: mpmath.sqrt(x * y)))),
        }


@pytest.mark.parametrize(("alpha", "beta"), ORDERS)
@pytest.mark.parametrize("spread", [1e-8, 1e-4, 1e-2, 0.3, 3.0, 30.0, 1200.0])
def test_definitions_in_fifty_digits(alpha, beta, spread):
    rng = np.random.default_rng(7)
    base = 3 * rng.standard_normal(12)
    log_p = log_softmax(np.stack([base, spread * rng.standard_normal(12)]))
    log_q = log_softmax(np.stack([base + spread * rng.standard_normal(12), spread * rng.standard_normal(12)]))
    values = evaluate(usable(alpha), log_p, log_q, alpha, beta)
    for row in range(2):
        expected = definitions(log_p[row], log_q[row], alpha, beta)
        for name in usable(alpha):
            if expected[name] > np.finfo(float).max:
                assert name == "alpha"
                assert find_measure(name).may_overflow
                assert values[name][row] == math.inf
            else:
                # 40th powers leave one word that counts, and AB below 1e-30: there, the square of rounding shows.
                slack = 1e-28 if name == "ab" and alpha == 40 else 0
                assert values[name][row] == pytest.approx(float(expected[name]), rel=1e-12, abs=slack), (name, row)


def test_low_temperature_is_finite_and_exact():
    rng = np.random.default_rng(1)
    logits = rng.uniform(-30, 30, size=(2, 40))
    logits[:, 0] = 30, -30  # the whole span on one word
    log_p, log_q = log_softmax(logits / 0.05)
    assert np.exp(log_p).min() == 0
    assert log_p.min() < -1100
    for alpha, beta in ((0.3, 0.6), (0.5, -1.5), (0.8, -0.3)):
        values = evaluate(NAMES, log_p, log_q, alpha, beta)
        expected = definitions(log_p, log_q, alpha, beta)
        for name in NAMES:
            assert np.isfinite(values[name])
            assert float(values[name]) == pytest.approx(float(expected[name]), rel=1e-11, abs=0), name


def test_lowest_logarithms_of_the_contract():
    """Entries of exp(-700 / 0.05) on either side; two words of probability about 1 each: KL is the logarithm's size."""
    tiny = -700 / 0.05
    values = evaluate(NAMES, np.array([0.0, tiny]), np.array([tiny, 0.0]), 0.5, 0.5)
    # Closed forms: sum p^(1/2) q^(1/2) = 2 exp(tiny / 2), sum p = sum q = 1.
    assert float(values["kl"]) == pytest.approx(-tiny, rel=1e-15)
    assert float(values["jeffreys"]) == pytest.approx(-tiny, rel=1e-15)
    assert float(values["alpha"]) == pytest.approx(4, rel=1e-15)
    assert float(values["renyi"]) == pytest.approx(-tiny - 2 * math.log(2), rel=1e-15)
    assert float(values["ab"]) == pytest.approx(-2 * tiny - 4 * math.log(2), rel=1e-15)
    # Closed form: S(p q^(1/2)) = exp(tiny / 2) (1 + exp(tiny / 2)), S(p^(3/2)) = 1.
    assert float(values["gamma"]) == pytest.approx(-tiny, rel=1e-15)
    assert [float(values[name]) for name in ("l1", "linf", "fisher_rao")] == [2, 1, 1]
    assert float(values["l2"]) == pytest.approx(math.sqrt(2), rel=1e-15)


def test_scipy():
    from scipy.special import rel_entr
    from scipy.stats import entropy

    rng = np.random.default_rng(2)
    p, q = rng.dirichlet(np.ones(500), size=(2, 6))
    values = evaluate(["kl", "jeffreys", "l2"], np.log(p), np.log(q))
    np.testing.assert_allclose(values["kl"], rel_entr(p, q).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(values["kl"], entropy(p, q, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        values["jeffreys"], (rel_entr(p, q).sum(axis=1) + rel_entr(q, p).sum(axis=1)) / 2, rtol=1e-12
    )
    np.testing.assert_allclose(values["l2"], np.linalg.norm(p - q, axis=1), rtol=1e-12)


@pytest.mark.slow
def test_torchmetrics():
    """torchmetrics' _InformationMeasure (functional/text/infolm.py, 1.9) takes the candidate first; it returns KL and
    alpha with the sign turned and Fisher-Rao as 2 arccos, which is pi times ours."""
    torch = pytest.importorskip("torch")
    infolm = pytest.importorskip("torchmetrics.functional.text.infolm")
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(300), size=(2, 5))
    alpha, beta = 0.4, 0.9
    values = evaluate(NAMES, np.log(p), np.log(q), alpha, beta)
    theirs = {
        "kl": ("kl_divergence", -1),
        "alpha": ("alpha_divergence", -1),
        "renyi": ("renyi_divergence", 1),
        "ab": ("ab_divergence", 1),
        "gamma": ("beta_divergence", 1),
        "l1": ("l1_distance", 1),
        "l2": ("l2_distance", 1),
        "linf": ("l_infinity_distance", 1),
        "fisher_rao": ("fisher_rao_distance", 1 / math.pi),
    }
    for name, (measure, factor) in theirs.items():
        function = infolm._InformationMeasure(measure, alpha, beta)
        expected = factor * function(torch.from_numpy(q), torch.from_numpy(p)).numpy()
        np.testing.assert_allclose(values[name], expected, rtol=1e-9, err_msg=name)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(4)
    return np.log(rng.dirichlet(np.ones(50), size=8)), np.log(rng.dirichlet(np.full(50, 2.0), size=8))


def test_limits(pairs):
    """alpha and Renyi go to KL(p, q) as alpha -> 1, alpha to KL(q, p) as alpha -> 0; Renyi to the largest log ratio."""
    log_p, log_q = pairs
    forward, back = evaluate("kl", log_p, log_q)["kl"], evaluate("kl", log_q, log_p)["kl"]
    near = evaluate(["alpha", "renyi"], log_p, log_q, 1 + 1e-8)
    np.testing.assert_allclose(near["alpha"], forward, rtol=1e-6)
    np.testing.assert_allclose(near["renyi"], forward, rtol=1e-6)
    np.testing.assert_allclose(evaluate("alpha", log_p, log_q, 1e-8)["alpha"], back, rtol=1e-6)
    far = evaluate("renyi", log_p, log_q, 1e6)["renyi"]
    np.testing.assert_allclose(far, (log_p - log_q).max(axis=1), rtol=1e-4)
    # gamma goes to KL(p, q) as beta -> 0 (Fujisawa and Eguchi 2008, where their gamma is beta).
    np.testing.assert_allclose(evaluate("gamma", log_p, log_q, beta=1e-8)["gamma"], forward, rtol=1e-6)


def test_textbook_relations(pairs):
    """Named divergences: Pearson's chi-squared, Hellinger and Bhattacharyya, with the factors of Cichocki and Amari,
    'Families of alpha- beta- and gamma-divergences' (Entropy 2010)."""
    log_p, log_q = pairs
    p, q = np.exp(log_p), np.exp(log_q)
    chi = ((p - q) ** 2 / q).sum(axis=1)
    two = evaluate(["alpha", "renyi"], log_p, log_q, 2.0)
    np.testing.assert_allclose(two["alpha"], chi / 2, rtol=1e-12)
    np.testing.assert_allclose(two["renyi"], np.log1p(chi), rtol=1e-12)
    half = evaluate(["alpha", "renyi", "fisher_rao"], log_p, log_q, 0.5)
    np.testing.assert_allclose(half["alpha"], 2 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(half["renyi"], -2 * np.log(np.sqrt(p * q).sum(axis=1)), rtol=1e-12)
    np.testing.assert_allclose(half["fisher_rao"], 2 / math.pi * np.arccos(np.sqrt(p * q).sum(axis=1)), rtol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [order for order in ORDERS if abs(order[0]) < 10])
def test_ab_relations(pairs, alpha, beta):
    """Duality, inversion and scaling: Cichocki, Cruces and Amari, 'Generalized Alpha-Beta Divergences' (Entropy 2011).

    They follow from the definition, which is symmetric under these changes term by term."""
    log_p, log_q = pairs
    value = evaluate("ab", log_p, log_q, alpha, beta)["ab"]
    np.testing.assert_allclose(evaluate("ab", log_q, log_p, beta, alpha)["ab"], value, rtol=1e-12)
    np.testing.assert_allclose(evaluate("ab", -log_p, -log_q, -alpha, -beta)["ab"], value, rtol=1e-12)
    np.testing.assert_allclose(evaluate("ab", log_p / 2, log_q / 2, 2 * alpha, 2 * beta)["ab"], value / 4, rtol=1e-12)
    # Scale invariance: c p and d q in place of p and q.
    np.testing.assert_allclose(evaluate("ab", log_p + 3, log_q - 900, alpha, beta)["ab"], value, rtol=1e-9)
    np.testing.assert_allclose(
        evaluate("gamma", log_p, log_q, beta=beta)["gamma"], evaluate("ab", log_p, log_q, 1.0, beta)["ab"], rtol=0
    )


def test_ab_contains_renyi_and_cauchy_schwarz(pairs):
    """alpha + beta = 1: Renyi / alpha, as S(p) = S(q) = 1; alpha = beta = 1: minus the logarithm of the cosine."""
    log_p, log_q = pairs
    values = evaluate(["ab", "renyi"], log_p, log_q, 0.3, 0.7)
    np.testing.assert_allclose(values["ab"], values["renyi"] / 0.3, rtol=1e-12)
    p, q = np.exp(log_p), np.exp(log_q)
    cosine = (p * q).sum(axis=1) / np.sqrt((p * p).sum(axis=1) * (q * q).sum(axis=1))
    np.testing.assert_allclose(evaluate("ab", log_p, log_q, 1.0, 1.0)["ab"], -np.log(cosine), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_symmetry_is_as_declared(pairs, name):
    log_p, log_q = pairs
    measure = find_measure(name)

    def both(alpha, beta):
        used = {"alpha": alpha, "beta": beta}
        used = {key: used[key] for key in measure.parameters}
        return evaluate(name, log_p, log_q, **used)[name], evaluate(name, log_q, log_p, **used)[name]

    one, other = both(0.3, 0.9)
    assert np.allclose(one, other, rtol=1e-12, atol=0) == measure.symmetric
    if measure.symmetric_at:
        one, other = both(0.5, 1.0 if name == "gamma" else 0.5)
        np.testing.assert_allclose(one, other, rtol=1e-12)


logits = arrays(np.float64, (3, 9), elements=st.floats(-600, 600, width=64))
numbers = st.floats(-5, 5).filter(lambda x: min(abs(x), abs(x - 1), abs(x + 1)) > 1e-3)


@pytest.mark.slow
@settings(max_examples=75, deadline=None)
@given(logits, logits, numbers, numbers, st.sampled_from([0.0, 1e-9, 1e-3, 1.0]))
def test_never_negative_never_nan_zero_when_equal_within_range(one, other, alpha, beta, weight):
    log_p, log_q = log_softmax(one), log_softmax(one + weight * (other - one))
    names = [name for name in usable(alpha) if name != "ab" or abs(alpha + beta) > 1e-3]
    for name, value in evaluate(names, log_p, log_q, alpha, beta).items():
        low, high = find_measure(name).range(alpha, beta)
        assert (value >= low).all(), name
        assert (value <= high * (1 + 1e-12)).all(), name
        if weight == 0:
            assert (value == 0).all(), name
            assert not np.signbit(value).any()
        assert np.isfinite(value).all() or find_measure(name).may_overflow
    for name, value in evaluate(names, log_p, log_p.copy(), alpha, beta).items():
        assert (value == 0).all(), name


def test_ranges_are_reached_by_disjoint_distributions():
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log([0.5, 0.5, 0, 0]), np.log([0, 0, 0.25, 0.75])
    values = evaluate(NAMES, log_p, log_q, 0.3, 0.6)
    for name in set(NAMES) - {"l2", "linf"}:
        assert float(values[name]) == pytest.approx(find_measure(name).range(0.3, 0.6)[1], rel=1e-15), name
    assert float(values["fisher_rao"]) == 1
    single = evaluate(["l2", "linf"], np.array([0, -np.inf]), np.array([-np.inf, 0]))
    assert float(single["l2"]) == pytest.approx(find_measure("l2").range()[1], rel=1e-15)
    assert float(single["linf"]) == find_measure("linf").range()[1] == 1


@pytest.mark.parametrize(("alpha", "beta"), ORDERS)
def test_words_that_neither_side_knows_change_nothing(pairs, alpha, beta):
    log_p, log_q = pairs
    nothing = np.full((8, 3), -np.inf)
    plain = evaluate(usable(alpha), log_p, log_q, alpha, beta)
    wider = evaluate(usable(alpha), np.hstack([nothing, log_p]), np.hstack([nothing, log_q]), alpha, beta)
    for name, value in plain.items():
        # alpha = 40 multiplies the rounding of logarithms, and large parts may cancel in the escort's shift.
        np.testing.assert_allclose(wider[name], value, rtol=1e-11, err_msg=name)


@pytest.mark.parametrize(("alpha", "beta"), ORDERS)
def test_zeros_on_one_side_leave_no_nan(alpha, beta):
    """As the definitions say where they are defined: KL is infinite only where q lacks a word of p."""
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log([[0, 0.4, 0.6], [0.2, 0.2, 0.6]]), np.log([[0.2, 0.2, 0.6], [0, 0.4, 0.6]])
    values = evaluate(usable(alpha), log_p, log_q, alpha, beta)
    assert all((value > 0).all() for value in values.values())
    assert values["kl"][0] == pytest.approx(0.4 * math.log(2), rel=1e-14)
    assert values["kl"][1] == math.inf
    assert (values["jeffreys"] == math.inf).all()
    expected = 0.4**alpha * 0.2 ** (1 - alpha) + 0.6 - 1  # the sum over the words of both, less 1
    expected /= alpha * (alpha - 1)
    assert values["alpha"][0] == (math.inf if alpha < 0 else pytest.approx(expected, rel=1e-8))
    # Even a probability too small for a float is too much where the other side has none.
    assert evaluate("kl", np.array([0.0, -800.0]), np.array([0.0, -np.inf]))["kl"] == math.inf


def test_a_pair_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(5)
    log_p, log_q = log_softmax(3 * rng.standard_normal((2, 70, 1000)))
    together = evaluate(NAMES, log_p, log_q, 0.3, 0.6)
    turned = evaluate(NAMES, np.asfortranarray(log_p[::-1]), np.asfortranarray(log_q[::-1]), 0.3, 0.6)
    for name in NAMES:
        assert together[name].shape == (70,)
        assert (turned[name][::-1] == together[name]).all(), name
        assert evaluate(NAMES, log_p[41], log_q[41], 0.3, 0.6)[name] == together[name][41]
    assert evaluate("kl", log_p[0], log_q[0])["kl"].shape == ()
    assert evaluate("kl", log_p[:0], log_q[:0])["kl"].shape == (0,)


@pytest.mark.slow
def test_memory_does_not_grow_with_pairs():
    rng = np.random.default_rng(6)
    log_p, log_q = log_softmax(rng.standard_normal((2, 60, 30522)))
    tracemalloc.start()
    evaluate(NAMES, log_p, log_q, 0.3, 0.6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < log_p.nbytes  # 15 MB; one temporary for all pairs would be as large


def test_names():
    assert tuple(list_measures()) == NAMES
    assert find_measure("Fisher-Rao") is find_measure("fisher_rao")
    with pytest.raises(InputError, match=r"unknown information measure 'fisher': did you mean fisher_rao\?"):
        find_measure("fisher")
    with pytest.raises(InputError, match="known: ab, alpha"):
        find_measure("xyzzy")


@pytest.mark.parametrize(
    ("name", "alpha", "beta"),
    [
        ("alpha", 0, None),
        ("alpha", 1, None),
        ("alpha", 0.1 + 0.2 + 0.7, None),
        ("renyi", 0.0, None),
        ("renyi", -0.5, None),
        ("renyi", 1.0, None),
        ("ab", 0.0, 1.0),
        ("ab", 1.0, 0.0),
        ("ab", 0.1 + 0.2, -0.3),
        ("gamma", None, 0.0),
        ("gamma", None, -1.0),
    ],
)
def test_forbidden_values(name, alpha, beta):
    with pytest.raises(InputError, match=f"the measure {name} does not exist at"):
        check_all([name], alpha, beta)
    with pytest.raises(InputError, match=f"the measure {name} does not exist at"):
        evaluate(name, np.zeros(1), np.zeros(1), alpha, beta)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e7, "0.5", True, [0.5], 1j])
def test_values_that_are_no_numbers(value):
    with pytest.raises(InputError, match="alpha must be a number from -1e\\+06 to 1e\\+06"):
        check_all(["alpha"], value)
    with pytest.raises(InputError, match="beta must be a number"):
        check_all(["gamma", "kl"], None, value)


def test_missing_and_unused_parameters():
    for name in NAMES:
        for parameter in find_measure(name).parameters:
            values = dict.fromkeys(find_measure(name).parameters, 0.5) | {parameter: None}
            with pytest.raises(InputError, match=f"the measure {name} needs {parameter}"):
                check_all([name], **values)
        for parameter in {"alpha", "beta"} - set(find_measure(name).parameters):
            values = dict.fromkeys(find_measure(name).parameters, 0.5) | {parameter: 0.5}
            with pytest.raises(InputError, match=rf"{parameter} = 0.5 is used by none of the measures .*\({name}\)"):
                check_all([name], **values)
    check_all(NAMES, 0.5, np.float32(0.5))
    check_all(["kl", "alpha"], 2)
    with pytest.raises(InputError, match=r"beta = 0.5 is used by none of the measures asked for \(kl, alpha\)"):
        check_all(["kl", "alpha"], 2, 0.5)
    with pytest.raises(InputError, match="no information measure was asked for"):
        check_all([])


def test_ranges():
    assert find_measure("kl").range() == (0, math.inf)
    assert find_measure("alpha").range(0.5) == (0, 4)
    assert find_measure("alpha").range(2) == (0, math.inf)
    assert find_measure("l1").range(0.5, 0.5) == (0, 2)
    with pytest.raises(InputError, match="needs alpha"):
        find_measure("alpha").range()


def test_rows_that_are_no_distributions():
    half = np.log([[0.5, 0.5]] * 3)
    logits = half.copy()
    logits[1] = 2, 3
    with pytest.raises(InputError, match=r"the probabilities of row 1 of log_q sum to 27\.4746, not to 1"):
        evaluate("kl", half, logits)
    broken = half.copy()
    for bad in ([math.nan, 0], [math.inf, 0], [-math.inf, -math.inf]):
        broken[2] = bad
        with pytest.raises(InputError, match="row 2 of log_p holds no logarithms of probabilities"):
            evaluate("ab", broken, half, 0.5, 0.5)
    with pytest.raises(InputError, match=r"not \(3, 2\) and \(2, 2\)"):
        evaluate("kl", half, half[:2])


@pytest.mark.parametrize("name, answer", [("JS", "here jeffreys"), ("js", "here jeffreys"), ("beta", "here gamma")])
def test_names_of_the_paper_that_mean_other_things_elsewhere_are_answered(name, answer):
    """InfoLM's paper calls Jeffreys' divergence JS and the gamma divergence beta (its text)."""
    with pytest.raises(InputError, match=answer):
        find_measure(name)


@pytest.mark.parametrize(
    "name, meant", [("FR", "fisher_rao"), ("Fisher-Rao", "fisher_rao"), ("L_inf", "linf"), ("KL", "kl")]
)
def test_other_spellings_are_understood(name, meant):
    assert find_measure(name).name == meant
