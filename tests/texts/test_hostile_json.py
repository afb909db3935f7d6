"""Numbers of 5,000 digits and JSON nested 900 deep, in every place where JSON is read."""

import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.texts.json_values import parsed

VALUES = {
    "5,000 digits": "9" * 5000,
    "-5,000 digits": "-" + "9" * 5000,
    "900 lists": "[" * 900 + "]" * 900,
    "900 objects": '{"a":' * 900 + "1" + "}" * 900,
    "100,000 lists": "[" * 100_000 + "]" * 100_000,
    "infinity": "1e999",
}
RECORDS = [
    "%s",
    '{"text": %s}',
    '{"id": %s, "references": ["a", "b"], "candidates": ["b"]}',
    '{"id": "1", "references": %s, "candidates": %s}',
    '{"system": %s, "item": %s, "bleu": 1, "human": 2}',
    '{"system": "a", "item": "1", "bleu": %s, "human": %s, "text": "a"}',
]


def taken_or_refused(read, path):
    try:
        read(path)
    except InputError as error:
        assert len(str(error)) < 600


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_readers(value, suffix, tmp_path):
    path = tmp_path / f"records{suffix}"
    for record in RECORDS:
        filled = record.replace("%s", VALUES[value])
        path.write_text(filled + "\n" if suffix == ".jsonl" else f"[{filled}]")
        for read in (rc.read, rc.read_contexts, rc.read_scores, lambda path: rc.read_scores(path, where={"item": "1"})):
            taken_or_refused(read, path)


@pytest.mark.parametrize("value", VALUES)
def test_tables_and_journals(value, tmp_path):
    path = tmp_path / "df.json"
    for table in ('{"documents": %s, "counts": {}}', '{"documents": 2, "counts": {"a": %s}}', "%s"):
        path.write_text(table.replace("%s", VALUES[value]))
        with pytest.raises(InputError):
            rc.DocumentFrequencies.read(path)
    journal = tmp_path / "run.jsonl"
    rc.Journal(journal).add({"a": 1})
    with journal.open("a") as file:
        file.write(f'{{"step": {VALUES[value]}, "value": 1}}\n')
    assert rc.Journal(journal).finished()["a"] == 1
    lines = tmp_path / "lines.txt"
    lines.write_text(f'{{"a": {VALUES[value]}}}\nsecond\n')
    assert len(rc.read(lines)) == 2


def test_the_sentences():
    for content, sentence in (
        ("[" * 102 + "]" * 102, "^x: JSON nested too deeply$"),
        ("[" * 100_000, "^x: JSON nested too deeply$"),
        ('{"a": }', r"^x: broken JSON: Expecting value \(column 7\)$"),
        ('{"a": 1, "a": 2}', "^x: the key 'a' stands twice in one object$"),
    ):
        with pytest.raises(InputError, match=sentence):
            parsed(content, "x")
    assert parsed("[" * 100 + "]" * 100, "x")
    assert parsed("9" * 5000, "x") == float("inf")  # refused where a number is wanted


def test_records_nested_too_deeply():
    record = {"system": "a", "item": 1}
    inner = record
    for _ in range(2000):
        inner["a"] = {}
        inner = inner["a"]
    with pytest.raises(InputError, match="more than 100 levels"):
        rc.ScoreMatrix.from_records([record])


@pytest.mark.parametrize("first", ["9" * 5000 + " 3", "2 " + "9" * 5000])
def test_word_vectors_that_promise_too_much(first, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(f"{first}\nthe 1 2 3\ncat 1 2 3\n")
    with pytest.raises(InputError, match="no file has so many words or dimensions"):
        rc.encode(["the cat"], str(path), cache=False)
