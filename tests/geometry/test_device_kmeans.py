"""Clusters of many rows: a rule about whole numbers, which threads and devices follow alike."""

import numpy as np
import pytest

import recapture as rc
from recapture.geometry import (
    device_few_centres,
    device_kmeans,
    device_rows,
    devices,
    few_centres,
    grid_kmeans,
    half_products,
)
from recapture.geometry import kmeans as module
from recapture.geometry.grid_kmeans import on_grid
from recapture.geometry.kmeans import kmeans
from recapture.geometry.lloyd import Clustering
from recapture.geometry.parallel import engine

FEW = pytest.mark.parametrize("few", [256, 1], ids=["few centres", "many centres"])
ACCELERATORS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def normal(seed, rows, dimensions=6):
    return np.random.default_rng(seed).standard_normal((rows, dimensions))


def whole(seed, rows, dimensions, top):
    made = np.unique(np.random.default_rng(seed).integers(0, top, (2 * rows, dimensions)), axis=0)
    return np.random.default_rng(seed).permutation(made)[:rows]


def clumps(seed, rows, number, spread):
    return normal(seed, number, 8)[np.arange(rows) % number] + spread * normal(seed + 1, rows, 8)


CASES = {
    "no clumps": normal(0, 300),
    "many dimensions": normal(1, 200, 200),
    "clumps": clumps(2, 300, 9, 0.05),
    "whole numbers, many ties": whole(4, 300, 3, 8),
    "one dimension": whole(5, 100, 1, 120) / 16,
    "corners of a cube, all ties": whole(6, 200, 8, 2) - 0.5,
    "far from the origin": normal(7, 300) + 1e3,
    "near-copies, which the grid makes one": clumps(8, 200, 5, 1e-8) + 1e-9 * np.arange(200)[:, None],
    "near-ties": whole(10, 250, 3, 8) + 1e-7 * normal(11, 250, 3),
    "one wild row": np.vstack([normal(12, 200), np.full((1, 6), 1e4)]),
    "tiny": 1e-12 * normal(13, 200),
    "mirrored": np.vstack([normal(14, 100), -normal(14, 100)]),
}


@pytest.fixture(params=CASES, ids=str)
def rows(request):
    made = CASES[request.param].astype(np.float32)
    return made, np.random.default_rng(3).integers(1, 5, len(made))


@pytest.fixture(autouse=True)
def many(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 2)


def units(values):
    """Whole numbers of 2^-24."""
    made = values.astype(np.float64) * 2**24
    assert (made == np.rint(made)).all()
    return made.astype(np.int64)


def apart(rows, centres):
    """Squared distances of whole numbers, as whole numbers: at most 4 x 2^48."""
    return np.stack([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=1)


def lloyd_in_whole_numbers(rows, weight, first, steps=31):
    """The rule by definition: a row stays unless another centre is nearer, and goes to the first of the nearest."""
    values = units(on_grid(rows, weight).points.wide[:, :-1])
    centres, label = values[first], np.zeros(len(rows), int)
    for _ in range(steps):
        distance = apart(values, centres)
        nearest, least = distance.argmin(axis=1), distance.min(axis=1)
        new = np.where(distance[np.arange(len(rows)), label] == least, label, nearest)
        if _ and (new == label).all():
            break
        label = new
        for number in np.unique(label):
            own = label == number
            total = (values[own] * weight[own, None]).sum(axis=0)
            mean = (total / 2**24 / weight[own].sum()).astype(np.float32)
            centres[number] = np.rint(mean.astype(np.float64) * 2**24).astype(np.int64)
    return label


def start_with(first):
    return lambda self: self._take(np.asarray(first))


def take_as_few(few, monkeypatch):
    """So many centres are few, for threads and for devices."""
    for each in (module, device_kmeans):
        monkeypatch.setattr(each, "FEW", few)


@FEW
@pytest.mark.parametrize("clusters", [2, 7, 40])
def test_threads_follow_the_rule(rows, clusters, few, monkeypatch):
    take_as_few(few, monkeypatch)
    first = np.random.default_rng(clusters).choice(len(rows[0]), clusters, replace=False)
    monkeypatch.setattr(Clustering, "start", start_with(first))
    np.testing.assert_array_equal(kmeans(*rows, clusters, [0])[0], lloyd_in_whole_numbers(*rows, first))


@FEW
@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 3, "tile": 33}, {"accelerator": "cpu"}], ids=str)
def test_several_tiles(options, few, monkeypatch):
    """960 rows make a tile, and small whole numbers tie in all of them."""
    if "accelerator" in options:
        pytest.importorskip("torch")
    take_as_few(few, monkeypatch)
    monkeypatch.setattr(few_centres, "_ROWS", 960)
    values, weight = whole(30, 2100, 5, 6).astype(np.float32), np.ones(2100, np.int64)
    first = np.random.default_rng(0).choice(2100, 9, replace=False)
    monkeypatch.setattr(Clustering, "start", start_with(first))
    with engine(**options):
        found = kmeans(values, weight, 9, [0, 1])
    np.testing.assert_array_equal(found, [lloyd_in_whole_numbers(values, weight, first)] * 2)


