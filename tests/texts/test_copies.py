"""Copies and repeats against a search through all pairs, which knows no hashes, no index and no arrays."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recapture.texts import copies as module
from recapture.texts.copies import Index, copies, echoes, normalised, repeats, sources, words_of

SENTENCE = "The old ferry left the harbour at dawn and came back with nobody on board"


def oracle_key(text):
    return " ".join(unicodedata.normalize("NFKC", text).split())


def oracle_words(text):
    """Letter by letter: characters of the scripts of these tests that have no blanks, or whole words."""
    words, run = [], ""
    for letter in oracle_key(text).casefold() + " ":
        alone = any(script in unicodedata.name(letter, "") for script in ("CJK UNIFIED", "HIRAGANA", "THAI "))
        if (letter.isalnum() or unicodedata.category(letter)[0] == "M") and not alone:
            run += letter
            continue
        if run:
            words.append(run)
        run = ""
        if alone:
            words.append(letter)
    return words


def oracle_near(text, other):
    """How many words of a text stand in runs of six that the other has, too; 0 where they are less than half."""
    mine, theirs = oracle_words(text), oracle_words(other)
    if len(mine) < 6 or len(theirs) < 6:
        return len(mine) if mine == theirs else 0
    covered = set()
    for start, at in itertools.product(range(len(mine) - 5), range(len(theirs) - 5)):
        if mine[start : start + 6] == theirs[at : at + 6]:
            covered |= set(range(start, start + 6))
    return len(covered) if 2 * len(covered) >= len(mine) else 0


def oracle_from(reference, texts):
    copied, near = {}, {}
    for place, text in enumerate(texts):
        if not oracle_key(text):
            continue
        equal = [at for at, other in enumerate(reference) if oracle_key(other) == oracle_key(text)]
        if equal:
            copied[place] = equal[0]
            continue
        shared = [oracle_near(text, other) for other in reference]
        if any(shared):
            near[place] = shared.index(max(shared))
    return copied, near


def oracle_repeats(texts):
    """Numbers of equal texts beyond the first, and of near ones that are left out: the definition, by search.

    Again and again the text stays that most of those not yet settled are near (of several the first by its letters).
    """
    filled = [text for text in texts if oracle_key(text)]
    distinct = list({oracle_key(text): text for text in filled}.values())
    open_still, left_out = set(range(len(distinct))), 0
    while open_still:
        near = {
            a: {b for b in open_still - {a} if oracle_near(distinct[b], distinct[a])} for a in open_still
        }  # fmt: skip
        stays = min(open_still, key=lambda a: (-len(near[a]), oracle_key(distinct[a])))
        left_out += len(near[stays])
        open_still -= {stays, *near[stays]}
    return len(filled) - len(distinct), left_out


def check(reference, candidates):
    found = copies(reference, candidates)
    assert found.reference[:2] == (0, 0) and found.reference[2:4] == oracle_repeats(reference)
    assert list(found.candidates) == list(candidates)
    for name, texts in candidates.items():
        copied, near = oracle_from(reference, texts)
        got = found.candidates[name]
        assert (got.copied_from, got.near_copied_from) == (copied, near)
        assert (got.copied, got.near_copied) == (len(copied), len(near))
        assert (got.repeated, got.near_repeated) == oracle_repeats(texts)
    return found


def test_each_number_of_a_small_case():
    reference = [SENTENCE, "Rain fell all night.", "Rain fell  all night.", ""]
    candidate = [
        "Rain fell all\tnight. ",  # copied: blanks do not count
        "rain fell all night",  # near: case and punctuation differ
        SENTENCE.replace("dawn", "noon"),  # near: seven words before the change and six after it
        "rain fell all night",  # near again, and a repeat
        "Rain fell all day.",  # too short for a run: all words would have to be the same
        "",
        " ",  # empty texts are neither
    ]
    got = check(reference, {"model": candidate}).candidates["model"]
    assert (got.copied, got.near_copied, got.repeated, got.near_repeated) == (1, 3, 1, 1)
    assert got.copied_from == {0: 1} and got.near_copied_from == {1: 1, 2: 0, 3: 1}


@pytest.mark.parametrize(
    "words, near",
    [(12, True), (13, False)],
    ids=["six of twelve words", "six of thirteen words"],
)
def test_half_of_the_words_is_the_limit(words, near):
    text = [*"abcdef", *(f"w{number}" for number in range(words - 6))]
    other = ["x", *"abcdef", "y"]
    found = check([" ".join(other)], {"c": [" ".join(text)]}).candidates["c"]
    assert found.near_copied == near


def test_half_has_to_come_from_one_text():
    """Six words from one reference text and six from another are no copy of either where the text has fourteen."""
    first, second = "a b c d e f", "g h i j k l"
    assert check([first, second], {"c": [f"{first} x {second} y"]}).candidates["c"].near_copied == 0
    assert check([f"{first} z {second}"], {"c": [f"{first} x {second} y"]}).candidates["c"].near_copied == 1


def test_scripts_without_blanks():
    chinese, thai = "今天天气很好我们去公园散步吧", "วันนี้อากาศดีมากเราไปเดินเล่นกัน"
    candidates = {"c": [chinese[:9] + "唱歌", chinese[::-1], thai[:20], "ＡＢＣ ｄｅｆ", chinese + "。"]}
    found = check([chinese, thai, "ABC def"], candidates).candidates["c"]
    assert set(found.near_copied_from) == {0, 2, 4} and found.copied_from == {3: 2}


def test_normalisation_as_unicode_defines_it():
    """Full-width letters, ligatures and no-break spaces are compatible forms (UAX 15); accents may be apart."""
    assert normalised("\ufb01nd\u00a0\u00a0 it\n") == "find it"
    assert normalised("cafe\u0301") == normalised("caf\u00e9") == "caf\u00e9"
    assert words_of("Don't STOP_it, ¡now 5!") == ["don", "t", "stop", "it", "now", "5"]
    assert words_of("हिन्दी में") == ["हिन्दी", "में"]  # vowel signs and the virama belong to the word


def test_texts_without_words():
    assert check(["!!!", "?"], {"c": ["!!!", "...", "?!", "!!!"]}).candidates["c"][:4] == (2, 0, 1, 0)
    assert check([""], {"c": [""], "none": []}).candidates["c"][:4] == (0, 0, 0, 0)
    assert copies([], {}) == ((0, 0, 0, 0, {}, {}), {})


_WORDS = st.lists(st.sampled_from("ab"), max_size=16).map(" ".join)
_PARTS = st.lists(
    st.sampled_from([SENTENCE[:30], SENTENCE[20:], "a b c", "今天天气很好", "。", " ", "X"]), max_size=4
).map(" ".join)


@pytest.mark.traced
@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(_WORDS | _PARTS, max_size=7), st.lists(_WORDS | _PARTS, max_size=7))
def test_as_a_search_through_all_pairs_finds(reference, candidate):
    """Words of two letters alone meet in every way: runs that overlap, that repeat, that stand in many texts."""
    check(reference, {"c": candidate, "reference": reference})


@pytest.mark.parametrize("at_once", [1, 7, 40])
def test_parts_do_not_change_the_answer(monkeypatch, at_once):
    rng = random.Random(3)
    texts = [" ".join(rng.choices("abc", k=rng.randrange(4, 20))) for _ in range(40)]
    whole = copies(texts[:20], {"c": texts[20:]})
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    assert copies(texts[:20], {"c": texts[20:]}) == whole


def test_neither_order_nor_other_candidates_matter():
    rng = random.Random(5)
    texts = [" ".join(rng.choices("abcd", k=rng.randrange(6, 16))) for _ in range(15)]
    first = copies(texts[:5], {"c": texts[5:]}).candidates["c"]
    rng.shuffle(order := list(range(5, 15)))
    second = copies(texts[:5], {"other": texts, "c": [texts[place] for place in order]}).candidates["c"]
    assert first[:4] == second[:4]
    assert {order[place]: at for place, at in second.near_copied_from.items()} == {
        place + 5: at for place, at in first.near_copied_from.items()
    }


def boilerplate(count):
    """Every text has the same ten words, and six of its own: all texts are near each other."""
    return [
        f"please find below the answer to the question you asked w{n} x{n} y{n} z{n} v{n} u{n}" for n in range(count)
    ]


def visits(texts):
    """How often two texts were looked at together, and how many runs of words there are."""
    side = module._Set(texts, module._Hashes())
    index = Index(side.runs)
    side.repeats(index)
    return index.visited, len(side.runs.hashes)


def test_the_work_is_linear_where_all_texts_share_a_phrase():
    """All pairs would be quadratic: four times the work for twice the texts."""
    (few, runs), (many, twice) = visits(boilerplate(500)), visits(boilerplate(1000))
    assert few <= module.MOST_TEXTS * runs and many <= module.MOST_TEXTS * twice
    assert many == pytest.approx(2 * few, rel=0.02)
    found = copies(boilerplate(500), {"c": boilerplate(700)}).candidates["c"]
    assert (found.copied, found.near_copied, found.near_repeated) == (500, 200, 699)


def test_what_the_bound_can_miss_is_missed_and_nothing_is_invented():
    """Beyond the first texts that have a phrase, the index knows a text by its own words alone: here by too few."""
    phrase = "please find below the answer to the question that you sent"
    texts = [f"{phrase} n{number}" for number in range(module.MOST_TEXTS + 4)]
    copy = texts[-1].replace("please", "pray")
    assert oracle_from(texts, [copy])[1] == {0: len(texts) - 1}
    assert copies(texts, {"c": [copy]}).candidates["c"].near_copied_from == {0: 0}  # near another, by the phrase
    found = check(texts[-module.MOST_TEXTS :], {"c": [copy]})
    assert found.candidates["c"].near_copied_from == {0: module.MOST_TEXTS - 1}


@pytest.mark.slow
def test_shares_that_docs_and_architecture_state(data_folder):
    """Brown's sentences: what two random halves share, and how many of one-word edits are told as near-copies."""
    with gzip.open(data_folder / "brown_genres" / "sentences.jsonl.gz", "rt") as lines:
        sentences = [json.loads(line)["text"] for line in lines]
    rng = random.Random(0)
    rng.shuffle(sentences)
    half = copies(sentences[::2], {"c": sentences[1::2]}).candidates["c"]
    count = len(sentences[1::2])
    assert round(half.copied / count, 3) == pytest.approx(0.017, abs=0.001)
    assert round(half.near_copied / count, 3) == pytest.approx(0.008, abs=0.001)
    long = [text for text in sentences if len(words_of(text)) >= 8]
    edited = [_with_one_word_changed(text, rng) for text in long]
    assert copies(long, {"c": edited}).candidates["c"].near_copied / len(long) == pytest.approx(0.95, abs=0.01)


