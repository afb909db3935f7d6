"""Numbers that come in: any kind of number means what Python's means, and what is none is refused with a sentence."""

import enum
import math
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import recapture as rc
from number_doors import doors, outcome
from recapture.checks import check_count, check_draws, check_level, check_number, check_seed, plain_value
from recapture.errors import InputError

WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
REAL = (np.float16, np.float32, np.float64, np.longdouble)
DOORS = doors()
NAMES = [f"{door.name} {door.parameter}" for door in DOORS]


def python_number(value):
    return int(value) if isinstance(value, np.integer) else float(value)


class Small(enum.IntEnum):
    TWO = 2


# What one number becomes


@pytest.mark.parametrize("kind", [*WHOLE, *REAL])
def test_numpy_scalars_become_python_numbers(kind):
    for value in (0, 1, 100):
        for given in (kind(value), np.array(kind(value))):
            made = plain_value(given)
            assert type(made) is (int if kind in WHOLE else float)
            assert made == value


def test_other_scalars_become_plain():
    assert type(plain_value(Small.TWO)) is int
    assert plain_value(np.bool_(True)) is True
    assert type(plain_value(np.str_("exact"))) is str
    assert plain_value(np.longdouble("1e400")) == math.inf
    assert plain_value(2**1000 + 1) == 2**1000 + 1
    assert str(plain_value(np.float64(-0.0))) == "-0.0"


def test_what_is_no_number_stays_what_it_is():
    for value in (np.timedelta64(2, "s"), np.datetime64("2020"), np.array([1]), [1], Fraction(1, 2), np.ma.masked):
        assert plain_value(value) is value


@pytest.mark.slow
def test_torch_scalars_become_plain():
    torch = pytest.importorskip("torch")
    assert type(plain_value(torch.tensor(3, dtype=torch.int8))) is int
    assert type(plain_value(torch.tensor(0.5, requires_grad=True))) is float
    assert plain_value(torch.tensor(True)) is True
    with pytest.raises(InputError, match="seed is a tensor without a number"):
        check_seed(torch.tensor(3, device="meta"))


