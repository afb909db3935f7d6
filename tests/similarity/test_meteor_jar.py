"""METEOR's whole setting from the authors' files: a small self-made jar, and the real one where it is installed."""

import gzip
import importlib.util
import json
import random
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.lexical import paraphrases as paraphrases_module
from recapture.lexical.jar_files import JarFiles
from recapture.lexical.meteor_tokens import JarTokens
from recapture.lexical.wordnet import WordNet, find_wordnet

WORDS = "the\na\nof\n.\n,\nis\nwas\nin\n's\n"
PREFIXES = "# a comment\n\nMr\nDr\nU\nNo #NUMERIC_ONLY#\n"
SYNSETS = (
    "boy\n00000100\nlad\n00000100 00000200\nsmall\n00000300\nlittle\n00000300\nhorse\n00000400\nknight\n00000400\n"
    "child\n00000200\nentity\n00001740\nbreathe\n00001740\n"
)
EXCEPTIONS = "child\nchildren\nhorse\nhorsies\n"
PARAPHRASES = (
    ("kicks the ball", "plays football"),
    ("plays football", "kicks the ball"),
    ("in front of", "before"),
    ("in front of", "ahead of"),
    ("small", "tiny"),
    ("the house", "it"),
    ("house", "the house"),
    ("quickly", "in a hurry"),
)
TABLE = "".join(f"0.25\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in PARAPHRASES).encode()

# Printed by meteor-1.5.jar with -l en -norm and these tables in place of its own: -s WORDS -d FOLDER -a TABLE, where
# FOLDER has SYNSETS and EXCEPTIONS. Candidate, reference, score; then the score of all six.
SAID = (
    (
        "The little lads play football in front of Mr. Smith's house.",
        "A small boy kicks the ball before the house of Mr. Smith.",
        0.2629088419568468,
    ),
    ("Children breathe quickly.", "The entity was in a hurry; the lad's tiny horse ran.", 0.14686462741356868),
    (
        "A tiny boy plays football, before it rained...",
        "The small children kicks the ball ahead of the well-known house.",
        0.09595836716381602,
    ),
    (
        "Café-goers said: ‘it's Α small, small,small world’ — No. 5 of the U.S.",
        'The café goers said "it is a tiny small little world" - no. 5 of the US.',
        0.27915141259445037,
    ),
    ("Knights' horsies, a knight and horse.", "Horses of a knight's horsies", 0.2342432038784078),
    ("snow", "rain", 0.0),
)
SAID_OF_ALL = 0.20633510703723779
CANDIDATES, REFERENCES, SCORES = (list(column) for column in zip(*SAID, strict=True))


def pack(file, without=()):
    contents = {
        "function/english.words": WORDS,
        "nonbreaking/english.prefixes": PREFIXES,
        "synonym/english.synsets": SYNSETS,
        "synonym/english.exceptions": EXCEPTIONS,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            if name not in without:
                archive.writestr(name, content)


@pytest.fixture
def jar(tmp_path):
    """A jar with self-made lists, and its table where METEOR looks for it."""
    file = tmp_path / "meteor" / "meteor-1.5.jar"
    (file.parent / "data").mkdir(parents=True)
    pack(file)
    (file.parent / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(TABLE))
    return file


# The whole setting


def test_scores_are_those_of_the_program(jar):
    result = rc.meteor(REFERENCES, CANDIDATES, jar=jar)
    np.testing.assert_allclose(result.scores, SCORES, atol=1e-14)
    assert result.signature["stages"] == ["exact", "stem", "synonym", "paraphrase"]
    assert result.signature["jar"]["path"] == result.signature["wordnet"]["path"] == str(jar)
    assert result.signature["paraphrases"]["path"] == str(jar.parent / "data" / "paraphrase-en.gz")
    assert result.signature["tokenize"] == result.signature["function_words"] == "jar"
    json.dumps(result.to_dict())
    # The stages beyond stems are at work, and so are the lists: without them other scores come out.
    assert np.all(np.abs(rc.meteor(REFERENCES, CANDIDATES).scores - SCORES)[:5] > 1e-3)
    assert "jar" not in rc.meteor(REFERENCES, CANDIDATES).signature


def test_the_systems_number_is_that_of_the_program(jar):
    result = rc.corpus_meteor(REFERENCES, CANDIDATES, jar=jar)
    assert result.value == pytest.approx(SAID_OF_ALL, abs=1e-14)
    np.testing.assert_allclose(result.scores, SCORES, atol=1e-14)
    assert result.details["corpus"] == ["value"]


def test_a_system_of_equal_texts_has_one_and_texts_beside_count_by_their_words():
    equal = ["red birds sing", "rain"]
    assert rc.corpus_meteor(equal, equal).value == 1
    # "red birds sing" is one chunk over both texts, which costs nothing; "big dog" of "dog big" are two chunks of all
    # five aligned words, all content: P = R = 1, and the penalty .6 (2 / 5)^.2.
    assert rc.corpus_meteor(["red birds sing", "dog big"], ["red birds sing", "big dog"]).value == pytest.approx(
        1 - 0.6 * (2 / 5) ** 0.2, abs=1e-12
    )
    # An empty candidate holds nothing, but all the words of its reference are wanted: P = 1, R = 3 / 5, one chunk of
    # three words that is not one over all texts, but costs nothing as it covers its own pair.
    lost = rc.corpus_meteor(["red birds sing", "big dog"], ["red birds sing", ""])
    assert lost.value == pytest.approx(1 / (0.15 + 0.85 * 5 / 3), abs=1e-12)
    assert lost.scores.tolist() == [1, 0]
    # Equal texts are equal, even where none of their words weighs anything.
    for options in ({"delta": 1.0}, {"tokenize": "caption"}):
        assert rc.corpus_meteor(["the", "..."], ["the", "..."], **options).scores.tolist() == [1, 1]


def test_the_best_reference_gives_the_counts():
    references = [["a cat sleeps on it", "birds sing"], "rain"]
    several = rc.corpus_meteor(references, ["birds sing loud", "rain"])
    assert several.value == rc.corpus_meteor(["birds sing", "rain"], ["birds sing loud", "rain"]).value
    np.testing.assert_array_equal(several.scores, rc.meteor(references, ["birds sing loud", "rain"]).scores)
    # Of equally good ones the first, as in the program: "dog cat" holds less of what its reference wants.
    first = rc.corpus_meteor([["snow", "hail hail"], "rain"], ["fog", "rain"]).value
    assert first == rc.corpus_meteor(["snow", "rain"], ["fog", "rain"]).value


def test_an_option_takes_the_place_of_the_jars_own(jar, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("0.5\nsnow\nrain\n")
    one = rc.meteor(["rain"], ["snow"], jar=jar, paraphrases=other)
    assert one.value == pytest.approx(0.6, abs=1e-12)  # one chunk over both texts, by paraphrase
    assert one.signature["paraphrases"]["path"] == str(other)
    both = rc.meteor(REFERENCES, CANDIDATES, jar=jar, tokenize="split", function_words=["the"])
    assert both.signature["tokenize"] == "split" and both.signature["function_words"] != "jar"


def test_triangle_ranks_and_averages_take_it_too(jar, tmp_path, capsys):
    people, model = REFERENCES[:3], CANDIDATES[:3]
    texts = [*people, *model]
    scores = rc.pairwise_scores(texts, texts, "meteor", jar=jar)
    assert scores[3, 0] == pytest.approx(SCORES[0], abs=1e-14)
    made = rc.triangle_rank(people, model, distance="meteor", jar=jar).value
    assert made == rc.triangle_rank(people, model, distance=1 - scores).value
    assert rc.aggregate(people, model, "meteor", jar=jar).value == pytest.approx(
        scores[3:, :3].max(1).mean(), abs=1e-12
    )
    file = tmp_path / "contexts.jsonl"
    file.write_text(json.dumps({"id": 1, "references": people, "candidates": model}) + "\n", encoding="utf-8")
    asked = ["contexts", str(file), "--metrics", "trm-meteor,meteor", "--jar", str(jar), "--format", "json"]
    assert run(asked) == 0
    totals = {total["metric"]: total["mean"] for total in json.loads(capsys.readouterr().out)["results"]["totals"]}
    assert totals["trm-meteor"] == made


def test_the_command_line_takes_the_jar_and_its_parts(jar, tmp_path, capsys):
    for name, texts in (("r.txt", REFERENCES), ("c.txt", CANDIDATES)):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    two = ["pairs", "-r", str(tmp_path / "r.txt"), "-c", str(tmp_path / "c.txt"), "--format", "json"]
    assert run([*two, "--metrics", "meteor,corpus-meteor", "--jar", str(jar)]) == 0
    results = json.loads(capsys.readouterr().out)["results"]["c.txt"]
    assert results["meteor"]["values"]["value"] == pytest.approx(np.mean(SCORES), abs=1e-12)
    assert results["corpus-meteor"]["values"]["value"] == pytest.approx(SAID_OF_ALL, abs=1e-12)
    table = str(jar.parent / "data" / "paraphrase-en.gz")
    assert run([*two, "--metrics", "meteor", "--wordnet", str(jar), "--paraphrases", table]) == 0
    parts = json.loads(capsys.readouterr().out)["results"]["c.txt"]["meteor"]["signature"]
    assert parts["stages"] == ["exact", "stem", "synonym", "paraphrase"] and parts["function_words"] == "recapture"
    assert run([*two[:-2], "--metrics", "meteor", "--jar", str(jar)]) == 0
    assert "meteor: exact, stem, synonym, paraphrase; lists and tokens of the jar" in capsys.readouterr().out
    assert run([*two[:-2], "--metrics", "meteor"]) == 0
    assert "meteor: " not in capsys.readouterr().out


# The files


def test_the_jar_its_folder_and_what_it_holds(jar, tmp_path):
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(jar) as archive:
        archive.extractall(unpacked)
    with pytest.raises(InputError, match=r"there is no data.paraphrase-en.gz in the folder of .*unpacked"):
        rc.meteor(REFERENCES, CANDIDATES, jar=unpacked)
    shutil.copytree(jar.parent / "data", unpacked / "data")
    for place in (jar.parent, unpacked):
        np.testing.assert_allclose(rc.meteor(REFERENCES, CANDIDATES, jar=place).scores, SCORES, atol=1e-14)
    assert JarFiles(jar).identity()["revision"] == JarFiles(unpacked).identity()["revision"]
    for place in (jar, unpacked, unpacked / "synonym"):
        assert WordNet(place).synsets("children") == {200}


def test_synonyms_of_the_jar(jar):
    found = WordNet(jar)
    assert found.synsets("children") == {200}  # an irregular form stands for its bases alone
    assert found.synsets("lads") == {100, 200}
    assert found.synsets("entity") == found.synsets("breathe")  # parts of speech are not kept apart


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda file: file.unlink(), "there is no METEOR at "),
        (lambda file: file.write_text("no archive"), "there is no METEOR at "),
        (lambda file: pack(file, {"function/english.words"}), "there is no METEOR at "),
        (lambda file: pack(file, {"synonym/english.synsets"}), "there is no METEOR at "),
        (lambda file: shutil.rmtree(file.parent / "data"), "there is no data"),
        (lambda file: (file.parent / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(TABLE)[:-20]), "cut off"),
        (lambda file: (file.parent / "data" / "paraphrase-en.gz").write_bytes(b"0.5\nbig\nlarge\n"), "cannot be read"),
    ],
)
def test_a_damaged_jar_is_one_sentence(jar, tmp_path, capsys, break_it, message):
    break_it(jar)
    (tmp_path / "a.txt").write_text("snow\n")
    with pytest.raises(InputError, match=message) as told:
        rc.meteor(["rain"], ["snow"], jar=jar)
    assert "\n" not in str(told.value)
    files = ["-r", str(tmp_path / "a.txt"), "-c", str(tmp_path / "a.txt")]
    assert run(["pairs", *files, "--metrics", "meteor", "--jar", str(jar)]) == 2
    assert message in capsys.readouterr().err


