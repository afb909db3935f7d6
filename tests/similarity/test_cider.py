"""CIDEr-D against pycocoevalcap's scorer, given the same tokens."""

import gzip
import itertools
import json
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recapture.errors import InputError
from recapture.lexical.ngrams import DocumentFrequencies
from recapture.lexical.tokens import caption_tokens
from recapture.pairs.metrics.cider import cider
from recapture.similarity import batched
from recapture.similarity.scorer import METRICS

oracle = pytest.importorskip("pycocoevalcap.cider.cider_scorer")

WORDS = ["a", "the", "dog", "cat", "runs", "sits", "on", "grass", "red", "ball"]
few = settings(max_examples=25, deadline=None)


def sentences(seed, count, longest=14):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, longest))) for _ in range(count)]


def corpus(seed, images=8):
    rng = random.Random(seed + 1)
    references = [sentences(100 * seed + image, rng.randint(1, 4)) for image in range(images)]
    # Some candidates repeat a reference, whole or in part.
    others = zip(references, sentences(seed, images), strict=True)
    candidates = [rng.choice([group[0], group[0][:20], text]) for group, text in others]
    return references, candidates


def oracle_scores(references, candidates, sigma=6.0):
    scorer = oracle.CiderScorer(sigma=sigma)
    for candidate, group in zip(candidates, references, strict=True):
        scorer += (candidate, group)
    # pycocoevalcap gives two empty texts 0; here they score as equal ones, and count as such in the mean.
    equal = [
        10 * sum(not (text or candidate) for text in group) / len(group)
        for candidate, group in zip(candidates, references, strict=True)
    ]
    return scorer.compute_score()[1] + np.array(equal)


def oracle_pair(table, hypothesis, reference, sigma=6.0):
    """One pair under a given table. The oracle takes the number of its images for that of documents: empty ones pad."""
    scorer = oracle.CiderScorer(sigma=sigma)
    scorer += (hypothesis, [reference])
    for _ in range(table.documents - 1):
        scorer += ("", [""])
    scorer.document_frequency.update({ngram: float(count) for ngram, count in table.items()})
    return scorer.compute_cider()[0] if hypothesis or reference else 10.0  # pycocoevalcap: 0 for two empty texts


def scorer_of(table, **options):
    return METRICS.find("cider").scorer(df=table, tokenize=str.split, **options)


@few
@given(seed=st.integers(0, 10_000), sigma=st.sampled_from([6.0, 1.5]))
def test_several_references_as_pycocoevalcap(seed, sigma):
    references, candidates = corpus(seed)
    result = cider(references, candidates, sigma=sigma, tokenize=str.split)
    expected = oracle_scores(references, candidates, sigma)
    np.testing.assert_allclose(result.scores, expected, rtol=1e-9, atol=1e-12)
    assert result.value == pytest.approx(np.mean(expected), rel=1e-9)


@few
@given(seed=st.integers(0, 10_000))
def test_every_pair_under_a_given_table_as_pycocoevalcap(seed):
    table = DocumentFrequencies.from_references(corpus(seed)[0], tokenize=str.split)
    rows, columns = sentences(seed + 2, 3), sentences(seed + 3, 4)
    expected = [[oracle_pair(table, row, column) for column in columns] for row in rows]
    np.testing.assert_allclose(scorer_of(table).cross(rows, columns), expected, rtol=1e-9, atol=1e-12)


def test_nearly_universal_words_keep_their_small_weight():
    # A word in 999 of 1,000 documents weighs ln(1000/999) = .001, which must not vanish beside nothing larger.
    table = DocumentFrequencies({("a",): 999, ("the",): 998, ("an",): 997}, 1000)
    for row, column in itertools.product(["a the", "a a an", "the an"], ["a an an", "the the a"]):
        expected = oracle_pair(table, row, column)
        assert scorer_of(table).cross([row], [column])[0, 0] == pytest.approx(expected, rel=1e-6)


def test_documented_values():
    # Every n-gram in one of two documents: all weights ln 2, so cosines are shares of n-grams.
    table = DocumentFrequencies.from_references([["w x y z"], ["p q r s"]], tokenize=str.split)
    scorer = scorer_of(table)
    assert scorer.cross(["w x y z"], ["w x y z", "p q r s"]).tolist() == [[10.0, 0.0]]
    # Two of four orders exist and are perfect: 10 x 2/4. One token: 10 x 1/4.
    assert scorer.cross(["w x"], ["w x"])[0, 0] == 5
    assert scorer.cross(["w"], ["w"])[0, 0] == 2.5
    # Clipping and length: w w against w: min(2, 1) x 1 / (2 x 1) = 1/2 at n = 1; 1 bigram against 0.
    assert scorer.cross(["w w"], ["w"])[0, 0] == pytest.approx(2.5 * 0.5 * math.exp(-1 / 72), rel=1e-12)
    # Two empty texts are equal ones (pycocoevalcap: 0).
    assert scorer.cross(["", " "], ["", "w"]).tolist() == [[10.0, 0.0], [10.0, 0.0]]


