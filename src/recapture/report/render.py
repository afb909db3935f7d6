"""Write down the results of several candidates: for a terminal, a program, a spreadsheet, a page or a paper."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..versions import VERSION
from .captions import CEILING, Given, caption, is_aligned, remarks
from .grid import latex
from .result import plain, short

_LONGEST_HEAD = 24


class Number(NamedTuple):
    """One number of one metric, over all candidates."""

    metric: str
    name: str
    direction: str
    values: tuple[float, ...]
    beside: tuple[str, ...] = ()
    """Interval and p-value of each, ready to be shown; empty where none was asked for."""
    ceiling: float | None = None
    """What halves of the reference score against each other."""
    alone: bool = True
    """Whether its name says enough without the metric's."""

    @property
    def label(self) -> str:
        if self.name == "value":
            return self.metric
        return self.name if self.alone or self.name.startswith(self.metric) else f"{self.metric} {self.name}"

    @property
    def arrow(self) -> str:
        return "↑" if self.direction == "higher" else "↓"

    def best(self) -> set[int]:
        """Positions of the best candidates, where there is a choice."""
        known = [value for value in self.values if not math.isnan(value)]
        if len(set(known)) < 2:
            return set()
        top = (max if self.direction == "higher" else min)(known)
        return {position for position, value in enumerate(self.values) if value == top}

    def cell(self, position: int) -> str:
        value = _cell(self.values[position])
        return f"{value} {self.beside[position]}" if self.beside and self.beside[position] else value

    @property
    def ceiling_cell(self) -> str:
        return _cell(math.nan if self.ceiling is None else self.ceiling)


def numbers(results: Given) -> Iterator[Number]:
    """The main numbers of every metric; where a score has a floor, the score without it stands below."""
    first = next(iter(results.values()))
    alone = not is_aligned(results)  # there, several metrics have a precision, or an f1
    for metric, result in first.items():
        columns = [by_metric[metric] for by_metric in results.values()]
        for name in result.details.get("main", result.values):
            values = tuple(column.values[name] for column in columns)
            beside = tuple(column.beside(name) for column in columns)
            yield Number(metric, name, result.direction, values, beside, result.ceilings.get(name), alone)
            if any(column.details.get("floors", {}).get(name) for column in columns):
                adjusted = (column.details["adjusted"][name] for column in columns)
                values = tuple(math.nan if value is None else value for value in adjusted)
                yield Number(metric, f"{name} adjusted", result.direction, values)


def _cell(value: float) -> str:
    return "-" if math.isnan(value) else short(value)


def to_table(results: Given, *, color: bool = False, width: int | None = None) -> str:
    """Numbers down, candidates across, in as many blocks as the width asks for; best of each row bold in colour."""
    rows = list(numbers(results))
    names = list(results)
    labels = max(len(row.metric) for row in rows) + max(len(row.name) for row in rows) + 12
    labels += (len(CEILING) + 3) * _has_ceiling(rows)
    blocks: list[list[int]] = [[]]
    used = labels
    for position, name in enumerate(names):
        cells = max(len(row.cell(position)) for row in rows)
        needed = max(min(max(len(name), 8), _LONGEST_HEAD), cells) + 3
        if width and blocks[-1] and used + needed > width:
            blocks.append([])
            used = labels
        blocks[-1].append(position)
        used += needed
    tables = [_block(rows, names, positions, color) for positions in blocks]
    return "\n\n".join([*tables, "\n".join(caption(results))]) + "\n"


def _block(rows: list[Number], names: list[str], positions: list[int], color: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("metric", "number", ""):
        table.add_column(head, no_wrap=True)
    ceiling = _has_ceiling(rows)
    if ceiling:
        table.add_column(CEILING, justify="right")
    for position in positions:
        widest = max(_LONGEST_HEAD, *(len(row.cell(position)) for row in rows))
        table.add_column(Text(names[position]), justify="right", overflow="fold", max_width=widest)
    previous = None
    for row in rows:
        best = row.best()
        cells = [Text(row.cell(at), style="bold" if at in best else "") for at in positions]
        cells = [Text(row.ceiling_cell), *cells] if ceiling else cells
        table.add_row(row.metric if row.metric != previous else "", row.name, row.arrow, *cells)
        previous = row.metric
    stream = io.StringIO()
    # Wide enough for anything: what does not fit the terminal was put into another block.
    Console(file=stream, force_terminal=color, width=10_000, highlight=False, no_color=not color).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines() if line.strip())


