"""Smaller SVG files that look the same."""

from __future__ import annotations

import re

_STYLE = re.compile(r' style="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def slim(svg: str) -> str:
    """matplotlib's SVG with styles named once, numbers to a hundredth of a point, and without comments and idle groups.

    Pictures embedded as data stay as they are.
    """
    head, root, body = svg.partition("<svg ")
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", body))
    needed = {name for pair in used for name in pair if name}
    body = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in needed else "", body)
    # A group without attributes groups nothing; its end is found by counting, so only innermost ones go.
    previous = ""
    while previous != body:
        previous = body
        body = re.sub(r"<g>\s*((?:(?!<g[ >]|</g>).)*?)\s*</g>", r"\1", body, flags=re.DOTALL)
    body = re.sub(r' transform="rotate\(-?0 [^"]*"', "", body)  # by no angle
    body = re.sub(r"(<(?:path|text|use|g|rect|line)\b[^>]*>)", lambda found: _rounded(found[1]), body)
    counts: dict[str, int] = {}
    for style in _STYLE.findall(body):
        counts[style] = counts.get(style, 0) + 1
    names = {style: f"s{at}" for at, style in enumerate(style for style, count in counts.items() if count > 1)}
    body = _STYLE.sub(lambda found: f' class="{names[found[1]]}"' if found[1] in names else found[0], body)
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    start = body.index(">") + 1
    body = body[:start] + (f"\n<style>{rules}</style>" if rules else "") + body[start:]
    return head + root + re.sub(r"\n\s+", "\n", body)


def _rounded(tag: str) -> str:
    return _NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), tag)
