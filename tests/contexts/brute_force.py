"""Triangle ranks and their p-values in plain loops over fractions, straight from the printed equations."""

from __future__ import annotations

import itertools
from fractions import Fraction


def credit(within, left, right, ties):
    """(I_0, I_1, I_2) of one triangle, Eq. 3 of Chan et al. (2022)."""
    if ties == "paper":
        return (
            Fraction(within <= left and within <= right),
            Fraction(left <= within <= right or right <= within <= left),
            Fraction(left <= within and right <= within),
        )
    # Split: the mean over all six orders in which three tied edges could be told apart.
    shares = [Fraction(0)] * 3
    for order in itertools.permutations(range(3)):
        edges = [(within, order[0]), (left, order[1]), (right, order[2])]
        shares[sorted(edges).index(edges[0])] += Fraction(1, 6)
    return tuple(shares)


def all_credits(distances, ties):
    """By single point and ordered pair of others."""
    return {
        (c, r, s): credit(distances[r][s], distances[c][r], distances[c][s], ties)
        for c, r, s in itertools.permutations(range(len(distances)), 3)
    }


def shares(earned, singles, others):
    """Mean I_0, I_1, I_2 over single points and ordered pairs."""
    triangles = [earned[c, r, s] for c in singles for r, s in itertools.permutations(others, 2)]
    return [sum(each[rank] for each in triangles) / len(triangles) for rank in range(3)]


def q(earned, singles, others):
    """Eq. 4."""
    return sum(abs(share - Fraction(1, 3)) for share in shares(earned, singles, others))


def statistic(earned, references, candidates, directed):
    value = q(earned, candidates, references)
    return value if directed or len(candidates) == 1 else value + q(earned, references, candidates)


def trm(distances, n, ties="split", directed=False):
    total = len(distances)
    return statistic(all_credits(distances, ties), range(n), range(n, total), directed)


def trm_test(distances, n, ties="split", directed=False):
    """Value, p, smallest p, and the value of every partition."""
    total = len(distances)
    earned = all_credits(distances, ties)
    observed = statistic(earned, range(n), range(n, total), directed)
    values = []
    for candidates in itertools.combinations(range(total), total - n):
        references = [text for text in range(total) if text not in candidates]
        values.append(statistic(earned, references, candidates, directed))
    return (
        observed,
        Fraction(sum(value >= observed for value in values), len(values)),
        Fraction(sum(value == max(values) for value in values), len(values)),
        values,
    )


def aggregate_test(scores, n, rule, higher=True):
    """The mean over candidates of the best or mean score against references, and its exact p-value."""

    def mean(references, candidates):
        best = max if higher else min
        joined = [
            best(scores[c][r] for r in references)
            if rule == "best"
            else sum(scores[c][r] for r in references) / Fraction(len(references))
            for c in candidates
        ]
        return sum(joined) / Fraction(len(joined))

    total = len(scores)
    observed = mean(range(n), range(n, total))
    values = [
        mean([text for text in range(total) if text not in candidates], candidates)
        for candidates in itertools.combinations(range(total), total - n)
    ]
    as_far = sum(value <= observed if higher else value >= observed for value in values)
    return observed, Fraction(as_far, len(values)), values


def overlap(hypothesis, reference):
    """Shared letters over the hypothesis' letters: not symmetric, ties everywhere."""
    if not hypothesis or not reference:
        return Fraction(hypothesis == reference)
    return Fraction(sum(letter in reference for letter in hypothesis), len(hypothesis))
