"""Many contexts at once: the same numbers as one by one, totals that add up, small contexts named and left out."""

import json
import math

import numpy as np
import pytest
from brute_force import aggregate_test, overlap, trm_test
from scipy import stats

import recapture as rc
from recapture.contexts import evaluate as evaluation
from recapture.contexts.declaration import METRICS
from recapture.contexts.uncertainty import combined


def context(name, references, candidates):
    return {"id": name, "references": references, "candidates": candidates}


MIXED = [
    context("a", ["ab", "abc", "cd"], ["ab", "dd"]),
    context("b", ["ab", "bc"], ["cc", "a", "ab", "bd"]),
    context("lonely", ["ab", "ba"], ["c"]),
    context("c", ["ddd", "ad", "ac"], ["ab", "aa"]),
    context("nothing", ["ab", "ba"], []),
    context("half", ["ab"], ["ab", "ba"]),
    context("d", ["bd", "cd", "ac"], ["ab", "ac"]),
]


def squares(given, distance):
    texts = given["references"] + given["candidates"]
    made = [[overlap(a, b) for b in texts] for a in texts]
    if not distance:
        return made
    return [[1 - made[i][j] if i != j else 0 for j in range(len(texts))] for i in range(len(texts))]


def by_id(results):
    return {record["id"]: record for record in results.contexts}


def test_every_context_against_fractions(toys):
    results = rc.evaluate_contexts(MIXED, "trm-toy,toy,toy-mean,toy-far", pvalue=True)
    found = by_id(results)
    assert list(found) == [given["id"] for given in MIXED]
    for given in MIXED:
        n, m = len(given["references"]), len(given["candidates"])
        record = found[given["id"]]
        assert (record["references"], record["candidates"]) == (n, m)
        if n < 2 or m < 1:
            assert record["scores"] == {}
            continue
        value, p, smallest, values = trm_test(squares(given, True), n)
        ranks = record["scores"]["trm-toy"]
        assert ranks["value"] == pytest.approx(float(value), abs=1e-14) and ranks["pvalue"] == float(p)
        assert ranks["smallest_pvalue"] == float(smallest)
        assert ranks["exact"] and ranks["labellings"] == len(values)
        assert ranks["form"] == ("Q(C, R)" if m == 1 else "Q(C, R) + Q(R, C)")
        for name, rule, higher in (("toy", "best", True), ("toy-mean", "mean", True), ("toy-far", "best", False)):
            scores = squares(given, False) if higher else [[1 - x for x in row] for row in squares(given, False)]
            value, p, _ = aggregate_test(scores, n, rule, higher)
            assert record["scores"][name]["value"] == pytest.approx(float(value), abs=1e-12)
            assert record["scores"][name]["pvalue"] == float(p)


def test_the_same_numbers_as_one_by_one(toys):
    options = {"ties": "paper", "directed": True}
    results = by_id(rc.evaluate_contexts(MIXED, ["trm-toy", "dispersion-toy"], pvalue=True, **options))
    for given in MIXED[:4]:
        sides = given["references"], given["candidates"]
        alone = rc.triangle_rank(*sides, distance="toy", pvalue=True, **options)
        record = results[given["id"]]["scores"]["trm-toy"]
        assert (record["value"], record["pvalue"]) == (alone.value, alone.pvalue)
        apart = rc.dispersion(*sides, distance="toy")
        assert record["central"] == apart["central"] and record["dispersion"] == apart["dispersion"]
        if len(given["candidates"]) > 1:
            own = results[given["id"]]["scores"]["dispersion-toy"]
            assert {side: own[side] for side in ("reference", "candidate")} == apart["dispersion"]
            assert own["central"] == apart["central"]


def test_texts_are_compared_once_for_all_metrics(toys):
    rc.evaluate_contexts(MIXED, "trm-toy,toy,toy-best,toy-mean,dispersion-toy", pvalue=True)
    scored = [tuple(hypotheses) for hypotheses, _ in toys]
    assert len(scored) == len(set(scored)) == 5  # of seven contexts two are too small for all