def _with_one_word_changed(text, rng):
    words = text.split()
    words[rng.randrange(len(words))] = f"zzz{rng.randrange(10**9)}"
    return " ".join(words)


def test_sources_are_the_copies_and_leave_each_text_out():
    """For the candidate what `copies` finds; for the reference what it finds where one text is the candidate alone."""
    rng = np.random.default_rng(11)
    words = [f"w{number}" for number in range(12)]
    texts = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(80)]
    texts += [f"{text} {' '.join(rng.choice(words, 2))}" for text in texts[:40]]
    texts += texts[:30]
    rng.shuffle(texts)
    reference, candidate = texts[:90], texts[90:]
    of_candidate, of_reference = sources(reference, candidate)
    found = copies(reference, {"candidate": candidate}).candidates["candidate"]
    assert {at: int(place) for at, place in enumerate(of_candidate.equal) if place >= 0} == found.copied_from
    assert {at: int(place) for at, place in enumerate(of_candidate.near) if place >= 0} == found.near_copied_from
    assert found.near_copied > 3 and found.copied > 3
    for at, text in enumerate(reference):
        others = reference[:at] + reference[at + 1 :]
        alone = copies(others, {"one": [text]}).candidates["one"]
        assert (of_reference.equal[at] >= 0) == bool(alone.copied), text
        assert (of_reference.near[at] >= 0) == bool(alone.near_copied), text


