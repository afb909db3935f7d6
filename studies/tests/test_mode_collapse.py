"""Genres dropped one by one: what draws must look like, and what theory forces on the numbers."""

import itertools

import numpy as np
import pytest

from recapture_studies.made_up.genre_texts import GENRES, build
from recapture_studies.mark_evaluate import genres
from recapture_studies.mark_evaluate import mode_collapse_draws as draws
from recapture_studies.mark_evaluate.perturbed import Curve, Track
from recapture_studies.study import Setup, find_study


@pytest.fixture
def data(tmp_path):
    build(tmp_path)
    return tmp_path


def genre_of(text):
    return next(genre for genre in GENRES if genre in text)


def test_draws(data):
    found = genres.load(Setup(data), genres.XNLI)
    drawn = draws.draw(found, 40, np.random.default_rng(1))
    assert len(drawn.candidates) == 6
    known = {text for texts in found.candidate.values() for text in texts}
    seen = None
    for dropped, candidate in enumerate(drawn.candidates):
        assert len(candidate) == len(set(candidate)) == 40 and set(candidate) <= known
        kept = {genre_of(text) for text in candidate}
        assert len(kept) == 6 - dropped and (seen is None or kept < seen)
        seen = kept
    assert len(drawn.reference) == len(set(drawn.reference)) == 40
    assert {genre_of(text) for text in drawn.reference} == set(GENRES)
    assert not set(drawn.reference) & known
    again = draws.draw(found, 40, np.random.default_rng(1))
    assert again == drawn != draws.draw(found, 40, np.random.default_rng(2))


def test_every_genre_is_left_last_equally_often(data):
    """600 orders of 6 equal genres: 100 each, within four standard deviations."""
    found = genres.load(Setup(data), genres.XNLI)
    last = [draws.order_of(found.candidate, 40, np.random.default_rng(seed))[-1] for seed in range(600)]
    for genre in GENRES:
        assert abs(last.count(genre) - 100) < 4 * np.sqrt(600 * (1 / 6) * (5 / 6))


@pytest.mark.parametrize("counts", [(5, 5, 5), (10, 3, 1), (4, 9, 2, 2), (7, 7, 1, 20)])
def test_the_largest_set_that_can_be_filled(counts):
    """Against all orders and all sizes."""
    side = {str(at): ["x"] * count for at, count in enumerate(counts)}
    able = [
        size
        for size in range(1, sum(counts) + 1)
        if any(
            all(count >= -(-size // (place + 1)) for place, count in enumerate(order))
            for order in itertools.permutations(counts)
        )
    ]
    assert draws.room(genres.Genres(genres.XNLI, side, side)) == max(able)
    for seed in range(20):  # an order that can be filled is always found
        order = draws.order_of(side, max(able), np.random.default_rng(seed))
        assert sorted(order) == sorted(side)
        assert all(len(side[name]) >= -(-max(able) // place) for place, name in enumerate(order[::-1], 1))


def far_apart(texts):
    """A corner for each genre, and a place near it from the words."""
    rows = np.zeros((len(texts), len(GENRES) + 4))
    for row, text in zip(rows, texts, strict=True):
        row[GENRES.index(genre_of(text))] = 1000
        digits = [int(word[-2:]) for word in text.split() if word[:2] != "zz"]
        row[-4:] = np.array(digits[:4]) + 0.01 * np.array(digits[3:7])
    return rows


def tables(findings, name):
    grid = next(each.table for each in findings.tables if each.name == name)
    return [dict(zip(grid.heads, row, strict=True)) for row in grid.rows]


@pytest.mark.slow
def test_genres_far_apart(data, own_cache):
    """No sphere reaches another genre, so recall is at most the share of genres left, and coverage too."""
    findings = find_study("mode-collapse").run(Setup(data, quick=True, encoder=far_apart))
    rows = {(row["data"], row["method"], row["number"]): row for row in tables(findings, "curves")}
    for title in ("XNLI", "XNLI, no partners", "Brown"):
        for method, number in (("IMPAR", "recall"), ("Density, coverage", "coverage")):
            curve = [float(rows[title, method, number][str(dropped)]) for dropped in range(4)]
            assert all(value <= 1 - dropped / 4 + 5e-4 for dropped, value in enumerate(curve))
        # Candidates stay within their genre's references: all that is lost is variety.
        assert float(rows[title, "Fréchet", "-"]["3"]) > float(rows[title, "Fréchet", "-"]["0"])
        summary = {(row["method"], row["number"]): row for row in tables(findings, "summary") if row["data"] == title}
        assert summary["IMPAR", "recall"]["with one left"] == "falls"
        assert summary["ME Schnabel", "diversity"]["with one left"] == "falls"
    assert next(claim for claim in findings.claims if claim.says == "FID grows").holds == "holds"


def test_moves():
    """Curves whose movement is plain to see."""
    score = Curve("IMPAR", "precision", "impar", "precision", "quality")
    distance = Curve("Fréchet", "", "frechet", "value", "both")
    noise = np.array([[0.001], [0.0], [-0.001]])
    falling, level = np.linspace(0.9, 0.4, 6) + noise, np.linspace(0.6, 0.58, 6) + noise
    assert Track(score, falling).seen() == "falls" and Track(score, falling[:, ::-1]).seen() == "rises"
    slightly = Track(score, level)  # by .02, in every draw: a fall, and little enough to be called steady
    assert slightly.seen() == "falls" and slightly.does("falls") and slightly.does("stays")
    split = np.vstack([np.linspace(0.6, 0.64, 6), np.linspace(0.6, 0.57, 6)])  # draws do not agree
    assert Track(score, split).seen() == "stays" and Track(distance, split).seen() == "stays"
    assert not Track(score, falling).does("stays")
    assert Track(distance, falling[:, ::-1]).seen() == "falls"  # a distance that grows
    up_and_down = np.array([[0.5, 0.9, 0.2, 0.8, 0.1, 0.6]]) + noise
    assert Track(score, up_and_down).seen() == "wavers"
    assert Track(score, falling).spearman() == pytest.approx(-1)
    assert Track(score, falling).change() == pytest.approx(-0.5)
    late = np.array([[0.6, 0.6, 0.61, 0.6, 0.6, 0.1]]) + noise
    assert Track(score, late).seen(-2) == "stays" and Track(score, late).change(-2) == pytest.approx(-0.5)
