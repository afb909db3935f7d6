"""The results of several candidates, by candidate and metric."""

from __future__ import annotations

from .result import Result


class Results(dict[str, dict[str, Result]]):
    """{candidate: {metric: Result}}. Printed, it is a table; the other forms are a method each."""

    def __str__(self) -> str:
        from .render import to_table

        return to_table(self) if self else "no results"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .render import to_html

        return to_html(self)

    def to_json(self, arrays: bool = False) -> str:
        """Full precision and the whole signature."""
        from .render import to_json

        return to_json(self, arrays=arrays)

    def to_jsonl(self) -> str:
        """Of aligned texts: one JSON object per system and item, with every score."""
        from .items import item_lines

        return "".join(item_lines(self))

    def to_csv(self) -> str:
        """One row per candidate and number."""
        from .render import to_csv

        return to_csv(self)

    def to_markdown(self) -> str:
        from .render import to_markdown

        return to_markdown(self)

    def to_latex(self) -> str:
        """A booktabs table."""
        from .render import to_latex

        return to_latex(self)