@pytest.mark.parametrize("chunk", [1, 2, 3, 64])
@pytest.mark.parametrize("pvalue", [True, 19])
def test_chunks_change_nothing(toys, monkeypatch, chunk, pvalue):
    metrics = "trm-toy,toy,mmd"
    options = {"pvalue": pvalue, "encoder": "bag-of-words", "seed": 3}
    whole = rc.evaluate_contexts(MIXED, metrics, **options)
    monkeypatch.setattr(evaluation, "_CHUNK", chunk)
    parts = rc.evaluate_contexts(MIXED, metrics, **options)
    assert parts.to_jsonl() == whole.to_jsonl() and parts.to_json() == whole.to_json()


def test_what_is_too_small_is_counted_named_and_left_out_of_means(toys):
    results = rc.evaluate_contexts(MIXED, "trm-toy,mmd", encoder="bag-of-words", pvalue=True)
    assert results.left_out == {
        "trm-toy": {"nothing": "0 candidates, needs 1", "half": "1 reference, needs 2"},
        "mmd": {"lonely": "1 candidate, needs 2", "nothing": "0 candidates, needs 2", "half": "1 reference, needs 2"},
    }
    assert sorted(results.notes) == [
        "2 contexts too small, left out of trm-toy: nothing (0 candidates, needs 1), half (1 reference, needs 2)",
        "3 contexts too small, left out of mmd: lonely (1 candidate, needs 2), nothing (0 candidates, needs 2), "
        "half (1 reference, needs 2)",
        # Of these texts of one word: abc, dd, bc, cc, a, c, ddd, ad and aa.
        "9 of 29 texts of the contexts share no word with any other of them: word counts cannot tell how alike they "
        "are (are there blanks between words?)",
    ]
    ranks, lone, kernel = results.totals
    assert (ranks.contexts, lone.contexts, kernel.contexts) == (4, 1, 4)
    assert (ranks.left_out, lone.left_out, kernel.left_out) == (2, 2, 3)
    # One candidate has Q alone: a number of its own, never in one mean with TRM.
    assert (ranks.number, lone.number) == ("value, Q(C, R) + Q(R, C)", "value, Q(C, R)")
    scored = {record["id"]: record["scores"]["trm-toy"]["value"] for record in results.contexts if record["scores"]}
    assert lone.mean == scored.pop("lonely") and ranks.mean == pytest.approx(sum(scored.values()) / 4)


def test_words_that_no_reference_has_are_told(toys):
    """29 words, of which dd, cc, a, c and aa are in no reference; where sides are tested, both make one vocabulary."""
    said = "17.2% of the words of the contexts are unknown to bag-of-words: it does not see how texts differ in them"
    assert said in rc.evaluate_contexts(MIXED, "mmd", encoder="bag-of-words").notes
    assert said not in rc.evaluate_contexts(MIXED, "mmd", encoder="bag-of-words", pvalue=True).notes


def test_a_text_of_one_word_has_no_bigrams_and_is_named():
    given = [context("words", ["one", "two"], ["three", "four"]), context("more", ["a b c", "a b"], ["a b", "c d"])]
    results = rc.evaluate_contexts(given, "distinct-2,distinct-1")
    assert results.left_out == {"distinct-2": {"words": "nothing to measure in reference texts"}}
    assert [(total.contexts, total.left_out) for total in results.totals] == [(1, 1), (1, 1), (2, 0), (2, 0)]


def test_texts_are_encoded_once_for_all_metrics_of_vectors():
    seen = []

    def encoder(texts):
        seen.extend(texts)
        return [[len(text), text.count("a"), 1] for text in texts]

    given = [context("x", ["a b", "b c c", "a"], ["c", "b b"])]
    rc.evaluate_contexts(given, "mmd,trm-embedding,embedding", encoder=encoder)
    assert sorted(seen) == sorted(["a b", "b c c", "a", "c", "b b"])


