"""BERTScore, MoverScore and InfoLM between all texts of a context.

Expected numbers are those of the public functions for aligned texts, asked pair by pair; triangle ranks, averages and
p-values are then enumerated in plain loops over fractions (`brute_force`).
"""

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from brute_force import aggregate_test, trm_test

import recapture as rc
from recapture.cli.app import run
from recapture.contexts import evaluate as evaluation
from recapture.contexts.declaration import METRICS
from recapture.pairs import to_similarity
from recapture.pairs.metrics import infolm as infolm_module
from recapture.representations import kept
from recapture.representations import words as words_module
from recapture.representations.masked import MaskedStore
from recapture.representations.words import WordStore

HUMAN = ("the cat sat on the mat", "a small cat slept", "the old cat sat under a tree", "a cat was on the red mat")
MODEL = ("a dog ran to the river", "the cat sat on a mat", "a big bird sang")
CONTEXTS = [
    {"id": "cats", "references": HUMAN, "candidates": MODEL},
    {
        "id": "birds",
        "references": ("the bird sang", "a bird sang in the tree"),
        "candidates": ("a bird", "the bird ran"),
    },
]
# Of each metric some settings: its own options, and the number of the public function.
CASES = {
    "bertscore": ("bertscore", {}, "f1"),
    "bertscore layer": ("bertscore", {"layer": 1}, "f1"),
    "moverscore": ("moverscore", {"layers": 2}, "value"),
    "moverscore ngram": ("moverscore", {"layers": 3, "ngram": 2}, "value"),
    "infolm": ("infolm", {}, "value"),
    "infolm kl": ("infolm", {"measure": "kl"}, "value"),
    "infolm ab": ("infolm", {"measure": "ab", "alpha": 0.25, "beta": 0.5, "temperature": 0.5}, "value"),
    "infolm l2": ("infolm", {"measure": "l2", "temperature": 2.0}, "value"),
}
EACH = pytest.mark.parametrize("case", CASES)
_ASKED: dict[tuple, np.ndarray] = {}
"""What the public functions have said already: every call loads a model."""
BEST = {"bertscore": 1.0, "moverscore": 1.0, "infolm": 0.0}
"""What a text scores against itself."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))


def by_model(name, model):
    return {"model": model, "cache": False} if name == "infolm" else {"encoder": model}


def one_by_one(case, model, hypotheses, references, **more):
    """The public function of aligned texts, a call for each hypothesis: rows are hypotheses."""
    name, options, output = CASES[case]
    asked = case, tuple(hypotheses), tuple(references), *more.values()
    if asked in _ASKED:
        return _ASKED[asked].copy()
    rows = []
    for hypothesis in hypotheses:
        result = getattr(rc, name)(
            list(references), [hypothesis] * len(references), **options, **by_model(name, model), **more
        )
        rows.append(result.arrays["scores" if output == "value" else f"{output}_scores"].tolist())
    _ASKED[asked] = np.array(rows)
    return _ASKED[asked].copy()


def distances(case, scores):
    name = CASES[case][0]
    made = scores if name == "infolm" else 1 - scores
    made = np.maximum(made, 0)
    np.fill_diagonal(made, 0)
    return made


def evaluated(case, model, contexts=CONTEXTS, metrics="trm-NAME,NAME,NAME-mean", idf=False, **more):
    name, options, _ = CASES[case]
    return rc.evaluate_contexts(
        contexts, metrics.replace("NAME", name), options={name: {**options, "idf": idf}}, resume=False, cache=False,
        **({"model": model} if name == "infolm" else {"encoder": str(model)}), **more,
    )  # fmt: skip


# Against the public functions


@pytest.mark.slow
@EACH
def test_every_pair_as_by_the_public_function(case, tiny_bert):
    name, options, _ = CASES[case]
    texts = [*HUMAN, *MODEL]
    expected = one_by_one(case, tiny_bert, texts, texts, idf=False)
    found = rc.pairwise_scores(texts, texts, name, **options, idf=False, **by_model(name, tiny_bert))
    np.testing.assert_allclose(np.diag(expected), BEST[name], atol=1e-6)
    np.fill_diagonal(expected, BEST[name])  # exactly so here, rounded there
    # Vectors are of float32, and a text is encoded beside others here: cosines are off by a few units of 6e-8.
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7 if name == "bertscore" else 1e-9)
    other = rc.pairwise_scores(texts[:3], texts[2:], name, **options, idf=False, **by_model(name, tiny_bert))
    np.testing.assert_allclose(other, found[:3, 2:], rtol=0, atol=2e-7)


@pytest.mark.slow
@EACH
def test_the_same_pairs_encoded_together_are_equal(case, tiny_bert):
    """One call of the public function for all pairs encodes the same texts in the same batches.

    What is left are BERTScore's cosines of float32, which depend on the pairs multiplied beside them.
    """
    name, options, output = CASES[case]
    texts = [*HUMAN, *MODEL]
    hypotheses, references = zip(*((one, other) for one in texts for other in texts), strict=True)
    result = getattr(rc, name)(list(references), list(hypotheses), **options, idf=False, **by_model(name, tiny_bert))
    expected = result.arrays["scores" if output == "value" else f"{output}_scores"].reshape(len(texts), -1)
    found = rc.pairwise_scores(texts, texts, name, **options, idf=False, **by_model(name, tiny_bert))
    off = ~np.eye(len(texts), dtype=bool)
    np.testing.assert_allclose(found[off], expected[off], rtol=0, atol=3e-8 if name == "bertscore" else 1e-9)


@pytest.mark.slow
@EACH
def test_ranks_averages_and_exact_p_values(case, tiny_bert):
    """Every partition enumerated in fractions, from scores of single pairs."""
    name = CASES[case][0]
    results = evaluated(case, tiny_bert, pvalue="exact")
    for context, record in zip(CONTEXTS, results.contexts, strict=True):
        texts = [*context["references"], *context["candidates"]]
        n = len(context["references"])
        scores = one_by_one(case, tiny_bert, texts, texts, idf=False)
        scores = scores if CASES[case][1].get("measure") in ("kl", "ab") else (scores + scores.T) / 2  # rounding
        found = record["scores"]
        value, p, smallest, _ = trm_test(distances(case, scores).tolist(), n)
        assert found[f"trm-{name}"]["value"] == pytest.approx(float(value), abs=1e-14)
        assert (found[f"trm-{name}"]["pvalue"], found[f"trm-{name}"]["smallest_pvalue"]) == (float(p), float(smallest))
        for metric, rule in ((name, "best"), (f"{name}-mean", "mean")):
            exact = [[Fraction(score) for score in row] for row in scores.tolist()]
            value, p, _ = aggregate_test(exact, n, rule, higher=name != "infolm")
            assert found[metric]["value"] == pytest.approx(float(value), abs=2e-7)
            assert found[metric]["pvalue"] == float(p)
            assert found[metric]["exact"]
    ranges = rc.list_pairwise()[name].range
    assert all(ranges[0] <= record["scores"][name]["value"] <= ranges[1] for record in results.contexts)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["bertscore", "moverscore", "infolm", "infolm kl"])
def test_idf_is_counted_in_all_references_of_the_run(case, tiny_bert):
    """The public function counts it in the references of its call: those of both contexts."""
    name, options, _ = CASES[case]
    references = [text for context in CONTEXTS for text in context["references"]]
    results = evaluated(case, tiny_bert, metrics="NAME-mean", idf=True)
    without = evaluated(case, tiny_bert, metrics="NAME-mean")
    for at, context in enumerate(CONTEXTS):
        table = one_by_one(case, tiny_bert, context["candidates"], references, idf=True)
        own = [references.index(text) for text in context["references"]]
        found = results.contexts[at]["scores"][f"{name}-mean"]["value"]
        assert found == pytest.approx(table[:, own].mean(), abs=2e-7)
        assert abs(found - without.contexts[at]["scores"][f"{name}-mean"]["value"]) > 1e-4
    assert results.signature["pairwise"][name]["idf"] == "references"
    # One context alone counts in its own references, unless it is given others.
    alone = rc.aggregate(
        HUMAN, MODEL, name, "mean", **options, idf=True, idf_from=references, **by_model(name, tiny_bert)
    )
    assert alone.value == pytest.approx(results.contexts[0]["scores"][f"{name}-mean"]["value"], abs=2e-7)
    assert alone.signature["idf"]["texts"] == len(references)
    own = rc.aggregate(HUMAN, MODEL, name, "mean", **options, idf=True, **by_model(name, tiny_bert))
    expected = one_by_one(case, tiny_bert, MODEL, HUMAN, idf=True)
    assert own.value == pytest.approx(expected.mean(), abs=2e-7)
    np.testing.assert_allclose(own.scores, expected.mean(axis=1), atol=2e-7)


def test_rows_are_hypotheses_and_columns_references(tiny_bert):
    """KL(p, q) has the reference's distribution first, and is not symmetric."""
    options = {"measure": "kl", "idf": False, **by_model("infolm", tiny_bert)}
    there, back = HUMAN[0], MODEL[0]
    square = rc.pairwise_scores([there, back], [there, back], "infolm", **options)
    assert square[0, 1] == pytest.approx(rc.infolm([back], [there], **options).value, abs=1e-9)
    assert square[1, 0] == pytest.approx(rc.infolm([there], [back], **options).value, abs=1e-9)
    assert abs(square[0, 1] - square[1, 0]) > 1e-4
    # Candidates are hypotheses: the mean over them is of KL(reference, candidate).
    value = rc.aggregate([there], [back], "infolm", **options).value
    assert value == pytest.approx(square[1, 0], abs=1e-9)


