"""What work takes before it is done, and samples that fit into a time: by a clock that the tests move."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.pairs import pairs_ahead as pairs_ahead_module
from recapture.pairs.pairs_ahead import pairs_ahead
from recapture.plans.plan_ahead import plan_ahead
from recapture.representations import vector_cache
from recapture.representations.encoder import resolve_encoder
from recapture.sets import budget as budget_module
from recapture.sets import work_ahead
from recapture.sets.budget import Told, fitting, seconds_of, within_budget
from recapture.sets.work_ahead import EncodingAhead, Growth, Roles, SetCall, SetWork, WorkAhead, not_below_0
from recapture.texts.sampling import sample_places

ROLES = Roles("references", "candidates", "candidate_groups")
LONG = 20_000


class Machine:
    """A clock, and a function that takes a known time: for each metric a polynomial of the size."""

    def __init__(self, costs: dict[str, tuple[float, float, float]]) -> None:
        self.now = 0.0
        self.ceiling = True
        self.costs = costs
        self.calls: list[tuple[tuple[str, ...], int]] = []

    def clock(self) -> float:
        return self.now

    def seconds(self, name: str, size: int) -> float:
        constant, linear, square = self.costs[name]
        return constant + linear * size + square * size**2

    def __call__(self, references: Any, candidates: Any, metrics: list[str], **given: Any) -> Any:
        assert given["budget"] is None
        assert {len(own) for own in candidates.values()} == {len(references)}
        self.calls.append((tuple(metrics), len(references)))
        self.ceiling = given.get("ceiling", True)
        self.now += sum(self.seconds(name, len(references)) for name in metrics)
        return Answer(len(references), given.get("interval"))


class Answer:
    verdict: list[str] = []  # noqa: RUF012
    budgeted = ""
    budget_sample: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, size: int, interval: float | None) -> None:
        self.size, self.interval = size, interval


def call(machine: Machine, size: int = LONG, **other: Any) -> SetCall:
    reference, candidate = np.zeros((size, 2)), np.ones((size, 2))
    given = {"references": reference, "candidates": {"a": candidate}, "metrics": list(machine.costs), **other}
    return SetCall(machine, ROLES, given)


@pytest.mark.parametrize("terms", [(2.0, 3.0, 0.5), (0.0, 0.0, 4.0), (5.0, 0.0, 0.0), (0.0, 1e-3, 0.0)])
def test_a_sum_of_the_three_terms_is_found_again(terms: tuple[float, float, float]) -> None:
    growth = Growth()
    for size in (64, 128, 256):
        growth.add(size, terms[0] + terms[1] * size + terms[2] * size**2)
    expected = terms[0] + terms[1] * 10_000 + terms[2] * 1e8
    assert growth.at(10_000) == pytest.approx(expected, rel=1e-6)


def test_factors_are_never_below_0() -> None:
    """scipy's own non-negative least squares as the judge."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    for _ in range(50):
        rows, wanted = rng.standard_normal((3, 3)), rng.standard_normal(3)
        _, error = nnls(rows, wanted)
        found = not_below_0(rows, wanted)
        assert (found >= 0).all()
        assert np.linalg.norm(rows @ found - wanted) == pytest.approx(error, abs=1e-9)


def test_seconds_follow_from_small_parts() -> None:
    machine = Machine({"mark-evaluate": (0.01, 1e-4, 2e-7), "mmd": (0.02, 0.0, 1e-6), "frechet": (0.3, 1e-4, 0.0)})
    work = SetWork(call(machine), clock=machine.clock, work_clock=machine.clock)
    ahead = work.at(LONG)
    assert ahead.seconds.keys() == {"mark-evaluate", "mmd", "frechet"}
    for name, seconds in ahead.seconds.items():
        assert seconds == pytest.approx(machine.seconds(name, LONG), rel=0.01), name
    assert max(size for names, size in machine.calls if names == ("mmd",)) < LONG / 4
    assert ahead.measured < 0.2 * ahead.total
    assert work.at(1000).total == pytest.approx(sum(machine.seconds(name, 1000) for name in machine.costs), rel=0.01)
    assert ahead.answer == "This would take about 8 min, most of it mmd."