def test_no_damage_ends_in_another_error(jar):
    whole = jar.read_bytes()
    for at in range(0, len(whole), 5):
        jar.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            rc.pairwise_scores(["snow"], ["rain"], "meteor", jar=jar)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("content", ["boy\n00000100\nlad\n", "boy\nlad\n", "boy\n1 x\n", "boy\n" + "9" * 20 + "\n"])
def test_synsets_that_are_not_whole(tmp_path, content):
    (tmp_path / "english.synsets").write_text(content)
    with pytest.raises(InputError, match=r"english.synsets (is cut off or damaged|has no synsets of 'boy')"):
        WordNet(tmp_path)


def test_phrases_that_come_again_later(tmp_path):
    """Their paraphrases are added in the table's order, in time that grows with the table."""
    table = tmp_path / "table.txt"
    table.write_text("0.5\na\nb\n0.5\nc\nd\n0.5\na\ne\n0.5\na\nb\n" + "0.5\nx\ny\n0.5\nz\nw\n" * 100_000)
    known = paraphrases_module.Paraphrases(table).prepare(["a", "x"]).known
    assert [row for _, _, row, _ in known] == [b"b\ne\nb", b"\n".join([b"y"] * 100_000)]


def test_packed_floods_are_refused(jar, tmp_path, monkeypatch):
    monkeypatch.setattr("recapture.lexical.packed.MOST_BYTES", 20)
    with pytest.raises(InputError, match=r"unpacks to more than .*RECAPTURE_NO_LIMITS=1"):
        rc.meteor(["rain"], ["snow"], jar=jar)
    monkeypatch.setattr(paraphrases_module, "MOST_BYTES", 1000)
    flood = tmp_path / "flood.gz"
    flood.write_bytes(gzip.compress(TABLE * 100))
    with pytest.raises(InputError, match=r"of paraphrases; RECAPTURE_NO_LIMITS=1"):
        rc.meteor(["rain"], ["snow"], paraphrases=flood)
    monkeypatch.setenv("RECAPTURE_NO_LIMITS", "1")
    assert rc.meteor(["tiny"], ["small"], paraphrases=flood).value == pytest.approx(0.6, abs=1e-12)


