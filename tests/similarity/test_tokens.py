"""Caption tokens against coco-caption's PTBTokenizer (Stanford CoreNLP 3.4.1)."""

import gzip
import json
import shutil

import pytest

from recapture.lexical.tokens import caption_tokens

# Right-hand sides as PTBTokenizer of pycocoevalcap 1.2 printed them.
KNOWN = {
    "Don't won't can't cannot gonna gotta wanna lemme gimme 'tis 'twas dunno": (
        "do n't wo n't ca n't can not gon na got ta wan na lem me gim me 't is 't was dunno"
    ),
    "He's she'd I'm we'll they're you've o'clock d'you y'all ma'am rock 'n' roll": (
        "he 's she 'd i 'm we 'll they 're you 've o'clock d'you y' all ma'am rock 'n' roll"
    ),
    "“Curly” ‘quotes’, it’s what we don’t want": "curly quotes it 's what we do n't want",
    "a black-and-white photo of a t-shirt, x-ray & e-mail": "a black-and-white photo of a t-shirt x-ray & e-mail",
    "black/white and/or 1/2 w/ a ½ cup": "black/white and/or 1/2 w / a 1/2 cup",
    "wow!!! what?! no?? hmm... ok.... so . . . end!": "wow !!! what ?! no ?? hmm ok so end",
    "(round) [square] {curly} *star*": "-lrb- round -rrb- -lsb- square -rsb- -lcb- curly -rcb- * star *",
    "$5.00 #1 50% 1,000 3.5 5:30pm 10am 1st 3D A&E r&b": "$ 5.00 # 1 50 % 1,000 3.5 5:30 pm 10am 1st 3d a&e r & b",
    "Mr. Smith vs. the U.S. on St. Mary St. at 5 p.m. etc.": "mr. smith vs. the u.s. on st. mary st. at 5 p.m. etc.",
    "No. 5 and no. 5 and no.": "no. 5 and no. 5 and no",
    "go to terminal C. The man met J. Smith": "go to terminal c the man met j. smith",
    "dash - dash -- dash --- dash – dash — dash": "dash dash dash dash dash dash",
    "a word.Next one,no space;semi:colon .": "a word.next one no space semi colon",
    "the boys' toys and James's hat, the 80's": "the boys toys and james 's hat the 80 's",
    "£20 €20 5¢ £20-25": "# 20 $ 20 5 cents # 20-25",
    "A 13.3-inch screen, 70.308kg, U.S.-based": "a 13.3-inch screen 70.308 kg u.s.-based",
    "http://www.x.com/a?b=c joe@x.com": "http://www.x.com/a?b=c joe@x.com",
    "café naïve Zürich": "café naïve zürich",
    "the city center., close by": "the city center. close by",
}


@pytest.mark.parametrize("text", KNOWN)
def test_known_tokens(text):
    assert caption_tokens(text) == KNOWN[text].split()


def test_no_words_no_tokens():
    assert caption_tokens("") == caption_tokens(" \n\t ") == caption_tokens("... , ' \"") == []


def test_accents_may_be_composed_or_not():
    assert caption_tokens("cafe\u0301") == caption_tokens("caf\u00e9") == ["café"]


def test_every_kind_of_white_space_parts_words():
    assert caption_tokens("a\nb\tc\u00a0d\u2003e") == ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def java_tokens():
    if shutil.which("java") is None:
        pytest.skip("the PTBTokenizer needs Java")
    module = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")

    def tokens(texts):
        # A line that cannot begin a sentence in between: the next line decides whether the full stop of "C." is kept.
        entries = {number: [{"caption": " ".join(text.split())}, {"caption": "x"}] for number, text in enumerate(texts)}
        made = module.PTBTokenizer().tokenize(entries)
        return [made[number][0].split() for number in range(len(texts))]

    return tokens


def test_the_known_tokens_are_what_the_java_program_says(java_tokens):
    assert java_tokens(list(KNOWN)) == [expected.split() for expected in KNOWN.values()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "fields"),
    [
        ("abstract48s/contexts.jsonl.gz", ("references",)),
        ("captions_coco1000/captions.jsonl.gz", ("references", "candidates")),
        ("xnli_en_genres/sentences.jsonl.gz", ("text",)),
    ],
)
def test_real_texts_get_the_java_programs_tokens(data_folder, java_tokens, file, fields):
    with gzip.open(data_folder / file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = []
    for row in rows:
        for field in fields:
            texts += [row[field]] if isinstance(row[field], str) else row[field]
    texts = [text for text in texts if text.strip()]
    equal = sum(caption_tokens(text) == expected for text, expected in zip(texts, java_tokens(texts), strict=True))
    assert equal >= (0.9975 if "xnli" in file else 0.9995) * len(texts)