def test_metrics_of_neighbourhoods_are_measured_together() -> None:
    costs = {"mark-evaluate": (0.0, 1e-3, 0.0), "precision-recall": (0.0, 1e-3, 0.0), "mmd": (0.0, 1e-3, 0.0)}
    machine = Machine(costs)
    work = SetWork(call(machine, k=3), clock=machine.clock, work_clock=machine.clock)
    assert list(work.at(LONG).seconds) == ["mark-evaluate, precision-recall", "mmd"]


def test_parts_of_sets_that_cluster_have_a_size_of_their_own() -> None:
    """80 parts of half the size, but of 1,000 samples at most, beside the whole sets."""
    machine = Machine({"mauve": (0.001, 0.0, 1e-8)})
    alone = machine.seconds
    machine.seconds = lambda name, size: (
        alone(name, size)
        + (  # type: ignore[method-assign]
            80 * alone(name, min(size // 2, 1000)) if machine.ceiling else 0.0
        )
    )
    work = SetWork(call(machine), clock=machine.clock, work_clock=machine.clock)
    machine.ceiling = True
    assert work.at(LONG).total == pytest.approx(machine.seconds("mauve", LONG), rel=0.02)


def test_small_sets_are_measured_whole() -> None:
    machine = Machine({"mmd": (0.0, 1e-4, 3e-6)})
    work = SetWork(call(machine, 100), clock=machine.clock, work_clock=machine.clock)
    assert work.at(100).total == pytest.approx(machine.seconds("mmd", 100))


def test_a_program_that_waits_for_a_device_is_timed_by_the_clock() -> None:
    machine = Machine({"mmd": (0.0, 1e-3, 0.0)})
    work = SetWork(call(machine), clock=machine.clock, work_clock=lambda: 0.0)
    assert work.at(LONG).total == pytest.approx(machine.seconds("mmd", LONG), rel=0.01)


# A sample that fits


class Known:
    """Work that takes so many seconds a sample."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def at(self, size: int) -> WorkAhead:
        return WorkAhead({"all": 1 + self.rate * size}, {}, 0.0, 0, 0.0)


@pytest.mark.parametrize("seconds", [1.5, 3.0, 20.0, 77.0, 180.0])
def test_the_largest_sample_that_fits(seconds: float) -> None:
    """By trying all sizes; then downwards to two digits."""
    work: Any = Known(0.01)
    fits = [size for size in range(100, LONG + 1) if 1 + 0.01 * size <= seconds]
    found = fitting(work, LONG, seconds)
    if not fits:
        assert found is None
        return
    digits = len(str(fits[-1])) - 2
    assert found == max(100, math.floor(fits[-1] / 10**digits) * 10**digits)


def test_all_or_nothing() -> None:
    work: Any = Known(0.01)
    assert fitting(work, LONG, 201.0) == LONG
    assert fitting(work, 60, 1.7) == 60  # a set smaller than the smallest sample is taken whole
    assert fitting(work, LONG, 1.99) is None


def test_a_sample_is_said_with_what_it_costs() -> None:
    machine = Machine({"mmd": (0.0, 1e-3, 0.0)})
    work: Any = Known(0.01)
    told = lambda answer: Told("mmd of a", answer.interval, 0.0123, moves)  # noqa: E731
    moves = False
    answer = within_budget(call(machine), "1min", None, told, clock=machine.clock, work=work)
    # Three quarters of the minute, less a second: 4,400 samples.
    assert answer.size == 4400
    assert answer.interval == 0.95
    assert answer.budgeted == (
        "A sample of 4,400 of 20,000 vectors each fits into the budget of 1min; the 95 % interval of mmd of a is "
        "± 0.0123, about 2.1 times that of all vectors."
    )
    assert answer.budget_sample == {"size": 4400, "seed": 0}
    nearly = within_budget(
        call(machine), "256s", None, told, clock=machine.clock, work=work
    )  # the root of 20 / 19: 1.03
    assert nearly.budgeted.startswith("A sample of 19,000 of 20,000 ")
    assert nearly.budgeted.endswith("± 0.0123, about that of all vectors.")
    moves = True
    moved = within_budget(call(machine), "1min", None, told, clock=machine.clock, work=work)
    assert moved.budgeted == answer.budgeted[:-1] + (
        ", whose value may lie outside it, since it changes with their number."
    )
    whole = within_budget(call(machine), "10min", None, told, clock=machine.clock, work=work)
    assert whole.size == LONG
    assert whole.interval is None
    with pytest.raises(rc.InputError, match="the budget of 2s is too short: 100 vectors of each set, the fewest that"):
        within_budget(call(machine), "2s", None, told, clock=machine.clock, work=work)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("90s", 90), ("10min", 600), ("10 min", 600), ("2h", 7200), ("1h30min", 5400), ("1H 30Min 5s", 5405),
        ("1.5h", 5400), ("1d", 86400), (45, 45), (0.5, 0.5), (np.float32(2), 2),
    ],
)  # fmt: skip
def test_times(given: Any, seconds: float) -> None:
    assert seconds_of(given if not isinstance(given, np.generic) else given.item()) == seconds


@pytest.mark.parametrize(
    "given", ["", "10", "min", "10 fortnights", "-5s", "0s", "5s x", 0, -1, math.nan, math.inf, 10**400, True, []]
)
def test_what_is_no_time(given: Any) -> None:
    with pytest.raises(rc.InputError, match="a budget is a time above 0 such as 90s, 10min, 2h or 1h30min"):
        seconds_of(given)


@pytest.fixture
def foretold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for takes a hundredth of a second a sample, and to find that out takes no time."""
    monkeypatch.setattr(budget_module, "SetWork", lambda *given, **other: Known(0.01))
    monkeypatch.setattr(budget_module, "time", SimpleNamespace(perf_counter=lambda: 0.0))


def made(seed: int, size: int, dimensions: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size, dimensions))


def test_evaluate_takes_the_sample_that_a_size_would(foretold: None) -> None:
    reference, candidate = made(0, 700), made(1, 500)
    groups = [f"g{at // 7}" for at in range(700)]
    found = rc.evaluate(
        reference, {"a": candidate}, "mmd", budget="5.9s", seed=3, ceiling=False, reference_groups=groups,
        candidate_groups={"a": list(range(500))},
    )  # fmt: skip
    places = [sample_places(count, 340, 3) for count in (700, 500)]
    expected = rc.evaluate(
        reference[places[0]], {"a": candidate[places[1]]}, "mmd", interval=0.95, seed=3, ceiling=False,
        reference_groups=[groups[at] for at in places[0]], candidate_groups={"a": places[1].tolist()},
    )  # fmt: skip
    one, other = found["a"]["mmd"], expected["a"]["mmd"]
    assert one.values == other.values and one.intervals == other.intervals
    assert one.sizes == {"reference": 340, "candidate": 340}
    assert one.signature["sample"] == {"size": 340, "seed": 3}
    low, high = one.intervals["value"]
    # Variances of two means: (1/340 + 1/340) / (1/700 + 1/500) = 1.72, whose root is 1.31.
    assert found.verdict[0].startswith("A sample of at most 340 vectors of a set fits into the budget of 5.9s; ")
    assert f"the 95 % interval of mmd is ± {(high - low) / 2:.3g}, about 1.3 times that of all" in found.verdict[0]
    assert found.copy().verdict[0] == found.verdict[0]


def test_a_sample_of_a_set_that_is_large_beside_the_other_costs_little(foretold: None) -> None:
    """A difference of means of 190 and 150 has (1/190 + 1/150) / (1/30000 + 1/150) = 1.78 times the variance of one of
    30,000 and 150, so that its interval is 1.33 times as wide: not 12.6 times, the root of 30,000 / 190.
    """
    found = rc.evaluate(
        made(0, 30_000), {"a": made(1, 150), "b": made(2, 150)}, "mmd", human=made(3, 150), budget="3.9s"
    )
    assert found["b"]["mmd"].sizes == {"reference": 190, "candidate": 150}
    assert "the 95 % interval of mmd of a is ± " in found.verdict[0]
    assert "about 1.3 times that of all vectors" in found.verdict[0]


def test_evaluate_that_fits_is_the_same(foretold: None) -> None:
    found = rc.evaluate(made(0, 90), {"a": made(1, 90)}, "mmd", budget="1h", ceiling=False)
    plain = rc.evaluate(made(0, 90), {"a": made(1, 90)}, "mmd", ceiling=False)
    assert found["a"]["mmd"].values == plain["a"]["mmd"].values
    assert not found["a"]["mmd"].intervals
    assert found.verdict == plain.verdict


@pytest.mark.slow
@pytest.mark.traced
def test_compare_takes_a_sample_too(foretold: None) -> None:
    reference, systems = made(0, 400), {"a": made(1, 400), "b": made(2, 400) + 0.5}
    found = rc.compare(reference, systems, "mmd", budget="5s", ceiling=False)
    places = sample_places(400, 270, 0)
    cut = {name: own[places] for name, own in systems.items()}
    assert found.values == rc.compare(reference[places], cut, "mmd", ceiling=False).values
    assert found.settings["sample"] == {"size": 270, "seed": 0}
    each = found.differences["a", "b"]["mmd"]
    assert found.verdict[0] == (
        "A sample of 270 of 400 vectors each fits into the budget of 5s; the 95 % interval of mmd of a less that of b "
        f"is ± {(each.high - each.low) / 2:.3g}, about 1.2 times that of all vectors."
    )


def test_items_take_what_a_few_of_them_do(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine({"chrf": (0.5, 0.02, 0.0), "bleu": (0.0, 0.001, 0.0)})

    def scored(references: list[str], systems: dict[str, list[str]], metrics: list[str], **given: Any) -> None:
        assert given["cache"] is False and {len(own) for own in systems.values()} == {len(references)}
        machine.now += sum(machine.seconds(name, len(references)) for name in metrics)

    monkeypatch.setattr(pairs_ahead_module, "evaluate_pairs", scored)
    texts = [f"text {at}" for at in range(5000)]
    arguments = {"metrics": ["chrf", "bleu"], "options": {}}
    ahead = pairs_ahead(texts, {"a": texts, "b": texts}, arguments, machine.clock)
    assert ahead.seconds["chrf"] == pytest.approx(0.5 + 0.02 * 5000, rel=0.01)
    assert ahead.seconds["bleu"] == pytest.approx(5.0, rel=0.01)
    assert ahead.measured < 20


# The command line


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(work_ahead, "_LEAST", 0.1)  # seconds of measuring, which no test needs
    monkeypatch.setattr(pairs_ahead_module, "_LEAST", 0.1)
    for seed, name in enumerate("abc"):
        np.save(f"{name}.npy", made(seed, 150))
    Path("texts.txt").write_text("".join(f"the cat sat on mat {at}\n" for at in range(60)))
    Path("others.txt").write_text("".join(f"a dog ran {at % 7} miles\n" for at in range(60)))
    return tmp_path


def commanded(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    code = run(list(typed))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


DRY = {
    "score": ("score", "-r", "a.npy", "-c", "b.npy", "--metrics", "mmd", "-o", "x.json", "--format", "table"),
    "score of texts": ("score", "-r", "texts.txt", "-c", "others.txt", "--metrics", "mmd", "--encoder", "bag-of-words"),
    "compare": ("compare", "-r", "a.npy", "-c", "b.npy", "-c", "c.npy", "--metrics", "mmd", "--report", "x.html"),
    "plan": ("plan", "-r", "a.npy", "-c", "b.npy", "-o", "planned"),
    "pairs": ("pairs", "-r", "texts.txt", "-c", "others.txt", "--metrics", "bleu,chrf"),
    "embed": ("embed", "texts.txt", "-o", "x.npy", "--encoder", "bag-of-words"),
}


@pytest.mark.slow
@pytest.mark.traced
@pytest.mark.parametrize("typed", DRY.values(), ids=DRY)
def test_a_dry_run_answers_first_and_writes_nothing(
    files: Path, capsys: pytest.CaptureFixture[str], typed: tuple[str, ...]
) -> None:
    before = sorted(files.rglob("*"))
    code, out, _ = commanded(capsys, *typed, "--dry-run")
    assert code == 0
    assert out.startswith("This would take ")
    assert "Nothing was written." in out.splitlines()[-1]
    for what in ("memory", "disk", "device"):
        assert f"  {what} " in out
    assert sorted(files.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["mmd", "frechet"])
def test_memory_is_near_to_what_is_taken(metric: str) -> None:
    """Beside what Python says that the whole call held: most of it in tiles, which do not grow with the sets."""
    given = {"references": made(0, 4000, 64), "candidates": {"a": made(1, 4000, 64)}, "metrics": metric}
    foretold = SetWork(SetCall(rc.evaluate, ROLES, given)).at(4000).memory - work_ahead.resident()
    taken = work_ahead.traced_peak(lambda: rc.evaluate(**given))
    assert 0.7 * taken < foretold < 4 * taken


def test_memory_does_not_grow_as_the_pairs_do() -> None:
    """Tiles that were still growing when they were measured: 4 bytes a pair would be 40 GB for 100,000 samples."""
    growth = Growth()
    for size in (64, 512, 1536):
        growth.add(size, 4.0 * size**2)
    assert growth.at(100_000) == pytest.approx(40e9, rel=0.01)
    assert growth.held_at(100_000) < 1e9
    assert growth.held_at(2000) == pytest.approx(16e6, rel=0.01)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--metrics", "mmd"), "plans are for metrics of neighbourhoods ("),
        (("--encoder", "bag-of-words"), "this encoder learns from texts, which parts of a plan cannot"),
    ],
)
def test_what_a_plan_refuses_its_dry_run_refuses(
    files: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], told: str
) -> None:
    typed = ("plan", "-r", "texts.txt", "-c", "others.txt", "-o", "planned", *options)
    code, _, err = commanded(capsys, *typed, "--dry-run")
    assert code == 2 and f"recapture: {told}" in err
    assert commanded(capsys, *typed)[0] == 2


@pytest.mark.parametrize(("k", "is_foretold"), [(31, True), (32, True), (70, True), (89, True), (90, False)])
def test_neighbourhoods_larger_than_the_first_samples_are_foretold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], k: int, is_foretold: bool
) -> None:
    """90 samples have 89 neighbours each."""
    monkeypatch.chdir(tmp_path)
    for name, size in (("human", 150), ("model", 90)):
        np.save(f"{name}.npy", np.random.default_rng(size).standard_normal((size, 3)))
    plan = ("plan", "-r", "human.npy", "-c", "model.npy", "-o", "planned", "--k", str(k))
    for typed in (plan, ("score", *plan[1:5], "--metrics", "precision-recall", "--no-ceiling", "--k", str(k))):
        code, out, err = commanded(capsys, *typed, "--dry-run")
        assert (code, out[:15]) == ((0, "This would take") if is_foretold else (2, "")), err
        assert is_foretold or f"k = {k} needs at least {k + 1} samples a side, but candidate" in err


