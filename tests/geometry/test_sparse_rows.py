"""Word counts without their zeros: the same results, to the last digit, as from arrays."""

import tracemalloc

import numpy as np
import pytest
from oracles import squared_distances
from scipy.sparse import csr_array

import recapture as rc
from recapture.geometry import clusters, distinct, pooled_gaussians
from recapture.geometry.distinct import distinct_rows, occurring_in
from recapture.geometry.kernels import SquaredDistances
from recapture.geometry.overlap import overlap
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.geometry.products import BoundedRows, Frame, TileProducts, exact
from recapture.geometry.sparse_rows import SparseRows, equal_rows, together
from recapture.sets.declaration import METRICS
from recapture.sets.metrics import frechet


def lines(count, seed, words=400, longest=12):
    """Made-up short texts, words by Zipf's law; some are empty."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, words + 1)
    drawn = rng.choice(words, (count, longest), p=chance / chance.sum())
    lengths = rng.integers(0, longest + 1, count)
    return [" ".join(f"w{word}" for word in row[:length]) for row, length in zip(drawn, lengths, strict=True)]


def counts(rows, columns, seed, density=0.1, largest=4):
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, largest, (rows, columns)) * (rng.random((rows, columns)) < density)
    dense = dense.astype(np.float32)
    return dense, SparseRows(csr_array(dense))


@pytest.fixture(scope="module")
def both_ways():
    """Texts, and the same as arrays."""
    reference, candidate = lines(110, 1), lines(100, 2)
    encoder = rc.resolve_encoder("bag-of-words").fit(reference + candidate)
    return (reference, candidate, encoder), (rc.encode(reference, encoder), rc.encode(candidate, encoder), None)


ASKED = {"interval": 0.9, "pvalue": 20, "ceiling": 4, "balance": 3}


def said(result):
    """All that a result says, but for who made the vectors."""
    return {name: part for name, part in result.to_dict().items() if name not in ("signature", "warnings")}


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("name", [metric.name for metric in METRICS.choose(None)])
def test_every_metric_gives_the_same_from_texts_and_from_arrays(name, both_ways):
    """Arrays of whole numbers take the engine's other route; their own tests hold it to brute force."""
    (texts, others, encoder), (rows, other_rows, _) = both_ways
    of_texts = rc.evaluate(texts, others, name, encoder, **ASKED)["candidate"][name]
    of_arrays = rc.evaluate(rows, other_rows, name, **ASKED)["candidate"][name]
    assert said(of_texts) == said(of_arrays)


@pytest.mark.parametrize("name", ["prd", "mauve"])
@pytest.mark.parametrize("size", [90, 600], ids=["one tile, few rows", "several tiles"])
def test_clusters_of_rows_made_where_needed_are_the_same(name, size, monkeypatch):
    """Sets beyond the size at which rows become one array."""
    texts, others = lines(size, 1, 300), lines(size, 2, 300)
    encoder = rc.resolve_encoder("bag-of-words").fit(texts + others)
    # Where an interval is asked for, the encoder learns from both sides.
    options = {"interval": 0.9, "ceiling": False, "options": {name: {"clusterings": 2, "clusters": 9}}}
    of_arrays = rc.evaluate(rc.encode(texts, encoder), rc.encode(others, encoder), name, **options)["candidate"][name]
    monkeypatch.setattr(clusters, "_AS_ARRAY", 0)
    of_texts = rc.evaluate(texts, others, name, encoder, **options)["candidate"][name]
    assert said(of_texts) == said(of_arrays)


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 700], ids=["fewer than words", "more than words"])
@pytest.mark.parametrize("kept", [0, 2**25])
def test_frechet_distances_under_labellings_without_an_array(size, kept, monkeypatch):
    reference, candidate = lines(size, 1, words=50), lines(size - 10, 2, words=50)
    encoder = rc.resolve_encoder("bag-of-words").fit(reference + candidate)
    rows = rc.encode(reference, encoder), rc.encode(candidate, encoder)
    options = {"interval": 0.9, "pvalue": 20}
    expected = rc.frechet(*rows, **options)
    monkeypatch.setattr(frechet, "_AS_ARRAY", 0)
    monkeypatch.setattr(pooled_gaussians, "_KEPT", kept)
    found = rc.frechet(reference, candidate, encoder=encoder, **options)
    assert found.value == expected.value and found.pvalues == expected.pvalues
    np.testing.assert_allclose(found.nulls["value"], expected.nulls["value"], rtol=1e-9)
    np.testing.assert_allclose(found.intervals["value"], expected.intervals["value"], rtol=1e-9)


