"""What intervals and tests of agreement promise, by simulation: the figures of docs/agreement.md.

Worlds: systems have a quality, normal or exponential (skewed); people rate quality, the input's difficulty and noise; a
metric adds an error for each system, which all its texts share. `python -m benchmarks agreement` takes some minutes and
is no timing, so that it does not run with the others.
"""

from __future__ import annotations

import numpy as np

import recapture as rc

LEVEL = 0.95
INPUTS = 40
COEFFICIENTS = ("pearson", "spearman", "kendall")


def quality(shape: tuple[int, ...], skewed: bool, rng: np.random.Generator) -> np.ndarray:
    """Mean 0 and variance 1."""
    return rng.exponential(size=shape) - 1 if skewed else rng.normal(size=shape)


def world(
    systems: int, inputs: int, skewed: bool, rng: np.random.Generator, metrics: int = 1, error: float = 0.5
) -> tuple[np.ndarray, list[np.ndarray]]:
    """People's ratings and equally good metrics' scores, (systems, inputs) each."""
    own = quality((systems, 1), skewed, rng)
    difficulty = rng.normal(size=(1, inputs))
    text = 0.5 * rng.normal(size=(systems, inputs))
    human = own + difficulty + text + rng.normal(size=(systems, inputs))
    scores = [
        own + error * rng.normal(size=(systems, 1)) + difficulty + text + rng.normal(size=(systems, inputs))
        for _ in range(metrics)
    ]
    return human, scores


def truth(skewed: bool, error: float, inputs: int = INPUTS, systems: int = 400_000) -> dict[str, float]:
    """The correlations of systems' means over so many inputs, among all systems."""
    rng = np.random.default_rng(1)
    own = quality((systems,), skewed, rng)
    text = 0.5 / np.sqrt(inputs) * rng.normal(size=systems)
    human, metric = (own + text + rng.normal(size=systems) / np.sqrt(inputs) for _ in range(2))
    metric += error * rng.normal(size=systems)
    half = systems // 2
    signs = [np.sign(side[:half] - side[half:]) for side in (human, metric)]
    return {
        "pearson": rc.correlation(human, metric),
        "spearman": rc.correlation(human, metric, "spearman"),
        "kendall": float(np.mean(signs[0] * signs[1])),  # by definition, over independent pairs
    }


def coverage(
    systems: int, skewed: bool, error: float, repeats: int, over: str = "both", seed: int = 0
) -> dict[str, float]:
    """The share of 95 % intervals at the system level that hold the truth."""
    expected = truth(skewed, error)
    held = dict.fromkeys(COEFFICIENTS, 0)
    for number in range(repeats):
        human, (metric,) = world(systems, INPUTS, skewed, np.random.default_rng([seed, number]), error=error)
        for row in rc.correlate(
            metric, human, coefficient=list(COEFFICIENTS), interval=LEVEL, over=over, resamples=100, seed=number
        ):
            low, high = row.interval or (np.nan, np.nan)
            held[row.coefficient] += int(low <= expected[row.coefficient] <= high)
    return {name: count / repeats for name, count in held.items()}


def other_levels(level: str, systems: int, repeats: int, seed: int = 0) -> float:
    """The same at the text or global level, Pearson, normal qualities. The truth is the mean over data sets: at the
    text level of so many systems (on which the mean correlation depends), at the global level of many."""
    rng = np.random.default_rng(1)
    size = (systems, 200) if level == "text" else (400, 200)
    many = [world(*size, False, rng) for _ in range(400 if level == "text" else 20)]
    expected = float(np.mean([rc.correlate(metric, human, level).value for human, (metric,) in many]))
    held = 0
    for number in range(repeats):
        human, (metric,) = world(systems, INPUTS, False, np.random.default_rng([seed, number]))
        low, high = rc.correlate(metric, human, level, interval=LEVEL, resamples=100, seed=number).interval or (2, -2)
        held += int(low <= expected <= high)
    return held / repeats