def test_sources_of_the_same_group_do_not_count():
    text = "one two three four five six seven"
    reference, candidate = [text, "something else", text], [text, f"{text} eight"]
    of_candidate, of_reference = sources(reference, candidate, [[1, 2, 3], [1, 1]])
    assert of_candidate.equal.tolist() == [2, -1]
    assert of_reference.equal.tolist() == [2, -1, 0]
    same, _ = sources(reference[:2], candidate, [[1, 2], [1, 1]])
    assert same.equal.tolist() == [-1, -1] and same.near.tolist() == [-1, -1] and same.share.tolist() == [0, 0]


def test_repeats_count_as_copies_do():
    texts = ["a b c", "A b  c", "a b  c", "one two three four five six", "one two three four five six seven", "", ""]
    found = repeats(texts)
    assert found.counts == copies(texts, {}).reference[2:4] == (1, 2)
    assert found.equal[0] == found.equal[2] != found.equal[1] and len(set(found.equal[[5, 6]])) == 2
    assert found.stays[0] == found.stays[1] == found.stays[2] and found.stays[3] == found.stays[4]
    assert found.stays[5:].tolist() == [5, 6]
    assert found.counts_of(np.array([0, 1, 3])) == (0, 1)


def chain(links):
    """Texts of twelve words, each of which shares six with the one before it and six with the next."""
    return [" ".join(f"w{number}" for number in range(6 * at, 6 * at + 12)) for at in range(links)]