def test_a_table_is_read_once_and_again_when_it_changes(tmp_path, monkeypatch):
    table = tmp_path / "table.txt"
    table.write_text("0.5\nsnow\nrain\n")
    assert rc.meteor(["rain"], ["snow"], paraphrases=table).value == pytest.approx(0.6, abs=1e-12)
    with monkeypatch.context() as patch:
        patch.setattr(paraphrases_module.Paraphrases, "_content", None)  # a call of it would fail
        assert rc.meteor(["rain"], ["snow"], paraphrases=table).value == pytest.approx(0.6, abs=1e-12)
    table.write_text("0.5\nsnow\nhail\n")
    assert rc.meteor(["rain"], ["snow"], paraphrases=table).value == 0


# Tokens: printed by METEOR 1.5's Normalizer (en, with punctuation), lower-cased. The rules consume their neighbours, so
# that not every mark is split off, and letters beyond Latin and Cyrillic are taken one by one.
NORMALISED = {
    "a,b,c and x,,y": "a , b,c and x , ,y",
    "Ελλάδα and naïve": "ε λ λ ά δ α and naïve",
    "Nguyễn\xa0Văn": "nguy ễ n văn",
    "No. 5 and No. Never": "no. 5 and no . never",
    "'' ' ' x": "\" ' ' x",
    "rock'n'roll 5's 6'2 ''quoted''": "rock 'n'roll 5 's 6 ' 2 \" quoted \"",
    "wait... what..? .. end": "wait ... what .. ? .. end",
    "one-and-a-half--two – 3,000.50": "one and a-half two - 3,000.50",
    "e\u0301te 😀ok\u200bso": "e \u0301 te 😀 ok \u200b so",
    "the U.S. and Ph.D. or Mr. Xu": "the us and phd or mr. xu",
    "\x01 odd \x0b end \x02": "odd \x0b end",
}


