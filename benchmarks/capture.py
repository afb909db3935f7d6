"""CAPTURE's maximum for large populations."""

from __future__ import annotations

from recapture.population import capture_m0

from .timing import run


def main() -> None:
    print("CAPTURE's maximum by bracketed search")
    for population in (10**4, 10**7):
        spent = min(run(lambda p=population: capture_m0(p, 2 * p + 7)) for _ in range(20))
        print(f"  P = {population:>10,}: {capture_m0(population, 2 * population + 7):,} in {1e3 * spent:.3f} ms")