def test_bags_of_words_are_the_same_for_one_context_and_many():
    references, candidates = ["a b c", "b c", "a a c d"], ["a e", "c c e f", "b"]
    (record,) = rc.evaluate_contexts(
        [context("x", references, candidates)], "trm-embedding,embedding", encoder="bag-of-words"
    ).contexts
    alone = rc.triangle_rank(references, candidates, distance="embedding", encoder="bag-of-words")
    assert record["scores"]["trm-embedding"]["value"] == alone.value
    mean = rc.aggregate(references, candidates, metric="embedding", encoder="bag-of-words")
    assert record["scores"]["embedding"]["value"] == mean.value


def test_contexts_without_vectors_beside_contexts_with_them(toys):
    """One candidate is enough for a triangle, not for a kernel: a context may need one and not the other."""
    for order in (MIXED[:3], MIXED[2::-1]):
        found = by_id(rc.evaluate_contexts(order, "trm-toy,mmd", encoder="bag-of-words"))
        assert set(found["lonely"]["scores"]) == {"trm-toy"} and set(found["a"]["scores"]) == {"trm-toy", "mmd"}


def test_vectors_of_a_context_are_those_of_its_texts():
    texts = {"x": (["a b", "b c c", "a"], ["c", "b b"]), "y": (["d", "d a"], ["a a a", "b d c"])}
    given = [context(name, *sides) for name, sides in texts.items()]
    found = by_id(
        rc.evaluate_contexts(given, "mmd,frechet", encoder=lambda batch: [[len(t), t.count("a")] for t in batch])
    )
    for name, sides in texts.items():
        vectors = [np.array([[len(t), t.count("a")] for t in side], float) for side in sides]
        for metric in ("mmd", "frechet"):
            alone = getattr(rc, metric)(*vectors)
            assert found[name]["scores"][metric]["value"] == pytest.approx(alone.value, abs=1e-9)


def test_when_nothing_can_be_scored(toys):
    results = rc.evaluate_contexts([context("x", [], []), context("y", ["a"], [])], "trm-toy,toy", pvalue=True)
    assert all(math.isnan(total.mean) and total.contexts == 0 and total.left_out == 2 for total in results.totals)
    assert results.totals[0].pvalues is None and results.totals[0].interval is None
    assert " - " in str(results) and '"mean": null' in results.to_json()
    assert results.notes == [
        "2 contexts too small, left out of trm-toy, toy: x (0 references, needs 2), y (1 reference, needs 2)"
    ]
    cider = rc.evaluate_contexts([context("x", [], ["a"])], "trm-cider")
    assert cider.totals[0].contexts == 0


def test_totals_add_up(toys):
    """Means, Student's interval and combined p-values, from SciPy on the contexts' own numbers."""
    kept = [each for each in MIXED if each["id"] != "lonely"]
    results = rc.evaluate_contexts(kept, "trm-toy,toy", pvalue=True, interval=0.4)
    for total in results.totals:
        scored = [record["scores"][total.metric] for record in results.contexts if record["scores"]]
        values, p = ([each[key] for each in scored] for key in ("value", "pvalue"))
        assert total.mean == pytest.approx(np.mean(values)) and total.contexts == 4
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.4)
        assert total.interval == pytest.approx((low, high))
        made = total.pvalues
        assert made.harmonic_mean == pytest.approx(stats.hmean(p))
        assert made.fisher == pytest.approx(stats.combine_pvalues(p).pvalue)
        assert made.harmonic_mean_corrected == rc.harmonic_mean_p(p).corrected
        assert made.below == np.mean(np.array(p) <= 0.05)
        assert made.below_bh == np.mean(stats.false_discovery_control(p) <= 0.05)
        assert made.below_holm == np.mean(rc.holm(p) <= 0.05)
        assert made.mean_log10 == pytest.approx(np.mean(np.log10(p)))
        assert made.smallest == pytest.approx(np.median([each["smallest_pvalue"] for each in scored]))