# Each text once


@pytest.fixture
def counted(monkeypatch):
    """How often each text was encoded, masked, and made a distribution; little is kept but what is held."""
    times = {"words": Counter(), "masked": Counter(), "distributions": Counter()}
    encode, mask, distribution = WordStore._encode, MaskedStore._make, infolm_module.log_distributions

    def encoding(self, texts):
        times["words"].update(texts)
        return encode(self, texts)

    def masking(self, wanted):
        times["masked"].update(list(wanted))
        return mask(self, wanted)

    def distributing(model, masked, shares, temperatures):
        times["distributions"][tuple(masked.ids.tolist())] += 1
        return distribution(model, masked, shares, temperatures)

    monkeypatch.setattr(WordStore, "_encode", encoding)
    monkeypatch.setattr(MaskedStore, "_make", masking)
    monkeypatch.setattr(infolm_module, "log_distributions", distributing)
    monkeypatch.setattr(evaluation, "_CHUNK", 2)
    monkeypatch.setattr(words_module, "_KEPT_BYTES", 0)
    monkeypatch.setattr(infolm_module, "_KEPT_BYTES", 0)
    monkeypatch.setattr("recapture.representations.masked._KEPT_BYTES", 0)
    monkeypatch.setattr(to_similarity, "_TILE_PAIRS", 5)
    return times