@pytest.mark.parametrize("columns", [512, 60, 1])
def test_clusterings_with_few_centres_go_together(rows, columns, monkeypatch):
    """All, two or one at a time, in small tiles."""
    monkeypatch.setattr(few_centres, "_ROWS", 37)
    monkeypatch.setattr(few_centres, "_COLUMNS", columns)
    check_several(rows, monkeypatch, threads=1)


@pytest.mark.parametrize("accelerator", ACCELERATORS)
@pytest.mark.parametrize("tile", [1 << 27, 1 << 10])
def test_clusterings_with_few_centres_go_together_on_devices(rows, tile, accelerator, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(device_few_centres, "TILES", tile)
    check_several(rows, monkeypatch, threads=1, accelerator=accelerator)


def check_several(rows, monkeypatch, **options):
    """Each from its own first centres, so that some end before others."""
    drawn = [np.random.default_rng(seed).choice(len(rows[0]), 30, replace=False) for seed in range(5)]
    following = iter(drawn)
    monkeypatch.setattr(Clustering, "start", lambda self: self._take(next(following)))
    with engine(**options):
        found = kmeans(*rows, 30, range(5))
    np.testing.assert_array_equal(found, [lloyd_in_whole_numbers(*rows, first) for first in drawn])


def test_rows_meet_no_centres_of_clusterings_that_have_ended(monkeypatch):
    pytest.importorskip("torch")
    rows = CASES["clumps"].astype(np.float32), np.ones(300, np.int64)
    met, product = [], device_few_centres.half_product
    monkeypatch.setattr(device_few_centres, "half_product", lambda *both: met.append(len(both[1])) or product(*both))
    check_several(rows, monkeypatch, threads=1, accelerator="cpu")
    assert met[0] == 5 * 30 and met == sorted(met, reverse=True)
    assert len(set(met)) > 2 and all(each % 30 == 0 for each in met)


def test_as_many_centres_as_a_byte_tells_apart(monkeypatch):
    """256 centres that tie, and a row that is near to all of them."""
    values = np.vstack([np.eye(256), -np.eye(256), np.zeros((1, 256))]).astype(np.float32)
    weight = np.ones(len(values), np.int64)
    monkeypatch.setattr(Clustering, "start", start_with(np.arange(256)))
    found = kmeans(values, weight, 256, [0])[0]
    np.testing.assert_array_equal(found, lloyd_in_whole_numbers(values, weight, np.arange(256)))


@FEW
@pytest.mark.parametrize("accelerator", ACCELERATORS)
@pytest.mark.parametrize("tile", [1 << 27, 1 << 10])
@pytest.mark.parametrize("clusters", [2, 40])
def test_devices_follow_the_rule(rows, clusters, tile, accelerator, few, monkeypatch):
    pytest.importorskip("torch")
    take_as_few(few, monkeypatch)
    for each in (device_kmeans, device_few_centres):
        monkeypatch.setattr(each, "TILES", tile)
    first = np.random.default_rng(clusters).choice(len(rows[0]), clusters, replace=False)
    monkeypatch.setattr(Clustering, "start", start_with(first))
    with engine(accelerator=accelerator):
        found = kmeans(*rows, clusters, [0])[0]
    np.testing.assert_array_equal(found, lloyd_in_whole_numbers(*rows, first))


@pytest.mark.parametrize("accelerator", [None, *ACCELERATORS])
def test_draws_see_exact_distances(rows, accelerator, monkeypatch):
    """More than 128 centres come in batches, drawn by the distances of all rows from those that are there."""
    if accelerator is not None:
        pytest.importorskip("torch")
    monkeypatch.setattr("recapture.geometry.lloyd._CAREFUL", 4)
    batch, seen = Clustering._batch, []

    def checked(self, count):
        values = units(self.points.wide[:, :-1])
        there = self.centres[:, :-1] if accelerator is None else self._places[: self._there].cpu().numpy()
        expected = apart(values, units(there)).min(axis=1)
        np.testing.assert_array_equal((self.points.norm - 2 * self.score) * 2**48, expected)
        seen.append(count)
        return batch(self, count)

    monkeypatch.setattr(Clustering, "_batch", checked)
    with engine(accelerator=accelerator):
        labels = kmeans(*rows, 60, range(3))
    assert len(seen) > 6
    monkeypatch.setattr(Clustering, "_batch", batch)
    np.testing.assert_array_equal(labels, kmeans(*rows, 60, range(3)))


def test_first_draws_see_exact_distances(rows):
    """Else the last digits of a machine's float32 products would decide which centres are drawn."""
    points = on_grid(*rows).points
    judges = np.random.default_rng(0).choice(len(rows[0]), 90, replace=False)
    chosen = np.array([3, 60, 3, 17])
    values = units(points.wide[judges, :-1])
    left = points.take(judges).squared_distances(chosen)
    np.testing.assert_array_equal(left * 2**48, apart(values, values[chosen]))
    expected = [0.0] * 4
    for weight, row in zip(points.weight[judges].tolist(), left.tolist(), strict=True):
        expected = [total + weight * number for total, number in zip(expected, row, strict=True)]
    assert points.take(judges).totals(left).tolist() == expected


def missed_at_most_its_margin(rows, centres, margin):
    """That of each row, by products in half precision and exact ones."""
    terms = device_rows.halved_squares(centres)
    exact = rows.values.double() @ centres.double().T - terms
    missed = half_products.half_product(rows.half, device_rows.half_centres(centres, terms)) - exact
    return bool((missed.abs().amax(1) <= margin).all())


def test_half_precision_leaves_little_to_decide_and_misses_no_more_than_its_margin(monkeypatch):
    """Else all rows would meet all centres in float64, or some would go astray."""
    pytest.importorskip("torch")
    take_as_few(1, monkeypatch)
    decided = []
    decide, meet = device_kmeans.DeviceClustering._decide, device_kmeans.DeviceClustering._meet_some

    def meeting(self, chosen, numbers, *rest, **more):
        assert missed_at_most_its_margin(self.rows, self._places[numbers], self._margin)
        return meet(self, chosen, numbers, *rest, **more)

    def deciding(self, chosen, cells):
        decided.append(len(chosen))
        return decide(self, chosen, cells)

    monkeypatch.setattr(device_kmeans.DeviceClustering, "_meet_some", meeting)
    monkeypatch.setattr(device_kmeans.DeviceClustering, "_decide", deciding)
    values = normal(0, 1000, 30).astype(np.float32)
    with engine(accelerator="cpu"):
        kmeans(values, np.ones(1000), 50, [0])
    assert 0 < sum(decided) < 0.02 * 1000 * len(decided)


def test_so_it_does_where_clusterings_go_together(monkeypatch):
    pytest.importorskip("torch")
    decided, centres = [], []
    decide, margin = device_few_centres._SideBySide._decide, device_rows.DeviceRows.margin

    def measuring(self, *lengths):
        found = margin(self, *lengths)
        if centres:  # of all clusterings, once they go together
            assert missed_at_most_its_margin(self, centres[0]._centres.flatten(0, 1), found)
        return found

    def meeting(self, cells):
        centres[:] = [self]
        return met(self, cells)

    def deciding(self, labels, unclear, *rest):
        decided.append(len(unclear))
        return decide(self, labels, unclear, *rest)

    met = device_few_centres._SideBySide._met
    monkeypatch.setattr(device_few_centres._SideBySide, "_met", meeting)
    monkeypatch.setattr(device_few_centres._SideBySide, "_decide", deciding)
    monkeypatch.setattr(device_rows.DeviceRows, "margin", measuring)
    values = normal(0, 1000, 30).astype(np.float32)
    with engine(accelerator="cpu"):
        kmeans(values, np.ones(1000), 50, range(4))
        assert 0 < sum(decided) < 0.08 * 1000 * len(decided)
        decided.clear()
        centres.clear()
        values[0] = 1e3  # beside it all others are short, and half precision tells nothing
        kmeans(values, np.ones(1000), 50, range(4))
    assert 900 < max(decided) <= 1000, "each row once, for all clusterings"


@pytest.mark.parametrize("accelerator", ACCELERATORS)
def test_scores_are_the_same_to_the_last_digit(accelerator):
    pytest.importorskip("torch")
    a, b = normal(20, 400, 12), 1.2 * normal(21, 300, 12)
    b[:50] = a[:50]
    for score in (rc.mauve, rc.prd):
        here = score(a, b)
        with engine(accelerator=accelerator):
            there = score(a, b)
        assert there.values == here.values and there.spread == here.spread


def test_few_rows_stay_where_they_are(monkeypatch):
    """By float32 products, as ever, whatever the device."""
    monkeypatch.undo()

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(module, "cluster_on", refused)
    with engine(accelerator="cpu"):
        kmeans(normal(0, 200).astype(np.float32), np.ones(200), 9, [0])


def test_a_gpu_is_taken_where_there_is_much_to_do(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    asked = []
    monkeypatch.setattr(module, "cluster_on", lambda device, *_: asked.append(device) or np.zeros((1, 1)))
    monkeypatch.setattr(module, "_all_together", lambda *_: asked.append("threads"))
    values, weight = normal(0, 1 << 15, 1).astype(np.float32), np.ones(1 << 15)
    for clusters in (3840, 3839):
        kmeans(values, weight, clusters, range(8))
    with engine(device="cpu"):
        kmeans(values, weight, 3840, range(8))
    assert asked == ["cuda", "threads", "threads"]


@FEW
def test_little_memory(few, monkeypatch):
    torch = pytest.importorskip("torch")
    take_as_few(few, monkeypatch)
    for each in (device_kmeans, device_few_centres):
        monkeypatch.setattr(each, "LEAST", 64)
    values, weight = normal(0, 500).astype(np.float32), np.ones(500)
    expected = kmeans(values, weight, 30, [0, 1])
    product, room = half_products.half_product, [4000]

    def limited(left, right):
        if len(left) * len(right) > room[0]:
            raise torch.cuda.OutOfMemoryError("too much")
        return product(left, right)

    for each in (device_kmeans, device_few_centres):
        monkeypatch.setattr(each, "half_product", limited)
    with engine(accelerator="cpu"):
        np.testing.assert_array_equal(kmeans(values, weight, 30, [0, 1]), expected)
        room[0] = 1
        with pytest.raises(rc.InputError, match="memory does not suffice"):
            kmeans(values, weight, 30, [0, 1])
    # Nobody asked for the device: the threads do it.
    monkeypatch.setattr(devices, "_AUTO", "cpu")
    monkeypatch.setattr(devices, "_WORTH", 1)
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    np.testing.assert_array_equal(kmeans(values, weight, 30, [0, 1]), expected)


def test_the_grid_holds_what_is_made_of_it():
    """float64 has 53 bits: sums of any rows, weights counted, and the halves of squared distances fit."""
    values = normal(0, 200, 40).astype(np.float32)
    for weight in (np.ones(200), np.full(200, 2**28)):
        grid = on_grid(values, weight)
        lengths = np.sqrt(grid.points.norm)
        assert 0.5 <= lengths.max() <= grid_kmeans._LONGEST
        assert 2 * 4 * grid.scale**2 <= 2**53 and float(weight.sum()) * grid.scale <= 2**53
        made = grid.points.wide[:, :-1].astype(np.float64) * grid.scale
        assert (made == np.rint(made)).all()
        np.testing.assert_allclose(
            made / grid.scale / lengths.max() * np.linalg.norm(values, axis=1).max(), values, atol=1e-3
        )