def test_shares_below_a_level(toys):
    """20 contexts: 12 far apart at the smallest p of 5 v 5, 2/252, and 8 of equal texts at 1.

    Benjamini and Hochberg find the 12: 2/252 x 20 / 12 = .013; Holm does not: 2/252 x 20 = .159.
    """
    far = [
        context(f"far {i}", ["aa", "aaa", "aab", "aba", "baa"], ["cc", "ccc", "ccd", "cdc", "dcc"]) for i in range(12)
    ]
    same = [context(f"same {i}", ["ab"] * 5, ["ab"] * 5) for i in range(8)]
    (total,) = rc.evaluate_contexts(far + same, "trm-toy", pvalue=True).totals
    made = total.pvalues
    assert (made.below, made.below_bh, made.below_holm) == (0.6, 0.6, 0.0) and made.level == 0.05
    assert made.harmonic_mean == pytest.approx(20 / (12 * 126 + 8))


def test_a_p_value_at_the_level_is_below_it():
    """As in a test at that level: 1 of 20 is found at .05. Adjusted, 2 x .05 is not."""
    made = combined(np.array([1 / 20, 1.0]), [1 / 20, 1 / 20], 0.05)
    assert (made.below, made.below_bh, made.below_holm) == (0.5, 0.0, 0.0)
    alone = combined(np.array([1 / 20]), [1 / 20], 0.05)
    assert alone.below == alone.below_bh == alone.below_holm == 1


def test_texts_that_are_all_equal():
    """TRM 0, MMD 0, Fréchet 0, and p = 1."""
    given = [
        context("x", ["the same old text"] * 4, ["the same old text"] * 4),
        context("y", ["a b", "c"], ["d", "e f"]),
    ]
    results = by_id(rc.evaluate_contexts(given, "trm-cider,mmd,frechet", encoder="bag-of-words", pvalue=True))["x"]
    for metric in ("trm-cider", "mmd", "frechet"):
        assert results["scores"][metric]["value"] == pytest.approx(0, abs=1e-12)
        assert results["scores"][metric]["pvalue"] == 1 == results["scores"][metric]["smallest_pvalue"]


def test_document_frequencies_come_from_all_references():
    given = [
        context("x", ["a dog runs in a field", "the dog is out there"], ["a dog runs", "a cat sits on a mat"]),
        context("y", ["two cats sleep on a mat", "cats lie on a sofa"], ["two cats sleep on a mat"]),
        context("one", ["a red bus"], []),
        context("empty", [], ["a red bus"]),
    ]
    results = rc.evaluate_contexts(given, "cider,trm-cider")
    df = rc.DocumentFrequencies.from_references([each["references"] for each in given if each["references"]])
    assert results.signature["pairwise"]["cider"]["df"] == df.identity()
    for each in given[:2]:
        record = by_id(results)[each["id"]]["scores"]
        alone = rc.cider([each["references"]] * len(each["candidates"]), each["candidates"], df=df)
        assert record["cider"]["value"] == pytest.approx(alone.value, abs=1e-12)
    other = rc.DocumentFrequencies.from_references([["a dog"], ["a cat"], ["a bus"], ["two cats"]])
    chosen = rc.evaluate_contexts(given, "cider", options={"cider": {"df": other}})
    assert chosen.signature["pairwise"]["cider"]["df"] == other.identity()
    assert chosen.totals[0].mean != results.totals[0].mean


def test_what_makes_numbers_say_little_is_said():
    lone = rc.evaluate_contexts([context("x", ["a dog runs", ""], ["a cat sits", " "])], "trm-cider")
    assert [note.partition(":")[0] for note in lone.notes] == [
        "2 of 4 texts are empty; they were kept",
        "CIDEr-D's document frequencies come from a single document",
    ]
    assert '"warnings": [\n    "2 of 4 texts' in lone.to_json()


def test_seeds_sampling_and_exact(toys):
    letters = [chr(97 + i) * (1 + i % 3) + chr(97 + i % 7) for i in range(26)]
    given = [context("big", letters[:13], letters[13:]), context("small", ["ab", "bc"], ["cd", "da"])]
    first, again, other = (rc.evaluate_contexts(given, "trm-toy", pvalue=True, seed=seed) for seed in (0, 0, 1))
    assert first.to_jsonl() == again.to_jsonl()
    scores = by_id(first)
    assert scores["big"]["scores"]["trm-toy"]["labellings"] == 10_000
    assert not scores["big"]["scores"]["trm-toy"]["exact"] and scores["small"]["scores"]["trm-toy"]["exact"]
    assert first.signature["seed"] == 0 and other.signature["seed"] == 1
    with pytest.raises(rc.InputError, match=r"context big2: 14 references .* too many for an exact p-value"):
        rc.evaluate_contexts([given[1], context("big2", letters[:14], letters[12:])], "trm-toy", pvalue="exact")