def _has_ceiling(rows: list[Number]) -> bool:
    return any(row.ceiling is not None for row in rows)


def to_html(results: Given) -> str:
    """A table for notebooks, every text escaped."""
    rows = list(numbers(results))
    ceiling = _has_ceiling(rows)
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in ([CEILING] if ceiling else []) + list(results))
    body = ""
    for row in rows:
        best = row.best()
        cells = [f"<b>{row.cell(at)}</b>" if at in best else row.cell(at) for at in range(len(row.values))]
        cells = [row.ceiling_cell, *cells] if ceiling else cells
        body += f"<tr><td>{html.escape(row.metric)}</td><td>{html.escape(row.name)} {row.arrow}</td>"
        body += "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    below = html.escape("; ".join(caption(results)))
    return f"<table><caption>{below}</caption><tr><th>metric</th><th>number</th>{heads}</tr>{body}</table>"


def to_json(results: Given, *, arrays: bool = False) -> str:
    """Full precision and the whole signature. JSON has no infinity: unbounded or infinite numbers are null."""
    content = {
        "recapture": VERSION,
        "results": {
            candidate: {metric: result.to_dict(arrays) for metric, result in by_metric.items()}
            for candidate, by_metric in results.items()
        },
    }
    return json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_csv(results: Given) -> str:
    """One row per candidate and number, in full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = "candidate metric number value direction low high reference_samples candidate_samples warnings signature"
    heads += " interval_low interval_high pvalue ceiling"
    writer.writerow(heads.split())
    for candidate, by_metric in results.items():
        for metric, result in by_metric.items():
            signature = json.dumps(plain(result.signature), ensure_ascii=False)
            for name, value in result.values.items():
                number = (candidate, metric, name, repr(value), result.direction, *result.ranges[name])
                sizes = (result.sizes["reference"], result.sizes["candidate"])
                sure = (*result.intervals.get(name, ("", "")), result.pvalues.get(name), result.ceilings.get(name))
                writer.writerow((*number, *sizes, " | ".join(result.warnings), signature, *sure))
    return stream.getvalue()


def to_markdown(results: Given) -> str:
    """Candidates down, numbers across."""
    columns = list(numbers(results))
    escape = {ord("|"): "\\|", ord("\n"): " ", ord("<"): "&lt;"}
    lines = [
        "| candidate | " + " | ".join(f"{column.label} {column.arrow}" for column in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    if _has_ceiling(columns):
        lines.append(f"| *{CEILING}* | " + " | ".join(column.ceiling_cell for column in columns) + " |")
    for position, candidate in enumerate(results):
        cells = [
            f"**{column.cell(position)}**" if position in column.best() else column.cell(position) for column in columns
        ]
        lines.append(f"| {candidate.translate(escape)} | " + " | ".join(cells) + " |")
    below = caption(results)
    if is_aligned(results):  # a list: lines that follow each other would run together
        below = [f"- {line.translate(escape)}" for line in (*below, *remarks(results))]
    return "\n".join([*lines, "", *below]) + "\n"


def to_latex(results: Given) -> str:
    """A booktabs table: candidates down, numbers across."""
    columns = list(numbers(results))
    heads = [latex(f"{column.label} {column.arrow}") for column in columns]
    lines = [
        *(f"% {line}" for line in (*caption(results), *remarks(results), r"needs \usepackage{booktabs}")),
        r"\begin{tabular}{l" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["candidate", *heads]) + r" \\",
        r"\midrule",
    ]
    if _has_ceiling(columns):
        lines.append(" & ".join([rf"\emph{{{CEILING}}}", *(column.ceiling_cell for column in columns)]) + r" \\")
    for position, candidate in enumerate(results):
        cells = []
        for column in columns:
            text = column.cell(position)
            cells.append(rf"\textbf{{{text}}}" if position in column.best() else text)
        lines.append(" & ".join([latex(candidate), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


FORMATS: dict[str, Callable[[Given], str]] = {
    "table": to_table,
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "latex": to_latex,
}
