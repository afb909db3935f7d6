"""Triangle ranks against plain loops over fractions: any ties, asymmetric distances, every partition."""

import math

import numpy as np
import pytest
from brute_force import trm, trm_test
from hypothesis import given, settings
from hypothesis import strategies as st

import recapture as rc
from recapture.contexts import uncertainty as scored_module
from recapture.contexts.metrics.triangle_rank import score_triangles
from recapture.contexts.uncertainty import Asked
from recapture.geometry import triangles
from recapture.geometry.labels import Labels
from recapture.geometry.triangles import counts_under, observed_counts
from recapture.labellings import plans as labellings
from recapture.pairs.to_similarity import PairSimilarity


def euclidean(points):
    points = np.asarray(points, dtype=float)
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def whole_distances(rng, total, high=4):
    """Few different numbers, so that edges tie everywhere, and not symmetric."""
    made = rng.integers(0, high, (total, total))
    np.fill_diagonal(made, 0)
    return made


def rank(distances, n, **options):
    m = len(distances) - n
    return rc.triangle_rank([None] * n, [None] * m, distance=distances, **options)


@st.composite
def contexts(draw):
    n, m = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 3), min_size=(n + m) ** 2, max_size=(n + m) ** 2)
    made = np.array(draw(cells)).reshape(n + m, n + m)
    np.fill_diagonal(made, 0)
    return n, made


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(contexts(), st.sampled_from(["split", "paper"]), st.booleans())
def test_value_p_and_null_against_fractions(context, ties, directed):
    n, distances = context
    value, p, smallest, values = trm_test(distances.tolist(), n, ties, directed)
    found = rank(distances, n, ties=ties, directed=directed, pvalue=True)
    assert found.value == pytest.approx(float(value), abs=1e-14)
    assert found.pvalue == float(p)
    assert found.inference["pvalues"]["smallest"]["value"] == float(smallest)
    assert found.inference["pvalues"]["labellings"] == len(values)
    assert found.null[0] == pytest.approx(found.value)
    mirrored = 2 if len(found.null) < len(values) else 1
    np.testing.assert_allclose(np.sort(np.repeat(found.null, mirrored)), sorted(map(float, values)), atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("n, m", [(5, 5), (4, 6), (6, 3)])
@pytest.mark.parametrize("ties", ["split", "paper"])
def test_larger_contexts_against_fractions(n, m, ties):
    distances = whole_distances(np.random.default_rng(n * m), n + m, 30)
    value, p, smallest, _ = trm_test(distances.tolist(), n, ties)
    found = rank(distances, n, ties=ties, pvalue="exact")
    assert found.value == pytest.approx(float(value), abs=1e-14) and found.pvalue == float(p)
    assert found.inference["pvalues"]["smallest"]["value"] == float(smallest)


def test_two_equal_sized_sets_far_apart():
    """All within edges are the shortest: Q = 4/3 each way, the largest there is; only the mirror image matches."""
    points = np.random.default_rng(0).normal(size=(10, 3))
    points[5:] += 100
    found = rank(euclidean(points), 5, pvalue=True)
    assert found.value == pytest.approx(8 / 3, abs=1e-14) and found.range == (0, pytest.approx(8 / 3))
    assert found.pvalue == found.inference["pvalues"]["smallest"]["value"] == 2 / 252
    assert found.details["shares"] == {
        "candidates amid references": [1, 0, 0],
        "references amid candidates": [1, 0, 0],
    }


def test_the_shares_of_a_hand_made_triangle():
    """References 0 and 3 on a line, the candidate at 1: within 3, across 1 and 2. The longest, both ways round."""
    found = rank(euclidean([[0], [3], [1]]), 2, pvalue=True)
    assert found.details["shares"] == {"candidates amid references": [0, 0, 1]}
    assert found.value == pytest.approx(4 / 3)
    assert found.details["form"] == "Q(C, R)" and "Q(C, R)" in found.warnings[0]
    # Other partitions: candidate 0: across 3 and 1, within 2: middle; candidate 3: within 1: shortest. All at 4/3.
    assert found.pvalue == 1


def test_distances_run_from_the_single_text_as_hypothesis():
    """Only d(candidate, reference) may count in Q(C, R); the way back counts in Q(R, C)."""
    distances = np.full((4, 4), 5.0)
    distances[2:, :2] = 9  # candidates as hypotheses: far, so within edges are the shortest
    distances[:2, 2:] = 1  # references as hypotheses: near, so within edges are the longest
    np.fill_diagonal(distances, 0)
    found = rank(distances, 2)
    assert found.details["shares"]["candidates amid references"] == [1, 0, 0]
    assert found.details["shares"]["references amid candidates"] == [0, 0, 1]
    assert rank(distances, 2, directed=True).value == pytest.approx(4 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_set_against_itself(seed):
    """5 distinct texts against copies of them, symmetric distances without other ties: TRM = 8/15 = .5333.

    For a single text c, a copy of x_i, there are 20 ordered pairs of the others.
    8 of them hold x_i itself: the cross edge to x_i is 0 and the one to x_j equals the within edge. One is shorter and
    one ties: middle and longest share the credit. The other 12 make triangles of three different x; over all c every
    such triangle turns up with each of its edges as the within edge equally often, so each rank has a third.
    I_0 = 12/20 1/3 = 1/5, I_1 = I_2 = 1/5 + 8/20 1/2 = 2/5, Q = 2/15 + 1/15 + 1/15 = 4/15, TRM = 8/15.
    """
    points = np.random.default_rng(seed).normal(size=(5, 4))
    distances = euclidean(np.concatenate([points, points]))
    distances = (distances + distances.T) / 2
    assert rank(distances, 5).value == pytest.approx(8 / 15, abs=1e-12)
    assert trm(distances.tolist(), 5) * 15 == 8


@pytest.mark.parametrize("n, m", [(2, 1), (3, 3), (5, 5), (4, 2)])
def test_all_texts_equal(n, m):
    """Ties share the credit: 0 and p = 1. The printed rule gives every rank to every triangle: its largest value."""
    texts = ["a dog in the park"] * (n + m)
    found = rc.triangle_rank(texts[:n], texts[n:], distance=lambda a, b: float(a != b), pvalue=True)
    assert (found.value, found.pvalue) == (0, 1)
    assert found.inference["pvalues"]["smallest"]["value"] == 1
    printed = rc.triangle_rank(texts[:n], texts[n:], distance=lambda a, b: float(a != b), ties="paper", pvalue=True)
    assert printed.value == printed.range[1] == (2 if m == 1 else 4) and printed.pvalue == 1


@pytest.mark.traced
@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(contexts(), st.randoms(use_true_random=False))
def test_the_order_of_texts_within_a_side_changes_nothing(context, random):
    n, distances = context
    order = [*random.sample(range(n), n), *random.sample(range(n, len(distances)), len(distances) - n)]
    one, other = (rank(made, n, pvalue=True) for made in (distances, distances[np.ix_(order, order)]))
    assert (one.value, one.pvalue) == (other.value, other.pvalue)


@settings(max_examples=30, deadline=None)
@given(contexts())
def test_only_ranks_of_distances_matter(context):
    n, distances = context
    one, other = (rank(made, n, pvalue=True) for made in (distances, np.expm1(distances * 0.3)))
    assert (one.value, one.pvalue) == (other.value, other.pvalue)


def test_which_side_is_which_changes_nothing_both_ways_round():
    distances = whole_distances(np.random.default_rng(3), 7)
    order = [*range(4, 7), *range(4)]
    one, other = rank(distances, 4, pvalue=True), rank(distances[np.ix_(order, order)], 3, pvalue=True)
    assert one.value == pytest.approx(other.value, abs=1e-15) and one.pvalue == other.pvalue


def test_observed_counts_are_those_of_the_observed_labelling():
    rng = np.random.default_rng(8)
    for n, m in ((3, 4), (20, 15), (2, 1)):
        distances = whole_distances(rng, n + m)
        candidate = np.arange(n + m) >= n
        under = counts_under(distances[None].astype(float), Labels(~candidate[None], candidate[None]), "split")
        assert np.array_equal(under[0, 0], observed_counts(distances, n, "split"))
        assert under[0, 0].sum(axis=1).tolist() == [6 * m * n * (n - 1), 6 * n * m * (m - 1)]


def test_counts_do_not_depend_on_tiles(monkeypatch):
    rng = np.random.default_rng(9)
    groups = np.stack([whole_distances(rng, 8) for _ in range(5)]).astype(float)
    (labels,) = labellings.plan(5, 3).blocks()
    whole = counts_under(groups, labels, "split")
    for cells in (1, 90, 700, 5000):
        monkeypatch.setattr(triangles, "_CELLS", cells)
        assert np.array_equal(counts_under(groups, labels, "split"), whole)


@pytest.mark.parametrize("cells", [1 << 22, 1 << 12])
def test_large_counts_stay_whole(monkeypatch, cells):
    """60 v 50: sums of products are whole numbers, as the loop over single points finds them."""
    monkeypatch.setattr(triangles, "_CELLS", cells)
    rng = np.random.default_rng(10)
    distances = whole_distances(rng, 110).astype(float)
    shuffled = rng.permuted(np.tile(np.arange(110) >= 60, (3, 1)), axis=1)
    under = counts_under(distances[None], Labels(~shuffled, shuffled), "split")[0]
    for row, counts in zip(shuffled, under, strict=True):
        order = np.argsort(row, kind="stable")
        assert np.array_equal(counts, observed_counts(distances[np.ix_(order, order)], 60, "split"))


def test_contexts_together_and_alone_agree(monkeypatch):
    rng = np.random.default_rng(11)
    groups = np.stack([whole_distances(rng, 8) for _ in range(6)]).astype(float)
    alone = [rank(group, 4, pvalue=True) for group in groups]
    for cells in (1, 50, 1 << 21):
        monkeypatch.setattr(scored_module, "_NULL_CELLS", cells)
        together = score_triangles(groups, 4, "split", False, Asked(True))
        assert [each.values["value"] for each in together] == [each.value for each in alone]
        assert [each.tests["value"].pvalue for each in together] == [each.pvalue for each in alone]


@pytest.mark.slow
def test_10_v_10_is_exact():
    """184,756 partitions. Three of them, picked by a seed, are checked against fractions."""
    distances = whole_distances(np.random.default_rng(12), 20, 50)
    found = rank(distances, 10, pvalue=True)
    made = found.inference["pvalues"]
    assert made["method"] == "exact" and made["labellings"] == 184_756 and made["seed"] is None
    assert (made["greater"] + made["equal"]) / 184_756 == found.pvalue
    assert len(found.null) == 184_756 // 2 and found.null[0] == pytest.approx(found.value, abs=1e-13)
    (labels,) = labellings.plan(10, 10, symmetric=True).blocks()
    for row in np.random.default_rng(0).choice(len(labels), 3, replace=False):
        order = np.argsort(labels.candidate[row], kind="stable")
        expected = trm(distances[np.ix_(order, order)].tolist(), 10)
        assert found.null[row] == pytest.approx(float(expected), abs=1e-13)


def test_beyond_that_sampled_and_seeded():
    distances = whole_distances(np.random.default_rng(13), 24, 50)
    first, again, other = (rank(distances, 12, pvalue=200, seed=seed) for seed in (0, 0, 1))
    made = first.inference["pvalues"]
    assert (made["method"], made["labellings"], made["seed"]) == ("sampled", 201, 0)
    assert made["smallest"]["value"] == 1 / 201
    assert np.array_equal(first.null, again.null) and not np.array_equal(first.null, other.null)
    beyond = sum(value > first.null[0] - 1e-12 for value in first.null[1:])
    assert first.pvalue == (beyond + 1) / 201
    assert rank(distances, 12, pvalue=True).inference["pvalues"]["labellings"] == 10_000


def test_p_values_are_valid_where_nothing_differs():
    """300 contexts of 4 v 4 points from one distribution, distances rounded so that they tie."""
    rng = np.random.default_rng(14)
    groups = np.stack([np.round(euclidean(rng.normal(size=(8, 2))), 1) for _ in range(300)])
    p = np.array([each.tests["value"].pvalue for each in score_triangles(groups, 4, "split", False, Asked(True))])
    for level in (0.05, 0.1, 0.2, 0.5):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level * (1 - level) / len(p))


def normal_points(rng, points, dimensions=3):
    return euclidean(rng.normal(size=(points, dimensions)))


def test_analytic_p_values_are_near_sampled_ones():
    """2,000 relabellings have a standard error of .011 at most; both ways, sides of unequal size, a distance that
    depends on the direction, and one way alone."""
    rng = np.random.default_rng(20)
    for n, m, directed, skewed in (
        (25, 25, False, False),
        (20, 30, False, False),
        (25, 25, False, True),
        (30, 20, True, True),
    ):
        distances = normal_points(rng, n + m) * (1 + 0.3 * skewed * rng.random(n + m)[:, None])
        analytic, sampled = (rank(distances, n, directed=directed, pvalue=how) for how in ("analytic", 2_000))
        assert analytic.value == sampled.value
        assert analytic.pvalue == pytest.approx(sampled.pvalue, abs=0.05)
        made = analytic.inference["pvalues"]
        assert made["method"] == "analytic" and made["labellings"] == 0 and made["seed"] is None
        assert 2 / 3 <= made["projected"] <= 1 and not analytic.warnings and analytic.null is None


def test_analytic_p_values_are_near_exact_ones_of_few_texts():
    """Of 12,870 partitions of 8 v 8; a warning says that so few make it rough."""
    rng = np.random.default_rng(21)
    found = []
    for _ in range(6):
        distances = normal_points(rng, 16)
        analytic, exact = (rank(distances, 8, pvalue=how) for how in ("analytic", "exact"))
        assert analytic.pvalue == pytest.approx(exact.pvalue, abs=0.07)
        assert "fewer than 20 texts a side is rough" in analytic.warnings[0]
        found.append((analytic.pvalue, exact.pvalue))
    assert np.corrcoef(np.array(found).T)[0, 1] > 0.99


@pytest.mark.slow
def test_analytic_p_values_are_valid_where_nothing_differs():
    """150 contexts of 20 v 20 points from one distribution: as many small p as a binomial allows."""
    rng = np.random.default_rng(22)
    groups = np.stack([np.round(normal_points(rng, 40, 2), 1) for _ in range(150)])  # rounded, so that they tie
    p = np.array(
        [each.tests["value"].pvalue for each in score_triangles(groups, 20, "split", False, Asked("analytic"))]
    )
    for level in (0.05, 0.1, 0.5):
        assert abs(np.mean(p <= level) - level) <= 3.5 * math.sqrt(level * (1 - level) / len(p))


def test_analytic_p_values_find_what_differs():
    rng = np.random.default_rng(23)
    points = np.concatenate([rng.normal(size=(40, 3)), 3 * rng.normal(size=(40, 3))])
    found = rank(euclidean(points), 40, pvalue="analytic")
    smallest = found.inference["pvalues"]["smallest"]["value"]
    assert smallest == pytest.approx(2 / math.comb(80, 40)) and smallest <= found.pvalue < 1e-4


def test_equal_texts_have_an_analytic_p_of_1():
    found = rank(np.zeros((50, 50)), 25, pvalue="analytic")
    assert found.value == 0 and found.pvalue == 1


def test_analytic_p_values_that_would_not_be_one_are_refused():
    rng = np.random.default_rng(24)
    turn = 2 * np.pi * rng.random(60)
    circle = euclidean(np.column_stack([np.cos(turn), np.sin(turn)]))  # no point stands out: the law is not normal
    with pytest.raises(rc.InputError, match=r"single texts explain .*below 67% the limit law does not hold"):
        rank(circle, 30, pvalue="analytic")
    with pytest.raises(rc.InputError, match=r"4 references and 9 candidates are too few .* needs 5 a side"):
        rank(normal_points(rng, 13), 4, pvalue="analytic")
    with pytest.raises(rc.InputError, match="needs ties that share the credit"):
        rank(normal_points(rng, 50), 25, ties="paper", pvalue="analytic")


def test_without_pvalue_there_is_none():
    found = rank(whole_distances(np.random.default_rng(0), 6), 3)
    assert found.pvalue is None and found.null is None and not found.inference
    assert "pvalues" not in found.to_dict()


def test_the_result_says_how_it_was_made():
    distances = whole_distances(np.random.default_rng(0), 6)
    found = rank(distances, 3, ties="paper", directed=True)
    assert found.signature["ties"] == "paper" and found.signature["form"] == "Q(C, R)"
    assert found.signature["distance"] == "given" and found.direction == "lower"
    assert found.sizes == {"reference": 3, "candidate": 3} and not found.warnings

    def letters(a, b):
        return abs(len(a) - len(b))

    named = rc.triangle_rank(["a", "bb"], ["ccc", "d"], distance=letters)
    assert named.signature["distance"].endswith("letters")


def test_by_the_name_of_a_pairwise_metric():
    references, candidates = ["a dog runs on the grass", "the dog is running fast"], ["a cat sits", "a dog runs there"]
    others = ["a red bus in the street", "two men play chess outside"]
    df = rc.DocumentFrequencies.from_references([references, others])
    found = rc.triangle_rank(references, candidates, distance="cider", df=df, pvalue=True)
    texts = references + candidates
    scores = [[rc.cider([[b]], [a], df=df).value for b in texts] for a in texts]
    distances = 10 - np.array(scores)
    np.fill_diagonal(distances, 0)
    ready = rc.triangle_rank(references, candidates, distance=distances, pvalue=True)
    assert (found.value, found.pvalue) == (ready.value, ready.pvalue)
    assert found.signature["distance"] == "cider" and found.signature["df"]["documents"] == 2


def given_options(name, request):
    """What a distance by name cannot do without; a tiny model for those that need one."""
    if isinstance(rc.list_pairwise()[name], PairSimilarity):
        model = request.getfixturevalue("tiny_bert")
        own = {"moverscore": {"layers": 2}, "infolm": {"cache": False}}.get(name, {})
        return {rc.list_pairwise()[name].model: model, **own}
    documents = [["a dog runs in the park"], ["two cats"], ["the red bus stops here"]]
    return {
        "cider": {"df": rc.DocumentFrequencies.from_references(documents)},
        "embedding": {"encoder": lambda texts: [[len(text), text.count("a") + 0.1, text.count("e")] for text in texts]},
    }.get(name, {})


TEXTS = [
    "A dog runs in the park.",
    "Two cats sleep.",
    "the red bus stops here now",
    "A dog runs in the park.",
    "dog",
    "",
]


@pytest.mark.parametrize("name", rc.list_pairwise())
@pytest.mark.parametrize("text", ["A dog runs in the park.", "dog", ""])
def test_equal_texts_by_every_name(name, text, request):
    """Whatever a metric gives short or empty texts: all edges tie."""
    found = rc.triangle_rank([text] * 3, [text] * 3, distance=name, pvalue=True, **given_options(name, request))
    assert (found.value, found.pvalue) == (0, 1)


@pytest.mark.parametrize("name", rc.list_pairwise())
def test_the_order_of_texts_changes_nothing_by_any_name(name, request):
    """Scores of repeated texts must tie to the last digit, wherever the texts stand."""
    options = given_options(name, request)
    found = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sides = [rng.permutation(side).tolist() for side in (TEXTS[:5], [*TEXTS[2:], "A dog runs in the park"])]
        made = rc.triangle_rank(*sides, distance=name, pvalue=True, **options)
        found.add((made.value, made.pvalue))
    assert len(found) == 1


@pytest.mark.parametrize("ties", ["first", "", None, 3])
def test_unknown_ties(ties):
    with pytest.raises(rc.InputError, match="unknown rule for ties"):
        rank(np.zeros((3, 3)), 2, ties=ties)


def test_too_many_partitions_for_exact():
    with pytest.raises(rc.InputError, match="15 references and 15 candidates have 155,117,520 partitions"):
        rank(np.zeros((30, 30)), 15, pvalue="exact")
