"""Clusters, typical words, phrases and the map, against enumeration, SciPy and NumPy's own decompositions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

import recapture as rc
from recapture.blame.exact_tests import more_often, more_or_less_often
from recapture.blame.phrases import LONGEST, NGrams, log_odds


def test_exact_tests_by_enumeration():
    """Every choice of candidates among 5 + 4 texts, of which 4 have something."""
    for candidate in range(5):
        counts = [sum(place < 4 for place in chosen) for chosen in itertools.combinations(range(9), 5)]
        if 4 - candidate > 4 or candidate > 4:
            continue
        same = np.array(counts)
        chance = {count: (same == count).mean() for count in set(counts)}
        if candidate not in chance:
            continue
        one = more_often(np.array([candidate]), np.array([4 - candidate]), 5, 4)[0]
        assert one == pytest.approx((same >= candidate).mean())
        two = sum(c for c in chance.values() if c <= chance[candidate] * (1 + 1e-9))
        assert more_or_less_often(candidate, 4 - candidate, 5, 4) == pytest.approx(two)


@pytest.mark.parametrize("counts", [(3, 10, 50, 60), (0, 7, 100, 100), (25, 2, 300, 40), (1, 0, 5, 5)])
def test_exact_tests_against_scipy(counts):
    c, r, m, n = counts
    table = [[c, r], [m - c, n - r]]
    assert more_or_less_often(c, r, m, n) == pytest.approx(fisher_exact(table).pvalue)
    one = more_often(np.array([c, c]), np.array([r, r]), m, n)
    assert one == pytest.approx(fisher_exact(table, "greater").pvalue)


def test_clusters_and_their_shares():
    """Two clumps, far apart: their shares are known, and so is Fisher's exact p-value (SciPy)."""
    rng = np.random.default_rng(0)
    near, far = rng.standard_normal((160, 3)), 20 + rng.standard_normal((40, 3))
    reference, candidate = np.concatenate([near[:90], far[:10]]), np.concatenate([near[90:], far[10:]])
    found = rc.diagnose(reference, candidate, clusters=2)
    by_size = sorted(found.clusters, key=lambda topic: topic.candidate)
    assert [(topic.candidate, topic.reference) for topic in by_size] == [(30, 10), (70, 90)]
    p = fisher_exact([[30, 10], [70, 90]]).pvalue
    assert [topic.pvalue for topic in by_size] == pytest.approx([p, p])
    assert [topic.adjusted for topic in by_size] == pytest.approx([2 * p, 2 * p])  # Holm: twice the smaller of two
    assert [topic.verdict for topic in by_size] == ["too often", "too seldom"]
    assert by_size[0].candidate_share == 0.3 and by_size[0].reference_share == 0.1
    centre = far.mean(axis=0)
    first = by_size[0].central[0]
    told = {"reference": reference, "candidate": candidate}[first.side][first.index]
    assert np.linalg.norm(told - centre) == pytest.approx(np.linalg.norm(far - centre, axis=1).min())


def test_clusters_with_groups_move_whole_groups():
    """Ten documents a side, each of one clump. By counting: of the 20 documents 6 are of the rare clump, all of them
    the candidate's; moved whole, that happens in C(14, 4) of C(20, 10) labellings, and as much on the other side."""
    rng = np.random.default_rng(1)
    is_far = np.array([False] * 10 + [True] * 6 + [False] * 4)
    documents = np.repeat(np.arange(20), 8)
    texts = 30 * is_far[documents, None] + rng.standard_normal((160, 3))
    found = rc.diagnose(
        texts[:80], texts[80:], clusters=2, reference_groups=documents[:80], candidate_groups=documents[80:]
    )
    p = 2 * math.comb(14, 4) / math.comb(20, 10)
    assert [topic.pvalue for topic in found.clusters] == pytest.approx([p, p], abs=5 * math.sqrt(p / 9999))


