"""One metric under many settings (k, temperature, alpha): the agreement of the best one, as printed and as honest.

The setting that agrees best with people is usually chosen and shown on the same ratings, which flatters it. The honest
figure chooses on some of the data and is measured on the rest: inputs, systems, or groups such as language pairs are
held out, one part at a time; the mean over parts is compared with the mean over the same parts of the setting that is
best on all data, so that nothing but the choice differs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...checks import MOST_OF_ANYTHING, check_count, check_seed, is_one_of, plain_arguments
from ...declarations import Direction
from ...errors import InputError, shown
from ...report.report import Measured, NumberCell, Report, Reported, Table, short
from ..data.directions import as_floats, oriented
from ..data.score_matrix import counted
from .argument_checks import check_choice
from .coefficients import Coefficient, check_coefficient
from .levels import FEWEST, Level, agreement, check_level_name

_RULES = ("best", "until-drop")
_ROUNDING = 1e-12
"""Agreements this near are equal."""
Setting = TypeVar("Setting", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True)
class Fold(Generic[Setting]):
    held_out: int
    """Inputs, systems or groups."""
    chosen: Setting
    """The setting that the rest of the data asks for."""
    value: float
    """Its agreement on what was held out."""
    flattered: float
    """There, of the setting chosen on all data."""

    @property
    def counts(self) -> bool:
        """Whether both have a correlation there; the fold is skipped if not."""
        return not (math.isnan(self.value) or math.isnan(self.flattered))


@dataclass(frozen=True, repr=False)
class Sweep(Reported, Generic[Setting]):
    values: Mapping[Setting, float]
    """Agreement of every setting on all data."""
    chosen: Setting
    """On all data."""
    optimistic: float
    """Its agreement on the same data, as papers print it."""
    flattered: float
    """The mean over folds of its agreement on what is held out, which helped to choose it."""
    honest: float
    """The mean over folds of the agreement of the setting chosen without what is held out."""
    folds: tuple[Fold[Setting], ...]
    skipped: int
    """Folds without a correlation."""

    @property
    def optimism(self) -> float:
        """What choosing and measuring on the same data adds."""
        return self.flattered - self.honest

    @property
    def counts(self) -> dict[Setting, int]:
        """In how many folds each setting was chosen, of those that have a correlation."""
        chosen = Counter(fold.chosen for fold in self.folds if fold.counts)
        return {setting: chosen[setting] for setting in self.values}

    def report(self) -> Report:
        """A table of settings, and the honest figure below."""
        lines = [
            [str(setting), NumberCell(short(value), Measured(value)), str(self.counts[setting])]
            for setting, value in self.values.items()
        ]
        kept = len(self.folds) - self.skipped
        caption = [
            f"chosen on all data: {self.chosen}, {short(self.optimistic)}",
            f"held out, {kept} folds: {short(self.honest)}; the setting chosen on all data there: "
            f"{short(self.flattered)}, so the choice flatters by {short(self.optimism)}",
        ]
        if self.skipped:
            caption.append(f"{counted(self.skipped, 'fold')} without a correlation left out")
        rows = [
            {"setting": str(setting), "agreement": value, "folds": self.counts[setting]}
            for setting, value in self.values.items()
        ]
        chosen = {"chosen": str(self.chosen), "optimistic": self.optimistic, "flattered": self.flattered}
        return Report(
            kind="agreement",
            tables=[Table(["setting", "agreement", "folds that choose it"], lines, caption, listed=True)],
            records={"settings": rows},
            results={"settings": rows, **chosen, "honest": self.honest, "skipped_folds": self.skipped},
        )


@plain_arguments
def sweep(
    scores_by_setting: Mapping[Setting, ArrayLike | Mapping[Group, ArrayLike]],
    human: ArrayLike | Mapping[Group, ArrayLike],
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    *,
    over: Literal["inputs", "systems"] = "inputs",
    folds: int | None = None,
    repeats: int = 1,
    rule: Literal["best", "until-drop"] = "best",
    direction: Direction = "higher",
    seed: int = 0,
) -> Sweep[Setting]:
    """The setting of a metric that agrees best with people, and its agreement on what did not help to choose it.

    Parameters
    ----------
    scores_by_setting
        (systems, inputs) by setting; or by setting and group ({"de-en": array, ...}). Cells that some setting lacks
        count for none.
    human
        Ratings of the same shape, or by group. With groups agreement is the mean over them, and they are held out one
        by one.
    level, coefficient
        As for `correlate`.
    over
        Hold out inputs, or systems.
    folds
        How many parts (default: 5 of inputs, 2 of systems).
    repeats
        So many random splits.
    rule
        "best", or "until-drop": settings in the order given; the last before agreement falls for the first time, so the
        last of equal ones.
    direction
        Which way the scores are better.
    seed
        Of the splits.

    Returns
    -------
    Sweep
        chosen, optimistic (its agreement on the data it was chosen on), honest, and every fold.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[1, 2, 1, 2], [2, 3, 3, 1], [4, 3, 4, 5]]
    >>> by_setting = {
    ...     "k=1": [[1, 2, 1, 2], [3, 2, 3, 1], [4, 4, 3, 5]],
    ...     "k=5": [[4, 1, 2, 3], [1, 3, 3, 4], [2, 5, 1, 2]],
    ... }
    >>> result = rc.sweep(by_setting, people, level="text", folds=2)
    >>> result.chosen, result.counts
    ('k=1', {'k=1': 2, 'k=5': 0})
    >>> round(result.optimism, 4)  # every fold chooses as all data do, so the choice flatters nothing
    0.0
    """
    check_level_name(level)
    if not is_one_of(rule, _RULES):
        raise InputError(f"rule must be {' or '.join(_RULES)}, not {shown(rule)}")
    check_choice("direction", direction, ("higher", "lower"))
    check_coefficient(coefficient)
    if not isinstance(scores_by_setting, Mapping):
        raise InputError(f"scores are given by setting, as a mapping, not as {type(scores_by_setting).__name__}")
    if not scores_by_setting:
        raise InputError("there are no settings")
    if isinstance(human, Mapping):
        return _by_groups(scores_by_setting, human, level, coefficient, rule, direction)
    scores, ratings = _checked(scores_by_setting, human, level, direction)

    def measure(setting: Setting, rows: np.ndarray, columns: np.ndarray) -> float:
        cells = np.ix_(rows, columns)
        return agreement(scores[setting][cells], ratings[cells], level, coefficient).value

    systems, inputs = (np.arange(length) for length in ratings.shape)
    parts = _splits(over, folds, repeats, ratings.shape, level, seed)

    def within(setting: Setting, part: np.ndarray) -> float:
        return measure(setting, systems, part) if over == "inputs" else measure(setting, part, inputs)

    whole = inputs if over == "inputs" else systems
    return _swept(list(scores), parts, whole, within, rule)


def _swept(
    settings: Sequence[Setting],
    parts: Sequence[np.ndarray],
    whole: np.ndarray,
    measure: Callable[[Setting, np.ndarray], float],
    rule: str,
) -> Sweep[Setting]:
    values = {setting: measure(setting, whole) for setting in settings}
    chosen = _choice(values, rule)
    folds = []
    for part in parts:
        rest = np.setdiff1d(whole, part)
        own = _choice({setting: measure(setting, rest) for setting in settings}, rule)
        folds.append(Fold(len(part), own, measure(own, part), measure(chosen, part)))
    kept = [fold for fold in folds if fold.counts]
    if not kept:
        raise InputError("nothing that is held out has a correlation: there are too few inputs or systems")
    return Sweep(
        values,
        chosen,
        values[chosen],
        float(np.mean([fold.flattered for fold in kept])),
        float(np.mean([fold.value for fold in kept])),
        tuple(folds),
        len(folds) - len(kept),
    )


def _choice(values: Mapping[Setting, float], rule: str) -> Setting:
    """The first of the best, or the last before a fall, which of equal ones is the last; settings without a number are
    never chosen, and are a fall."""
    if all(math.isnan(value) for value in values.values()):
        raise InputError("no setting has a correlation with the ratings: scores or ratings do not vary")
    best = next(iter(values))
    highest = last = -math.inf
    for setting, value in values.items():
        if rule == "until-drop":
            if last > -math.inf and not value >= last - _ROUNDING:
                break
            if not math.isnan(value):
                best, last = setting, value
        elif value > highest + _ROUNDING:
            best, highest = setting, value
    return best


def _splits(
    over: str, folds: int | None, repeats: int, shape: Sequence[int], level: str, seed: int
) -> list[np.ndarray]:
    if not is_one_of(over, ("inputs", "systems")):
        raise InputError(f"over must be inputs or systems, not {shown(over)} (groups are given as mappings)")
    count = shape[1] if over == "inputs" else shape[0]
    number = (5 if over == "inputs" else 2) if folds is None else folds
    number, repeats = check_count("folds", number, 2), check_count("repeats", repeats, 1, MOST_OF_ANYTHING)
    seed = check_seed(seed)
    least = 1 if over == "inputs" else FEWEST if level == "system" else 2
    if count < least * number:
        raise InputError(
            f"{number} folds with {least} or more {over} each need {least * number}, but there are {count}"
        )
    random = np.random.default_rng(seed)
    return [np.sort(part) for _ in range(repeats) for part in np.array_split(random.permutation(count), number)]


def _checked(
    scores_by_setting: Mapping[Setting, Any], human: Any, level: str, direction: Direction
) -> tuple[dict[Setting, np.ndarray], np.ndarray]:
    """Oriented; cells that a setting or people lack are missing for all, inputs that miss one too at system level."""
    ratings = as_floats(human, "ratings")
    scores = {setting: oriented(own, direction) for setting, own in scores_by_setting.items()}
    for setting, own in scores.items():
        if own.shape != ratings.shape or own.ndim != 2:
            raise InputError(
                f"setting {setting!r} has the shape {own.shape}, but ratings {ratings.shape}: systems x inputs each"
            )
    known = np.logical_and.reduce([np.isfinite(side) for side in (ratings, *scores.values())])
    kept = known.all(axis=0) if level == "system" else known.any(axis=0)
    if not kept.any():
        raise InputError("no input has the scores of all systems under all settings")
    if level == "system" and len(ratings) < FEWEST:
        raise InputError(f"the system level needs at least {FEWEST} systems, but there are {len(ratings)}")
    shared = {setting: np.where(known, own, np.nan)[:, kept] for setting, own in scores.items()}
    return shared, np.where(known, ratings, np.nan)[:, kept]


def _by_groups(
    scores_by_setting: Mapping[Setting, ArrayLike | Mapping[Group, ArrayLike]],
    human: Mapping[Group, ArrayLike],
    level: str,
    coefficient: str,
    rule: str,
    direction: Direction,
) -> Sweep[Setting]:
    groups = list(human)
    if len(groups) < 2:
        raise InputError("holding out groups needs at least two of them")
    by_group_of: dict[Setting, np.ndarray] = {setting: np.full(len(groups), np.nan) for setting in scores_by_setting}
    for at, group in enumerate(groups):
        own: dict[Setting, ArrayLike] = {}
        for setting, by_group in scores_by_setting.items():
            if not isinstance(by_group, Mapping) or group not in by_group:
                raise InputError(f"setting {setting!r} has no scores of the group {group!r}")
            own[setting] = by_group[group]
        scores, ratings = _checked(own, human[group], level, direction)
        for setting, array in scores.items():
            by_group_of[setting][at] = agreement(array, ratings, level, coefficient).value
    whole = np.arange(len(groups))
    parts = [whole[at : at + 1] for at in whole]
    # NaN where a group has none: means over different groups could not be compared.
    return _swept(list(by_group_of), parts, whole, lambda setting, part: float(by_group_of[setting][part].mean()), rule)
