"""Options that stop a build: --baseline, --fail-if, --tolerance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ..errors import InputError, nearest_names
from .options import Command, candidate_names, say

if TYPE_CHECKING:
    from ..sets.declaration import SetMetric
    from ..systems.comparison import Comparison
    from ..systems.gate import Gate
    from ..systems.saved_results import SavedSets

GATE = ("baseline", "fail_if", "tolerance")
FAILED = 1
"""Exit code of a comparison that fails its gate."""


def gate_options(stored: bool = False) -> Command:
    """stored: whether the baseline may be a file that recapture baseline wrote."""
    kept = ", or a stored baseline" if stored else ""

    def add(command: Command) -> Command:
        for option in (
            click.option(
                "--tolerance", type=float, metavar="NUMBER",
                help="How much worse is no worse: in halves of the width of a number's human band (default: 0).",
            ),
            click.option(
                "--fail-if", multiple=True, metavar="CONDITION",
                help='Exit code 1 if so: worse (than --baseline), or a limit such as "diversity < 0.8"; repeatable.',
            ),
            click.option(
                "--baseline", metavar="FILE",
                help=f"The system others are held against: a file, the name of one of -c{kept}.",
            ),
        ):  # fmt: skip
            command = option(command)
        return command

    return add


class Gated(NamedTuple):
    """What was asked of the gate, before anything is read."""

    baseline: str | None
    """The name of the system, or the file that is to be one more system."""
    fail_if: tuple[str, ...]
    tolerance: float

    def with_baseline(
        self, files: Sequence[str], names: Sequence[str], stored: bool = False
    ) -> tuple[tuple[str, ...], list[str], str | None]:
        """Files and names of all systems, the baseline's file among them, and the name of the baseline.

        stored: whether a file that recapture baseline wrote is left where it is, and no name is returned.
        """
        files, chosen = tuple(files), candidate_names(tuple(files), tuple(names))
        from ..systems.stored_baseline import is_stored_baseline

        if self.baseline is None:
            return files, chosen, None
        if self.baseline in chosen:
            return files, chosen, self.baseline
        for path, name in zip(files, chosen, strict=True):
            if _same_file(path, self.baseline):
                return files, chosen, name
        if self.baseline != "-" and not os.path.lexists(self.baseline):
            near = nearest_names(self.baseline, chosen)
            raise InputError(f"--baseline {self.baseline} is neither a file nor the name of a system; {near}")
        if is_stored_baseline(self.baseline):
            if not stored:
                raise InputError(
                    f"{self.baseline} is a stored baseline of sets: give the file of texts it was made from"
                )
            return files, chosen, None
        own = candidate_names((*files, self.baseline), ())[-1] if not names else Path(self.baseline).name
        if own in chosen:
            own = self.baseline
        return (*files, self.baseline), [*chosen, own], own

    def check_names(self, metrics: Iterable[SetMetric]) -> None:
        """Refuse a limit on a number that these metrics do not have, before texts are read and encoded."""
        from ..systems.gate import conditions
        from ..systems.of_sets import number_names

        if self.fail_if:
            for limit in conditions(list(self.fail_if), self.baseline)[1]:
                limit.named(number_names(metrics))

    def judge(self, compared: Comparison | SavedSets, baseline: str | None) -> Gate | None:
        """Before anything is written: what cannot be judged is refused."""
        return compared.gate(list(self.fail_if), baseline, self.tolerance) if self.fail_if else None


def leave(found: Gate | None) -> None:
    """Say whether a comparison passes, and leave with exit code 1 where it does not."""
    if found is not None:
        say(found.sentence)
        if found.failed:
            raise click.exceptions.Exit(FAILED)


def gated(baseline: str | None, fail_if: tuple[str, ...], tolerance: float | None) -> Gated:
    """Checked as far as that goes without results."""
    from ..systems.comparison import check_tolerance
    from ..systems.gate import conditions

    if fail_if:
        worse, _ = conditions(list(fail_if), baseline)
        if tolerance is not None and not worse:
            raise InputError("--tolerance goes with --fail-if worse")
    elif tolerance is not None:
        raise InputError("--tolerance goes with --fail-if worse")
    return Gated(baseline, fail_if, check_tolerance(tolerance or 0.0))


def _same_file(one: str, other: str) -> bool:
    try:
        return one == other or Path(one).samefile(other)
    except (OSError, ValueError):
        return False
