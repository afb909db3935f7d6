"""One file that shows a result to people: it opens on a double click, asks nothing of a network, and needs no scripts.

A result says its parts (`page_parts`, next to `report`); `assembly` writes them; pictures are SVG made here. Nothing in
this folder knows a metric, or a command, by its name.
"""

from .page_parts import Page

__all__ = ["Page"]