def test_a_chain_of_near_texts_is_not_one_group():
    """Every third text of a chain reaches all: it, the one before and the one behind it."""
    texts = chain(9)
    assert len(set(repeats(texts).stays.tolist())) <= 4
    assert all(oracle_near(text, texts[stays]) for text, stays in zip(texts, repeats(texts).stays, strict=True))
    star = [texts[0], *(f"{texts[0]} {word}" for word in ("red", "blue", "green")), *texts[4:6]]
    groups = repeats(star).stays
    assert len(set(groups[:4].tolist())) == 1 and len(set(groups[4:].tolist())) == 1


def test_neither_repeats_nor_who_stays_depend_on_the_order_of_lines():
    texts = [*chain(9), *(f"{text} end" for text in chain(9)[::2]), *chain(3)]
    order = np.random.default_rng(3).permutation(len(texts))
    mixed = [texts[at] for at in order]
    first, second = repeats(texts), repeats(mixed)
    assert first.counts == second.counts
    assert {texts[at] for at in first.stays} == {mixed[at] for at in second.stays}


def test_echoes_as_a_search_through_all_pairs_finds():
    rng = np.random.default_rng(5)
    words = ["w0", "w1"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 10))) for _ in range(60)] + ["", "a b", "a b", "!"]
    others = [*texts[5:20], "a b", "A b", "!", *(f"{text} w1 w2" for text in texts[:9])]
    every = [*texts, *others]
    expected = set()
    for at, text in enumerate(every):
        for place, own in enumerate(texts):
            first = next(n for n, other in enumerate(texts) if oracle_key(other) == oracle_key(own))
            same = oracle_key(text) and oracle_key(text) == oracle_key(own)
            if oracle_key(own) and place == first and at != place and (same or oracle_near(text, own)):
                expected.add((at, place))
    assert set(zip(*(part.tolist() for part in echoes(texts, others)), strict=True)) == expected
    assert len(expected) > 30


def test_echoes_of_nothing():
    assert [len(part) for part in echoes([""], [""])] == [0, 0]