def test_no_p_values_where_a_metric_has_none(toys):
    results = rc.evaluate_contexts(MIXED, "dispersion-toy,toy", pvalue=True)
    assert [total.pvalues is None for total in results.totals] == [True, True, False]
    assert [(total.metric, total.number) for total in results.totals[:2]] == [
        ("dispersion-toy", "reference"), ("dispersion-toy", "candidate"),
    ]  # fmt: skip


def test_why_a_metric_has_no_p_values_is_said(toys):
    results = rc.evaluate_contexts(MIXED, "dispersion-toy,toy,distinct-1", pvalue=True)
    why = "each side is measured by itself, so there is no difference to test"
    said = f"-: dispersion-toy, distinct-1 have no p-value: {why}"
    assert said in str(results).splitlines() and said in results.to_markdown() and said in results.to_html()
    totals = json.loads(results.to_json())["results"]["totals"]
    assert {total["metric"]: total["no_pvalue"] for total in totals} == {
        "dispersion-toy": why, "toy": None, "distinct-1": why
    }  # fmt: skip
    assert all((total["pvalues"] is None) == (total["metric"] != "toy") for total in totals)
    assert why not in str(rc.evaluate_contexts(MIXED, "dispersion-toy,toy"))  # nobody asked
    assert why not in str(rc.evaluate_contexts(MIXED, "toy", pvalue=True))
    with pytest.raises(rc.InputError, match=f"^dispersion-toy, distinct-1 have no p-value: {why}$"):
        rc.evaluate_contexts(MIXED, "dispersion-toy,distinct-1", pvalue=True)
    rc.evaluate_contexts(MIXED, "dispersion-toy", pvalue=None)


def test_the_usual_metrics():
    names = "trm-meteor,trm-cider,trm-embedding,mmd,frechet,mauve,meteor,cider"
    assert [metric.name for metric in METRICS.choose(None)] == names.split(",")


def test_names_of_metrics(toys):
    chosen = METRICS.choose(" TRM_Toy, toy ,,trm-toy")
    assert [metric.name for metric in chosen] == ["trm-toy", "toy"]
    known = METRICS.all()
    assert {"trm-toy", "toy-best", "toy-mean", "dispersion-toy", "mmd", "frechet", "self-bleu", "distinct-1"} <= set(
        known
    )
    for wrong, words in (
        ("trm-tyo", "did you mean trm-toy"),
        ("", "no metric"),
        (" , ", "no metric"),
        ([], "no metric"),
    ):
        with pytest.raises(rc.InputError, match=words):
            METRICS.choose(wrong)


@pytest.mark.parametrize(
    "contexts, options, words",
    [
        ([], {}, "there are no contexts"),
        ([MIXED[0], MIXED[0]], {}, "same id 'a'"),
        (MIXED, {"metrics": "trm-toi"}, "did you mean"),
        (MIXED, {"ties": "printed"}, "ties"),
        (MIXED, {"pvalue": "yes"}, "pvalue must be"),
        (MIXED, {"pvalue": True, "metrics": "dispersion-toy"}, "dispersion-toy has no p-value"),
        (MIXED, {"ties": "paper", "metrics": "toy"}, "ties is about triangle ranks"),
        (MIXED, {"directed": True, "metrics": "toy"}, "directed is about triangle ranks"),
        (MIXED, {"batch_size": 2}, "batch_size was named, but no metric needs vectors"),
        (MIXED, {"pvalue": 0}, "pvalue must be"),
        (MIXED, {"interval": 95}, "between 0 and 1"),
        (MIXED, {"interval": True}, "between 0 and 1"),
        (MIXED, {"seed": -1}, "seed"),
        (MIXED, {"encoder": "bag-of-words"}, "no metric needs vectors"),
        (MIXED, {"device": "cpu", "metrics": "toy"}, "no metric needs vectors"),
        (MIXED, {"device": "gpu"}, "no such kind of device is known"),
        (MIXED, {"options": {"cider": {"df": 1}}}, "options for 'cider', but no metric is built on it"),
        (MIXED, {"options": {"toy": {"tern": 1}}}, "did you mean turn"),
    ],
)
def test_what_cannot_be_evaluated(toys, contexts, options, words):
    with pytest.raises(rc.InputError, match=words):
        rc.evaluate_contexts(contexts, **{"metrics": "trm-toy", **options})
    assert not toys  # refused before the first text was scored


