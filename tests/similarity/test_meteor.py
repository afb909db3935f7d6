"""METEOR 1.5 against its formula, a search by the letter, and the authors' jar where there is Java."""

import gzip
import importlib.util
import itertools
import json
import math
import random
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.lexical.align import BEAM, EXACT, PARAPHRASE, STEM, SYNONYM, WeightedWords, align, count_chunks
from recapture.lexical.english_stems import english_stem
from recapture.lexical.meteor_tokens import meteor_tokens
from recapture.lexical.paraphrases import Paraphrases
from recapture.lexical.wordnet import WordNet, find_wordnet
from recapture.pairs.metrics.meteor import meteor
from recapture.similarity import sentence_meteor as module
from recapture.similarity.sentence_meteor import METRIC as SIMILARITY

VARIANTS = "the a run runs running runner dog dogs cat cats . , and jump jumps jumped jumping big bigger walk walked"


def formula(p, r, chunks, matched):
    """The score as Denkowski and Lavie (2014) define it, with the English parameters of the ranking task."""
    return (1 - 0.6 * (chunks / matched) ** 0.2) / (0.15 / p + 0.85 / r)


def one(hypothesis, reference, **options):
    options = {"tokenize": "split", "function_words": ["the", "a", "on", "."], **options}
    return SIMILARITY.scorer(**options).cross([hypothesis], [reference])[0, 0]


def sentences(count, seed, vocabulary=VARIANTS, longest=22):
    """Pairs with many repeated words and word forms; every third is a shuffle of few words of the other."""
    rng = random.Random(seed)
    pairs = []
    for number in range(count):
        words = rng.sample(vocabulary.split(), rng.randint(2, len(vocabulary.split())))
        length = rng.randint(1, rng.choice((5, 11, longest)))
        hypothesis = [rng.choice(words) for _ in range(length)]
        reference = [rng.choice(words) for _ in range(rng.randint(1, length + 4))]
        if number % 3 == 0:
            reference = hypothesis.copy()
            for _ in range(rng.randint(0, 5)):
                i, j = rng.randrange(length), rng.randrange(length)
                reference[i], reference[j] = reference[j], reference[i]
        pairs.append((" ".join(hypothesis), " ".join(reference)))
    return pairs


# The score


@pytest.mark.parametrize("text", ["a man rides a horse .", "dog", "the", ".", "? !", "the the the the", ""])
def test_a_text_scores_one_against_itself(text):
    assert one(text, text) == 1
    assert SIMILARITY.scorer().cross([text], [text])[0, 0] == 1


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "a dog"), ("a dog", ""), ("cat", "dog"), (" ", ".")])
def test_nothing_in_common_scores_zero(hypothesis, reference):
    assert one(hypothesis, reference) == 0


def test_order_costs_by_chunks():
    # All six words match, in three chunks: "on the mat", "sat", "the cat".
    assert one("the cat sat on the mat", "on the mat sat the cat") == pytest.approx(formula(1, 1, 3, 6), abs=1e-12)


def test_function_words_weigh_less_and_stems_count_less():
    # a: .25 of 1.75 and of 2.25; dog - dogs and runs - running by stem, .6 of .75 each; no two matches are adjacent.
    p = (0.25 + 2 * 0.6 * 0.75) / (0.25 + 2 * 0.75)
    r = (0.25 + 2 * 0.6 * 0.75) / (0.25 + 5 * 0.75)
    assert one("a dog runs", "dogs are running in a park") == pytest.approx(formula(p, r, 3, 3), abs=1e-12)
    p, r = 0.25 / 1.75, 0.25 / 4
    assert one("a dog runs", "dogs are running in a park", stemmer=None) == pytest.approx(
        formula(p, r, 1, 1), abs=1e-12
    )


def test_one_chunk_over_both_texts_is_no_fragment():
    # Both words by stem: P = R = .6, no penalty.
    assert one("dogs running", "dog runs") == pytest.approx(0.6, abs=1e-12)


def test_precision_and_recall_differ():
    short, long = "a dog", "a dog runs on the grass"
    p, r = 1, (0.25 + 0.75) / (3 * 0.25 + 3 * 0.75)
    assert one(short, long) == pytest.approx(formula(p, r, 1, 2), abs=1e-12)
    assert one(long, short) == pytest.approx(formula(r, p, 1, 2), abs=1e-12)


