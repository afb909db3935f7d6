"""Files of contexts: JSONL with lists of texts, or two files of single texts whose records name their context."""

import gzip
import io
import json
import lzma
import types

import numpy as np
import pytest

from recapture import InputError
from recapture.texts.context_files import Context, given_contexts, read_contexts, read_grouped

DOGS = {"id": "dogs", "references": ["a dog", "one dog"], "candidates": ["dogs"]}


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


@pytest.fixture
def write(tmp_path):
    def make(content, name="contexts.jsonl"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return make


def test_one_object_a_line(write):
    found = read_contexts(write(lines(DOGS, {"id": 7, "references": [], "candidates": ["é", ""], "more": None})))
    assert found == [Context("dogs", ("a dog", "one dog"), ("dogs",)), Context("7", (), ("é", ""))]


def test_blank_lines_line_ends_and_byte_order_marks(write):
    text = lines(DOGS).replace("\n", "\r\n")
    found = read_contexts(write(b"\xef\xbb\xbf" + ("\n" + text + "   \n" + text.replace("dogs", "more")).encode()))
    assert [context.id for context in found] == ["dogs", "more"]


def test_other_line_separators_stay_inside_texts(write):
    odd = {"id": "a", "references": ["one\u2028two\x85three", "b\x0bc"], "candidates": ["d\ne"]}
    (found,) = read_contexts(write(lines(odd)))
    assert found.references == ("one\u2028two\x85three", "b\x0bc") and found.candidates == ("d\ne",)


def test_contexts_without_an_id_are_called_by_their_line(write):
    nameless = {key: DOGS[key] for key in ("references", "candidates")}
    found = read_contexts(write("\n" + lines(nameless, DOGS, nameless)))
    assert [context.id for context in found] == ["2", "dogs", "4"]


def test_fields_by_other_names_and_dotted_paths(write):
    record = {"image": 3, "human": {"captions": ["a", "b"]}, "human.captions": ["c", "d"], "out": {"model": ["e"]}}
    path = write(lines(record))
    (found,) = read_contexts(path, name="image", references="human.captions", candidates="out.model")
    assert found == Context("3", ("c", "d"), ("e",))  # the whole name comes first


def test_numbers_and_texts_are_ids_alike(write):
    found = read_contexts(write(lines(*({**DOGS, "id": name} for name in (0, -5, "x", "", 10**30)))))
    assert [context.id for context in found] == ["0", "-5", "x", "", str(10**30)]


@pytest.mark.parametrize("suffix, pack", [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed(write, suffix, pack):
    assert read_contexts(write(pack(lines(DOGS).encode()), "contexts.jsonl" + suffix))[0].id == "dogs"


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(lines(DOGS).encode())))
    assert read_contexts("-")[0].candidates == ("dogs",)


BROKEN = {
    "nothing": ("", "has no contexts"),
    "only blank lines": ("\n  \n", "has no contexts"),
    "cut off": (lines(DOGS) + '{"id": "b", "refer', "line 2: broken JSON: Unterminated string"),
    "not JSON": ("a dog\n", "line 1: broken JSON"),
    "two objects a line": (lines(DOGS).strip() + lines(DOGS), "line 1: broken JSON: Extra data"),
    "too deep": ("[" * 100_000 + "\n", "line 1: JSON nested too deeply"),
    "too long a number": ('{"id": ' + "1" * 5000 + "}\n", "line 1: .*digits"),
    "a list": ("[1]\n", "line 1 is not an object but a list"),
    "an array of contexts": (json.dumps([DOGS]), "line 1 is not an object but a list"),
    "a text": ('"dog"\n', "line 1 is not an object but a text"),
    "no candidates field": (
        '{"id": 1, "references": []}\n',
        "line 1: no field 'candidates'; fields there are: id, ref",
    ),
    "misspelt": ('{"id": 1, "reference": [], "candidates": []}\n', "no field 'references'.*did you mean reference"),
    "one reference as a text": (
        lines({**DOGS, "references": "a dog"}),
        "'references' must be a list of texts, not a text",
    ),
    "null": (lines({**DOGS, "candidates": None}), "'candidates' must be a list of texts, not null"),
    "an object of texts": (lines({**DOGS, "candidates": {"a": "b"}}), "must be a list of texts, not an object"),
    "a number among texts": (
        lines(DOGS, {**DOGS, "id": 2, "candidates": ["a", 3]}),
        "line 2: text 2 of field 'candidates' is a whole number",
    ),
    "a list among texts": (lines({**DOGS, "references": [["a"]]}), "text 1 of field 'references' is a list"),
    "null among texts": (lines({**DOGS, "references": ["a", None]}), "text 2 of field 'references' is null"),
    "half a surrogate pair": (
        '{"references": ["ok", "\\ud83d"], "candidates": []}\n',
        "text 2 of field 'references' holds half of a surrogate pair",
    ),
    "half a pair in an id": (
        '{"id": "\\ud83d", "references": [], "candidates": []}\n',
        "field 'id' holds half of a surrogate pair",
    ),
    "a boolean id": (lines({**DOGS, "id": True}), "'id' must be a text or a whole number, not a boolean"),
    "a null id": (lines({**DOGS, "id": None}), "not null"),
    "a broken id": (lines({**DOGS, "id": 1.5}), "not the number 1.5"),
    "a list as id": (lines({**DOGS, "id": [1]}), "not a list"),
    "the same id": (lines(DOGS, {**DOGS, "id": 1}, DOGS), "contexts 1 and 3 have the same id 'dogs'"),
    "a number and a text": (lines({**DOGS, "id": 1}, {**DOGS, "id": "1"}), "contexts 1 and 2 have the same id '1'"),
    "undecodable": (b'{"id": "caf\xe9"}\n', "line 1: byte 12 of the line .0xe9. is not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_sentence_with_file_and_line(write, name):
    content, words = BROKEN[name]
    with pytest.raises(InputError, match=words) as caught:
        read_contexts(write(content))
    assert "contexts.jsonl" in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        read_contexts(str(tmp_path / "nowhere.jsonl"))
    with pytest.raises(InputError, match="directory"):
        read_contexts(str(tmp_path))
    with pytest.raises(InputError, match="damaged"):
        read_contexts(write(gzip.compress(lines(DOGS).encode() * 50)[:-20], "cut.jsonl.gz"))


def test_an_id_field_that_was_named_must_be_there(write):
    """Otherwise a misspelt name would pass for contexts without ids."""
    with pytest.raises(InputError, match=r"line 1: no field 'idd'.*did you mean id"):
        read_contexts(write(lines(DOGS)), name="idd")


def test_contexts_from_python():
    found = given_contexts([DOGS, {"references": ("a",), "candidates": []}, Context("x", ("y",), ())])
    assert [context.id for context in found] == ["dogs", "2", "x"] and found[1].references == ("a",)
    assert given_contexts(iter([{**DOGS, "id": np.int64(4)}]))[0].id == "4"


@pytest.mark.parametrize(
    "contexts, words",
    [
        ([], "there are no contexts"),
        (["a dog"], "context 1 is not a mapping with references and candidates but str"),
        ([DOGS, DOGS], "contexts 1 and 2 have the same id 'dogs'"),
        ([{"id": 1, "references": ["a"]}], "context 1: no field 'candidates'"),
        ([{**DOGS, "references": "a dog"}], "context 1: field 'references' must be a list of texts, not a text"),
        ([{**DOGS, "candidates": [b"a"]}], "context 1: text 1 of field 'candidates' is a bytes"),
        ([{**DOGS, "references": ["\ud800"]}], "half of a surrogate pair"),
        ([{1: 2}], "context 1: no field 'references'; fields there are: 1"),
    ],
)
def test_what_is_no_context(contexts, words):
    with pytest.raises(InputError, match=words):
        given_contexts(contexts)


ROWS = [("b", "one"), ("a", "two"), ("b", "three"), ("10", "four")]


def table(rows, separator=","):
    return "\n".join(separator.join(row) for row in [("image", "caption"), *rows]) + "\n"


def test_two_files_with_a_group_column(write):
    human = write(table(ROWS), "human.csv")
    model = write(
        lines(*({"image": image, "caption": text} for image, text in [("a", "five"), ("c", "six")])), "m.jsonl"
    )
    assert read_grouped(human, model, group="image", field="caption") == [
        Context("b", ("one", "three"), ()),
        Context("a", ("two",), ("five",)),
        Context("10", ("four",), ()),
        Context("c", (), ("six",)),
    ]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "jsonl.gz"])
def test_every_form_of_single_texts(write, suffix):
    content = table(ROWS, "\t" if suffix == "tsv" else ",")
    if suffix.startswith("jsonl"):
        # Image ids are often numbers: they name the same contexts as the texts of a table do.
        content = lines(*({"image": int(image) if image == "10" else image, "caption": text} for image, text in ROWS))
    content = gzip.compress(content.encode()) if suffix.endswith("gz") else content
    human, model = write(content, f"human.{suffix}"), write(table([("10", "x"), ("b", "y")]), "model.csv")
    found = {context.id: context for context in read_grouped(human, model, group="image", field="caption")}
    assert found["10"] == Context("10", ("four",), ("x",)) and found["b"] == Context("b", ("one", "three"), ("y",))


def test_the_usual_field_is_text(write):
    files = [write(table([("1", "x")]).replace("caption", "text"), name) for name in ("human.csv", "model.csv")]
    assert read_grouped(*files, group="image") == [Context("1", ("x",), ("x",))]
    files = [write(lines({"meta": {"image": 5}, "text": "x"}), name) for name in ("human.jsonl", "model.jsonl")]
    assert read_grouped(*files, group="meta.image") == [Context("5", ("x",), ("x",))]


@pytest.mark.parametrize(
    "content, name, words",
    [
        (table(ROWS).replace("image", "photo"), "h.csv", "h.csv line 1: no field 'image'"),
        (table(ROWS).replace("caption", "words"), "h.csv", "h.csv line 1: no field 'caption'"),
        (lines({"caption": "x"}), "h.jsonl", "h.jsonl line 1: no field 'image'; fields there are: caption"),
        (
            lines({"image": None, "caption": "x"}),
            "h.jsonl",
            "line 1: field 'image' must be a text or a whole number, not null",
        ),
        (
            lines({"image": 1, "caption": "x"}, {"image": 2.5, "caption": "x"}),
            "h.jsonl",
            "line 2: .* not the number 2.5",
        ),
        (
            lines({"image": "\ud800", "caption": "x"}).encode(errors="surrogatepass"),
            "h.jsonl",
            "line 1: byte .* is not UTF-8",
        ),
        ('{"image": "\\ud800", "caption": "x"}\n', "h.jsonl", "field 'image' holds half of a surrogate pair"),
        (lines({"image": 1, "caption": [1.0, 2.0]}), "h.jsonl", "must hold texts and the context of each"),
        (lines({"image": 1, "caption": 3}), "h.jsonl", "'caption' is a number"),
        ("one\ntwo\n", "h.txt", "'caption'"),
        ("", "h.csv", "h.csv holds no texts"),
    ],
)
def test_single_texts_that_cannot_be_grouped(write, content, name, words):
    model = write(table([("b", "y")]), "model.csv")
    with pytest.raises(InputError, match=words):
        read_grouped(write(content, name), model, group="image", field="caption")


def test_single_texts_do_not_come_through_standard_input(write):
    with pytest.raises(InputError, match="standard input"):
        read_grouped(write(table(ROWS), "human.csv"), "-", group="image", field="caption")


def test_a_table_is_no_file_of_contexts(tmp_path):
    (tmp_path / "h.csv").write_text("image,caption\n")
    with pytest.raises(InputError, match="tables of single texts come in pairs"):
        read_contexts(str(tmp_path / "h.csv"))