def test_a_misspelt_option_is_no_option(toys):
    with pytest.raises(TypeError, match="intervall"):
        rc.evaluate_contexts(MIXED, "trm-toy", intervall=0.9)


def test_the_signature_says_how(toys):
    results = rc.evaluate_contexts(
        MIXED, "trm-toy,mmd", encoder="bag-of-words", options={"toy": {"turn": 0.5}}, interval=0.9, ties="paper"
    )
    signature = results.signature
    assert signature["pairwise"] == {"toy": {"turn": 0.5}} and signature["encoder"]["encoder"] == "bag-of-words"
    assert (signature["ties"], signature["directed"], signature["pvalue"]) == ("paper", False, False)
    assert signature["interval"] == 0.9 and signature["metrics"] == ["trm-toy", "mmd"]
    assert signature["versions"]["numpy"] == np.__version__ and len(results) == len(MIXED)


def test_what_relabelled_sides_score_is_the_mean_of_the_null(toys):
    results = rc.evaluate_contexts(MIXED[:1], "trm-toy,toy", pvalue=True)
    scores = results.contexts[0]["scores"]
    sides = MIXED[0]["references"], MIXED[0]["candidates"]
    for name, call in (("trm-toy", lambda **o: rc.triangle_rank(*sides, distance="toy", **o)), ("toy", None)):
        alone = call(pvalue=True) if call else rc.aggregate(*sides, metric="toy", pvalue=True)
        assert scores[name]["relabelled_value"] == pytest.approx(alone.null.mean())
    assert [total.relabelled for total in results.totals] == [scores[n]["relabelled_value"] for n in ("trm-toy", "toy")]


def test_worst_contexts_come_first(toys):
    results = rc.evaluate_contexts(MIXED, "trm-toy,toy", pvalue=True)
    found = results.worst("trm-toy", 3)
    p = [record["scores"]["trm-toy"]["pvalue"] for record in found]
    assert len(found) == 3 and p == sorted(p)
    assert p[0] == min(r["scores"]["trm-toy"]["pvalue"] for r in results.contexts if "trm-toy" in r["scores"])
    without = rc.evaluate_contexts(MIXED, "toy").worst("toy", 2)
    values = [record["scores"]["toy"]["value"] for record in without]
    assert values == sorted(values)  # higher is better, so the lowest is the worst
    with pytest.raises(rc.InputError, match="did you mean trm-toy"):
        results.worst("trm-tow")


def varied(rng, count):
    """Words that begin alike and end soon or late: those of middle length are near to all others."""
    return ["abcdefghijklmnopqrst"[:length] for length in rng.binomial(20, 0.5, count)]


@pytest.mark.traced
@pytest.mark.slow
def test_analytic_p_values_of_contexts(toys):
    """As those of each context alone; contexts too small for good ones are counted in a warning."""
    rng = np.random.default_rng(5)
    given = [
        {"id": name, "references": varied(rng, size), "candidates": varied(rng, 22)}
        for name, size in (("large", 24), ("small", 9))
    ]
    results = rc.evaluate_contexts(given, "trm-toy", pvalue="analytic", resume=False)
    scores = by_id(results)
    for context in given:
        alone = rc.triangle_rank(context["references"], context["candidates"], "toy", pvalue="analytic")
        found = scores[context["id"]]["scores"]["trm-toy"]
        assert (found["value"], found["pvalue"]) == (alone.value, alone.pvalue)
        assert found["exact"] is False and found["labellings"] == 0 and 2 / 3 <= found["projected"] <= 1
        # What relabelled sides score on average, by 2,000 of them.
        sampled = rc.triangle_rank(context["references"], context["candidates"], "toy", pvalue=2_000)
        assert found["relabelled_value"] == pytest.approx(sampled.nulls["value"].mean(), rel=0.1)
    assert "analytic p-values are rough in 1 contexts with fewer than 20 texts a side" in results.notes
    assert results.signature["pvalue"] == "analytic"


