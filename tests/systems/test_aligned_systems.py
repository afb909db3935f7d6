"""Systems on the same items: swaps and resamples against plain loops over sacrebleu, and against scipy's tests."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from scipy import stats

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.pairs.declaration import METRICS
from recapture.pairs.evaluate import Shared, aligned_texts, measured_pairs
from recapture.systems.evidence import Evidence, enough_labellings, smallest_adjusted
from recapture.systems.of_items import RESAMPLES, ItemSystems, mean_number
from recapture.systems.of_pairs import _numbers
from recapture.systems.smallest_difference import smallest_shifts

WORDS = "the a cat dog bird sat lay ran on under mat tree all day it rained".split()  # noqa: SIM905 - read at once


def texts(seed: int, count: int, least: int = 0) -> list[str]:
    """Made of few words, so that n-grams meet; some have one word, or none."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(least, 9))) for _ in range(count)]


def worsened(kept: list[str], share: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(word if rng.random() > share else rng.choice(WORDS) for word in text.split()) for text in kept]


def against(references, systems, metrics, options=None, groups=None):
    """The systems' counts, item by item in the order given."""
    chosen = METRICS.choose(metrics)
    own = METRICS.own_parameters(chosen, options)
    aligned = aligned_texts(references, systems)
    measured = measured_pairs([(metric, own[metric.name]) for metric in chosen], aligned, None, Shared())
    return ItemSystems(_numbers(measured)[0], range(len(references)), groups, 3, "item")


def by_sacrebleu(references, candidates) -> dict[str, float]:
    """BLEU, chrF++ and TER of a corpus by sacrebleu's own functions of corpora."""
    streams = list(itertools.zip_longest(*references))
    return {
        "bleu": sacrebleu.corpus_bleu(candidates, streams, force=True).score / 100,
        "chrf": sacrebleu.corpus_chrf(candidates, streams, word_order=2).score / 100,
        "ter": sacrebleu.corpus_ter(candidates, streams).score / 100,
    }


REFERENCES = [
    [one, other] if number % 3 else [one]
    for number, (one, other) in enumerate(zip(texts(1, 25, 1), texts(2, 25, 1), strict=True))
]
SYSTEMS = {"a": worsened([group[0] for group in REFERENCES], 0.2, 5), "b": texts(4, 25)}
CORPUS = ["bleu", "chrf", "ter"]
OPTIONS = {"chrf": {"word_order": 2}}


def test_corpus_numbers_of_every_resample_are_sacrebleus():
    systems = against(REFERENCES, SYSTEMS, CORPUS, OPTIONS)
    drawn = systems.resampled()
    weights = np.concatenate(list(systems._weights()))
    assert weights.shape == (RESAMPLES, 25)
    for place, row in enumerate(weights[:10]):
        chosen = np.repeat(np.arange(25), row).tolist()
        for system, written in SYSTEMS.items():
            expected = by_sacrebleu([REFERENCES[at] for at in chosen], [written[at] for at in chosen])
            assert drawn[system][:, place].tolist() == pytest.approx([expected[name] for name in CORPUS], abs=1e-12)


def test_corpus_numbers_under_every_swap_are_sacrebleus():
    systems = against(REFERENCES, SYSTEMS, CORPUS, OPTIONS)
    null = systems.evidence(0.05)["a", "b"].nulls
    swaps = np.concatenate(list(systems._swaps(systems.plan(0.05))))
    assert not swaps[0].any()
    assert null.shape == (3, 1000)
    assert len(systems._moving) == 25  # else the columns of swaps would be fewer
    for place, swapped in enumerate(swaps[:10].tolist()):
        sides = [
            [SYSTEMS[mine if not moved else other][at] for at, moved in enumerate(swapped)]
            for mine, other in (("a", "b"), ("b", "a"))
        ]
        first, second = (by_sacrebleu(REFERENCES, side) for side in sides)
        assert null[:, place].tolist() == pytest.approx([first[name] - second[name] for name in CORPUS], abs=1e-12)


