"""Print which share of branches the tests took, folder by folder; leave with an error where a package is below the bar.

    python .ci/branch_coverage.py .coverage.json

`fail_under` of coverage counts lines and branches together, which flatters: there are five lines to a branch.
"""

import json
import sys
from collections import Counter
from pathlib import Path

BARS = {"recapture": 95.0, "recapture_studies": 95.0}
"""Verdicts of studies have branches for outcomes that made-up data never bring: their bar is to rise, never to fall."""


def main(report):
    taken, all_of = Counter(), Counter()
    for name, file in json.loads(Path(report).read_text(encoding="utf-8"))["files"].items():
        inside = Path(name).parts
        if "src" not in inside:  # written by a test for itself
            continue
        inside = inside[inside.index("src") + 1 :]
        folder = "/".join(inside[:2]) if len(inside) > 2 else f"{inside[0]}/"
        for place in (inside[0], folder):
            taken[place] += file["summary"]["covered_branches"]
            all_of[place] += file["summary"]["num_branches"]
    below = []
    for place, count in sorted(all_of.items()):
        share = 100 * taken[place] / count if count else 100.0
        print(f"branches {share:6.2f} % of {count:5}  {place}")
        if "/" not in place and share < BARS.get(place, 95.0):
            below.append(f"{place} is below {BARS.get(place, 95.0):g} % of branches")
    if below:
        sys.exit("; ".join(below))


if __name__ == "__main__":
    main(sys.argv[1])