def test_parameters_change_the_formula():
    # beta = 1: the penalty is gamma c / m; alpha = 1 leaves recall alone; delta = .5 makes all words equal.
    given = one("on the mat sat the cat", "the cat sat", alpha=1, beta=1, gamma=0.5, delta=0.5)
    assert given == pytest.approx(1 - 0.5 * 2 / 3, abs=1e-12)
    # Only function words match, and they weigh nothing.
    assert one("the cat", "the dog", delta=1) == 0
    assert one("the", "the", delta=1) == 1


def test_cross_is_every_pair_on_its_own():
    texts = [hypothesis for hypothesis, _ in sentences(12, 3)]
    scorer = SIMILARITY.scorer(tokenize="split")
    scores = scorer.cross(texts[:5], texts[5:])
    assert scores.tolist() == [[alone(texts[i], texts[5 + j]) for j in range(7)] for i in range(5)]
    assert np.all((scores >= 0) & (scores <= 1))
    assert scorer.cross([], texts).shape == (0, 12)


def alone(hypothesis, reference):
    return SIMILARITY.scorer(tokenize="split").cross([hypothesis], [reference])[0, 0]


@pytest.mark.slow
def test_memory_is_bounded(monkeypatch):
    pairs = sentences(60, 4)
    plenty = SIMILARITY.scorer().cross(*zip(*pairs, strict=True))
    monkeypatch.setattr(module, "_REMEMBERED", 50)
    scorer = SIMILARITY.scorer()
    assert np.array_equal(scorer.cross(*zip(*pairs, strict=True)), plenty)
    assert sum(len(words.tokens) for words, _ in scorer._known.values()) <= 50


# The alignment


def brute_force(hypothesis, reference):
    """Most matches of equal words, then fewest chunks, among all one-to-one choices: the definition itself."""
    best = (0, 0)
    choices = [[None, *(i for i, word in enumerate(hypothesis) if word == other)] for other in reference]
    for choice in itertools.product(*choices):
        taken = [i for i in choice if i is not None]
        if len(taken) == len(set(taken)):
            runs = sum(
                i is not None and (j == 0 or choice[j - 1] is None or choice[j - 1] != i - 1)
                for j, i in enumerate(choice)
            )
            best = max(best, (len(taken), -runs))
    return best[0], -best[1]


def ways_to_match(hypothesis, reference):
    """How many one-to-one choices of equal words there are, empty ones included."""
    ways = 1
    for word in set(hypothesis) & set(reference):
        n, m = hypothesis.count(word), reference.count(word)
        ways *= sum(math.comb(n, k) * math.comb(m, k) * math.factorial(k) for k in range(min(n, m) + 1))
    return ways


def test_alignment_is_the_best_where_the_beam_holds_all():
    rng = random.Random(8)
    tried = 0
    while tried < 400:
        hypothesis = rng.choices("abcd", k=rng.randint(1, 7))
        reference = rng.choices("abcd", k=rng.randint(1, 7))
        if ways_to_match(hypothesis, reference) > BEAM:
            continue
        tried += 1
        found = align(*(WeightedWords(words, words, [1.0] * len(words)) for words in (hypothesis, reference)))
        assert (len(found), count_chunks(found)) == brute_force(hypothesis, reference), (hypothesis, reference)


def by_the_letter(hypothesis, reference, matches, beam=BEAM):
    """METEOR's search as the module describes it, with everything counted anew for every path at every word."""
    by_start = [[match for match in matches if match[0] == at] for at in range(len(reference))]

    def spans(match):
        at, length, to, to_length, _ = match
        return {("r", at + k) for k in range(length)} | {("h", to + k) for k in range(to_length)}

    uses = [span for match in matches for span in spans(match)]
    certain = {match[0]: match for match in matches if all(uses.count(span) == 1 for span in spans(match))}

    def order(path):
        taken, distance, done = path
        covered = sum(
            length + to_length if stage == EXACT else length // 2 + to_length // 2
            for _, length, _, to_length, stage in taken
        )
        chunks = count_chunks(taken)
        # A chunk counts once it is over: when its match is followed by another that does not go on, or by a gap.
        if taken and taken[-1][0] + taken[-1][1] >= done:
            chunks -= 1
        return -covered, chunks, distance

    paths = [((), 0, 0)]
    for at in range(len(reference)):
        paths = sorted(((taken, distance, at) for taken, distance, _ in paths), key=order)[:beam]
        made = []
        for taken, distance, _ in paths:
            if taken and taken[-1][0] + taken[-1][1] > at:
                made.append((taken, distance, at))
            elif at in certain:
                match = certain[at]
                made.append(((*taken, match), distance + abs(match[0] - match[2]), at))
            else:
                used = {span for match in taken for span in spans(match)}
                for match in by_start[at]:
                    if not used & spans(match):
                        made.append(((*taken, match), distance, at))
                        distance += abs(match[0] - match[2])
                made.append((taken, distance, at))
        paths = made
    paths = sorted(((taken, distance, len(reference)) for taken, distance, _ in paths), key=order)[:beam]
    return min(((taken, distance, math.inf) for taken, distance, _ in paths), key=order)[0]