@pytest.mark.parametrize("text", NORMALISED)
def test_tokens_are_the_jars(jar, text):
    assert JarFiles(jar).tokenize(text) == NORMALISED[text].split(" ")


def test_abbreviations_come_from_the_list():
    assert JarTokens({})("Mr. Xu")[:2] == ["mr", "."]
    assert JarTokens({"Mr": False})("Mr. Xu") == ["mr.", "xu"]
    assert JarTokens({"Mr": True})("Mr. Xu Mr. 5") == ["mr", ".", "xu", "mr.", "5"]


# A real WordNet


@pytest.mark.slow
def test_a_real_wordnet():
    """Facts of WordNet 3.0: wnstats(7WN) counts 117,659 synsets; wn(1WN) shows the synonyms."""
    folder = find_wordnet()
    if (
        folder is None
        or not (folder / "data.noun").is_file()
        or b"WordNet 3.0 " not in (folder / "data.noun").read_bytes()
    ):
        pytest.skip("needs WordNet 3.0 (Debian's wordnet-base, or WNSEARCHDIR)")
    found = WordNet(folder)
    assert len({synset for synsets in found._lemmas.values() for synset in synsets}) == 117_659
    assert found.synsets("cars") & found.synsets("automobile") & found.synsets("machine")
    assert found.synsets("children") & found.synsets("kid") & found.synsets("tike")
    assert found.synsets("ran") & found.synsets("operate")
    assert not found.synsets("entity") & found.synsets("breathe")  # one number in the files of nouns and of verbs
    # One chunk over both texts: "the" counts .25, and .8 of the synonym's .75.
    share = (0.25 + 0.8 * 0.75) / (0.25 + 0.75)
    result = rc.meteor(["the automobiles"], ["the cars"], wordnet=folder, function_words=["the"])
    assert result.value == pytest.approx(share, abs=1e-12)
    assert result.signature["wordnet"]["path"] == str(folder)


# The real jar, where pycocoevalcap is installed and there is Java


@pytest.fixture(scope="module")
def real_jar():
    found = importlib.util.find_spec("pycocoevalcap")
    if not shutil.which("java") or not found or not found.submodule_search_locations:
        pytest.skip("needs Java and pycocoevalcap's copy of METEOR 1.5")
    file = Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")
    if not file.is_file():
        pytest.skip("pycocoevalcap has no meteor-1.5.jar")
    return file


