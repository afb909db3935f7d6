"""Labels of groups beside texts, in every format that has fields."""

import json

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.texts.group_labels import read_group_labels


def test_labels_in_every_format_with_fields(tmp_path):
    rows = [{"text": "a", "doc": 7}, {"text": "b", "doc": "x"}, {"text": "", "doc": 7}]
    (tmp_path / "a.jsonl").write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.csv").write_text('text,doc\na,7\nb,x\n"",7\n')
    (tmp_path / "a.tsv").write_text("text\tdoc\na\t7\nb\tx\n\t7\n")
    for name in ("a.jsonl", "a.json", "a.csv", "a.tsv"):
        assert read_group_labels(tmp_path / name, "doc") == ["7", "x", "7"], name


def test_labels_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["a", "b"], "doc": [3, 4]}), tmp_path / "a.parquet")
    assert read_group_labels(tmp_path / "a.parquet", "doc") == ["3", "4"]
    with pytest.raises(InputError, match="no field 'prompt'"):
        read_group_labels(tmp_path / "a.parquet", "prompt")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.txt", "a\nb\n", "read as lines, which has no fields: it has no groups 'doc'"),
        ("a.jsonl", '"a"\n', "line 1 is not an object but a text"),
        ("a.jsonl", '{"text": "a"}\n', "no field 'doc'"),
        ("a.jsonl", '{"text": "a", "doc": null}\n', "must be a text or a whole number, not null"),
        ("a.csv", "text,doc\na,\n", "record 1: field 'doc' is empty"),
    ],
)
def test_labels_that_are_none(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_group_labels(tmp_path / name, "doc")


def test_arrays_have_no_labels(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(InputError, match="has no fields"):
        read_group_labels(tmp_path / "a.npy", "doc")