@pytest.mark.traced
@pytest.mark.slow
def test_search_by_the_letter_for_words():
    # In the last pair the order of equal paths decides.
    for hypothesis, reference in [*sentences(250, 9, longest=14), (", and , dogs .", ", dogs . and ,")]:
        there, here = hypothesis.split(), reference.split()
        stems = [[word[:3] for word in words] for words in (there, here)]
        matches = [
            (at, 1, to, 1, stage)
            for stage in (EXACT, STEM)
            for at, to in itertools.product(range(len(here)), range(len(there)))
            if stems[1][at] == stems[0][to] and (here[at] == there[to]) == (stage == EXACT)
        ]
        words = [WeightedWords(side, stem, [1.0] * len(side)) for side, stem in zip((there, here), stems, strict=True)]
        assert tuple(align(*words)) == by_the_letter(there, here, matches), (hypothesis, reference)


@pytest.mark.traced
@pytest.mark.slow
def test_search_by_the_letter_for_phrases():
    rng = random.Random(10)
    for _ in range(250):
        there, here = (rng.choices("abcde", k=rng.randint(1, 9)) for _ in range(2))
        exact = [
            (at, 1, to, 1, EXACT)
            for at, to in itertools.product(range(len(here)), range(len(there)))
            if here[at] == there[to]
        ]
        further = []
        for _ in range(rng.randint(1, 6)):
            at, to = rng.randrange(len(here)), rng.randrange(len(there))
            length, to_length = rng.randint(1, min(3, len(here) - at)), rng.randint(1, min(3, len(there) - to))
            further.append((at, length, to, to_length, rng.choice((SYNONYM, PARAPHRASE))))
        words = [WeightedWords(side, side, [1.0] * len(side)) for side in (there, here)]
        assert tuple(align(*words, further)) == by_the_letter(there, here, exact + further)


# Synonyms and paraphrases


@pytest.fixture
def wordnet(tmp_path):
    """A WordNet of a few made-up synsets, in the format of wndb(5WN)."""
    folder = tmp_path / "dict"
    folder.mkdir()
    licence = "  1 This is a licence, two spaces before each line.  \n"
    files = {
        "index.noun": "dog n 2 1 @ 2 1 00000100 00000200  \nhound n 1 0 1 0 00000200  \nmouse n 1 0 1 0 00000300  \n"
        "rodent n 1 0 1 0 00000300  \nbike n 1 0 1 0 00000400  \nbicycle n 1 2 @ ~ 1 0 00000400  \n",
        "index.verb": "ride v 1 0 1 0 00000400  \nbike v 1 0 1 0 00000500  \n",
        "noun.exc": "mice mouse\n",
    }
    for name, content in files.items():
        (folder / name).write_text(licence + content if name.startswith("index") else content, encoding="utf-8")
    return folder


def test_synonyms_share_a_synset_in_any_form(wordnet):
    found = WordNet(wordnet)
    assert found.synsets("dog") & found.synsets("hounds")
    assert found.synsets("mice") == found.synsets("rodents") == found.synsets("mouse")
    assert found.synsets("bikes") & found.synsets("bicycle")
    # The verb's offset equals a noun's, in another file.
    assert not found.synsets("riding") & found.synsets("bicycle")
    assert found.synsets("riding") == found.synsets("ride")
    assert not found.synsets("unheard-of")


def test_synonyms_count_four_fifths(wordnet):
    # mice - rodents: .8 of .75; "the" exact; in one chunk over both texts.
    share = (0.25 + 0.8 * 0.75) / (0.25 + 0.75)
    assert one("the rodents", "the mice", wordnet=wordnet) == pytest.approx(share, abs=1e-12)
    assert one("the rodents", "the mice") == pytest.approx(formula(0.25, 0.25, 1, 1), abs=1e-12)


