"""Genres dropped one by one: what draws must look like, and what theory forces on the numbers."""

import itertools

import numpy as np
import pytest

from recapture_studies.made_up.genre_texts import GENRES, build
from recapture_studies.mark_evaluate import genres, mode_collapse
from recapture_studies.mark_evaluate import mode_collapse_draws as draws
from recapture_studies.mark_evaluate.perturbed import CURVES, Curve, Track
from recapture_studies.mark_evaluate.perturbed_view import curves_table
from recapture_studies.study import Setup, find_study, rows_of


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


@pytest.mark.traced
@pytest.mark.slow
def test_genres_far_apart(data, own_cache):
    """No sphere reaches another genre, so recall is at most the share of genres left, and coverage too."""
    findings = find_study("mode-collapse").run(Setup(data, quick=True, encoder=far_apart))
    rows = {(row["data"], row["method"], row["number"]): row for row in tables(findings, "curves")}
    for title in TITLES:
        for method, number in (("IMPAR", "recall"), ("Density, coverage", "coverage")):
            curve = [float(rows[title, method, number][str(dropped)]) for dropped in range(4)]
            assert all(value <= 1 - dropped / 4 + 5e-4 for dropped, value in enumerate(curve))
        # Candidates stay within their genre's references: all that is lost is variety.
        assert float(rows[title, "Fréchet", "-"]["3"]) > float(rows[title, "Fréchet", "-"]["0"])
        summary = {(row["method"], row["number"]): row for row in tables(findings, "summary") if row["data"] == title}
        assert summary["IMPAR", "recall"]["with one left"] == "falls"
        assert summary["ME Schnabel", "diversity"]["with one left"] == "falls"
    claims = {claim.id: claim for claim in find_study("mode-collapse").claims(findings)}
    assert claims["mark-evaluate/figure-3/fid"].verdict.rule == "course"


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


TITLES = ("XNLI", "XNLI, no partners", "Brown", "Brown, 5 genres")
SIZES = dict(zip(TITLES, (500, 200, 1000, 4000), strict=True))


def tracks(**means):
    """By the curve's name (underscores for blanks), else by what it asks for: its mean at each step, in two draws."""
    noise = np.array([[1e-4], [-1e-4]])
    by_name = {}
    for curve in CURVES:
        mean = means.get(curve.name.replace(" ", "_"), means.get("distance") if not curve.bounded else None)
        by_name[curve.name] = Track(curve, np.array(means[curve.asks] if mean is None else mean) + noise)
    return by_name


def as_the_paper_says():
    """Quality stays until two topics are left, all else gets worse, most of all in the last step."""
    return tracks(
        quality=[0.8, 0.8, 0.8, 0.8, 0.79],
        diversity=[0.9, 0.85, 0.8, 0.75, 0.4],
        both=[0.9, 0.85, 0.8, 0.75, 0.4],
        distance=[0.1, 0.2, 0.3, 0.4, 0.9],
        ME_Schnabel_quality=[0.8, 0.8, 0.8, 0.8, 0.3],
        IMPAR_precision=[0.8, 0.8, 0.8, 0.8, 0.4],
        **{"PRD_precision_(F1/8)": [0.9, 0.8, 0.7, 0.6, 0.5]},
    )


def the_other_way_round():
    """Everything gets a little better, most of all in the first step."""
    rising = [0.3, 0.35, 0.36, 0.365, 0.368]
    return tracks(quality=rising, diversity=rising, both=rising, distance=[0.4, 0.35, 0.34, 0.335, 0.332])


def judged(first, second=None):
    """Claims from the tables of these curves, the same with partners and without; two draws of each."""
    by_data = dict.fromkeys(TITLES, first) | {"Brown": second or first}
    heads = {title: [str(at) for at in range(5)] for title in TITLES}
    sections = [mode_collapse._summary(by_data), curves_table(by_data, heads, "")]
    return mode_collapse.judge(rows_of(sections), {"draws": dict.fromkeys(TITLES, 2), "sizes": SIZES})