REPEATED = [
    {"id": str(at), "references": (*HUMAN[at % 3 :], *HUMAN[:1]), "candidates": (*MODEL, MODEL[at % 3])}
    for at in range(7)
]  # all chunks have the same few texts, some of them twice in one context
DISTINCT = len({*HUMAN, *MODEL})


def test_every_text_goes_through_a_model_once(counted, tiny_bert):
    names = [f"{kind}{name}" for name in BEST for kind in ("trm-", "", "dispersion-")]
    options = {"moverscore": {"layers": 2}}
    results = rc.evaluate_contexts(
        REPEATED,
        names,
        encoder=str(tiny_bert),
        model=tiny_bert,
        options=options,
        pvalue=True,
        resume=False,
        cache=False,
    )
    assert all(total.contexts == len(REPEATED) for total in results.totals)
    for what, times in counted.items():
        assert len(times) == DISTINCT and set(times.values()) == {1}, what


def test_one_context_too(counted, tiny_bert):
    rc.triangle_rank(HUMAN, MODEL, "bertscore", encoder=tiny_bert)
    rc.triangle_rank(HUMAN, MODEL, "infolm", model=tiny_bert, cache=False)
    for what, times in counted.items():
        assert len(times) == DISTINCT and set(times.values()) == {1}, what


def test_texts_that_look_alike_are_one(counted, tiny_bert):
    """Two spellings of the same pieces, in different contexts: the model would see the same."""
    spelt = [{"id": "1", "references": HUMAN[:2], "candidates": MODEL[:1]}]
    spelt.append({"id": "2", "references": [text.upper() for text in HUMAN[:2]], "candidates": (f" {MODEL[0]} ",)})
    names = "trm-bertscore,trm-infolm"
    results = rc.evaluate_contexts(
        spelt, names, encoder=str(tiny_bert), model=tiny_bert, resume=False, cache=False, pvalue=True
    )
    assert results.contexts[0]["scores"] == results.contexts[1]["scores"]
    for what, times in counted.items():
        assert len(times) == 3 and set(times.values()) == {1}, what