def test_unknown_ngrams_count_as_in_one_document():
    table = DocumentFrequencies.from_references([["w x y z"], ["p q r s"]], tokenize=str.split)
    assert scorer_of(table).cross(["no such words here"], ["no such words here"])[0, 0] == 10


def test_scores_do_not_hang_on_other_texts_order_or_batches(monkeypatch):
    groups = [sentences(seed, size) for seed, size in enumerate([5, 1, 9, 0, 12, 3])]
    groups[0][3] = groups[0][1]
    table = DocumentFrequencies.from_references(groups[:3] + groups[4:], tokenize=str.split)
    scorer = scorer_of(table)
    squares = scorer.squares(groups)
    assert [square.shape for square in squares] == [(len(group), len(group)) for group in groups]
    for group, square in zip(groups, squares, strict=True):
        assert np.array_equal(scorer.cross(list(group), group), square)
        order = np.random.default_rng(len(group)).permutation(len(group))
        assert np.array_equal(scorer.squares([[group[i] for i in order]])[0], square[np.ix_(order, order)])
    assert np.array_equal(squares[0][3], squares[0][1])
    monkeypatch.setattr(batched, "_TEXTS_TOGETHER", 7)
    monkeypatch.setattr(batched, "_MOST_CELLS", 30)
    assert all(map(np.array_equal, scorer.squares(groups), squares))


def test_ties_by_the_formula_are_ties():
    # Each other text swaps one word for one that no document has: equal norms, equal matches.
    base = ["the", "red", "dog", "sits", "on", "a", "ball"]
    table = DocumentFrequencies.from_references(
        [[" ".join(base)], *[[text] for text in sentences(5, 30)]], tokenize=str.split
    )
    others = [" ".join([*base[:3], word, *base[4:]]) for word in ("zig", "zag", "hop", "bow")]
    scores = scorer_of(table).cross([" ".join(base)], others)
    assert len(set(scores[0])) == 1
    np.testing.assert_array_equal(scorer_of(table).cross(others, [" ".join(base)]).T, scores)


def brute_frequencies(groups, order=4):
    counts = Counter()
    for group in groups:
        seen = set()
        for text in group:
            tokens = text.split()
            seen |= {tuple(tokens[i : i + n]) for n in range(1, order + 1) for i in range(len(tokens) - n + 1)}
        counts.update(seen)
    return counts


@few
@given(seed=st.integers(0, 10_000))
def test_document_frequencies_by_counting_sets(seed):
    groups = corpus(seed)[0]
    expected = brute_frequencies(groups)
    table = DocumentFrequencies.from_references(iter(groups), tokenize=str.split)
    assert dict(table.items()) == expected
    assert len(table) == len(expected)
    assert table.documents == len(groups)
    assert dict(DocumentFrequencies(expected, len(groups)).items()) == expected
    for ngram in [*list(expected)[:20], ("no", "such"), ("dog", "no"), ("dog",) * 9]:
        assert table.count(ngram) == table.count(" ".join(ngram)) == expected[ngram]


@pytest.mark.parametrize("name", ["table.json", "table.json.gz"])
def test_tables_survive_their_file(tmp_path, name):
    references, candidates = corpus(3)
    table = DocumentFrequencies.from_references(references, tokenize=str.split)
    table.write(tmp_path / name)
    again = DocumentFrequencies.read(tmp_path / name)
    assert dict(again.items()) == dict(table.items())
    assert (again.documents, again.order, again.identity()) == (table.documents, table.order, table.identity())
    again.write(tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    by_path = cider(references, candidates, df=tmp_path / name, tokenize=str.split)
    assert by_path.scores.tolist() == cider(references, candidates, tokenize=str.split).scores.tolist()


def test_the_file_is_plain_json(tmp_path):
    DocumentFrequencies.from_references([["a dog", "a cat"], ["a"]]).write(tmp_path / "table.json")
    written = json.loads((tmp_path / "table.json").read_text())
    assert written == {"documents": 2, "order": 4, "counts": {"a": 2, "a cat": 1, "a dog": 1, "cat": 1, "dog": 1}}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "broken JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "no table"),
        (b'{"counts": {}}', "no table"),
        (b'{"documents": 0, "counts": {}}', "documents must be"),
        (b'{"documents": 2, "counts": {"a": 3}}', "cannot occur in 3 of 2"),
        (b'{"documents": 2, "counts": {"a": 1.5}}', "whole number"),
        (b'{"documents": 2, "counts": {"a": -1}}', "whole number"),
    ],
)
def test_bad_tables(tmp_path, content, complaint):
    path = tmp_path / "table.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        DocumentFrequencies.read(path)


