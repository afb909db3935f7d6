"""What results are of: equal human texts have one digest, others another; captions name models."""

import hashlib
import json

import numpy as np
import pytest

from recapture.report import result
from recapture.report.result import content_digest
from recapture.texts.text_index import AskedTexts, indexed

ROWS = np.random.default_rng(0).standard_normal((9000, 3)).astype(np.float32)


def test_a_digest_is_of_shape_and_numbers():
    """As hashlib makes it from the whole at once."""
    expected = hashlib.blake2b(json.dumps([9000, 3]).encode() + ROWS.astype(float).tobytes(), digest_size=12)
    assert content_digest(ROWS) == content_digest(np.asfortranarray(ROWS.astype(float))) == expected.hexdigest()
    assert content_digest(ROWS[:, :0]) != content_digest(ROWS[:8999, :0])


def test_many_rows_are_looked_at_by_all_cores(monkeypatch):
    monkeypatch.setattr(result, "_MANY_ROWS", 8999)
    parts = (hashlib.blake2b(ROWS[start : start + 4096].astype(float).tobytes()).digest() for start in (0, 4096, 8192))
    expected = hashlib.blake2b(json.dumps([9000, 3]).encode() + b"".join(parts), digest_size=12)
    assert content_digest(ROWS) == content_digest(ROWS.astype(float)) == expected.hexdigest()
    changed = ROWS.copy()
    changed[8500, 1] += 1
    assert content_digest(changed) != content_digest(ROWS)
    assert content_digest(ROWS[::-1]) != content_digest(ROWS)


@pytest.mark.parametrize("texts", [[], ["a"], ["é", 'with "quotes"', "half \ud800", ""], [["a", "b"], "c", []]])
def test_a_digest_of_texts_is_that_of_one_list(texts):
    """As the standard library writes it, and hashes it at once."""
    expected = hashlib.blake2b(json.dumps(texts).encode(), digest_size=12).hexdigest()
    assert content_digest(texts) == content_digest(iter(texts)) == expected


def test_a_digest_of_texts_that_pass_by(tmp_path):
    texts = ["é", 'with "quotes" and \\', "\u2028 \x01", "", "plain"]
    (tmp_path / "texts.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
    (tmp_path / "one.jsonl").write_text('"alone"\n')
    files = [AskedTexts(str(tmp_path / name), None, "jsonl") for name in ("texts.jsonl", "one.jsonl")]
    with indexed(files) as index:
        assert list(index.digests) == [content_digest(texts), content_digest(["alone"])]


def test_what_is_no_text_has_no_digest():
    assert content_digest(["a", 3]) == ""


def test_captions_say_the_type_of_numbers():
    identity = {"encoder": "m", "revision": "0123456789abcdef", "dtype": "bfloat16"}
    assert result.model_name(identity) == "m (revision 0123456789ab, bfloat16)"
    assert result.model_name({**identity, "dtype": "float32"}) == "m (revision 0123456789ab)"