def test_all_claims_hold_where_all_is_as_the_paper_says():
    claims = judged(as_the_paper_says())
    assert [claim.holds for claim in claims] == ["holds"] * 7 and not any(claim.why for claim in claims)
    count = 3 * sum(curve.asks != "quality" for curve in CURVES)
    assert claims[5].here == f"the last step is the steepest for {count} of {count} numbers for diversity or both"
    assert claims[0].data.endswith("Brown, 5 genres: 4,000 v 4,000 (the paper's size); all-MiniLM-L6-v2")
    assert "no partners: 200 v 200 (the paper has 4,000 v 4,000)" in claims[0].data
    assert "IMPAR precision -0.400, ME Schnabel quality -0.500, ME Schnabel diversity -0.500" in claims[6].here


def test_no_claim_holds_where_all_is_the_other_way_round():
    claims = judged(the_other_way_round())
    assert [claim.holds for claim in claims] == ["does not hold"] * 7 and all(claim.why for claim in claims)


def test_claims_hold_in_part_where_data_sets_differ():
    assert {claim.holds for claim in judged(as_the_paper_says(), the_other_way_round())} == {"holds in part"}


def test_words_on_what_falls_and_what_stays():
    lines = mode_collapse._verdict(dict.fromkeys(TITLES, as_the_paper_says()), SIZES)
    assert "diversity or for both, all fall" in lines[0]
    assert lines[0].endswith("for quality, ME Schnabel, k = 3, adjusted quality, Density, coverage density stay.")
    # By how much farther diversity falls than quality: .49, .49, .10, .10 and, of ME Schnabel, 0.
    assert "XNLI ME Schnabel, k = 3, adjusted +0.49, Density, coverage +0.49, " in lines[5]
    better = mode_collapse._verdict(dict.fromkeys(TITLES, the_other_way_round()), SIZES)
    assert "diversity or for both, none fall; of those for quality, none stay." in better[0]
    assert better[-1].endswith("Brown: none; Brown, 5 genres: none.")


def test_which_sentences_full_and_quick_forms_use():
    side = {f"g{at}": [f"{at} {number}" for number in range(1200 - at)] for at in range(6)}
    brown, xnli = (genres.Genres(title, side, side) for title in ("Brown", "XNLI"))
    full = Setup(None)
    assert mode_collapse._limited(xnli, full) is xnli
    limited = mode_collapse._limited(brown, full)
    assert {name: texts[:300] for name, texts in side.items()} == limited.reference
    assert {name: texts[:1000] for name, texts in side.items()} == limited.candidate
    five = mode_collapse._limited(mode_collapse.largest(brown), full)
    assert list(five.candidate) == ["g0", "g1", "g2", "g3", "g4"] and five.reference["g4"] == side["g4"]
    few = mode_collapse._limited(brown, Setup(None, quick=True))
    assert list(few.candidate) == list(few.reference) == ["g0", "g1", "g2", "g3"]  # the largest
    assert few.candidate["g3"] == side["g3"][:96]


@pytest.mark.slow
def test_five_real_genres_fill_sets_of_the_papers_size(data_folder):
    """Section 4.1: 4,000 v 4,000 sentences of five topics; nobody is on both sides, and any draw can be filled."""
    found = mode_collapse.largest(genres.load(Setup(data_folder), genres.BROWN, share=0.25))
    drawn = draws.draw(mode_collapse._limited(found, Setup(data_folder)), 4000, np.random.default_rng(3))
    assert len(set(drawn.reference)) == 4000 and len(drawn.candidates) == 5
    assert all(len(set(candidate)) == 4000 for candidate in drawn.candidates)
    assert not set(drawn.reference) & {text for candidate in drawn.candidates for text in candidate}


def test_vectors_do_not_depend_on_when_they_are_asked_for(own_cache):
    """A bag of words learns from the references alone, whatever is encoded first."""
    setup = Setup(None, encoder="bag-of-words", encoding={"cache": False})
    references = ["a red fox", "the blue sea", "a red sea"]
    others = ["the fox", "a blue bird"]
    together, apart = (genres.Space(setup, references) for _ in range(2))
    together.prepare([*others, *references])
    first = apart.rows(references)
    np.testing.assert_array_equal(apart.rows(others), together.rows(others))
    np.testing.assert_array_equal(first, together.rows(references))