def test_wordnet_is_found_and_named(wordnet, tmp_path, monkeypatch):
    packed = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in wordnet.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    monkeypatch.setenv("WNHOME", str(tmp_path))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    assert find_wordnet() == wordnet
    monkeypatch.delenv("WNHOME")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk_data"))
    (tmp_path / "nltk_data" / "corpora").mkdir(parents=True)
    shutil.copy(packed, tmp_path / "nltk_data" / "corpora")
    assert find_wordnet() == tmp_path / "nltk_data" / "corpora" / "wordnet.zip"
    monkeypatch.setenv("WNHOME", str(tmp_path))
    assert WordNet(packed).synsets("mice") == WordNet(tmp_path).synsets("mouse")
    settings = SIMILARITY.scorer(wordnet="auto").settings
    assert settings["stages"] == ["exact", "stem", "synonym"]
    assert settings["wordnet"]["path"] == str(wordnet)
    assert settings["wordnet"]["revision"] == WordNet(packed).identity()["revision"]
    # Without being asked for, nothing that lies on the machine is used.
    assert SIMILARITY.scorer().settings["stages"] == ["exact", "stem"]
    assert SIMILARITY.scorer().settings["wordnet"] is None
    with pytest.raises(InputError, match="there is no WordNet at"):
        WordNet(tmp_path / "elsewhere")
    (wordnet / "index.adj").write_text("red a many\n")
    with pytest.raises(InputError, match=r"index\.adj line 1 is not a line of a WordNet index"):
        WordNet(wordnet)


PARAPHRASE_ROWS = (
    ("kicks a ball", "plays football"),
    ("kicks a ball", "plays"),
    ("plays football", "kicks a ball"),
    ("in front of", "before"),
    ("dog", "man s best friend"),
    ("the dog", "it"),
    ("big", "large"),
    ("large", "big"),
    ("a b", "b a"),
)