def test_corpus_meteor_of_every_resample_is_that_of_its_texts():
    """By the metric itself on the texts of each resample, written out: repeats and all."""
    systems = against(REFERENCES, SYSTEMS, ["corpus-meteor"])
    drawn = systems.resampled()
    for place, row in enumerate(next(systems._weights())[:10]):
        chosen = np.repeat(np.arange(25), row).tolist()
        for system, written in SYSTEMS.items():
            expected = rc.corpus_meteor([REFERENCES[at] for at in chosen], [written[at] for at in chosen]).value
            assert drawn[system][0, place] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("references", "candidates"),
    [
        (["a b c d e"], ["x"]),  # nothing in common
        (["a b c d e"], ["a"]),  # no n-grams of higher orders
        (["a b c d e"], [""]),
        (["a b c d e"], ["a x c y e z"]),  # found words, but no pairs
        (["a b c d", "e f g h"], ["a b c d", "e f g h"]),
        (["a b c d e f g"], ["a b c d"]),  # short
    ],
)
def test_corpus_numbers_at_the_edges(references, candidates):
    values = against([[text] for text in references] * 2, {"a": candidates * 2, "b": candidates * 2}, CORPUS, OPTIONS)
    expected = by_sacrebleu([[text] for text in references] * 2, candidates * 2)
    assert values.values()["a"].tolist() == pytest.approx([min(1, expected["bleu"]), expected["chrf"], expected["ter"]])


def test_exact_swaps_are_scipys_paired_permutation_test():
    """Eight items: all ways to swap. scipy permutes within pairs ("samples")."""
    rng = np.random.default_rng(7)
    a, b = rng.random(8), rng.random(8) + 0.3
    number, said = mean_number("score", "higher", {"a": a, "b": b})
    assert number is not None
    assert not said
    systems = ItemSystems([number], range(8), None, 0, "item")
    null = systems.evidence(0.05)["a", "b"].nulls[0]
    assert len(null) == 2**7
    mine = np.mean(np.abs(null) >= abs(null[0]) - 1e-12)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: abs(np.mean(x) - np.mean(y)), permutation_type="samples", alternative="greater",
        n_resamples=np.inf,
    )  # fmt: skip
    assert mine == pytest.approx(theirs.pvalue)


def test_whole_groups_are_swapped():
    """By plain loops over all ways to swap whole groups."""
    rng = np.random.default_rng(8)
    a, b = rng.random(12), rng.random(12) + 0.2
    groups = [0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 5, 6]
    number, _ = mean_number("score", "higher", {"a": a, "b": b})
    assert number is not None
    systems = ItemSystems([number], range(12), groups, 0, "item")
    null = systems.evidence(0.05)["a", "b"].nulls[0]
    expected = []
    for flips in itertools.product((1, -1), repeat=7):
        total = math.fsum(flips[group] * (one - other) for group, one, other in zip(groups, a, b, strict=True))
        expected.append(total / 12)
    assert sorted(np.abs(null).tolist() * 2) == pytest.approx(sorted(map(abs, expected)))


def test_spread_and_interval_of_a_mean_are_students():
    """The interval of the mean of paired differences, by scipy; 1,000 resamples know a spread to about 2 %."""
    rng = np.random.default_rng(9)
    references = [f"item {number}" for number in range(30)]
    scores = {"a": rng.random(30), "b": rng.random(30)}
    number, _ = mean_number("score", "higher", scores)
    assert number is not None
    systems = ItemSystems([number], range(30), None, 0, "item")
    found = _differences(systems)["score"]
    theirs = stats.ttest_rel(scores["a"], scores["b"])
    low, high = theirs.confidence_interval(0.95)
    assert found.value == pytest.approx(float(np.mean(scores["a"] - scores["b"])))
    assert found.high - found.low == pytest.approx(high - low, rel=0.08)
    assert found.pvalue == pytest.approx(theirs.pvalue, abs=0.03)
    assert len(references) == systems.items