@pytest.mark.slow
def test_the_real_normalizer_agrees(real_jar):
    rng = random.Random(11)
    pieces = [
        *"aZ5.,'-`\"!?–’“ éЖλễ\xa0\u2009\u0301\t",
        "..",
        "''",
        "--",
        "Mr.",
        "No.",
        "U.S.",
        "e.g.",
        "s ",
        " a",
        "世",
    ]
    texts = ["".join(rng.choices(pieces, k=rng.randint(1, 25))) for _ in range(2000)]
    texts += list(NORMALISED)
    command = ["java", "-Dfile.encoding=UTF-8", "-cp", real_jar, "edu.cmu.meteor.util.Normalizer", "en", "true"]
    printed = subprocess.run(
        command, input="\n".join(texts) + "\n", capture_output=True, encoding="utf-8", check=True, timeout=120
    ).stdout.split("\n")
    assert len(printed) == len(texts) + 1
    tokenize = JarFiles(real_jar).tokenize
    for text, line in zip(texts, printed[:-1], strict=True):
        assert tokenize(text) == re.findall(r"[^ \t\n\r\f]+", line.lower()), ascii(text)


@pytest.mark.slow
def test_the_real_program_says_what_is_said_here(real_jar, tmp_path):
    """The expected numbers above, asked for again."""
    (tmp_path / "words").write_text(WORDS)
    (tmp_path / "english.synsets").write_text(SYNSETS)
    (tmp_path / "english.exceptions").write_text(EXCEPTIONS)
    (tmp_path / "table.gz").write_bytes(gzip.compress(TABLE))
    for name, texts in (("test", CANDIDATES), ("reference", REFERENCES)):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    tables = ["-s", "words", "-d", ".", "-a", "table.gz"]
    for task in ([], ["-t", "rank"]):  # the task that is meant where none is named
        command = ["java", "-jar", real_jar, "test", "reference", "-l", "en", "-norm", *tables, *task]
        printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert [float(score) for score in re.findall(r"Segment \d+ score:\s*(\S+)", printed)] == SCORES
        assert float(printed.split()[-1]) == SAID_OF_ALL


@pytest.mark.slow
def test_the_real_program_agrees_on_real_texts(real_jar, data_folder, tmp_path):
    """As pycocoevalcap calls it, with the beginning of its table, as both programs take ten seconds to read the whole.
    More texts, and the whole table: python docs/measure_metrics.py jar."""
    place = tmp_path / "meteor" / "meteor-1.5.jar"
    (place.parent / "data").mkdir(parents=True)
    shutil.copy(real_jar, place)
    with gzip.open(real_jar.parent / "data" / "paraphrase-en.gz", "rb") as stream:
        entries = stream.read(6_000_000).split(b"\n")
    entries = entries[: len(entries) // 3 * 3 - 3]
    (place.parent / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(b"\n".join(entries) + b"\n", 1))
    with gzip.open(data_folder / "captions_coco1000" / "captions.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream][:200]
    with gzip.open(data_folder / "webnlg2020_en" / "human_eval.jsonl.gz", "rt", encoding="utf-8") as stream:
        rated = [row for row in map(json.loads, stream) if row["output"]]
    items = [(row["candidates"][0], row["references"]) for row in rows]
    items += [(row["output"], row["references"]) for row in rated[::20]]
    items = [(" ".join(text.split()), [" ".join(one.split()) for one in group]) for text, group in items]
    lines = "".join(" ||| ".join(["SCORE", *group, text]) + "\n" for text, group in items)
    command = ["java", "-Xmx2G", "-jar", place, "-", "-", "-stdio", "-l", "en", "-norm"]
    counts = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()
    ask = " ||| ".join(["EVAL", *counts]) + "\n"
    (tmp_path / "table.gz").write_bytes(gzip.compress(TABLE))  # the other one is done with
    *each, together = subprocess.run(
        [*command, "-a", str(tmp_path / "table.gz")], input=ask, capture_output=True, encoding="utf-8", check=True
    ).stdout.splitlines()
    references, candidates = [group for _, group in items], [text for text, _ in items]
    result = rc.corpus_meteor(references, candidates, jar=place)
    np.testing.assert_allclose(result.scores, np.array(each, float), atol=1e-12)
    assert result.value == pytest.approx(float(together), abs=1e-12)
    without = rc.corpus_meteor(references, candidates, wordnet=place)
    assert (np.abs(result.scores - without.scores) > 1e-3).sum() > 20  # paraphrases of the beginning are at work