def test_texts_that_no_later_context_has_are_let_go(counted, tiny_bert, monkeypatch):
    """Memory holds the texts of a chunk and those still to come, not those of the whole run."""
    most = []
    entries = kept.Kept.make_room

    def noted(self, keep):
        entries(self, keep)
        most.append(len(self._held) + len(self._entries))

    monkeypatch.setattr(kept.Kept, "make_room", noted)
    words = ["cat", "dog", "bird", "fish", "tree", "river", "mat", "small", "old", "red"]
    apart = [
        {"id": str(at), "references": (f"the {word} sat", f"a {word} ran"), "candidates": (f"{word} on {word}",)}
        for at, word in enumerate(words)
    ]
    rc.evaluate_contexts(apart, "trm-bertscore", encoder=str(tiny_bert), resume=False)
    assert len(counted["words"]) == 30 and set(counted["words"].values()) == {1}
    assert max(most) <= 2 * 6  # of two chunks of two contexts


def test_tiles_do_not_change_the_numbers(tiny_bert, monkeypatch):
    names = "trm-bertscore,bertscore,trm-moverscore,moverscore"
    options = {"encoder": str(tiny_bert), "options": {"moverscore": {"layers": 2}}, "resume": False}
    whole = rc.evaluate_contexts(REPEATED, names, **options)
    monkeypatch.setattr(to_similarity, "_TILE_PAIRS", 2)
    monkeypatch.setattr(to_similarity, "_BLOCK", 1)
    for one, other in zip(whole.contexts, rc.evaluate_contexts(REPEATED, names, **options).contexts, strict=True):
        for name in names.split(","):
            assert one["scores"][name]["value"] == pytest.approx(other["scores"][name]["value"], abs=3e-7)


# Texts that are equal, look alike, or are empty


@EACH
def test_texts_of_the_same_pieces_tie(case, tiny_bert):
    """An uncased model cannot tell them apart, so rounding must not either."""
    name, options, _ = CASES[case]
    texts = [HUMAN[0], HUMAN[0].upper(), *HUMAN[1:], HUMAN[0]]
    square = rc.pairwise_scores(texts, texts, name, **options, idf=False, **by_model(name, tiny_bert))
    for other in (1, len(texts) - 1):
        assert np.array_equal(square[0], square[other]) and np.array_equal(square[:, 0], square[:, other])
        assert square[0, other] == square[other, 0] == BEST[name]
    if CASES[case][1].get("measure") not in ("kl", "ab"):
        assert np.array_equal(square, square.T)


@pytest.mark.parametrize("measure, symmetric", [("alpha", True), ("renyi", True), ("ab", True), ("ab", False)])
def test_measures_that_are_symmetric_at_some_parameters(measure, symmetric, tiny_bert):
    parameters = {"alpha": 0.5, "beta": 0.5 if symmetric else 0.25}
    own = {name: parameters[name] for name in ("alpha", "beta") if name in rc.list_measures()[measure].parameters}
    texts = [*HUMAN, *MODEL]
    square = rc.pairwise_scores(texts, texts, "infolm", measure=measure, idf=False, model=tiny_bert, cache=False, **own)
    assert np.array_equal(square, square.T) == symmetric


APART = {"bertscore": 0.0, "moverscore": -1.0, "infolm": 1.0}
"""What an empty text scores by docs/pairs.md: 0, the opposite, the farthest that Fisher-Rao has."""