@pytest.mark.parametrize("digits", [400, 5_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_many_digits_are_refused_by_their_length(digits, sign):
    """Python refuses to print more than 4,300 digits, and no float holds more than 308."""
    with pytest.raises(InputError, match=r"^seed is a whole number of about .* digits: that is too large$"):
        check_seed(sign * 10**digits)
    with pytest.raises(InputError, match="bandwidth is a whole number of about"):
        check_number("bandwidth", sign * 10**digits)


NOT_WHOLE = [True, np.bool_(False), 2.0, np.float32(2), "2", b"2", Fraction(2), Decimal(2), 2j, None, [2], math.nan]
NOT_WHOLE += [np.timedelta64(2, "s"), np.datetime64(2, "D"), np.array([2]), np.ma.masked, object(), -1]


@pytest.mark.parametrize("value", NOT_WHOLE, ids=lambda value: re.sub(" at 0x.*", "", repr(value)))
def test_what_no_count_can_be(value):
    for check in (check_seed, lambda given: check_count("k", given, 1)):
        with pytest.raises(InputError, match="must be a whole number"):
            check(value)


@pytest.mark.parametrize(
    "value", [True, "0.5", Fraction(1, 2), Decimal("0.5"), 0.5j, [0.5], math.nan, math.inf, np.float16("nan")], ids=repr
)
def test_what_no_number_can_be(value):
    with pytest.raises(InputError, match="sigma must be a number"):
        check_number("sigma", value)
    with pytest.raises(InputError, match="interval must be a level"):
        check_level(value)


def test_draws_are_limited():
    assert check_draws("balance", np.True_, 10, "subsamples") == 10
    assert check_draws("balance", np.uint8(3), 10, "subsamples") == 3
    with pytest.raises(InputError, match=r"balance is at most 100,000, not 1,000,000,000"):
        check_draws("balance", 10**9, 10, "subsamples")


# The defects that brought this about


@pytest.mark.parametrize("kind", WHOLE)
def test_products_of_k_do_not_overflow(kind):
    """(k + 1) m + a, counted by hand: two sets that never meet have Schnabel's 1 - 1 / k (Mark-Evaluate, Eq. 4)."""
    near = np.arange(300.0)[:, None]
    result = rc.mark_evaluate(near, near + 1e6, k=kind(4))
    assert result.quality == 0.75
    assert result.signature["k"] == 4
    assert type(result.signature["k"]) is int


def test_bandwidths_do_not_overflow():
    """Two points at distance 100 from two others, bandwidth 100: 2 - 2 exp(-1/2) by Gretton's Eq. 3."""
    assert rc.mmd([[0], [0]], [[100], [100]], bandwidth=np.int8(100)).value == pytest.approx(2 - 2 * math.exp(-0.5))


# All doors


def test_every_kind_of_function_has_doors():
    """One of each kind; what else there is comes from the registries."""
    known = set(NAMES)
    assert {"mark_evaluate k", "evaluate seed", "evaluate mmd bandwidth", "chrf beta", "encode batch_size"} <= known
    assert {"pairwise_scores meteor alpha", "correlate resamples", "williams_test n", "triangle_rank pvalue"} <= known
    assert {"DocumentFrequencies documents", "DocumentFrequencies.from_references order", "sweep folds"} <= known
    assert {f"mmd {name}" for name in ("balance", "ceiling", "interval", "pvalue", "seed")} <= known


LONG_AT = ("compare", "diagnose", "mauve", "prd", "evaluate mauve", "evaluate prd")
"""Functions, and numbers that ask for many draws: named, as a clock would choose otherwise on a busy machine."""
DRAWS = ("interval", "pvalue", "ceiling", "seed")


def _check_kinds(found, kinds, on_models=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at, door in enumerate(found):
            plain = {repr(door.base): outcome(door, door.base)}
            assert plain[repr(door.base)] != "refused", f"{door.name}: {door.parameter} = {door.base!r}"
            # All kinds at every door would take minutes: where a call takes long, each comes by many times.
            long = on_models or door.name.startswith(LONG_AT) or door.parameter in DRAWS
            for kind in (np.int8, kinds[at % len(kinds)]) if long else kinds:
                given = kind(door.base)
                number = python_number(given)
                if repr(number) not in plain:
                    plain[repr(number)] = outcome(door, number)
                assert outcome(door, given) == plain[repr(number)], f"{door.name}: {door.parameter} = {given!r}"


@pytest.mark.slow
def test_numpy_scalars_give_the_same_results():
    _check_kinds(DOORS, [*WHOLE, *REAL])


@pytest.mark.slow
def test_numpy_scalars_give_the_same_results_on_models(tiny_bert, loaded_once):
    known = set(NAMES)
    found = [door for door in doors(tiny_bert) if f"{door.name} {door.parameter}" not in known]
    assert {"layer", "layers", "k", "temperature", "ngram"} <= {door.parameter for door in found}
    _check_kinds(found, [*WHOLE, *REAL], on_models=True)
    for door in found:
        _check_refused(door, [True, "3", 10**9, 10**5000, math.nan, -1, 2.5, [1], np.array([1, 2]), np.timedelta64(2)])


WRONG = [True, np.bool_(False), "3", np.str_(""), b"3", 10**9, -1, 10**25, 10**400, 10**5000, math.nan, math.inf, -0.0]
WRONG += [5e-324, 1e308, 2.5, Fraction(1, 2), Decimal("NaN"), [], [1], (2, 3), np.array([1, 2]), np.array("x")]
WRONG += [np.datetime64("2020"), np.timedelta64(2, "s"), 1j, np.complex64(2), object(), {1: 2}, np.ma.masked]
WRONG += [np.longdouble("1e4000"), np.float16("nan"), np.void(b"a"), range(2), np.array(None)]


def _check_refused(door, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in values:
            found = outcome(door, value)  # anything but InputError ends the test
            flag = isinstance(value, (bool, np.bool_)) and not door.takes_bool
            if isinstance(value, (str, bytes)) or (flag and not (door.parameter == "interval" and not value)):
                assert found == "refused", f"{door.name}: {door.parameter} = {value!r}"


@pytest.mark.slow
@pytest.mark.parametrize("function", sorted({door.name for door in DOORS}))
def test_wrong_kinds_are_refused_and_nothing_else_is_raised(function):
    for door in DOORS:
        if door.name == function:
            flags = (bool, np.bool_) if door.takes_bool else ()  # which mean a usual number, and take long
            _check_refused(door, [value for value in WRONG if not isinstance(value, flags)])


# Numbers that would take years, or all memory

TEXTS = ["the cat sat on the mat", "a dog ran", "the old bird sang"]
ROWS = np.random.default_rng(0).normal(size=(20, 2))
HUGE = {
    "n-grams of self-BLEU": (lambda n: rc.self_bleu(TEXTS, order=n), "order is at most"),
    "n-grams of distinct": (lambda n: rc.distinct_n(TEXTS, [1, n]), "n is at most"),
    "characters of chrF": (lambda n: rc.chrf(TEXTS, TEXTS, char_order=n), "char_order is at most"),
    "words of chrF": (lambda n: rc.chrf(TEXTS, TEXTS, word_order=n), "word_order is at most"),
    "chrF of two texts": (lambda n: rc.pairwise_scores(TEXTS, TEXTS, "chrf", char_order=n), "char_order is at most"),
    "document frequencies": (lambda n: rc.DocumentFrequencies.from_references([TEXTS], order=n), "order is at most"),
    "a table of them": (lambda n: rc.DocumentFrequencies({("a",): 1}, 1, n), "order is at most"),
    "cross-entropy": (lambda n: rc.cross_entropy(TEXTS, TEXTS, order=n), "order must be"),
    "k": (lambda n: rc.mark_evaluate(ROWS, ROWS, k=n), "needs at least"),
    "clusters": (lambda n: rc.prd(ROWS, ROWS, clusters=n), "clusters is at most"),
    "angles": (lambda n: rc.prd(ROWS, ROWS, angles=n), "angles is at most"),
    "clusterings": (lambda n: rc.mauve(ROWS, ROWS, clusterings=n), "clusterings is at most"),
    "weights": (lambda n: rc.mauve(ROWS, ROWS, weights=n), "weights is at most"),
    "subsamples": (lambda n: rc.frechet(ROWS, ROWS[:9], balance=n), "balance is at most"),
    "splits": (lambda n: rc.frechet(ROWS, ROWS, ceiling=n), "ceiling is at most"),
    "labellings": (lambda n: rc.frechet(ROWS, ROWS, pvalue=n), "labellings can be looked at"),
    "resamples": (lambda n: rc.paired_bootstrap(ROWS, ROWS, ROWS, resamples=n), "resamples is at most"),
    "repeats": (lambda n: rc.sweep({1: ROWS}, ROWS, folds=2, repeats=n), "repeats is at most"),
    "quantiles": (lambda n: rc.score_distributions(ROWS[0], ROWS[1], quantiles=n), "quantiles is at most"),
    "texts encoded at once": (lambda n: rc.encode(TEXTS, "bag-of-words", batch_size=n), "batch size is at most"),
    "tokens at once": (lambda n: rc.evaluate_pairs(TEXTS, TEXTS, "chrf", batch_tokens=n), "batch_tokens is at most"),
    "systems": (lambda n: rc.williams_test(0.5, 0.4, 0.3, n), "n is at most"),
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("number", [10**16, 10**200], ids=["10^16", "10^200"])
def test_huge_numbers_are_refused(name, number):
    call, sentence = HUGE[name]
    with pytest.raises(InputError, match=sentence):
        call(number)


def test_splits_that_do_not_fit_into_memory_are_refused():
    many = np.zeros((30_000, 1))
    with pytest.raises(InputError, match="at most 3,333 splits of 60,000 samples fit, not 100,000"):
        rc.frechet(many, many, ceiling=100_000)


def test_a_table_of_document_frequencies_with_a_huge_order(tmp_path):
    path = tmp_path / "df.json"
    path.write_text('{"documents": 1, "order": 1000000000, "counts": {"a": 1}}')
    with pytest.raises(InputError, match="order is at most 1,000"):
        rc.DocumentFrequencies.read(path)
    path.write_text(f'{{"documents": 1, "counts": {{"{"a " * 2000}a": 1}}}}')
    with pytest.raises(InputError, match="the longest n-gram is at most 1,000"):
        rc.DocumentFrequencies.read(path)


@pytest.mark.parametrize("options", [{"tile": 0}, {"tile": 10**9}, {"threads": 0}, {"threads": 10**6}, {"tile": 1.5}])
def test_how_the_work_is_cut_up_is_checked(options):
    from recapture.geometry.parallel import engine

    with pytest.raises(InputError, match=r"tile|threads"), engine(**options):
        pass


def test_tiles_of_numpy_numbers():
    from recapture.geometry.parallel import engine

    with engine(tile=np.int8(7), threads=np.uint8(2)):
        found = rc.precision_recall(ROWS, ROWS + 0.5).values
    assert found == rc.precision_recall(ROWS, ROWS + 0.5).values


# Sentences


class Unspeakable:
    def __repr__(self):
        raise RuntimeError


LONG = [
    np.zeros((500, 500)),
    ["x" * 500] * 500,
    dict.fromkeys(range(500), "x" * 500),
    "x\n" * 5_000,
    [10**5_000],
    [[[9] * 99] * 99],
]
LONG += [[[[9] * 99] * 99], Unspeakable(), [Unspeakable()]]


@pytest.mark.parametrize("value", LONG, ids=range(len(LONG)))
def test_sentences_are_short_and_on_one_line_whatever_was_given(value):
    rows = np.arange(20.0)[:, None]
    for call in (
        check_seed,
        check_level,
        lambda given: check_count("k", given, 1),
        lambda given: check_number("sigma", given),
        lambda given: check_draws("balance", given, 10, "subsamples"),
        lambda given: rc.mmd(rows, rows + 1, pvalue=given),
        lambda given: rc.precision_recall(rows, rows, k=given),
        lambda given: rc.evaluate(rows, rows, "mmd", options=[given]),
        lambda given: rc.evaluate(rows, rows, "mmd", options={"mmd": given}),
        lambda given: rc.correlate(rows, rows, given),
    ):
        with pytest.raises(InputError) as caught:
            call(value)
        assert len(str(caught.value)) < 300
        assert "\n" not in str(caught.value)
