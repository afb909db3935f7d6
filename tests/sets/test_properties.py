"""What every metric of the registry must respect, checked from its declaration alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recapture as rc
from recapture.geometry.parallel import engine
from recapture.sets.metric_functions import measure

METRICS = list(rc.list_metrics().values())
EACH = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def two_sets(seed, kind="normal"):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(30, 60), rng.integers(30, 60), rng.integers(2, 9)
    if kind == "grid":
        return rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, 4, (m, d)).astype(float)
    if kind == "repeats":
        return rng.standard_normal((12, d))[rng.integers(0, 12, n)], rng.standard_normal((m, d))
    return rng.standard_normal((n, d)), 1.2 * rng.standard_normal((m, d)) + 0.3


def values(metric, reference, candidate):
    return dict(measure(metric, reference, candidate).values)


SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(["normal", "grid", "repeats"])
few = settings(max_examples=12, deadline=None)


@pytest.mark.slow
@EACH
@few
@given(seed=SEEDS, kind=KINDS)
def test_values_lie_in_their_range(metric, seed, kind):
    result = measure(metric, *two_sets(seed, kind))
    assert set(result.values) == {output.name for output in metric.outputs}
    for name, value in result.values.items():
        low, high = result.ranges[name]
        assert low <= value <= high


@pytest.mark.slow
@EACH
@few
@given(seed=SEEDS, kind=KINDS)
def test_row_order_does_not_matter(metric, seed, kind):
    reference, candidate = two_sets(seed, kind)
    rng = np.random.default_rng(seed)
    shuffled = values(metric, rng.permutation(reference), rng.permutation(candidate))
    assert shuffled == pytest.approx(values(metric, reference, candidate), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@EACH
@few
@given(seed=SEEDS, kind=KINDS)
def test_sides_swap_as_declared(metric, seed, kind):
    reference, candidate = two_sets(seed, kind)
    forth, back = values(metric, reference, candidate), values(metric, candidate, reference)
    for name, other in metric.swapped.items():
        assert forth[name] == pytest.approx(back[other], rel=1e-9, abs=1e-12)


@pytest.mark.slow
@EACH
@few
@given(seed=SEEDS, shift=st.sampled_from([-3.0, 64.0, 4096.0]), scale=st.sampled_from([0.25, 2.0, 1024.0]))
def test_moving_and_scaling_both_sets_changes_nothing(metric, seed, shift, scale):
    """Only MAUVE sees directions from the origin, which scaling keeps and moving does not."""
    shift = 0 if metric.name == "mauve" else shift
    reference, candidate = two_sets(seed)
    expected = values(metric, reference, candidate)
    if metric.name == "frechet":  # a squared length
        expected = {name: value * scale**2 for name, value in expected.items()}
    assert values(metric, scale * reference + shift, scale * candidate + shift) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", [m for m in METRICS if m.name not in ("prd", "mauve")], ids=lambda metric: metric.name
)
@few
@given(seed=SEEDS)
def test_turning_the_axes_changes_little(metric, seed):
    """Distances do not know the axes. Clusters start from rows in an order that does, so PRD and MAUVE may move."""
    reference, candidate = two_sets(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((reference.shape[1],) * 2))[0]
    expected = values(metric, reference, candidate)
    assert values(metric, reference @ turn, candidate @ turn) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@EACH
@pytest.mark.parametrize("kind", ["normal", "grid", "repeats"])
def test_tiles_and_threads_do_not_matter(metric, kind):
    reference, candidate = two_sets(3, kind)
    expected = values(metric, reference, candidate)
    for options in ({"tile": 7, "threads": 1}, {"tile": 16, "threads": 4}, {"threads": 1}):
        with engine(**options):
            assert values(metric, reference, candidate) == pytest.approx(expected, rel=1e-12)


@EACH
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16, np.uint8])
def test_any_number_type(metric, dtype):
    """The same numbers in another type give the same result."""
    reference, candidate = (np.round(4 * points).clip(0, 200) for points in two_sets(5))
    expected = values(metric, reference, candidate)
    assert values(metric, reference.astype(dtype), candidate.astype(dtype)) == pytest.approx(expected, rel=1e-9)


@EACH
def test_torch_tensors(metric):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    reference, candidate = two_sets(6)
    expected = values(metric, reference, candidate)
    tensors = torch.tensor(reference, requires_grad=True), torch.tensor(candidate)
    assert values(metric, *tensors) == expected
    half = [points.bfloat16() for points in tensors]
    assert values(metric, *half) == values(metric, *(points.float().detach().numpy() for points in half))


@EACH
def test_repeats_count_as_samples(metric):
    """Writing every row of both sets twice is another pair of sets, not the same: nothing is dropped in silence."""
    reference, candidate = two_sets(7)
    twice = measure(metric, np.repeat(reference, 2, axis=0), np.repeat(candidate, 2, axis=0))
    assert dict(twice.sizes) == {"reference": 2 * len(reference), "candidate": 2 * len(candidate)}
    if metric.uses_neighbours:
        # The nearest other sample of each is its own copy: radius 0, and nobody of the other set is there.
        at_one = measure(metric, np.repeat(reference, 2, axis=0), np.repeat(candidate, 2, axis=0), k=1)
        assert all(value == 0 for name, value in at_one.values.items() if name != "capture")


@EACH
def test_inputs_are_not_changed(metric):
    reference, candidate = two_sets(8)
    before = reference.copy(), candidate.copy()
    measure(metric, reference, candidate)
    np.testing.assert_array_equal(reference, before[0])
    np.testing.assert_array_equal(candidate, before[1])


@EACH
def test_declaration_is_complete(metric):
    assert metric.title and metric.citation and metric.direction in ("higher", "lower")
    assert all(output.meaning and output.range[0] < output.range[1] for output in metric.outputs)
    assert set(metric.swapped) <= {output.name for output in metric.outputs}
    function = getattr(rc, metric.name.replace("-", "_"))
    result = function(*two_sets(9))
    assert result.metric == metric.name and result.direction == metric.direction
    assert result.signature["versions"]["recapture"] == rc.__version__