def test_a_plan_of_texts_knows_no_cache_and_keeps_vectors(files: Path) -> None:
    """Three numbers for each of 120 texts, 67 of them different; 4 bytes a number, in parts and once joined."""
    Path("words.txt").write_text("the 0.1 0.5 1\ncat 0.2 0.5 1\na 0.3 0.5 1\ndog 0.4 0.5 1\n")
    rc.encode(Path("texts.txt").read_text().splitlines(), "words.txt")
    ahead = plan_ahead("texts.txt", "others.txt", k=3, encoder="words.txt")
    assert ahead.facts["different texts"] == "67, none of them in the cache"
    assert ahead.disk == 120 * (40 + 2 * 3 * 4)


def test_looking_into_the_cache_is_no_use_of_it(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "_today", lambda: 1000)
    texts = [f"text {at}" for at in range(40)]
    encoder = resolve_encoder(lambda given: np.array([[len(text), 1.0] for text in given]))
    encoder.cacheable = True
    rc.encode(texts, encoder)
    monkeypatch.setattr(vector_cache, "_today", lambda: 2000)
    before = (files / "cache" / "vectors-1.sqlite").read_bytes()
    assert EncodingAhead(texts, encoder, {}, time.perf_counter).known == 40
    assert (files / "cache" / "vectors-1.sqlite").read_bytes() == before