@pytest.mark.parametrize("largest", [4, 3000], ids=["exact", "too large to be exact in float32"])
def test_neighbours_are_those_of_arrays(largest):
    """Rows of zeros and repeats among them; long texts have sums of squares that float32 does not hold."""
    (dense, sparse), (other, other_sparse) = counts(90, 40, 1, 0.03, largest), counts(80, 40, 2, 0.05, largest)
    assert not dense.any(axis=1).all()
    bounded = BoundedRows.of(sparse, Frame.of(sparse))
    assert bounded.is_exact == (largest == 4)
    np.testing.assert_array_equal(PointSet(sparse).radii(5), PointSet(dense).radii(5))
    with engine(tile=16):
        found = overlap(PointSet(sparse), PointSet(other_sparse), (1, 3, 5))
    expected = overlap(PointSet(dense), PointSet(other), (1, 3, 5))
    for side in ("candidates", "references"):
        for mine, theirs in zip(
            vars(getattr(found, side)).values(), vars(getattr(expected, side)).values(), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


def test_tiles_are_exact_squared_distances():
    (dense, sparse), (other, other_sparse) = counts(70, 300, 3), counts(50, 300, 4, 0.02)
    frame = Frame.of(sparse)
    tiles = TileProducts(BoundedRows.of(sparse, frame), BoundedRows.of(other_sparse, frame), 32)
    distances = SquaredDistances(sparse, other_sparse, 0.0)
    expected = squared_distances(dense, other)
    # Blocks of other sizes and columns follow each other: nothing of one may be left in the next.
    for i, j in [((0, 32), (0, 32)), ((32, 70), (40, 50)), ((0, 5), (7, 39)), ((3, 4), (0, 50))]:
        rows, columns = slice(*i), slice(*j)
        np.testing.assert_array_equal(-2 * tiles.tile(rows, columns), expected[rows, columns])
        np.testing.assert_array_equal(distances.tile(rows, columns), expected[rows, columns])
    i, j = np.array([0, 5, 69, 5]), np.array([49, 0, 3, 0])
    np.testing.assert_array_equal(exact(sparse, i, other_sparse, j), expected[i, j])


def test_equal_rows_are_folded(monkeypatch):
    dense, _ = counts(60, 5, 5, 0.3, 3)
    sparse = SparseRows(csr_array(dense))
    _, weight = np.unique(dense, axis=0, return_counts=True)

    def check():
        rows = distinct_rows(sparse)
        assert sorted(rows.weight) == sorted(weight) and rows.weight.max() > 1
        np.testing.assert_array_equal(np.asarray(rows.values[rows.inverse]), dense)

    check()
    monkeypatch.setattr(distinct, "row_hashes", lambda values, dtype=None: np.zeros(len(values), np.uint64))
    check()


@pytest.mark.parametrize("collide", [False, True])
def test_rows_that_stand_in_another_set(collide, monkeypatch):
    """Against Python's own comparison of tuples of numbers."""
    if collide:  # every row has the same hash
        monkeypatch.setattr(distinct, "row_hashes", lambda values, dtype=None: np.zeros(len(values), np.uint64))
    rng = np.random.default_rng(1)
    known, rows = (rng.integers(-1, 2, (size, 4)) for size in (40, 60))
    expected = [tuple(row) in {tuple(other) for other in known.tolist()} for row in rows.tolist()]
    assert 0 < sum(expected) < len(expected)
    for dtype in (np.int8, np.float16, np.float32, np.float64):
        for other in (np.int64, np.float32):
            assert occurring_in(known.astype(other), np.array(rows, dtype)).tolist() == expected
    negative = np.where(rows == 0, -0.0, rows)
    assert occurring_in(known.astype(float), negative).tolist() == expected
    counted = SparseRows(csr_array(abs(known).astype(np.float32))), SparseRows(csr_array(abs(rows).astype(np.float32)))
    dense = {tuple(other) for other in abs(known).tolist()}
    assert occurring_in(*counted).tolist() == [tuple(row) in dense for row in abs(rows).tolist()]
    assert occurring_in(np.asarray(counted[0]), counted[1]).tolist() == occurring_in(*counted).tolist()


def test_rows_behave_like_an_array():
    dense, sparse = counts(40, 30, 6)
    assert sparse.shape == dense.shape and sparse.dtype == dense.dtype and len(sparse) == 40
    chosen = np.array([3, 3, 0])
    flags = dense.sum(axis=1) > 4
    for part in (slice(2, 9), slice(0, 0), chosen, flags):
        np.testing.assert_array_equal(np.asarray(sparse[part]), dense[part])
    assert (sparse.min(), sparse.max()) == (dense.min(), dense.max())
    np.testing.assert_array_equal(sparse.mean(axis=0), dense.mean(axis=0, dtype=np.float64))
    np.testing.assert_array_equal(sparse.squares(), (dense.astype(np.float64) ** 2).sum(axis=1))
    np.testing.assert_array_equal(sparse.largest(), dense.max(axis=0))
    np.testing.assert_array_equal(sparse.order(), np.lexsort(dense.T[::-1]))
    np.testing.assert_array_equal(np.asarray(clusters.unit_rows(sparse)), clusters.unit_rows(dense))
    pooled = together([sparse, sparse[chosen]])
    np.testing.assert_array_equal(np.asarray(pooled), np.concatenate([dense, dense[chosen]]))
    assert equal_rows(sparse, dense) and equal_rows(sparse[:5], sparse[np.arange(5)])
    assert not equal_rows(sparse[:5], sparse[1:6]) and not equal_rows(sparse, sparse[1:])


@pytest.mark.slow
def test_memory_grows_with_the_words_and_not_with_the_vocabulary():
    """As arrays these sets are 2 x 60 MB; they have 50,000 words in all."""
    texts, others = lines(3000, 1, 9000, 16), lines(3000, 2, 9000, 16)
    metrics = "mark-evaluate,precision-recall,density-coverage,mmd"
    with engine(threads=1):
        rc.evaluate(texts[:50], others[:50], metrics, "bag-of-words", ceiling=False)  # libraries load
        tracemalloc.start()
        rc.evaluate(texts, others, metrics, "bag-of-words", ceiling=False, options={"mmd": {"bandwidth": 2.0}})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 60 * 2**20