@pytest.mark.parametrize("name", BEST)
def test_empty_texts(name, tiny_bert):
    options = {"idf": False, **({"layers": 2} if name == "moverscore" else {}), **by_model(name, tiny_bert)}
    texts = ["", " \n", HUMAN[0], MODEL[0]]
    square = rc.pairwise_scores(texts, texts, name, **options)
    assert (square[:2, :2] == BEST[name]).all()
    assert (square[:2, 2:] == APART[name]).all() and (square[2:, :2] == APART[name]).all()
    result = getattr(rc, name)([HUMAN[0], ""], ["", HUMAN[0]], **options)
    assert result.arrays["f1_scores" if name == "bertscore" else "scores"].tolist() == [APART[name]] * 2
    given = [{"references": ("", HUMAN[0]), "candidates": ("", "")}]
    results = evaluated(name, tiny_bert, given, "trm-NAME,NAME")
    assert results.contexts[0]["scores"][name]["value"] == BEST[name]
    assert "3 of 4 texts are empty; they were kept" in results.warnings


@pytest.mark.traced
@pytest.mark.slow
def test_an_empty_text_where_a_measure_has_no_bound(tiny_bert):
    given = [{"id": "blank", "references": ("", HUMAN[0]), "candidates": MODEL}, CONTEXTS[0]]
    results = evaluated("infolm kl", tiny_bert, given, "trm-NAME,NAME,dispersion-NAME")
    alone = evaluated("infolm kl", tiny_bert, given[1:], "trm-NAME,NAME,dispersion-NAME")
    for total, expected in zip(results.totals, alone.totals, strict=True):
        assert (total.contexts, total.left_out) == (1, 1) and total.mean == pytest.approx(expected.mean, abs=1e-9)
    assert results.left_out["infolm"] == {"blank": "a text without words has no score"}
    # What is said of a context that is left, of as many texts as the other, is said under its own name.
    around = [f"{first} {second}" for first, second in zip(HUMAN, HUMAN[1:] + HUMAN[:1], strict=True)]
    alike = [{"id": name, "references": [first, *around], "candidates": [*HUMAN, MODEL[0]]}
             for name, first in (("blank", ""), ("round", MODEL[1]))]  # fmt: skip
    with pytest.raises(rc.InputError, match=r"^context round: no analytic p-value"):
        evaluated("infolm kl", tiny_bert, alike, "trm-NAME", pvalue="analytic")
    for call in (rc.triangle_rank, rc.aggregate, rc.dispersion):
        with pytest.raises(rc.InputError, match=r"^a text without words has no score by infolm with these options"):
            call(["", "a cat"], ["a dog"], "infolm", measure="kl", idf=False, model=tiny_bert, cache=False)


@pytest.mark.parametrize("name", BEST)
def test_one_candidate(name, tiny_bert):
    (record,) = evaluated(name, tiny_bert, [{"references": HUMAN, "candidates": MODEL[:1]}], pvalue=True).contexts
    assert record["scores"][f"trm-{name}"]["form"] == "Q(C, R)"
    assert record["scores"][f"trm-{name}"]["labellings"] == record["scores"][name]["labellings"] == 5


# What is said of a run


def test_the_signature_says_which_distance(tiny_bert):
    options = {"moverscore": {"layers": 2, "idf": False}, "infolm": {"measure": "l1", "temperature": 0.5}}
    results = rc.evaluate_contexts(
        CONTEXTS, "trm-bertscore,moverscore,trm-infolm", encoder=str(tiny_bert), model=tiny_bert, options=options,
        resume=False, cache=False,
    )  # fmt: skip
    by_name = results.signature["pairwise"]
    assert {name: own["distance"] for name, own in by_name.items()} == {
        "bertscore": "1 - f1", "moverscore": "1 - score", "infolm": "l1"
    }  # fmt: skip
    assert {name: own["idf"] for name, own in by_name.items()} == {
        "bertscore": "none", "moverscore": "none", "infolm": "references"
    }  # fmt: skip
    assert by_name["bertscore"]["layer"] == 3 and by_name["infolm"]["temperature"] == [0.5]
    assert by_name["bertscore"]["encoder"]["encoder"] == by_name["moverscore"]["encoder"]["encoder"]
    assert json.loads(results.to_json())["signature"]["pairwise"]["infolm"]["measure"] == ["l1"]


def test_warnings_of_the_scorers(tiny_bert):
    strange = [{"references": ("qqq xxx zzz", "www the"), "candidates": ("vvv",)}]
    (said,) = evaluated("bertscore", tiny_bert, strange, "trm-NAME").warnings
    assert "pieces of the texts" in said and "tiny-masked-bert" in said
    alone = rc.triangle_rank(["a cat"] * 2, ["a dog"], "infolm", model=tiny_bert, cache=False)
    assert any("idf weighs all pieces 0" in said for said in alone.warnings)