@pytest.mark.parametrize("cache", [True, False])
def test_what_a_masked_model_leaves_in_the_cache_is_foretold(
    cache: bool, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two vectors of three numbers for every text: 4 bytes that tell the width, and 24."""

    def scored(references: list[str], systems: dict[str, list[str]], **given: Any) -> None:
        assert given["interval"] == 0.9
        if given["cache"] is not False:
            texts = sorted({*references, *systems["a"]})
            kept = vector_cache.VectorCache(given["cache"])
            kept.put_arrays({"encoder": "model"}, texts, [np.zeros((2, 3), np.float32)] * len(texts))

    monkeypatch.setattr(pairs_ahead_module, "evaluate_pairs", scored)
    texts, others = [f"text {at}" for at in range(100)], [f"other {at}" for at in range(100)]
    arguments = {"metrics": ["chrf", "infolm"], "options": {}, "interval": 0.9, "cache": cache}
    ahead = pairs_ahead(texts, {"a": others}, arguments)
    assert ahead.disk == (200 * (28 + 96) if cache else 0)
    assert not (files / "cache").exists()


@pytest.mark.parametrize(
    ("paths", "encoding"),
    [(("a.npy", "short.npy"), {}), (("texts.txt", "others.txt"), {"encoder": "words.txt"})],
    ids=["vectors", "texts"],
)
def test_parts_and_disk_of_a_plan(files: Path, paths: tuple[str, str], encoding: dict[str, str]) -> None:
    """As many as are made, and as much as they take, within what is compressed."""
    np.save("short.npy", made(9, 150)[:3])
    words = ["the", "cat", "sat", "on", "mat", "a", "dog", "ran", "miles"]
    Path("words.txt").write_text("".join(f"{word} {' '.join(['0.5'] * 200)}\n" for word in words))
    ahead = plan_ahead(*paths, "mark-evaluate", 1, parts=5, **encoding)
    names = rc.make_plan(*paths, "planned", "mark-evaluate", 1, parts=5, **encoding)
    assert ahead.facts["parts"].partition(":")[0] == str(len(names))
    if encoding:
        rc.run_plan("planned")
        vectors = [*Path("planned").glob("vectors-*"), *Path("planned").glob("*e.npy")]
        assert ahead.disk >= 0.5 * sum(path.stat().st_size for path in vectors) > 0


def test_a_dry_run_as_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = commanded(capsys, *DRY["score"][:-4], "--format", "json", "--interval", "0.9", "--dry-run")
    shown = json.loads(out)
    assert code == 0
    assert set(shown) == {"seconds", "stages", "memory", "disk", "measured", "facts"}
    assert set(shown["stages"]) == {"mmd"}
    assert shown["facts"]["drawn"] == "40 splits for human parts, 200 half-samples"


def test_a_budget_on_the_command_line(files: Path, foretold: None, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = commanded(capsys, "score", "-r", "a.npy", "-c", "b.npy", "--metrics", "mmd", "--budget", "3s")
    assert code == 0
    assert out.startswith(
        "A sample of 120 of 150 vectors each fits into the budget of 3s; the 95 % interval of mmd is ±"
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--budget", "soon"), "a budget is a time above 0 such as 90s"),
        (("--budget", "1s"), "the budget of 1s is too short: 100 vectors of each set"),
        (("--budget", "9s", "--sample", "50"), "--budget chooses how large a sample is, and so does --sample"),
        (("--budget", "9s", "--dry-run"), "--dry-run says how long all of it takes, --budget takes a part"),
    ],
)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_what_is_refused(
    files: Path, foretold: None, capsys: pytest.CaptureFixture[str], typed: tuple[str, ...], said: str, command: str
) -> None:
    systems = ("-c", "b.npy", "-c", "c.npy")
    code, out, err = commanded(capsys, command, "-r", "a.npy", *systems, "--metrics", "mmd", "-o", "x.json", *typed)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
    assert not Path("x.json").exists()


@pytest.mark.slow
@pytest.mark.traced
def test_texts_that_are_known_are_not_encoded(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that takes a second for ten characters; half of the texts are in the cache already."""
    machine = Machine({})

    class Slow:
        name = "slow"
        cacheable = True

        def identity(self) -> dict[str, str]:
            return {"encoder": "slow", "kind": "test"}

        def fit(self, texts: Any) -> Slow:
            return self

        def effort(self, text: str) -> int:
            return len(text)

        def encode_batch(self, texts: list[str]) -> np.ndarray:
            machine.now += sum(map(len, texts)) / 10
            return np.array([[len(text), hash(text) % 97, 1.0] for text in texts], np.float32)

    texts = [f"{'x' * (at % 9)} {at}" for at in range(400)]
    rc.encode(texts[:200], Slow())
    work = SetWork(
        SetCall(
            rc.evaluate,
            ROLES,
            {"references": texts[:300], "candidates": {"a": texts[300:]}, "metrics": "mmd", "encoder": Slow()},
        ),
        clock=machine.clock,
        work_clock=machine.clock,
    )
    ahead = work.at(300)
    assert ahead.facts["different texts"] == "400, 200 of them in the cache"
    assert ahead.seconds["encoding"] == pytest.approx(sum(map(len, texts[200:])) / 10, rel=0.05)
    assert ahead.disk == 200 * (3 * 4 + 96)