@pytest.mark.parametrize(
    "metrics, more, said",
    [
        ("trm-toy,toy", {}, "triangle ranks alone have analytic p-values"),
        ("trm-toy", {"ties": "paper"}, "an analytic p-value needs ties that share the credit"),
        ("trm-toy", {"references": 4}, "context 1: 4 references and 20 candidates are too few for an analytic p-value"),
        ("trm-toy", {"alike": True}, "context 1: no analytic p-value: single texts explain"),
    ],
)
def test_analytic_p_values_that_contexts_cannot_have(toys, metrics, more, said):
    rng = np.random.default_rng(6)
    more = dict(more)
    references, alike = more.pop("references", 20), more.pop("alike", False)
    sides = [varied(rng, 20) for _ in range(2)]
    if alike:  # two letters each, any two as often: none stands out, pairs decide
        pairs = ["".join(rng.choice(list("abcde"), 2, replace=False)) for _ in range(40)]
        sides = [pairs[:20], pairs[20:]]
    context = {"references": sides[0][:references], "candidates": sides[1]}
    with pytest.raises(rc.InputError, match=said):
        rc.evaluate_contexts([context], metrics, pvalue="analytic", resume=False, **more)


def test_contexts_without_an_analytic_p_value_are_left_out_and_named(toys):
    """Those that the limit law does not fit, and those too small for it; the others are as they are by themselves."""
    rng = np.random.default_rng(6)
    pairs = ["".join(rng.choice(list("abcde"), 2, replace=False)) for _ in range(40)]  # none stands out, pairs decide
    good = [{"id": name, "references": varied(rng, 20), "candidates": varied(rng, 20)} for name in ("a", "b")]
    unfit = {"id": "even", "references": pairs[:20], "candidates": pairs[20:]}
    small = {"id": "few", "references": varied(rng, 4), "candidates": varied(rng, 20)}
    asked = {"pvalue": "analytic", "resume": False}
    alone = rc.evaluate_contexts(good, "trm-toy", **asked)
    results = rc.evaluate_contexts([good[0], unfit, good[1], small], "trm-toy", **asked)
    (total,), (expected,) = results.totals, alone.totals
    assert (total.contexts, total.left_out) == (2, 2)
    assert (total.mean, total.pvalues, total.relabelled) == (expected.mean, expected.pvalues, expected.relabelled)
    (note,) = (note for note in results.notes if "left out" in note)
    assert note.startswith("2 contexts left out of trm-toy: even (no analytic p-value: single texts explain ")
    assert "few (4 references and 20 candidates are too few for an analytic p-value" in note
    with pytest.raises(rc.InputError, match=r"^context even: no analytic .*; the other 1 have none, either: ask for a"):
        rc.evaluate_contexts([unfit, small], "trm-toy", **asked)


def test_what_an_encoder_learnt_from_is_said():
    rng = np.random.default_rng(2)
    words = [f"w{number}" for number in range(30)]
    sides = [[" ".join(rng.choice(words, 6)) for _ in range(6)] for _ in range(2)]
    context = {"references": sides[0], "candidates": sides[1]}
    asked = {"metrics": "mmd", "encoder": "bag-of-words", "resume": False}
    tested = rc.evaluate_contexts([context], pvalue=True, **asked)
    assert tested.signature["encoder"]["learnt from"] == "all texts, blind to sides"
    assert "vectors: bag-of-words, learnt from all texts, blind to sides, as p-values ask for" in str(tested)
    plain = rc.evaluate_contexts([context], **asked)
    assert plain.signature["encoder"]["learnt from"] == "the references" and "learnt from" not in str(plain)