def test_bad_files(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        DocumentFrequencies.read(tmp_path / "none.json")
    (tmp_path / "plain.json.gz").write_bytes(b"{}")
    with pytest.raises(InputError, match="cannot be read"):
        DocumentFrequencies.read(tmp_path / "plain.json.gz")
    with pytest.raises(InputError, match="holds a space"):
        DocumentFrequencies({("a b",): 1}, 1).write(tmp_path / "space.json")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "needs document frequencies: give df="),
        ({"df": 3}, "df must be"),
        ({"df": DocumentFrequencies.from_references([["a"]], order=2)}, "stops at 2"),
        ({"df": DocumentFrequencies({}, 1), "sigma": 0}, "sigma must be"),
        ({"df": DocumentFrequencies({}, 1), "sigma": "6"}, "sigma must be"),
        ({"df": DocumentFrequencies({}, 1), "tokenize": "13a"}, "tokenize must be"),
        ({"df": DocumentFrequencies({}, 1), "n": 4}, "no option 'n'"),
    ],
)
def test_bad_options(options, complaint):
    with pytest.raises(InputError, match=complaint):
        METRICS.find("cider").scorer(**options)


def test_bad_references():
    with pytest.raises(InputError, match="document 1 is one string"):
        DocumentFrequencies.from_references([["a"], "b"])
    with pytest.raises(InputError, match="no documents"):
        DocumentFrequencies.from_references([])


def test_a_single_document_is_warned_of():
    result = cider(["a dog runs home"], ["a dog runs home"])
    assert result.value == 0
    assert any("single document" in warning for warning in result.warnings)


def test_the_signature_names_table_and_tokens():
    signature = cider(["a dog", "a cat"], ["a dog", "a dog"]).signature
    assert {name: signature["df"][name] for name in ("documents", "ngrams")} == {"documents": 2, "ngrams": 5}
    assert (signature["sigma"], signature["tokenize"], signature["over_references"]) == (6.0, "caption tokens", "mean")


@pytest.mark.slow
def test_real_captions_as_pycocoevalcap(data_folder):
    with gzip.open(data_folder / "captions_coco1000" / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    references = [row["references"] for row in rows]
    candidates = [row["candidates"][0] for row in rows]
    spaced = [[" ".join(caption_tokens(text)) for text in group] for group in references]
    expected = oracle_scores(spaced, [" ".join(caption_tokens(text)) for text in candidates])
    np.testing.assert_allclose(cider(references, candidates).scores, expected, rtol=1e-9, atol=1e-12)


def test_tables_of_equal_totals_are_told_apart():
    """A signature, and a resumed run, depend on what the table says, not on how much it says; order does not matter."""
    one = DocumentFrequencies({("a",): 2, ("b",): 1}, 3)
    other = DocumentFrequencies({("a",): 1, ("b",): 2}, 3)
    again = DocumentFrequencies({("b",): 1, ("a",): 2}, 3)
    assert one.identity() == again.identity() != other.identity()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"documents": 3, "order": 1000000000, "counts": {"a": 1}}', "order, the length of the longest n-grams"),
        ('{"documents": 3, "order": "4", "counts": {"a": 1}}', "order, the length of the longest n-grams"),
        ('{"documents": 3, "counts": {"' + "a " * 5000 + 'a": 1}}', "an n-gram has 5001 tokens"),
        ('{"documents": 3, "counts": {"a": 99999999999999999999}}', "cannot occur in"),
        ('{"documents": 1' + "0" * 30 + ', "counts": {"a": 1}}', "one beyond 10"),
        ('{"documents": 3, "counts": {"a": 1, "a": 2}}', "the key 'a' stands twice"),
        ('{"documents": 3, "counts": {"a": ' + "[" * 900 + "]" * 900 + "}}", "JSON nested too deeply"),
    ],
)
def test_tables_that_promise_too_much(tmp_path, content, complaint):
    path = tmp_path / "df.json"
    path.write_text(content)
    with pytest.raises(InputError, match=complaint) as caught:
        DocumentFrequencies.read(path)
    assert str(caught.value).startswith(str(path))


def test_an_order_without_end():
    with pytest.raises(InputError, match="order"):
        DocumentFrequencies.from_references([["a b"]], order=10**9)