# Resuming


@pytest.mark.traced
@pytest.mark.slow
def test_an_interrupted_run_goes_on(tiny_bert, monkeypatch, tmp_path):
    words = ["cat", "dog", "bird", "fish", "tree"]
    given = [
        {"id": word, "references": (f"the {word} sat", f"qq {word} ran"), "candidates": (f"{word} on {word}", word)}
        for word in words
    ]
    monkeypatch.setattr(evaluation, "_CHUNK", 2)
    names = "trm-bertscore,bertscore,trm-infolm"

    def go():
        return rc.evaluate_contexts(
            given, names, encoder=str(tiny_bert), model=tiny_bert, pvalue=True, interval=0.9, cache=False
        )

    whole = go()
    encode, seen = WordStore._encode, []

    def stops(self, texts):
        seen.append(texts)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return encode(self, texts)

    monkeypatch.setattr(WordStore, "_encode", stops)
    with pytest.raises(KeyboardInterrupt, match="2 of 5 contexts are kept"):
        go()
    (journal,) = (tmp_path / "cache" / "runs").iterdir()
    assert journal.exists()
    again = go()
    assert not any("cat" in text for texts in seen[1:] for text in texts)  # finished before
    assert again.to_json() == whole.to_json() and again.to_jsonl() == whole.to_jsonl()
    assert again.warnings == whole.warnings and again.warnings


# What is refused


@pytest.mark.parametrize(
    "metrics, options, words",
    [
        ("infolm", {"options": {"infolm": {"measure": ["l1", "l2"]}}}, "one measure and one temperature, not 2"),
        ("infolm", {"options": {"infolm": {"temperature": [1, 2]}}}, "one measure and one temperature, not 2"),
        ("infolm", {"options": {"infolm": {"measure": "l3"}}}, "unknown information measure 'l3'"),
        ("infolm", {"options": {"infolm": {"measure": "alpha"}}}, "alpha"),
        ("infolm", {"options": {"infolm": {"idf": "yes"}}}, "idf must be true or false"),
        ("infolm", {"options": {"infolm": {"idf_from": "a cat"}}}, "idf_from must be a list of texts, not one string"),
        ("infolm", {"options": {"infolm": {"idf_from": ["a", 3]}}}, "text 1 of idf_from is not a string but int"),
        ("infolm", {"options": {"infolm": {"idf_from": ["\ud800"]}}}, "is not valid Unicode: half of a surrogate pair"),
        ("bertscore", {"options": {"bertscore": {"idf_from": ["a"]}}}, "was given idf_from, but no idf to count there"),
        ("trm-bertscore", {"options": {"bertscore": {"layer": 9}}}, "has layers 0 to 3, not 9"),
        ("trm-bertscore", {"options": {"bertscore": {"rescale": "x"}}}, "bertscore has no option 'rescale'"),
        ("trm-moverscore", {"options": {"moverscore": {"layers": 9}}}, "layers must be a whole number from 1 to 3"),
        ("trm-moverscore", {"options": {"moverscore": {"ngram": 3}}}, "ngram must be 1 or 2, not 3"),
        ("trm-bertscore", {"encoder": "bag-of-words"}, "bag-of-words has no vectors of single words"),
        ("trm-bertscore", {"encoder": lambda texts: texts}, "bertscore needs vectors of word pieces, which <function"),
        ("trm-bertscore", {"encoder": None, "pooling": "cls"}, "pooling was named, but no metric has vectors of whole"),
        ("trm-bertscore", {"encoder": None, "batch_size": 3}, "batch_size was named, but no metric has vectors of"),
        ("trm-bertscore", {"model": "bert"}, "a masked language model was named, but no metric has one"),
        ("trm-infolm", {"encoder": "bert"}, "an encoder was named, but no metric has vectors of whole texts"),
        ("meteor", {"encoder": None, "batch_tokens": 10}, "batch_tokens was named, but no metric needs vectors"),
        ("trm-bertscore", {"batch_tokens": 0}, "batch_tokens must be a whole number of at least 1"),
    ],
)  # fmt: skip
def test_refused(metrics, options, words, tiny_bert):
    usual = {"model": tiny_bert} if "infolm" in metrics else {"encoder": str(tiny_bert)}
    given = {name: value for name, value in {**usual, **options}.items() if value is not None}
    with pytest.raises(rc.InputError) as caught:
        rc.evaluate_contexts(CONTEXTS, metrics, resume=False, **given)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_idf_needs_texts_where_nobody_is_the_reference(tiny_bert):
    with pytest.raises(rc.InputError, match=r"^infolm weighs pieces by how few references have them: give idf_from="):
        rc.pairwise_scores(["a cat"], ["a dog"], "infolm", model=tiny_bert)


