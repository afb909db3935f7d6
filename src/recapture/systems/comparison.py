"""The answer: every number of every system, every difference, who is closer to people, and what cannot be told."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import is_one_of
from ..contexts.table import ContextSystems
from ..errors import InputError, UnknownNameError, nearest_names
from ..errors import shown as quoted
from ..page.page_parts import Page, Paged
from ..page.series import order_of
from ..report.report import (
    ARROWS,
    Measured,
    NumberCell,
    Report,
    Table,
    first_few,
    names_of_label,
    percent,
    short,
    short_p,
    signed,
)
from ..report.result import Results
from ..sets.beside_people import overshoots
from ..sets.table import SetResults, rows_caption
from ..sets.unseen import SmallestFound
from .evidence import Difference, Loss, Losses, PairOfSystems, judged_losses, pairs_of
from .set_sentences import unseen_between
from .smallest_difference import SmallestDifference

if TYPE_CHECKING:
    from .gate import Gate


class Differences(Mapping[PairOfSystems, Mapping[str, Difference]]):
    """{(a, b): {number: a - b}}; (b, a) is there, too, with the sign turned."""

    def __init__(self, found: Mapping[PairOfSystems, Mapping[str, Difference]]) -> None:
        self._found = {pair: NumbersOfPair(numbers) for pair, numbers in found.items()}

    def __getitem__(self, pair: PairOfSystems) -> Mapping[str, Difference]:
        if pair in self._found:
            return self._found[pair]
        if isinstance(pair, tuple) and pair[::-1] in self._found:
            turned = {name: each.turned() for name, each in self._found[pair[::-1]].items()}
            return NumbersOfPair(turned)
        known = sorted({name for each in self._found for name in each})
        raise UnknownNameError(f"no difference of {pair!r}: give two of {', '.join(known)}")

    def __iter__(self) -> Iterator[PairOfSystems]:
        for a, b in self._found:
            yield a, b
            yield b, a

    def __len__(self) -> int:
        return 2 * len(self._found)

    def __repr__(self) -> str:
        return f"Differences({', '.join(f'{a} - {b}' for a, b in self._found)})"


class NumbersOfPair(dict[str, Difference]):
    """{number: difference}; a metric with one number also goes by NAME.value."""

    def __missing__(self, name: object) -> Difference:
        if isinstance(name, str) and name.endswith(".value") and name[: -len(".value")] in self:
            return self[name[: -len(".value")]]
        raise UnknownNameError(f"no number {name!r}; {nearest_names(name, self)}")


class Comparison(Paged):
    """What `compare` returns.

    Attributes
    ----------
    systems : list of str
    numbers : dict of str to str
        Every number's name and which way is better: "higher" or "lower".
    values : dict of str to dict of str to float
        By system and number, all systems at one size.
    differences : Differences
        {(a, b): {number: Difference}}, see `Difference`.
    deciding : list of str
        The numbers that ranks and the verdict rest on.
    results : Results
        Each system against people: see `evaluate`, `evaluate_pairs` or `evaluate_contexts`.
    alike : dict
        {(a, b): {number: value}} of systems against each other, the first in people's place, both ways;
        ("human", "human"): of two human parts of that size.
    left_out : dict of str to str
        Numbers that were asked for and could not be compared, and why: the verdict is without them, and says so.
    level : float
        Of the tests.
    settings : dict
        How it was made: sizes, labellings, resamples, the smallest adjusted p-value that could have been.
    """

    def __init__(
        self,
        kind: str,
        results: Results | ContextSystems,
        numbers: Mapping[str, str],
        values: Mapping[str, Mapping[str, float]],
        differences: Mapping[PairOfSystems, Mapping[str, Difference]],
        level: float,
        settings: Mapping[str, Any],
        sentences: Sequence[str] = (),
        alike: Mapping[PairOfSystems, Mapping[str, float]] | None = None,
        shown: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        unseen: SmallestDifference | None = None,
        losses: Mapping[PairOfSystems, Losses] | None = None,
        half_bands: Mapping[str, float] | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> None:
        """sentences: what else the verdict says, after who is closest. shown: the numbers of tables (None: all).
        notes: what there is to say beside the notes of the results. unseen: what is simulated for the last sentence.
        losses: how much worse each system is than each other, for `worse`. half_bands: by number, half of the width of
        its human band, where there is one. left_out: numbers that could not be compared, and why.
        """
        self.kind, self.results, self.level = kind, results, level
        self.numbers, self.values = dict(numbers), {name: dict(each) for name, each in values.items()}
        self.systems = list(values)
        self.differences = Differences(differences)
        self.settings = dict(settings)
        self.alike = {pair: dict(each) for pair, each in (alike or {}).items()}
        self._notes, self.left_out = list(notes), dict(left_out or {})
        self._losses, self._half_bands = dict(losses or {}), dict(half_bands or {})
        self._sentences, self._shown = list(sentences), list(numbers if shown is None else shown)
        self._deciding = list(self._shown)
        self._unseen, self._how = unseen, ".all_rows()"
        self._order: list[str] = []
        self.budgeted = ""
        """What was taken so that the work fits into a time, in a sentence; empty where no time was given."""
        self.budget_sample: dict[str, Any] = {}
        """The size and the seed of that sample; empty where all was measured."""

    @property
    def notes(self) -> list[str]:
        """What a user should know: warnings, and what was left out."""
        return [*self.results.notes, *left_notes(self.left_out), *self._notes]

    def tied(self, a: str, b: str) -> bool:
        """Whether no number tells the two apart, at the level of the comparison."""
        return all(each.adjusted >= self.level for each in self.differences[a, b].values())

    def closer(self, a: str, b: str) -> list[str]:
        """The numbers by which a is closer to people than b, surely: adjusted p below the level, interval without 0.

        A system that people do not reach (only typical texts, say) is closer only if it is nearer to what they score.
        """
        return [
            name
            for name, each in self.differences[a, b].items()
            if each.adjusted < self.level
            and each.sure
            and (each.value > 0) == (self.numbers[name] == "higher")
            and not self._overshoots(a, b, name)
        ]

    def undecided(self, a: str, b: str, name: str) -> str:
        """Why neither of two systems is closer by a number that tells them apart; "" where one is, or nothing does."""
        each = self.differences[a, b][name]
        if each.adjusted >= self.level or name in self.closer(a, b) or name in self.closer(b, a):
            return ""
        if not each.sure:
            return "the interval has 0"
        return _OVERSHOOT

    def _overshoots(self, a: str, b: str, name: str) -> bool:
        return isinstance(self.results, SetResults) and overshoots(self.results, a, b, name)

    @property
    def deciding(self) -> list[str]:
        """The numbers that ranks and the verdict rest on: those that tables show unless asked for more, for a reader to
        check. Side numbers (one half of a mean, say) stand beside and decide nothing.
        """
        return list(self._deciding)

    def wins(self, a: str, b: str) -> list[str]:
        """The numbers among those that decide by which a is closer to people than b, surely."""
        return [name for name in self.closer(a, b) if name in self._deciding]

    def beats(self, a: str, b: str) -> bool:
        """Whether a is closer to people than b by some number that decides, and b than a by none."""
        return a != b and bool(self.wins(a, b)) and not self.wins(b, a)

    def losses(self, than: str, tolerance: float = 0.0) -> dict[str, dict[str, Loss]]:
        """How much worse every other system is than one of them, number by number, tested on that side alone.

        Parameters
        ----------
        than : str
            The system that the others are held against.
        tolerance : float, default 0
            How much worse counts as no worse: in halves of the width of each number's human band.

        Returns
        -------
        dict of str to dict of str to Loss
            By system and number: `.value`, `.halves`, `.pvalue` and `.adjusted` (for all of these numbers and systems).
        """
        self.check_system(than)
        names = list(self.numbers)
        units = np.array([self._half_bands.get(name, math.nan) for name in names])
        tolerated = self._tolerated(check_tolerance(tolerance), names, units)
        found = {name: self._losses[name, than] for name in self.systems if name != than}
        return judged_losses(found, names, tolerated, units, self.settings.get("seed", 0))

    def can_be_worse(self, than: str) -> bool:
        """Whether there are labellings enough to call any system worse than this one."""
        return self.least_loss(than) < self.level

    def least_loss(self, than: str) -> float:
        """The smallest adjusted p-value of being worse than this one that labellings can give."""
        found = [self._losses[name, than].smallest for name in self.systems if name != than]
        return len(found) * min(found, default=1.0)

    def check_system(self, name: object) -> None:
        """Refuse a name that is none of a system."""
        if not is_one_of(name, self.systems):
            raise UnknownNameError(f"no system {quoted(name)}; {nearest_names(name, self.systems)}")

    def _tolerated(self, tolerance: float, names: Sequence[str], units: np.ndarray) -> np.ndarray:
        if tolerance == 0:
            return np.zeros(len(names))
        missing = [name for name, unit in zip(names, units, strict=True) if math.isnan(unit)]
        if missing:
            more = f"{missing[0]} has none" if self._half_bands else f"a comparison of {self.kind} has none here"
            raise InputError(f"a tolerance is in halves of the width of a number's human band, but {more}")
        return tolerance * units

    def worse(self, than: str, tolerance: float = 0.0) -> dict[str, dict[str, Loss]]:
        """The systems that are surely worse than one of them, each with the numbers that say so; empty where none is.

        Parameters
        ----------
        than, tolerance
            As for `losses`.

        Returns
        -------
        dict of str to dict of str to Loss
            Those whose `.adjusted` is below the comparison's level.

        Examples
        --------
        >>> import numpy as np
        >>> import recapture as rc
        >>> people, old, new = np.random.default_rng(0).standard_normal((3, 100, 8))
        >>> compared = rc.compare(people, {"old": old, "new": new + 1}, "mmd")
        >>> list(compared.worse("old")), list(compared.worse("new"))
        (['new'], [])
        """
        found = {
            system: {
                name: loss
                for name, loss in by_number.items()
                if loss.adjusted < self.level and not self._overshoots(than, system, name)
            }
            for system, by_number in self.losses(than, tolerance).items()
        }
        return {system: by_number for system, by_number in found.items() if by_number}

    def gate(self, fail_if: str | Sequence[str] = "worse", baseline: str | None = None, tolerance: float = 0.0) -> Gate:
        """Whether a build should go on.

        Parameters
        ----------
        fail_if : str or list of str, default "worse"
            "worse": some system is surely worse than the baseline. Or a limit on a number, such as "diversity < 0.8",
            by its full name (mark-evaluate.diversity) or by what follows the dot where one metric alone has it.
        baseline : str, optional
            The system that "worse" holds the others against; no condition is asked of it.
        tolerance : float, default 0
            How much worse counts as no worse: in halves of the width of each number's human band.

        Returns
        -------
        Gate
            `.failed`, `.sentence`, `.worse`, `.beyond`.

        Examples
        --------
        >>> import numpy as np
        >>> import recapture as rc
        >>> people, old, new = np.random.default_rng(0).standard_normal((3, 100, 8))
        >>> compared = rc.compare(people, {"old": old, "new": new}, "precision-recall")
        >>> compared.gate(["worse", "recall < 0.1"], baseline="old").failed
        False
        """
        from .gate import gate_of

        return gate_of(self, fail_if, baseline, tolerance)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """1 and how many systems beat this one; systems that nobody beats share the first place."""
        return {name: 1 + sum(self.beats(other, name) for other in self.systems) for name in self.systems}

    @property
    def clusters(self) -> list[list[str]]:
        """Systems of one rank together, the best first."""
        return [
            [name for name in self.systems if self.ranks[name] == rank] for rank in sorted(set(self.ranks.values()))
        ]

    @property
    def verdict(self) -> list[str]:
        """At most five sentences, from tested facts."""
        unseen = [] if self._unseen is None else unseen_between(self._smallest(self._unseen), self._unseen.silence)
        said = [self._closest(), *without(self.left_out), *self._sentences, *unseen][:5]
        return [*([self.budgeted] if self.budgeted else []), *said]

    @property
    def smallest_found(self) -> dict[str, Any] | None:
        """The smallest difference that this many texts or items would have found in four of five cases.

        Of sets: the share of texts on a topic that one system lost, or that it made up. Of items: by number.
        """
        if self._unseen is None:
            return self.settings.get("smallest_found")
        found = self._smallest(self._unseen)
        return None if found is None else found.record()

    def _smallest(self, unseen: SmallestDifference) -> SmallestFound | None:
        ranked = {(a, b): self.ranks[a] + self.ranks[b] for a, b in pairs_of(self.systems)}
        pairs = [pair for pair, rank in ranked.items() if rank == min(ranked.values())]
        return unseen.found(self._deciding, pairs, self.clusters[0])

    def all_rows(self) -> Comparison:
        """The same comparison, with every number in its tables."""
        every = copy.copy(self)
        every._shown = list(self.numbers)
        return every

    def in_order(self, series: bool | Sequence[float] = True) -> Comparison:
        """The same comparison of systems that have an order (checkpoints, temperatures): the verdict goes along it.

        Parameters
        ----------
        series : bool or sequence of float, default True
            In which order they stand (True: as they were given); numbers say where each system stands.
        """
        where, _ = order_of(self.systems, series)
        ordered = copy.copy(self)
        ordered._order = sorted(self.systems, key=lambda name: where[self.systems.index(name)])
        return ordered

    def show(self, how: str) -> None:
        """how: what brings the numbers that tables leave out, for whoever reads them."""
        self._how = how

    def _closest(self) -> str:
        first = self.clusters[0]
        rest = [name for name in self.systems if name not in first]
        level = percent(self.level).replace("%", " %")
        within = pairs_of(first)
        crossed = [(a, b) for a, b in within if self.wins(a, b) and self.wins(b, a)]
        apart = [(a, b) for a, b in within if not self.tied(a, b)]
        closest = f"{_joined(first)} are closest to people" if rest else "no system is closest to people"
        if self.ranks[first[0]] > 1:
            said = (
                f"no system is closest to people: {'each of ' * (len(first) > 1)}{_joined(first)} is beaten by another"
            )
        elif crossed:
            a, b = crossed[0]
            said = f"{closest}, each in its own way: {a} by {first_few(self.wins(a, b), _NAMED)}, {b} by "
            said += first_few(self.wins(b, a), _NAMED)
        elif apart:
            a, b = apart[0]
            every = [name for name, each in self.differences[a, b].items() if each.adjusted < self.level]
            told = [name for name in every if name in self._shown]
            aside = "" if told else " (not in these tables)"
            said = (
                f"{closest}: {a} and {b} differ by {first_few(told or every, _NAMED)}{aside}, which does not tell who "
                "is closer"
            )
        elif not rest:
            said = f"{_joined(first)} are tied: no number tells which is closer to people (level {level})"
        elif len(first) > 1:
            said = f"{closest}, and tied"
        else:
            said = f"{first[0]} is closest to people"
        upper = said.startswith("no system")
        steps = self._steps()
        # Steps that are each too small to be told may add up: then who is behind is said one by one.
        behind = [] if any(word != _TIED for word, _, _ in steps) else list(map(self._beaten, rest))
        along = [f"{self._each(word, first, last)} from {first} to {last}" for word, first, last in steps]
        behind += [f"in their order: {', '.join(along)}"] if along else []
        return "; ".join([said[0].upper() + said[1:] if upper else said, *behind]) + "."

    def _each(self, word: str, first: str, last: str) -> str:
        """Ties do not add up: the ends of a row of them may differ."""
        several = self._order.index(last) - self._order.index(first) > 1
        return "each tied with the next" if word == _TIED and several else word

    def _steps(self) -> list[tuple[str, str, str]]:
        """Along the order: what each step does, from which system to which; equal steps in a row are one."""
        found: list[tuple[str, str, str]] = []
        for before, after in pairwise(self._order):
            if self.beats(after, before):
                word = "closer to people"
            elif self.beats(before, after):
                word = "further from people"
            else:
                word = _TIED if self.tied(before, after) else "another way of writing, neither closer"
            if found and found[-1][0] == word:
                found[-1] = (word, found[-1][1], after)
            else:
                found.append((word, before, after))
        return found

    def _beaten(self, name: str) -> str:
        by = [other for other in self.systems if self.beats(other, name)]
        best = next((other for other in self.clusters[0] if other in by), by[0])
        # As the table of differences has it, so that a reader finds it there.
        a, b = (best, name) if self.systems.index(best) < self.systems.index(name) else (name, best)
        found = self.differences[a, b]
        number = min(self.wins(best, name), key=lambda each: max(found[each].adjusted, self._least))
        much = f"{number} {signed(found[number].value)}, adjusted p {_p(found[number].adjusted, self._least)}"
        return f"{name} is further away than {_joined(by)} ({a} - {b}: {much})"

    @property
    def _least(self) -> float:
        """The smallest adjusted p-value that labellings can give: what has none is not said to be surer."""
        return float(self.settings.get("smallest_adjusted", 0.0))

    def report(self) -> Report:
        records = {
            "values": [
                {"system": system, "number": name, "value": value, "rank": self.ranks[system]}
                for system, of_system in self.values.items()
                for name, value in of_system.items()
            ],
            "differences": [
                {"a": a, "b": b, "number": name, **vars(each)}
                for a, b in pairs_of(self.systems)
                for name, each in self.differences[a, b].items()
            ],
        }
        results = {
            "values": self.values,
            "differences": [
                {"a": a, "b": b, "numbers": {name: vars(each) for name, each in self.differences[a, b].items()}}
                for a, b in pairs_of(self.systems)
            ],
            "ranks": self.ranks,
            "clusters": self.clusters,
            "deciding": self.deciding,
            "alike": [{"a": a, "b": b, "numbers": numbers} for (a, b), numbers in self.alike.items()],
        }
        of_results = self.results.report()
        people = of_results.more.get("reference_content")
        more = {
            "level": self.level,
            "settings": {**self.settings, "smallest_found": self.smallest_found},
            **({"reference_content": people} if people else {}),
        }
        tables = [self._systems_table(), *self._beside_people(), self._differences_table(), *self._alike_table()]
        notes = self.notes
        results["results"] = of_results.results
        kind = f"compare {self.kind}"
        return Report(kind, tables, notes, notes, records, results, of_results.signature, more, self.verdict)

    @property
    def shown(self) -> list[str]:
        """The numbers of tables and pages."""
        return list(self._shown)

    def page_parts(self) -> Page:
        from .comparison_page import page_of_comparison

        return page_of_comparison(self)

    def _systems_table(self) -> Table:
        rows = []
        for name in self._shown:
            best = self._best(name)
            cells = [_number(self.values[system][name], "bold" if system in best else "") for system in self.systems]
            rows.append([name, ARROWS[self.numbers[name]], *cells])
        rows.insert(0, ["rank", "", *(str(self.ranks[system]) for system in self.systems)])
        size = self.settings.get("size")
        at = f"all systems at {size:,} {self.settings.get('unit', 'samples')}; " if size else ""
        caption = [
            f"{at}bold: closer to people than every other system by this number, adjusted p below {self.level:g}"
        ]
        if left := len(self.numbers) - len(self._shown):
            caption += rows_caption(self._shown if self.kind == "sets" else (), left, self._how)
        names = [("rank",), *map(names_of_label, self._shown)]
        return Table(["number", "", *self.systems], rows, caption, 2, title="Systems", listed=True, row_names=names)

    def _best(self, name: str) -> list[str]:
        """The systems that are surely closer than all others by this number."""
        return [
            system
            for system in self.systems
            if len(self.systems) > 1
            and all(name in self.closer(system, other) for other in self.systems if other != system)
        ]

    def _beside_people(self) -> list[Table]:
        """What people's parts score: what the verdict and the column of who is closer rest on."""
        if not isinstance(self.results, SetResults):
            return []
        shown = self.results.copy()
        shown.shown = tuple(self._shown)
        return shown.equal_terms()

    def _differences_table(self) -> Table:
        rows, names, said = [], [], [*self.settings.get("said", ())]
        least, pairs = self._least, len(pairs_of(self.systems))
        for a, b in pairs_of(self.systems):
            for name in self._shown:
                each = self.differences[a, b][name]
                why = self.undecided(a, b, name)
                apart = f"neither: {why}" if why else _TIED
                winner = a if name in self.closer(a, b) else b if name in self.closer(b, a) else apart
                ends = each.low, each.high
                rows.append([
                    f"{a} - {b}", name, winner,
                    NumberCell(signed(each.value), Measured(each.value, ends, signed=True, apart=True)),
                    NumberCell(f"[{signed(each.low)}, {signed(each.high)}]", Measured(None, ends, signed=True)),
                    _p(each.adjusted, least), _p(each.pvalue, least / pairs), _p(each.distinct),
                ])  # fmt: skip
                names.append((*names_of_label(name), f"{a} - {b}"))
        if any(row[2].endswith(_OVERSHOOT) for row in rows):
            said.append(
                "overshoot: whichever scores better scores better than people's mean, too, and lies further from it "
                "than the other (see the parts on equal terms): better than people is not closer to them"
            )
        if bare := list(dict.fromkeys(row[1] for row in rows if row[7] == "-")):
            alone = "p from the spread alone, without labellings"
            said.append(f"{', '.join(bare)}: {alone}{f', and not told below {short_p(least)}' if least else ''}")
        return Table(
            ["difference", "number", "closer", "value", "interval", "p adjusted", "p", "p alike"],
            rows,
            said,
            3,
            title="Differences",
            listed=True,
            row_names=names,
            interval_column=4,
        )

    def _alike_table(self) -> list[Table]:
        if not self.alike:
            return []
        # Those the other way round are in `alike`: with them the table would be twice as long, and say little more.
        listed = [pair for pair in (("human", "human"), *pairs_of(self.systems)) if pair in self.alike]
        rows = [[f"{a}, {b}", *(_number(self.alike[a, b][name]) for name in self._shown)] for a, b in listed]
        size = self.settings.get("part")
        people = "; human, human: two parts of the reference" if ("human", "human") in listed else ""
        caption = [f"parts of {size:,} samples, the first in people's place{people}"]
        title, names = "How alike systems are to each other", [names_of_label(name) for name in self._shown]
        return [Table(["of", *self._shown], rows, caption, 1, title=title, listed=True, column_names=names)]


_NAMED = 3
"""Numbers that a sentence names."""
_TIED, _OVERSHOOT = "tied", "overshoot"


def check_tolerance(tolerance: Any) -> float:
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < math.inf:
        raise InputError(f"tolerance must be a number from 0 on, such as 0.5, not {quoted(tolerance)}")
    return float(tolerance)


def _number(value: float, style: Literal["", "bold"] = "") -> NumberCell:
    return NumberCell(short(value), Measured(value), style)


def _p(value: float, least: float = 0.0) -> str:
    return "-" if math.isnan(value) else short_p(value, least)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def without(left_out: Mapping[str, str]) -> list[str]:
    """The sentence on numbers that a verdict is without."""
    if not left_out:
        return []
    return [f"This is without {listed_reasons(left_out)}, which may tell otherwise."]


def left_notes(left_out: Mapping[str, str]) -> list[str]:
    return [f"left out: {listed_reasons(left_out)}"] if left_out else []


def listed_reasons(left_out: Mapping[str, str]) -> str:
    """Names by what they have in common: mmd (each file ...), bleu, chrf (of the whole corpus ...)."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return ", ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