def test_n_grams_are_those_of_a_plain_count():
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(list("abcd"), rng.integers(1, 14))) for _ in range(60)] + ["", "Abc, d!"]
    grams = NGrams(texts)
    for length in range(1, LONGEST + 1):
        plain = {}
        for text in texts:
            words = "".join(c for c in text.lower() if c not in ",!").split()
            for gram in {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}:
                plain[gram] = plain.get(gram, 0) + 1
        plain = {gram: count for gram, count in plain.items() if count >= grams.least}
        level = grams._levels[length - 1] if length <= len(grams._levels) else None
        found = {}
        if level is not None:
            counts = np.bincount(level.gram, minlength=level.there)
            found = {grams.words(length, number): int(count) for number, count in enumerate(counts)}
        assert found == plain, length


def test_log_odds_by_hand():
    """8 of 10 texts of a cluster and 10 of 90 others: the prior is 10 texts at the odds of all, 18 of 100."""
    a, b = 1.8, 8.2
    gap = math.log((8 + a) / (2 + b)) - math.log((10 + a) / (80 + b))
    error = math.sqrt(1 / (8 + a) + 1 / (2 + b) + 1 / (10 + a) + 1 / (80 + b))
    assert log_odds(np.array([8.0]), 10, np.array([10.0]), 90) == pytest.approx([gap / error])
    assert log_odds(np.array([10.0]), 10, np.array([90.0]), 90)[0] == 0  # what all have tells nothing


def test_typical_words_and_phrases_used_too_often():
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(40)]

    def sentence(*more):
        return " ".join([*rng.choice(words, 5), *more])

    boat, soup, note = ["a", "boat", "sailed"], ["the", "soup", "boiled"], ["it", "is", "important", "to", "note"]
    reference = [sentence(*(soup if at % 4 else boat)) for at in range(120)]
    candidate = [sentence(*(note if at % 2 else soup)) for at in range(100)]
    found = rc.diagnose(reference, candidate, encoder="bag-of-words", clusters=3)
    (phrase,) = found.phrases[:1]
    assert phrase.words == "it is important to note" and (phrase.candidate, phrase.reference) == (50, 0)
    assert phrase.candidate_share == 0.5
    assert phrase.pvalue == pytest.approx(fisher_exact([[50, 0], [50, 120]], "greater").pvalue)
    assert len(found.phrases) == 1  # its parts say the same
    # Nobody sails any more; soup has become rarer (90 of 120 before, 50 of 100 now).
    lost, rarer = found.seldom
    assert (lost.words, lost.candidate, lost.reference) == ("a boat sailed", 0, 30)
    assert lost.pvalue == pytest.approx(fisher_exact([[30, 90], [0, 100]], "greater").pvalue)
    assert (rarer.words, rarer.candidate, rarer.reference) == ("the soup boiled", 50, 90)
    assert rarer.pvalue == pytest.approx(fisher_exact([[90, 30], [50, 50]], "greater").pvalue)
    assert "words too seldom: 2" in " ".join(found.verdict) and "Words used too seldom" in str(found)
    said = {word for topic in found.clusters for gram in topic.ngrams for word in gram.split()}
    assert {"boat", "soup", "important"} <= said
    seldom = [topic for topic in found.clusters if topic.verdict == "too seldom"]
    assert any("boat" in " ".join(topic.ngrams) for topic in seldom)


def test_the_map_of_word_counts_with_many_columns(monkeypatch):
    from recapture.geometry import principal_plane

    monkeypatch.setattr(principal_plane, "_NUMBERS", 500)
    reference = [f"cat dog {word}" for word in "abcdefghijklm"]
    candidate = [f"tax law {word}" for word in "abcdefghijklm"]
    found = rc.diagnose(reference, candidate, encoder="bag-of-words")
    x = np.array([record["x"] for record in found.texts])
    assert (np.sign(x[:13]) == -np.sign(x[13:])).all()  # the topic is what they differ in most
