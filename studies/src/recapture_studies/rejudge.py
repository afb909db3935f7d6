"""Judge the tables that studies have stored anew, by the rules of today: no study runs.

    python -m recapture_studies.rejudge docs/evidence

The claims in NAME.json and at the end of NAME.md are made again from the tables in NAME.json; nothing else changes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import recapture as rc

from .files import json_of, write
from .study import find_study, list_studies
from .write import CLAIMS, SCHEMA, claims_part


def rejudge(folder: Path) -> dict[str, str]:
    """By study: judged anew, or why not; what cannot be judged stays as it is."""
    outcome = {}
    for name in list_studies():
        path = folder / f"{name}.json"
        if not path.is_file():
            continue
        try:
            content = json_of(path.read_text(encoding="utf-8"), str(path))
            claims = [claim.record() for claim in find_study(name).judge(content["tables"], content["settings"])]
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            outcome[name] = f"its tables lack {error}: run the study again"
            continue
        content |= {"schema": SCHEMA, "claims": claims}
        write(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        page = path.with_suffix(".md")
        text = page.read_text(encoding="utf-8").partition(f"\n{CLAIMS}\n")[0].rstrip("\n")
        write(page, text + "\n" + claims_part(claims))
        outcome[name] = f"{len(claims)} pieces of evidence"
    return outcome


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise rc.InputError("name the folder that holds the studies' files")
    for name, what in rejudge(Path(sys.argv[1])).items():
        print(f"{name}: {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
