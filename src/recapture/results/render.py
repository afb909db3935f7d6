"""Write down the results of several candidates: for a terminal, a program, a spreadsheet, a page or a paper."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import __version__
from .result import Result, plain, short

Results = Mapping[str, Mapping[str, Result]]


class Number(NamedTuple):
    """One number of one metric, over all candidates."""

    metric: str
    name: str
    direction: str
    values: tuple[float, ...]

    @property
    def label(self) -> str:
        return self.metric if self.name == "value" else self.name

    @property
    def arrow(self) -> str:
        return "↑" if self.direction == "higher" else "↓"

    def best(self) -> set[int]:
        """Positions of the best candidates, where there is a choice."""
        if len(set(self.values)) < 2:
            return set()
        top = (max if self.direction == "higher" else min)(self.values)
        return {position for position, value in enumerate(self.values) if value == top}


def numbers(results: Results) -> Iterator[Number]:
    first = next(iter(results.values()))
    for metric, result in first.items():
        for name in result.values:
            values = tuple(by_metric[metric].values[name] for by_metric in results.values())
            yield Number(metric, name, result.direction, values)


def to_table(results: Results, *, color: bool = False, width: int | None = None) -> str:
    """Numbers down, candidates across; the best of each row in bold on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("number", no_wrap=True)
    table.add_column("", no_wrap=True)
    for candidate in results:
        table.add_column(Text(candidate), justify="right", overflow="fold")
    previous = None
    for number in numbers(results):
        best = number.best()
        cells = [
            Text(short(value), style="bold" if position in best else "") for position, value in enumerate(number.values)
        ]
        table.add_row(number.metric if number.metric != previous else "", number.name, number.arrow, *cells)
        previous = number.metric
    stream = io.StringIO()
    # Without a terminal no column is squeezed to fit one.
    Console(file=stream, force_terminal=color, width=width or 10_000, highlight=False, no_color=not color).print(table)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    return "\n".join([*(line for line in lines if line), "", *_caption(results)]) + "\n"


def _caption(results: Results) -> list[str]:
    first = next(iter(next(iter(results.values())).values()))
    ks = {
        name: result.signature["k"] for name, result in next(iter(results.values())).items() if "k" in result.signature
    }
    encoder = first.signature["encoder"]
    described = (
        encoder
        if isinstance(encoder, str)
        else " ".join(str(encoder[part]) for part in ("encoder", "revision") if encoder.get(part))
    )
    parts = [f"reference: {first.sizes['reference']:,} samples", f"vectors: {described}"]
    if ks:
        parts.append("k: " + ", ".join(f"{name} {k}" for name, k in ks.items()))
    return ["; ".join(parts), "↑ higher is better, ↓ lower is better"]


def to_json(results: Results, *, arrays: bool = False) -> str:
    """Full precision and the whole signature. JSON has no infinity: unbounded or infinite numbers are null."""
    content = {
        "recapture": __version__,
        "results": {
            candidate: {metric: result.to_dict(arrays) for metric, result in by_metric.items()}
            for candidate, by_metric in results.items()
        },
    }
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_csv(results: Results) -> str:
    """One row per candidate and number, in full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = "candidate metric number value direction low high reference_samples candidate_samples warnings signature"
    writer.writerow(heads.split())
    for candidate, by_metric in results.items():
        for metric, result in by_metric.items():
            signature = json.dumps(plain(result.signature), ensure_ascii=False)
            for name, value in result.values.items():
                number = (candidate, metric, name, repr(value), result.direction, *result.ranges[name])
                sizes = (result.sizes["reference"], result.sizes["candidate"])
                writer.writerow((*number, *sizes, " | ".join(result.warnings), signature))
    return stream.getvalue()


def to_markdown(results: Results) -> str:
    """Candidates down, numbers across."""
    columns = list(numbers(results))
    escape = {ord("|"): "\\|", ord("\n"): " "}
    lines = [
        "| candidate | " + " | ".join(f"{column.label} {column.arrow}" for column in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for position, candidate in enumerate(results):
        cells = [
            f"**{short(column.values[position])}**" if position in column.best() else short(column.values[position])
            for column in columns
        ]
        lines.append(f"| {candidate.translate(escape)} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_caption(results)]) + "\n"


def to_latex(results: Results) -> str:
    """A booktabs table: candidates down, numbers across."""
    columns = list(numbers(results))
    arrows = {"↑": r"$\uparrow$", "↓": r"$\downarrow$"}
    heads = [f"{_latex(column.label)} {arrows[column.arrow]}" for column in columns]
    lines = [
        *(f"% {line}" for line in _caption(results)),
        r"\begin{tabular}{l" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["candidate", *heads]) + r" \\",
        r"\midrule",
    ]
    for position, candidate in enumerate(results):
        cells = []
        for column in columns:
            text = short(column.values[position])
            cells.append(rf"\textbf{{{text}}}" if position in column.best() else text)
        lines.append(" & ".join([_latex(candidate), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " ",
    **{character: "\\" + character for character in "&%$#_{}"},
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


FORMATS: dict[str, Callable[[Results], str]] = {
    "table": to_table,
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "latex": to_latex,
}