def test_halves_of_characters_and_numbers_too_large(tiny_bert):
    with pytest.raises(rc.InputError, match="is not valid Unicode: half of a surrogate pair"):
        rc.triangle_rank(["a cat", "\ud800 cat"], ["a dog"], "bertscore", encoder=tiny_bert)
    with pytest.raises(rc.InputError, match="is not valid Unicode: half of a surrogate pair"):
        rc.triangle_rank(["a cat", "\ud800 cat"], ["a dog"], "infolm", model=tiny_bert)
    with pytest.raises(rc.InputError, match="farther apart by infolm than a float can say"):
        rc.triangle_rank(
            HUMAN, MODEL, "infolm", measure="alpha", alpha=400.0, temperature=0.05, model=tiny_bert, cache=False
        )


# The command


@pytest.mark.traced
@pytest.mark.slow
def test_the_command(tiny_bert, tmp_path, capsys):
    path = tmp_path / "contexts.jsonl"
    path.write_text("".join(json.dumps(context) + "\n" for context in CONTEXTS), encoding="utf-8")
    names = "trm-bertscore,bertscore,trm-moverscore,trm-infolm"
    models = ["--encoder", str(tiny_bert), "--model", str(tiny_bert), "--no-cache", "--no-resume"]
    own = ["--layer", "1", "--layers", "2", "--measure", "l2", "--temperature", "0.5", "--no-idf"]
    command = ["contexts", str(path), "--metrics", names, "--pvalue", "--format", "json", *models]
    assert run([*command, *own]) == 0
    shown = json.loads(capsys.readouterr().out)
    options = {
        "bertscore": {"layer": 1, "idf": False},
        "moverscore": {"layers": 2, "idf": False},
        "infolm": {"measure": "l2", "temperature": 0.5, "idf": False},
    }
    results = rc.evaluate_contexts(
        CONTEXTS,
        names,
        pvalue=True,
        encoder=str(tiny_bert),
        model=tiny_bert,
        options=options,
        resume=False,
        cache=False,
    )
    assert shown["results"] == json.loads(results.to_json())["results"]
    assert shown["signature"]["pairwise"]["infolm"]["measure"] == ["l2"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--metrics", "trm-meteor", "--measure", "l1"], "--measure is for infolm, but the metrics are meteor"),
        (["--metrics", "mmd", "--layer", "1"], "--layer is for bertscore, but the metrics are others"),
        (["--metrics", "meteor", "--alpha", ".5"], "--alpha is for infolm, but the metrics are meteor"),
        (["--metrics", "trm-infolm", "--measure", "l1,l2"], "one measure and one temperature, not 2"),
        (["--metrics", "trm-infolm", "--temperature", "0"], "--temperature takes numbers above 0"),
        (["--metrics", "trm-infolm", "--measure", "js"], "jeffreys"),
        (["--metrics", "meteor", "--model", "x"], "a masked language model was named, but no metric has one"),
    ],
)
def test_the_command_refuses_in_one_sentence(arguments, words, tmp_path, capsys):
    path = tmp_path / "contexts.jsonl"
    path.write_text("".join(json.dumps(context) + "\n" for context in CONTEXTS), encoding="utf-8")
    output = tmp_path / "out.json"
    assert run(["contexts", str(path), *arguments, "--output", str(output)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1 and not output.exists()


def test_every_family_has_them():
    for name in BEST:
        assert {f"trm-{name}", name, f"{name}-best", f"{name}-mean", f"dispersion-{name}"} <= set(METRICS.all())
        assert rc.list_pairwise()[name].distance(np.array([BEST[name]])) == 0
    assert math.isinf(rc.list_pairwise()["infolm"].range[1])