def percentile_coverage(
    systems: int, skewed: bool, error: float, repeats: int, over: str = "systems", seed: int = 0
) -> float:
    """The same of percentiles of Pearson's r with systems, or both, drawn anew, which intervals here were once."""
    expected = truth(skewed, error)["pearson"]
    held = 0
    for number in range(repeats):
        rng = np.random.default_rng([seed, number])
        human, (metric,) = world(systems, INPUTS, skewed, rng, error=error)
        rows = rng.integers(systems, size=(500, systems, 1))
        columns = rng.integers(INPUTS, size=(500, 1, INPUTS))
        columns = columns if over == "both" else np.arange(INPUTS)[None, None]
        drawn = rc.correlation(human[rows, columns].mean(axis=2), metric[rows, columns].mean(axis=2))
        several = np.array([len(set(row)) > 2 for row in rows[:, :, 0].tolist()])
        low, high = np.quantile(drawn[several], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        held += int(low <= expected <= high)
    return held / repeats


def false_alarms(systems: int, inputs: int, repeats: int, seed: int = 0, skewed: bool = False) -> dict[str, float]:
    """How often each test at the global level finds, at 5 %, a difference of two equally good metrics."""
    found: dict[str, int] = {}
    for number in range(repeats):
        human, both = world(systems, inputs, skewed, np.random.default_rng([seed, number]), metrics=2)
        pooled = [side.ravel() for side in (human, *both)]
        r12, r13, r23 = (rc.correlation(pooled[one], pooled[other]) for one, other in ((0, 1), (0, 2), (1, 2)))
        options = {"level": "global", "resamples": 199, "seed": number}
        pvalues = {
            "Williams' test (refused)": rc.williams_test(r12, r13, r23, human.size, "two-sided").pvalue,
            "bootstrap, both": rc.paired_bootstrap(*both, human, over="both", **options).pvalue,
            "permutation, systems": rc.swapping_test(*both, human, swap="systems", **options).pvalue,
            "permutation, both": rc.swapping_test(*both, human, swap="both", **options).pvalue,
        }
        for name, pvalue in pvalues.items():
            found[name] = found.get(name, 0) + (pvalue <= 0.05)
    return {name: count / repeats for name, count in found.items()}


def sides(systems: int, repeats: int, seed: int = 0) -> dict[str, float]:
    """How often Williams' test at the system level tells two equally good metrics apart, the better one of the data
    against the other: with a two-sided p of at most 5 %, and with a one-sided one."""
    found = {"two-sided": 0, "one-sided": 0}
    for number in range(repeats):
        human, both = world(systems, INPUTS, False, np.random.default_rng([seed, number]), metrics=2)
        pairs = rc.compare_metrics({"a": both[0], "b": both[1]}, human, test="williams", directions="higher")
        found["two-sided"] += len(pairs.clusters()) > 1
        found["one-sided"] += len(pairs.clusters(by="greater")) > 1
    return {name: count / repeats for name, count in found.items()}


def main() -> None:
    repeats = 600
    print(f"coverage of 95 % intervals at the system level, {INPUTS} inputs, {repeats} data sets each")
    for skewed in (False, True):
        for error in (1.0, 0.3):
            for systems in (5, 8, 12, 20):
                shares = coverage(systems, skewed, error, repeats)
                said = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
                r = truth(skewed, error)["pearson"]
                print(
                    f"  {'skewed' if skewed else 'normal'} qualities, r {r:.2f}, {systems} systems: {said}", flush=True
                )
    print(f"the same at other levels, Pearson, normal qualities, {repeats} data sets each")
    for level in ("text", "global"):
        shares = {systems: other_levels(level, systems, repeats) for systems in (5, 8, 12, 20)}
        said = ", ".join(f"{systems} systems {share:.3f}" for systems, share in shares.items())
        print(f"  {level} level: {said}", flush=True)
    print(f"percentiles of 500 resamples of systems instead, Pearson, {repeats} data sets each")
    for skewed in (False, True):
        for error in (1.0, 0.3):
            shares = {systems: percentile_coverage(systems, skewed, error, repeats) for systems in (5, 8, 12, 20)}
            said = ", ".join(f"{systems} systems {share:.3f}" for systems, share in shares.items())
            r = truth(skewed, error)["pearson"]
            print(f"  {'skewed' if skewed else 'normal'} qualities, r {r:.2f}: {said}", flush=True)
    print("false alarms at 5 % at the global level, 1500 data sets each")
    for systems, inputs in ((8, 20), (12, 20), (20, 20), (12, 100)):
        shares = false_alarms(systems, inputs, 1500)
        print(
            f"  {systems} systems, {inputs} inputs: "
            + ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
        )
    shares = sides(12, repeats)
    print("clusters of two equally good metrics told apart: " + ", ".join(f"{k} {v:.3f}" for k, v in shares.items()))