def _differences(systems):
    from recapture.systems.evidence import differences

    return differences(systems.evidence(0.05), [number.name for number in systems.numbers], 0.95, 0)["a", "b"]


def test_values_are_those_of_evaluate_pairs():
    names = ["bleu", "chrf", "ter", "rouge", "meteor", "corpus-meteor", "cross-entropy"]
    compared = rc.compare_pairs(REFERENCES, SYSTEMS, names)
    results = rc.evaluate_pairs(REFERENCES, SYSTEMS, names)
    for system, of_system in compared.values.items():
        for name, value in of_system.items():
            metric, _, number = name.partition(".")
            assert value == pytest.approx(results[system][metric].values[number or "value"]), name
    assert "cross-entropy.forward" in compared.numbers
    assert "cross-entropy.reverse" not in compared.numbers
    assert any("cross-entropy.reverse" in note for note in compared.notes)


def test_order_of_items_and_of_systems_changes_nothing():
    order = np.random.default_rng(1).permutation(25).tolist()
    one = rc.compare_pairs(REFERENCES, SYSTEMS, "bleu,meteor", groups=[number // 3 for number in range(25)])
    other = rc.compare_pairs(
        [REFERENCES[at][::-1] for at in order],
        {name: [SYSTEMS[name][at] for at in order] for name in ("b", "a")},
        "bleu,meteor",
        groups=[f"group {at // 3}" for at in order],
    )
    assert one.settings["groups"] == 9
    for name, each in one.differences["a", "b"].items():
        assert vars(other.differences["a", "b"][name]) == pytest.approx(vars(each), abs=1e-12)


@pytest.mark.traced
@pytest.mark.slow
def test_labellings_are_raised_until_a_small_p_can_be():
    """Ten systems are 45 pairs: with 999 labellings no adjusted p-value could be below .045."""
    for pairs, level in ((1, 0.05), (3, 0.05), (45, 0.05), (3, 0.01), (190, 0.001)):
        assert smallest_adjusted(pairs, enough_labellings(pairs, level)) < level / 5
    people = texts(1, 40, 4)
    systems = {f"system {number}": worsened(people, 0.1 * number, number) for number in range(10)}
    compared = rc.compare_pairs(people, systems, "bleu")
    assert compared.settings["labellings"] >= 4499
    assert compared.settings["smallest_adjusted"] < 0.01
    assert compared.ranks["system 0"] == 1
    assert compared.differences["system 0", "system 9"]["bleu"].adjusted <= 0.011
    assert "by 4,500 random swaps" in compared.settings["said"][1]
    assert compared.settings["said"][1].endswith("the smallest there can be: 0.01")


def test_too_few_items_say_that_nothing_can_be_told():
    people = ["a cat sat on the mat", "it rained all day", "a dog ran under a tree"]
    compared = rc.compare_pairs(people, {"good": people, "bad": ["x", "y", "z"]}, "chrf")
    assert compared.settings["smallest_adjusted"] == 0.25  # of four ways to swap
    assert compared.tied("good", "bad")
    assert compared.verdict[-1] == "With 3 items no difference can be told, however large: p is never below 0.25."


def test_equal_outputs_are_not_swapped():
    """Only eight of 300 items differ: all 128 ways to swap them are looked at, and the p-value is scipy's on those."""
    rng = np.random.default_rng(2)
    a = rng.random(300)
    b = a.copy()
    b[40:48] += rng.random(8) - 0.2
    number, _ = mean_number("score", "higher", {"a": a, "b": b})
    assert number is not None
    systems = ItemSystems([number], range(300), None, 0, "item")
    assert systems.settings(0.05, 0.95)["labellings"] == 127
    assert systems.settings(0.05, 0.95)["smallest_adjusted"] == 1 / 128
    theirs = stats.permutation_test(
        (a[40:48], b[40:48]), lambda x, y: abs(np.mean(x) - np.mean(y)), permutation_type="samples",
        alternative="greater", n_resamples=np.inf,
    )  # fmt: skip
    assert _differences(systems)["score"].distinct == pytest.approx(theirs.pvalue)


def test_systems_that_write_the_same():
    people = texts(3, 20, 4)
    near = worsened(people, 0.3, 1)
    compared = rc.compare_pairs(people, {"one": near, "other": near}, "bleu,chrf")
    assert compared.tied("one", "other")
    assert {each.pvalue for each in compared.differences["one", "other"].values()} == {1}
    assert compared.verdict[1:] == ["one and other have written the same at 20 of 20 items."]


def test_verdict_says_what_is_told_and_what_is_not():
    people = texts(3, 60, 5)
    near = worsened(people, 0.2, 1)
    compared = rc.compare_pairs(people, {"near": near, "same": near, "far": worsened(people, 0.6, 2)}, "bleu,chrf")
    assert compared.ranks == {"near": 1, "same": 1, "far": 3}
    assert compared.tied("near", "same")
    assert compared.differences["far", "near"]["bleu"].value == -compared.differences["near", "far"]["bleu"].value
    said = "\n".join(compared.verdict)
    assert "near is closer than far by 2 of 2 numbers (bleu, chrf)" in said
    assert "near and same have written the same at 60 of 60 items." in said
    assert (
        "With 60 items differences of about these sizes would be found in 4 of 5 cases, smaller ones may go unseen: "
        in said
    )
    assert "closest to people" in compared.to_table()
    assert json.loads(compared.to_json())["kind"] == "compare pairs"


def test_one_call_for_all_kinds():
    people = texts(3, 12, 3)
    systems = {"a": worsened(people, 0.2, 1), "b": worsened(people, 0.3, 2)}
    one = rc.compare(people, systems, "bleu", kind="pairs", groups=[1, 2] * 6, seed=4)
    other = rc.compare_pairs(people, systems, "bleu", groups=[1, 2] * 6, seed=4)
    assert vars(one.differences["a", "b"]["bleu"]) == vars(other.differences["a", "b"]["bleu"])
    with pytest.raises(InputError, match="no option 'k': see compare_pairs"):
        rc.compare(people, systems, "bleu", kind="pairs", k=3)
    with pytest.raises(InputError, match="not 'pear'"):
        rc.compare(people, systems, "bleu", kind="pear")


def test_refused_in_one_sentence():
    people = ["a b", "c d", "e f"]
    for systems, metrics, more, said in (
        ({"a": people, "b": people[:2]}, "bleu", {}, "references has 3 entries, but candidate 'b' has 2"),
        ({"a": people}, "bleu", {}, "two systems or more"),
        (people, "bleu", {}, "two systems or more"),
        ({"a": people, "b": people}, "blue", {}, "bleu"),
        ({"a": people, "b": people}, "bleu", {"groups": [1, 2]}, "references has 3 items and 2 group labels"),
        ({"a": people, "b": people}, "bleu", {"groups": [1, 1, 1]}, "are of one group"),
        ({"a": people, "b": people}, "bleu", {"level": 5}, "level must be a number between 0 and 1"),
        ({"a": people, "b": people}, "bleu", {"interval": True}, "interval must be a number between 0 and 1"),
        ({1: people, "1": people}, "bleu", {}, "the same name"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            rc.compare_pairs(people, systems, metrics, **more)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="1 items can be compared"):
        rc.compare_pairs(people[:1], {"a": people[:1], "b": people[:1]}, "bleu")
    with pytest.raises(InputError, match="no number 'blue'"):
        rc.compare_pairs(people, {"a": people, "b": people}, "bleu").differences["a", "b"]["blue"]


def test_scores_that_some_system_lacks():
    """Items are compared where all systems have a score; a number without any, or an infinite one, is left out."""
    nan = math.nan
    number, said = mean_number("score", "higher", {"a": np.array([1, nan, 3]), "b": np.array([2, 5, 4])})
    assert number is not None
    assert said == "score: the 1 of 3 that some system has no score for were left out"
    assert ItemSystems([number], range(3), None, 0, "item").values() == {"a": [2], "b": [3]}
    assert mean_number("score", "lower", {"a": np.array([nan, 1]), "b": np.array([1, nan])})[0] is None
    assert "infinite" in mean_number("score", "lower", {"a": np.array([math.inf, 1]), "b": np.array([1, 2])})[1]


# Calibration: studies' `same-items` prints it for 500 runs on real texts


def _claims(differences, level: float = 0.05) -> bool:
    return any(each.adjusted < level for each in differences.values())


def _two_of_each(seed: int, items: int, shift: float):
    """Three correlated scores of two outputs for each item, given to A and B at random; shift: how much better A is."""
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((3, 3))
    both = rng.exponential(size=(2, items, 3)) @ mixed + rng.standard_normal((items, 3))
    swapped = rng.random(items) < 0.5
    both[:, swapped] = both[::-1, swapped]
    both[0] += shift * both.std(axis=(0, 1))
    numbers = [mean_number(f"score {at}", "higher", {"a": both[0, :, at], "b": both[1, :, at]})[0] for at in range(3)]
    return ItemSystems([number for number in numbers if number], range(items), None, seed, "item")


@pytest.mark.slow
def test_few_false_alarms_and_real_differences_found():
    """Skewed scores, two outputs of one system for each item: some difference is claimed in about 5 % of runs."""
    alarms = np.mean([_claims(_differences(_two_of_each(seed, 40, 0.0))) for seed in range(100)])
    assert alarms <= 0.08
    found = np.mean([_claims(_differences(_two_of_each(seed, 40, 1.0))) for seed in range(20)])
    assert found >= 0.9


@pytest.mark.slow
def test_the_difference_that_is_said_to_be_found_is_found():
    """A shift of the size that the verdict names, 80 % power or a little more: one number, normal differences."""
    rng = np.random.default_rng(3)
    found = []
    for seed in range(40):
        number, _ = mean_number("score", "higher", {"a": rng.standard_normal(50), "b": rng.standard_normal(50)})
        assert number is not None
        systems = ItemSystems([number], range(50), None, seed, "item")
        signs = systems.signs(systems.plan(0.05))
        size = smallest_shifts(systems.evidence(0.05), ["score"], signs, 0.05, 0.95, seed)["score"]
        moved, _ = mean_number("score", "higher", {"a": rng.standard_normal(50) + size, "b": rng.standard_normal(50)})
        assert moved is not None
        found.append(_claims(_differences(ItemSystems([moved], range(50), None, seed, "item"))))
    assert 0.65 <= np.mean(found) <= 0.95


# The command


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = texts(3, 30, 4)
    for name, written in (("refs", people), ("a", worsened(people, 0.1, 1)), ("b", worsened(people, 0.7, 2))):
        (tmp_path / f"{name}.txt").write_text("\n".join(written) + "\n")
        lines = [json.dumps({"text": text, "document": number // 5}) for number, text in enumerate(written)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "short.txt").write_text("a\nb\n")
    return people


def test_command(files, capsys):
    assert run(["compare", "--pairs", "-r", "refs.txt", "-c", "a.txt", "b.txt", "--metrics", "bleu,chrf"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("a.txt is closest to people; b.txt is further away than a.txt (")
    assert "all systems at 30 items" in printed
    arguments = ["--metrics", "bleu", "--group", "document", "--format", "json"]
    assert run(["compare", "-r", "refs.jsonl", "-c", "a.jsonl", "-c", "b.jsonl", "--pairs", *arguments]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["settings"]["groups"] == 6
    same = rc.compare_pairs(
        files,
        {
            name: [json.loads(line)["text"] for line in Path(name).read_text().splitlines()]
            for name in ("a.jsonl", "b.jsonl")
        },
        "bleu",
        groups=[number // 5 for number in range(30)],
    )
    difference = read["results"]["differences"][0]["numbers"]["bleu"]
    assert difference == pytest.approx(vars(same.differences["a.jsonl", "b.jsonl"]["bleu"]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-r", "refs.txt", "-c", "a.txt"], "two systems or more"),
        (["-r", "refs.txt", "-c", "a.txt", "short.txt"], "refs.txt has 30"),
        (["-r", "refs.txt", "-c", "a.txt", "b.txt", "--level", "2"], "--level takes a number between 0 and 1"),
        (["-r", "refs.txt", "-c", "a.txt", "b.txt", "--group", "document"], "it has no groups"),
        (["-r", "refs.txt", "-c", "a.txt", "b.txt", "--contexts"], "two kinds of comparison"),
        (["-r", "refs.txt", "-c", "a.txt", "b.txt", "--no-ceiling"], "No such option"),
    ],
)
def test_command_refuses(files, capsys, arguments, said):
    assert run(["compare", "--pairs", "--metrics", "bleu", *arguments]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert said.lower() in printed.err.lower()
    assert len(printed.err.strip().splitlines()) == 1


def test_no_impossible_difference_is_named():
    """Of numbers from 0 to 1 no difference is above 1: none that large is promised."""
    rng = np.random.default_rng(30)
    people = [f"it rained for {n} days in a row" for n in range(12)]
    systems = {
        name: [text if right else "nothing of it" for text, right in zip(people, own, strict=True)]
        for name, own in zip("ab", rng.random((2, 12)) < 0.5, strict=True)
    }
    found = rc.compare_pairs(people, systems, "bleu,chrf,rouge").smallest_found
    assert all(np.isnan(size) or np.isinf(size) or 0 < size <= 1 for size in found.values()), found
    drawn, swapped = rng.standard_normal((2, 1, 200))
    rough = Evidence(np.zeros(1), drawn, swapped, np.zeros(1), np.zeros(1))
    free, capped = (
        smallest_shifts({("a", "b"): rough}, ["n"], np.zeros(200), 0.05, 0.95, 0, widest)["n"]
        for widest in (None, {"n": 1.0})
    )
    assert 1 < free < np.inf and np.isinf(capped)


def test_equal_scores_everywhere_have_their_own_reason():
    systems = {"a": ["rain"] * 20, "b": ["snow"] * 10 + ["hail"] * 10}
    said = rc.compare_pairs([f"day {n}" for n in range(20)], systems, "bleu").verdict
    assert any("have the same scores at all 20 items" in each for each in said)
    assert not any("p is never below" in each for each in said)


def test_what_systems_are_called_changes_nothing():
    """Every reference is the same, so that the systems' texts alone put items in order."""
    rng = np.random.default_rng(31)
    first, second = ([" ".join(rng.choice(WORDS[:4], 4)) for _ in range(40)] for _ in range(2))
    people = [" ".join(WORDS[:4])] * 40
    usual = rc.compare_pairs(people, {"a": first, "b": second}, "bleu,rouge").differences["a", "b"]
    other = rc.compare_pairs(people, {"z": first, "b": second}, "bleu,rouge").differences["z", "b"]
    for number, each in usual.items():
        assert vars(other[number]) == pytest.approx(vars(each), nan_ok=True), number


def test_pairs_of_systems_are_looked_at_in_parts(monkeypatch):
    """Whatever is held together at once, the answer is the same."""
    rng = np.random.default_rng(32)
    number, _ = mean_number("score", "higher", {name: rng.random(30) for name in "abcd"})
    whole = ItemSystems([number], range(30), None, 0, "item").evidence(0.05)
    monkeypatch.setattr("recapture.systems.of_items._MOST_DIFFERENCES", 2500)
    monkeypatch.setattr("recapture.systems.of_items._AT_ONCE", 100)
    parts = list(ItemSystems([number], range(30), None, 0, "item").evidence_by_parts(0.05))
    assert [len(part) for part in parts] == [2, 2, 2]
    together = {pair: each for part in parts for pair, each in part.items()}
    for pair, each in whole.items():
        np.testing.assert_allclose(together[pair].nulls, each.nulls, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(together[pair].resampled, each.resampled)