@pytest.fixture(params=["table.gz", "table.txt"])
def table(tmp_path, request):
    content = "".join(f"0.5\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in PARAPHRASE_ROWS).encode()
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_paraphrases_match_runs_of_words(table):
    # "a boy" exact, "plays football" for "kicks a ball": one chunk over both texts.
    p = (0.25 + 0.75 + 0.6 * 1.5) / (0.25 + 3 * 0.75)
    r = (0.25 + 0.75 + 0.6 * (2 * 0.75 + 0.25)) / (2 * 0.25 + 3 * 0.75)
    expected = 1 / (0.15 / p + 0.85 / r)
    assert one("a boy plays football", "a boy kicks a ball", paraphrases=table) == pytest.approx(expected, abs=1e-12)
    scorer = SIMILARITY.scorer(paraphrases=table)
    assert scorer.settings["stages"] == ["exact", "stem", "paraphrase"]
    assert scorer.settings["paraphrases"]["path"] == str(table)


def test_bad_paraphrase_tables_are_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Paraphrases(tmp_path / "none.gz")
    (tmp_path / "empty.txt").write_text("0.5\n\n\n0.5\n\n\n")
    with pytest.raises(InputError, match="is no paraphrase table"):
        SIMILARITY.scorer(paraphrases=tmp_path / "empty.txt").cross(["a"], ["b"])


@pytest.mark.parametrize(
    "content",
    [
        b"0.5\nbig\nlarge\n0.5\nsmall\n",  # cut off
        b"0.5\nbig\nlarge\nsmall\nlittle\n0.5\n",  # a line is lost
        gzip.compress(b"0.5\nbig\nlarge\n", mtime=0),  # under another name
        b"0.5\n" + b"big " * 300_000 + b"\nlarge\n",
    ],
)
def test_paraphrase_tables_that_are_not_whole(tmp_path, content):
    (tmp_path / "table.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"table.txt line \d+ is no paraphrase table"):
        Paraphrases(tmp_path / "table.txt").prepare(["big"])


def test_a_paraphrase_table_that_changes(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("0.5\nbig\nlarge\n\n\n")
    table = Paraphrases(path)
    assert table.prepare(["big"]).known
    other = Paraphrases(path)
    path.write_text("0.5\nbig\nlarge and more\n")
    with pytest.raises(InputError, match="has changed since it was opened"):
        other.prepare(["big"])


def test_damaged_wordnets_are_told(wordnet, tmp_path, monkeypatch):
    packed = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in wordnet.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    whole = packed.read_bytes()
    for at in range(0, len(whole), 7):
        packed.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            WordNet(packed).synsets("mice")
        except InputError as error:
            assert "\n" not in str(error)
    packed.write_bytes(whole)
    monkeypatch.setattr("recapture.lexical.packed.MOST_BYTES", 10)
    with pytest.raises(InputError, match=r"unpacks to more than .*RECAPTURE_NO_LIMITS=1"):
        WordNet(packed)


@pytest.mark.parametrize("line", ["red a -1 0 0 1 1", "red a 0 0 1", "red a 99 0 1 0001", "red a 1 0 ٣x", "red"])
def test_lines_that_no_index_has(wordnet, line):
    (wordnet / "index.adj").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is not a line of a WordNet index"):
        WordNet(wordnet)


# Tokens and function words

NORMALISED = {
    # Printed by METEOR 1.5's Normalizer (en, with punctuation), lower-cased.
    "The cat, 3,000 dogs and Mr. Smith's well-known re-entry.": (
        "the cat , 3,000 dogs and mr. smith 's well known re entry ."
    ),
    "It's \"fine\" - isn't it?": "it 's \" fine \" - isn 't it ?",
    "the dogs' bone, 'quoted' words": "the dogs ' bone , ' quoted ' words",
    "wait...what?!": "wait ... what ? !",
    "He left. she stayed. U.S. and e.g. No. 5": "he left. she stayed . us and eg no. 5",
    "one-and-a-half (twice) 100% a/b": "one and a-half ( twice ) 100 % a / b",
    "“Hello” — it’s 1990's": "\" hello \" — it 's 1990 's",
}


@pytest.mark.parametrize("text", NORMALISED)
def test_tokens_are_meteors(text):
    assert meteor_tokens(text) == NORMALISED[text].split()


def test_words_of_other_alphabets_stay_whole():
    assert meteor_tokens("Καλημέρα κόσμε, Привет мир!") == ["καλημέρα", "κόσμε", ",", "привет", "мир", "!"]
    assert meteor_tokens("cafe\u0301") == ["café"]


def test_function_words_come_from_a_list_or_a_file(tmp_path):
    (tmp_path / "words").write_text("The\non\n\na\n.\n")
    pair = "a dog on the grass", "the dog sat ."
    assert one(*pair, function_words=tmp_path / "words") == one(*pair)
    assert one(*pair, function_words=[]) != one(*pair)
    assert SIMILARITY.scorer().settings["function_words"] == "recapture"
    given = SIMILARITY.scorer(function_words=["the"]).settings["function_words"]
    assert given == SIMILARITY.scorer(function_words=["The", "the"]).settings["function_words"] != "recapture"
    with pytest.raises(InputError, match="function words must be strings"):
        SIMILARITY.scorer(function_words=[1])


# The public function


def test_the_best_reference_counts():
    references = ["a dog runs on the grass", ["a cat sleeps", "two cats sleep"], ["the sun"]]
    candidates = ["a dog runs", "a cat sleeps", "rain"]
    result = meteor(references, candidates, tokenize="split")
    assert result.scores[1] == 1
    assert result.scores[0] == alone(candidates[0], references[0])
    assert result.scores[2] == 0
    assert result.value == pytest.approx(np.mean(result.scores), abs=1e-15)
    assert result.metric == "meteor"
    assert result.direction == "higher"
    assert result.range == (0, 1)
    assert result.sizes == {"reference": 4, "candidate": 3}
    assert "recapture" in result.signature["versions"]
    assert result.signature["stages"] == ["exact", "stem"]
    assert result.signature["tokenize"] == "split"
    json.dumps(result.to_dict(arrays=True))


def test_functions_stand_in_for_tokenizer_and_stemmer():
    result = meteor(
        ["RUN dogs"], ["run dog"], tokenize=lambda text: text.lower().split(), stemmer=lambda word: word[:3]
    )
    assert result.value == pytest.approx(1 / (0.15 / 0.8 + 0.85 / 0.8), abs=1e-12)  # exact and stem: (1 + .6) / 2
    assert "lambda" in result.signature["tokenize"]
    json.dumps(result.to_dict())


def test_empty_texts_are_counted():
    result = meteor(["a", "", "b", ["", "c"]], ["a", "", " ", "c"])
    assert result.scores.tolist() == [1, 1, 0, 1]
    assert result.warnings == (
        "1 of 4 pairs is of two empty texts: scored as equal",
        "1 more of 5 texts of reference is empty: ignored, since others of the same item are not",
        "1 more of 4 texts of candidate is empty: scored worst",
    )


@pytest.mark.parametrize(
    ("references", "candidates", "options", "message"),
    [
        (["a"], ["a", "b"], {}, "references has 1 entries, but candidates has 2"),
        ("a", ["a"], {}, "references must be a list"),
        (["a"], "a", {}, "candidates must be a list"),
        ([], [], {}, "there are no references"),
        ([[]], ["a"], {}, "entry 0 of references has no texts"),
        ([["a", 1]], ["a"], {}, "entry 0 of references holds int"),
        ([3], ["a"], {}, "entry 0 of references is neither"),
        (["a"], [None], {}, "entry 0 of candidates is not a string but NoneType"),
        (["a"], ["a"], {"alpha": 2}, "alpha must be a number between 0 and 1, not 2"),
        (["a"], ["a"], {"beta": -1}, "beta must be a number of at least 0, not -1"),
        (["a"], ["a"], {"delta": math.nan}, "delta must be a number between 0 and 1, not nan"),
        (["a"], ["a"], {"tokenize": "metoer"}, "did you mean meteor"),
        (["a"], ["a"], {"stemmer": "englsh"}, "did you mean english"),
        (["a"], ["a"], {"wordnet": "nowhere"}, "there is no WordNet at nowhere"),
    ],
)
def test_bad_input_is_named(references, candidates, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        meteor(references, candidates, **options)


# What the authors' program (meteor-1.5.jar, "exact stem" with weights "1.0 0.6" and -norm) says of made-up sentences.
# With the stems of snowballstemmer 3.1 five of these numbers would be others.
SAID_BY_THE_JAR = [
    ("added", "adds", 0.0),
    ("She added a cup of sugar.", "She adds a cup of sugar.", 0.3987346638029704),
    (
        "A geologist was asked about the tide that ebbed.",
        "Geologists were asking about geology and ebbing tides.",
        0.2057112667323871,
    ),
    (
        "The organizers erred in generalizing internally.",
        "An organization errs when it generalizes internal errors.",
        0.1507991280775857,
    ),
    (
        "Their intervals interfere with the generator's hums.",
        "Its generators' humming interferes at intervals.",
        0.2328173374613003,
    ),
    (
        "He hopped happily over the flies and skis.",
        "Hoping for skies, he flies and is skiing happily.",
        0.22313885166975375,
    ),
    ("The communities succeeded in proceeding.", "A community succeeds and proceeds.", 0.2547571530785736),
    (
        "Dying news was only gently and idly read.",
        "The gentle reader was idle, and only the news died.",
        0.2445859872611465,
    ),
    (
        "The emergent organ pasted a past lateral paste.",
        "Emerging organs pasting the past laterally.",
        0.32131210954452144,
    ),
    ("He's the players' player, isn't he?", "He isn't the player, the players play.", 0.3375864933819466),
]


@pytest.mark.parametrize(("hypothesis", "reference", "score"), SAID_BY_THE_JAR)
def test_scores_are_the_jars_whatever_stemmer_is_installed(hypothesis, reference, score, monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)  # an import of it would fail
    assert SIMILARITY.scorer().cross([hypothesis], [reference])[0, 0] == pytest.approx(score, abs=1e-12)


def test_other_languages_have_the_stems_of_the_installed_package(monkeypatch):
    snowball = pytest.importorskip("snowballstemmer")
    result = meteor(["die Häuser"], ["die Hauses"], stemmer="german")
    stem = snowball.stemmer("german").stemWord
    assert result.value == meteor(["die Häuser"], ["die Hauses"], stemmer=stem).value
    assert result.signature["stemmer"] == f"german, snowballstemmer {version('snowballstemmer')}"
    assert meteor(["a"], ["a"]).signature["stemmer"] == "english"
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(InputError, match=r"stems of 'german' need a package.*english needs none.*pip install"):
        meteor(["a"], ["a"], stemmer="german")


# The authors' jar


class Jar:
    """METEOR 1.5 as the captioning tools carry it."""

    def __init__(self, file, folder):
        self.file, self.folder = file, folder
        with zipfile.ZipFile(file) as packed:
            self.words = packed.read("function/english.words").decode().split("\n")
            self.synsets = packed.read("synonym/english.synsets").decode().split("\n")
            self.exceptions = packed.read("synonym/english.exceptions").decode().split("\n")

    def scores(self, pairs, modules, weights, *options):
        for name, texts in zip(("test", "reference"), zip(*pairs, strict=True), strict=True):
            (self.folder / name).write_text(
                "\n".join(" ".join(text.split()) for text in texts) + "\n", encoding="utf-8"
            )
        command = ["java", "-Xmx1G", "-jar", self.file, "test", "reference", "-l", "en", "-m", modules, "-w", weights]
        printed = subprocess.run([*command, *options], cwd=self.folder, capture_output=True, text=True, check=True)
        found = [float(score) for score in re.findall(r"^Segment \d+ score:\s*(\S+)$", printed.stdout, re.MULTILINE)]
        assert len(found) == len(pairs)
        return np.array(found)

    def stems(self, words):
        """The jar's own stems: newer Snowball versions differ in some words."""
        words = sorted(words)
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", self.file, "Stemmer", "en"]
        given = "\n".join(words) + "\n"
        printed = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True)
        found = printed.stdout.split("\n")
        assert len(found) == len(words) + 1
        return dict(zip(words, found, strict=False))

    def normalised(self, texts):
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", self.file, "edu.cmu.meteor.util.Normalizer", "en", "true"]
        given = "\n".join(texts) + "\n"
        printed = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True)
        return [line.lower().split() for line in printed.stdout.split("\n")[: len(texts)]]


@pytest.fixture(scope="module")
def jar(tmp_path_factory):
    found = importlib.util.find_spec("pycocoevalcap")
    if not shutil.which("java") or not found or not found.submodule_search_locations:
        pytest.skip("needs Java and pycocoevalcap's copy of METEOR 1.5")
    file = Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")
    if not file.is_file():
        pytest.skip("pycocoevalcap has no meteor-1.5.jar")
    return Jar(file, tmp_path_factory.mktemp("jar"))


def ours(jar, pairs, **options):
    scorer = SIMILARITY.scorer(**{"function_words": jar.words, **options})
    return np.array([scorer.cross([hypothesis], [reference])[0, 0] for hypothesis, reference in pairs])


def of_words(jar, pairs, **options):
    return ours(jar, pairs, tokenize="split", **options)


@pytest.mark.slow
def test_jar_agrees_on_repeated_words_and_forms(jar):
    pairs = [*sentences(1500, 1), *sentences(15, 2, longest=150), *((w, w) for w in ("the", ".", "dog . dog ."))]
    expected = jar.scores(pairs, "exact stem", "1.0 0.6")
    np.testing.assert_allclose(of_words(jar, pairs), expected, atol=1e-12)


@pytest.mark.slow
def test_jar_agrees_on_synonyms(jar, tmp_path):
    # The jar's own synsets, rewritten as a WordNet index; the jar does not keep parts of speech apart, so one file.
    rows = zip(jar.synsets[::2], jar.synsets[1::2], strict=False)
    index = "".join(f"{word} n {len(s.split())} 0 {len(s.split())} 0 {s}\n" for word, s in rows)
    (tmp_path / "index.noun").write_text(index, encoding="utf-8")
    rows = zip(jar.exceptions[::2], jar.exceptions[1::2], strict=False)
    exceptions = "".join(f"{form} {base}\n" for base, forms in rows for form in forms.split())
    (tmp_path / "noun.exc").write_text(exceptions, encoding="utf-8")
    vocabulary = (
        "the a dog hound dogs hounds mouse mice large big bigger auto car cars automobile run running race races walk "
        "go going went street road kid child children boy happy glad took take taking photo picture . glass glasses"
    )
    pairs = sentences(1000, 5, vocabulary)
    expected = jar.scores(pairs, "exact stem synonym", "1.0 0.6 0.8")
    np.testing.assert_allclose(of_words(jar, pairs, wordnet=tmp_path), expected, atol=1e-12)
    # The stage is at work in many of the pairs.
    assert np.sum(np.abs(expected - of_words(jar, pairs)) > 0.01) > 100


@pytest.mark.slow
def test_jar_agrees_on_paraphrases(jar, tmp_path):
    letters = "a b c d e f g"
    rng = random.Random(6)
    rows = [
        *PARAPHRASE_ROWS,
        *(tuple(" ".join(rng.choices(letters.split(), k=rng.randint(1, 3))) for _ in "12") for _ in range(60)),
    ]
    rows.sort()
    file = tmp_path / "table.gz"
    file.write_bytes(gzip.compress("".join(f"0.1\n{a}\n{b}\n" for a, b in rows).encode()))
    pairs = [
        *sentences(1000, 7, letters),
        *sentences(250, 8, "a dog the it kicks ball plays football big large before in front of"),
    ]
    expected = jar.scores(pairs, "exact stem paraphrase", "1.0 0.6 0.6", "-a", str(file))
    np.testing.assert_allclose(of_words(jar, pairs, paraphrases=file), expected, atol=1e-12)
    # The stage is at work in many of the pairs.
    assert np.sum(np.abs(expected - of_words(jar, pairs)) > 0.01) > 100


def test_jar_agrees_on_tokens(jar):
    assert [NORMALISED[text].split() for text in NORMALISED] == jar.normalised(list(NORMALISED))


@pytest.mark.slow
def test_jar_agrees_on_real_captions(jar, data_folder):
    with gzip.open(data_folder / "abstract48s" / "contexts.jsonl.gz", "rt", encoding="utf-8") as stream:
        groups = [json.loads(line)["references"] for line in stream]
    rng = random.Random(0)
    pairs = [(rng.choice(group), rng.choice(group)) for group in groups]
    pairs += [(rng.choice(group), rng.choice(rng.choice(groups))) for group in groups]
    # Raw text on both sides: the jar's tokens and stems against ours.
    expected = jar.scores(pairs, "exact stem", "1.0 0.6", "-norm")
    np.testing.assert_allclose(ours(jar, pairs), expected, atol=1e-12)


@pytest.mark.slow
def test_jar_agrees_on_real_translations(jar, data_folder):
    with gzip.open(data_folder / "wmt17_to_english" / "segments.jsonl.gz", "rt", encoding="utf-8") as stream:
        references = {(row["lp"], row["sid"]): row["reference"] for row in map(json.loads, stream)}
    with gzip.open(data_folder / "wmt17_to_english" / "outputs.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = list(map(json.loads, stream))
    pairs = [(row["hyp"], references[row["lp"], row["sid"]]) for row in rows[:: len(rows) // 1000]]
    words = [tuple(" ".join(meteor_tokens(text)) for text in pair) for pair in pairs]
    expected = jar.scores(words, "exact stem", "1.0 0.6")
    np.testing.assert_allclose(of_words(jar, words), expected, atol=1e-12)


@pytest.mark.slow
def test_jar_agrees_on_stems(jar, data_folder):
    """Words of translations, and as many that are made of letters and endings which the rules look at."""
    with gzip.open(data_folder / "wmt17_to_english" / "outputs.jsonl.gz", "rt", encoding="utf-8") as stream:
        lines = list(stream)
    words = {word for line in lines[::6] for word in meteor_tokens(json.loads(line)["hyp"])}
    assert len(words) > 15_000
    rng = random.Random(3)
    endings = """
        ' 's 's' s ies ied sses us ed eed ing edly eedly ingly y li ly tional ational enci izer ation ator alism aliti
        fulness ousli iviti biliti bli ogi logi fulli lessli alize icate ical ative ance ement ment ion sion ize e l
    """
    while len(words) < 40_000:
        start = "".join(rng.choices("aeiouybcdgklmnrstwxy'", k=rng.randint(0, 6)))
        words.add((start + "".join(rng.choices(endings.split(), k=rng.randint(0, 3)))) or "a")
    assert {word: english_stem(word) for word in words} == jar.stems(words)


def test_own_function_words_change_little(jar, data_folder):
    with gzip.open(data_folder / "abstract48s" / "contexts.jsonl.gz", "rt", encoding="utf-8") as stream:
        groups = [json.loads(line)["references"] for line in stream]
    pairs = [(group[0], text) for group in groups[:100] for text in group[1:11]]
    own, theirs = ours(jar, pairs, function_words=None), ours(jar, pairs)
    # A word's weight is .25 or .75 in either list, so that a score, up to its penalty a ratio of sums of weights in
    # both texts, changes by a factor of nine at most.
    some = theirs > 0
    assert np.all(own[some] / theirs[some] <= 9)
    assert np.all(theirs[some] / own[some] <= 9)
    assert np.array_equal(own == 0, theirs == 0)
