"""Draw docs/spheres.svg: who lies inside whose spheres, for a good, a collapsed and a far-off candidate set."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import recapture as rc
from recapture.geometry.points import PointSet

SIDE, SCALE = 250, 36
BLUE, RED = "#2a6fb0", "#c8452f"


def panel(left: int, title: str, reference: np.ndarray, candidate: np.ndarray) -> list[str]:
    result = rc.mark_evaluate(reference, candidate)

    def circle(point: np.ndarray, radius: float, style: str) -> str:
        x, y = left + SIDE / 2 + SCALE * point[0], 40 + SIDE / 2 - SCALE * point[1]
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}/>'

    shapes = [f'<rect x="{left}" y="40" width="{SIDE}" height="{SIDE}" fill="#fff" stroke="#ddd"/>']
    for points, inside, colour in (
        (reference, result.reference_inside, BLUE),
        (candidate, result.candidate_inside, RED),
    ):
        radii = PointSet(points).radii(1)[:, 0]
        spheres = f'fill="{colour}" fill-opacity="0.07" stroke="{colour}" stroke-opacity="0.35" stroke-width="0.7"'
        shapes += [circle(point, SCALE * radius, spheres) for point, radius in zip(points, radii, strict=True)]
        for point, caught in zip(points, inside, strict=True):
            dot = f'fill="{colour if caught else "#fff"}" stroke="{colour}" stroke-width="1.3"'
            shapes.append(circle(point, 3, dot))
    score = f"quality {result.quality:.2f}, diversity {result.diversity:.2f}"
    return [
        f'<svg x="{left}" y="40" width="{SIDE}" height="{SIDE}" viewBox="{left} 40 {SIDE} {SIDE}">',
        *shapes,
        "</svg>",
        f'<text x="{left + SIDE / 2}" y="26" text-anchor="middle" font-weight="bold">{title}</text>',
        f'<text x="{left + SIDE / 2}" y="{SIDE + 62}" text-anchor="middle">{score}</text>',
    ]


def main() -> None:
    rng = np.random.default_rng(4)
    reference = rng.standard_normal((36, 2)) * (1.5, 1.1)
    sets = {
        "good": rng.standard_normal((36, 2)) * (1.5, 1.1),
        "collapsed": rng.standard_normal((36, 2)) * (0.35, 0.3) + (0.6, -0.1),
        "off": rng.standard_normal((36, 2)) * (0.9, 0.8) + (2.0, 1.8),
    }
    body: list[str] = []
    for place, (name, points) in enumerate(sets.items()):
        body += panel(10 + 270 * place, name, reference, points)
    notes = (
        "blue: reference, red: candidate; spheres reach to each point's nearest neighbour in its own set",
        "filled dots lie inside a sphere of the other set: they are recaptured",
    )
    legend = [
        f'<text x="405" y="{SIDE + 88 + 18 * line}" text-anchor="middle" fill="#555">{note}</text>'
        for line, note in enumerate(notes)
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="810" height="370" font-family="sans-serif" font-size="13">'
    background = '<rect width="810" height="370" fill="#fafafa"/>'
    path = Path(__file__).with_name("spheres.svg")
    path.write_text("\n".join([head, background, *body, *legend, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
