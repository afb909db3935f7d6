"""Transport costs against linear programming, assignments and sorted lines, none of which use POT."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import types

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.stats import wasserstein_distance

from recapture.errors import InputError
from recapture.geometry import transport
from recapture.geometry.parallel import engine
from recapture.geometry.transport import Problem, transport_costs

if importlib.util.find_spec("ot") is None:  # looked for, not imported: that takes seconds
    pytest.skip("needs POT", allow_module_level=True)


def transport_cost(costs, rows, columns, metric=False):
    """The cost of one problem."""
    problem = Problem(np.asarray(costs), np.asarray(rows), np.asarray(columns))
    return float(transport_costs(lambda tile: [problem], 1, metric=metric)[0])


def oracle(costs, rows, columns):
    """The whole linear programme, one variable a cell, every constraint written out, solved by HiGHS."""
    n, m = costs.shape
    table = np.zeros((n + m, n * m))
    for i, j in itertools.product(range(n), range(m)):
        table[i, i * m + j] = table[n + j, i * m + j] = 1
    sums = np.concatenate([np.asarray(rows) / np.sum(rows), np.asarray(columns) / np.sum(columns)])
    answer = linprog(costs.ravel(), A_eq=table, b_eq=sums, bounds=(0, None), method="highs")
    assert answer.status == 0
    return answer.fun


def points(rng, n, dimensions=5):
    given = rng.standard_normal((n, dimensions))
    return given / np.linalg.norm(given, axis=1, keepdims=True)


def distances(x, y):
    return np.array([[np.sqrt(((a - b) ** 2).sum()) for b in y] for a in x])


def made_up(seed, count=40, low=1, high=25):
    rng = np.random.default_rng(seed)
    problems = []
    for number in range(count):
        n, m = rng.integers(low, high, 2)
        rows, columns = rng.random(n), rng.random(m)
        if number % 4 == 1:  # idf weights: some 0, some equal
            rows, columns = (rng.integers(0, 3, size).astype(float) for size in (n, m))
            rows[0] = columns[-1] = 1
        if number % 4 == 2:
            rows, columns = np.ones(n), np.ones(m)
        problems.append(Problem(distances(points(rng, n), points(rng, m)), rows / rows.sum(), columns / columns.sum()))
    return problems


@pytest.fixture
def fresh_solver():
    transport._solver.cache_clear()
    yield
    transport._solver.cache_clear()


def all_costs(problems, **options):
    return transport_costs(problems.__getitem__, len(problems), **options)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [False, True])
def test_costs_are_those_of_the_linear_programme(metric):
    problems = made_up(0, count=60)
    np.testing.assert_allclose(all_costs(problems, metric=metric), [oracle(*p) for p in problems], rtol=0, atol=1e-9)


def test_large_problems_with_equal_weights_are_assignments():
    """Birkhoff: with equal weights and n = m a permutation is among the best plans."""
    rng = np.random.default_rng(1)
    costs = distances(points(rng, 150), points(rng, 150))
    equal = np.full(150, 1 / 150)
    expected = costs[linear_sum_assignment(costs)].sum() / 150
    assert transport_cost(costs, equal, equal) == pytest.approx(expected, abs=1e-12)


def test_on_a_line_the_cost_is_the_area_between_distribution_functions():
    rng = np.random.default_rng(2)
    for n, m in ((1, 1), (1, 7), (7, 1), (30, 40), (300, 120)):
        x, y, a, b = rng.standard_normal(n), rng.standard_normal(m), rng.random(n), rng.random(m)
        expected = wasserstein_distance(x, y, a, b)
        assert transport_cost(np.abs(x[:, None] - y), a, b, metric=True) == pytest.approx(expected, abs=1e-12)


def test_hand_made():
    # Half stays, a quarter moves at 2, a quarter at 1.
    assert transport_cost([[0, 2], [4, 1]], [0.75, 0.25], [0.5, 0.5]) == pytest.approx(0.75, abs=1e-15)


def test_nothing_depends_on_threads_tiles_or_order(monkeypatch):
    problems = made_up(3, count=70)
    expected = all_costs(problems, metric=True)
    for threads, tile in ((1, 32), (3, 1), (2, 7)):
        monkeypatch.setattr(transport, "_TILE", tile)
        with engine(threads=threads):
            assert (all_costs(problems, metric=True) == expected).all()
            assert (all_costs(problems[::-1], metric=True)[::-1] == expected).all()
    assert [transport_cost(*problem, metric=True) for problem in problems] == expected.tolist()


def test_only_shares_of_weights_count():
    rng = np.random.default_rng(4)
    for problem in made_up(4, count=20):
        rows = problem.rows * (1 + 1e-9) + 0
        single = (problem.costs, rows.astype(np.float32), problem.columns.astype(np.float32))
        expected = oracle(*problem)
        assert transport_cost(problem.costs, rows, problem.columns) == pytest.approx(expected, abs=1e-9)
        assert transport_cost(problem.costs, 7 * rows, problem.columns / 3) == pytest.approx(expected, abs=1e-9)
        assert transport_cost(*single) == pytest.approx(expected, abs=1e-6)
    # Many weights whose sums are 1 only nearly: float32, summed in float64.
    weights = rng.random((2, 400)).astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    x, y = rng.standard_normal((2, 400))
    expected = wasserstein_distance(x, y, *weights.astype(np.float64))
    assert transport_cost(np.abs(x[:, None] - y), *weights) == pytest.approx(expected, abs=1e-10)


def test_the_other_way_round_costs_the_same():
    for costs, rows, columns in made_up(5, count=20):
        assert transport_cost(costs, rows, columns) == pytest.approx(transport_cost(costs.T, columns, rows), abs=1e-14)


def near_equal(rng, size):
    """Two sets with many points in common, some of them twice, with other weights."""
    first = points(rng, size)
    second = np.concatenate([first[rng.permutation(size)[: size - 2]], first[:2], points(rng, 2)])
    return distances(first, second), rng.random(size), rng.random(len(second))


def test_common_weight_need_not_be_moved_in_a_metric_space():
    rng = np.random.default_rng(6)
    for size in (3, 4, 8, 15, 22):
        for _ in range(4):
            problem = near_equal(rng, size)
            assert (problem[0] == 0).sum() >= size - 2
            assert transport_cost(*problem, metric=True) == pytest.approx(oracle(*problem), abs=1e-12)


def test_what_common_weight_leaves_is_all_that_is_solved(monkeypatch):
    solved = []
    solve = transport._solver()
    monkeypatch.setattr(transport, "_solver", lambda: lambda *given: solved.append(given[2].shape) or solve(*given))
    rng = np.random.default_rng(7)
    x, other = points(rng, 20), points(rng, 2)
    y = np.concatenate([x[2:], other])
    equal = np.full(20, 1 / 20)
    cost = transport_cost(distances(x, y), equal, equal, metric=True)
    assert solved == [(2, 2)]
    direct = distances(x[:2], other)
    assert cost == pytest.approx(min(direct.trace(), direct[0, 1] + direct[1, 0]) / 20, abs=1e-15)


def test_common_weight_has_to_be_moved_where_the_cost_is_no_metric():
    """Points 0, 1 against 1, 2: two steps of 1 squared cost half of what one of 2 squared does."""
    costs = np.array([[1.0, 4.0], [0.0, 1.0]])
    half = np.full(2, 0.5)
    assert transport_cost(costs, half, half) == pytest.approx(1.0, abs=1e-15)
    assert transport_cost(np.sqrt(costs), half, half, metric=True) == pytest.approx(1.0, abs=1e-15)


def test_equal_sets_cost_exactly_nothing():
    rng = np.random.default_rng(8)
    for size in (1, 2, 9, 60):
        x, weights = points(rng, size), rng.random(size)
        order = rng.permutation(size)
        assert transport_cost(distances(x, x[order]), weights, weights[order], metric=True) == 0.0
        assert transport_cost(distances(x, x), weights, weights) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("sign", [-1, 1])
def test_costs_may_be_negative(sign):
    """POT calls problems whose costs are all negative infeasible."""
    for costs, rows, columns in made_up(9, count=12):
        shifted = sign * costs - 3 * (sign < 0)
        assert transport_cost(shifted, rows, columns) == pytest.approx(oracle(shifted, rows, columns), abs=1e-9)


def count_highs(monkeypatch):
    calls = []
    by_highs = transport._by_highs
    monkeypatch.setattr(transport, "_by_highs", lambda *given: calls.append(1) or by_highs(*given))
    return calls


def test_an_unfinished_solve_is_finished(monkeypatch):
    problems = made_up(10, count=8, low=6)
    expected = [oracle(*problem) for problem in problems]
    calls = count_highs(monkeypatch)
    monkeypatch.setattr(transport, "_PIVOTS", 2)
    np.testing.assert_allclose(all_costs(problems), expected, rtol=0, atol=1e-9)
    assert not calls
    monkeypatch.setattr(transport, "_MORE_PIVOTS", 2)
    np.testing.assert_allclose(all_costs(problems), expected, rtol=0, atol=1e-9)
    assert len(calls) == len(problems)


@pytest.mark.parametrize("lie", ["less", "nan", "infeasible"])
def test_a_solver_is_not_believed_blindly(monkeypatch, lie):
    true = transport._solver()

    def solve(*given):
        cost, row_duals, column_duals, optimal = true(*given)
        if lie == "infeasible":
            return 0.0, 0 * row_duals, 0 * column_duals, False
        return (cost * 0.999 if lie == "less" else np.nan), row_duals, column_duals, optimal

    monkeypatch.setattr(transport, "_solver", lambda: solve)
    calls = count_highs(monkeypatch)
    (problem,) = made_up(11, count=1, low=8)
    assert transport_cost(*problem) == pytest.approx(oracle(*problem), abs=1e-9)
    assert calls


def test_what_nobody_can_solve_is_an_error(monkeypatch):
    import scipy.optimize

    monkeypatch.setattr(transport, "_PIVOTS", 2)
    monkeypatch.setattr(transport, "_MORE_PIVOTS", 2)
    gave_up = types.SimpleNamespace(status=1, message="time is up", fun=0.0)
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: gave_up)
    (problem,) = made_up(12, count=1, low=8)
    with pytest.raises(ArithmeticError, match="could not be solved: time is up"):
        transport_cost(*problem)


@pytest.mark.parametrize("low", [None, lambda a, b, M: 0.0, lambda *_: (None, 1.0, np.zeros(2), np.zeros(2), 1)])
def test_another_low_level_function_means_the_public_one(monkeypatch, fresh_solver, low):
    """A POT whose compiled function is gone, takes other arguments or answers wrongly."""
    module = types.ModuleType("ot.lp.emd_wrap")
    if low is not None:
        module.emd_c = low
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", module)
    assert transport._solver().__qualname__.startswith("_public")
    problems = made_up(13, count=12)
    np.testing.assert_allclose(all_costs(problems), [oracle(*problem) for problem in problems], rtol=0, atol=1e-9)


def test_the_installed_pot_is_called_directly(fresh_solver):
    assert transport._solver().__qualname__.startswith("_solver")


def test_without_pot_a_user_hears_what_to_install(monkeypatch, fresh_solver):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(InputError, match="pip install POT"):
        transport_cost([[1.0]], [1.0], [1.0])


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (([[1.0, 2.0]], [1.0, 1.0], [1.0]), r"problem 0 .* has \(1, 2\) costs for \(2,\) and \(1,\) weights"),
        ((np.zeros((0, 2)), [], [1.0, 1.0]), "is empty"),
        (([[1.0, np.nan], [1, 1]], [1.0, 1.0], [1.0, 1.0]), "costs of transport problem 0 .* must be finite"),
        (([[1.0, np.inf], [1, 1]], [1.0, 1.0], [1.0, 1.0]), "costs of transport problem 0 .* must be finite"),
        (([[1.0, 1.0], [1, 1]], [1.0, -1.0], [1.0, 1.0]), "the row weights of transport problem 0"),
        (([[1.0, 1.0], [1, 1]], [1.0, 1.0], [0.0, 0.0]), "the column weights of transport problem 0"),
        (([[1.0, 1.0], [1, 1]], [1.0, 1.0], [np.nan, 0.0]), "the column weights of transport problem 0"),
    ],
)
def test_bad_input(problem, message):
    with pytest.raises(InputError, match=message):
        transport_cost(*problem)


def test_the_bad_problem_is_named():
    problems = made_up(14, count=50)
    problems[40] = problems[40]._replace(rows=-problems[40].rows)
    with pytest.raises(InputError, match="the row weights of transport problem 40 "):
        all_costs(problems)


def test_no_problems():
    assert all_costs([]).shape == (0,)
