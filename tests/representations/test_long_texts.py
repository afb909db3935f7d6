"""Texts beyond an encoder's limit: windows against transformers run by hand, and what is said about them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations.encode import encode
from recapture.representations.encoder import resolve_encoder
from recapture.representations.facts import TextFacts
from recapture.representations.vector_cache import VectorCache
from recapture.representations.vectors import vectors_of

LIMIT = 64
"""Of the tiny model: as many positions as it has."""
SHORT = ["the cat sat on the mat .", "", "a red dog", "cat " * (LIMIT - 2)]
LONG = [
    "cat " * (LIMIT - 1),
    "the dog ran under a green tree and then sat . " * 30,
    "a cat and a dog . " * 13 + "unknown words here " * 9,
]


def assembled(folder: Path, text: str, limit: int, prompt: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Outside oracle: every window alone through transformers' model; a piece is of the window whose middle is nearest.

    Returns the vectors of all tokens, those of each window's tokens, how many pieces each window gave, and the marks.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    first, *pieces, last = tokenizer(text)["input_ids"]
    head, own = [first, *pieces[:prompt]], pieces[prompt:]
    room = limit - len(head) - 1
    starts = [*range(0, len(own) - room, room // 2), len(own) - room] if len(own) > room else [0]
    states = []
    for start in starts:
        with torch.no_grad():
            row = torch.tensor([[*head, *own[start : start + room], last]])
            states.append(model(input_ids=row).last_hidden_state[0].double().numpy())
    width = min(room, len(own))
    nearest = [int(np.argmin([abs(place - start - (width - 1) / 2) for start in starts])) for place in range(len(own))]
    middle = [states[at][len(head) + place - starts[at]] for place, at in enumerate(nearest)]
    tokens = np.array([*states[0][: len(head)], *middle, states[-1][-1]])
    return tokens, np.array(states), np.bincount(nearest or [0], minlength=len(starts)), len(head)


def by_hand(folder: Path, text: str, how: str, limit: int = LIMIT) -> np.ndarray:
    tokens, states, shares, _ = assembled(folder, text, limit)
    places = np.arange(1, states.shape[1] + 1)[:, None]
    of_windows = {
        "cls": states[:, 0],
        "lasttoken": states[:, -1],
        "weightedmean": (states * places).sum(1) / places.sum(),
    }
    if how in of_windows:
        return np.average(of_windows[how], axis=0, weights=shares)
    whole = {
        "mean": tokens.mean(axis=0),
        "max": tokens.max(axis=0),
        "mean_sqrt_len_tokens": tokens.sum(axis=0) / np.sqrt(len(tokens)),
    }
    return whole[how]


def normalised(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.parametrize("how", ["mean", "max", "cls"])
def test_windows_over_the_whole_text(how: str, tiny_bert: Path) -> None:
    expected = [by_hand(tiny_bert, text, how) for text in [*SHORT, *LONG]]
    np.testing.assert_allclose(encode([*SHORT, *LONG], tiny_bert, pooling=how, cache=False), expected, atol=1e-5)


@pytest.mark.parametrize("modes", [("mean_sqrt_len_tokens",), ("weightedmean",), ("lasttoken",), ("cls", "mean")])
def test_other_poolings_and_later_steps(modes: tuple[str, ...], with_modules: Callable[..., Path]) -> None:
    """Later steps come once, after the pooling of the whole text: here to length 1, before it for no window."""
    folder = with_modules("whole", "Pooling", "Normalize", pooling={"pooling_mode": modes})
    pooled = np.array([np.concatenate([by_hand(folder, text, how) for how in modes]) for text in LONG])
    np.testing.assert_allclose(encode(LONG, folder, cache=False), normalised(pooled), atol=1e-5)


def test_a_dense_layer_comes_after_the_mean(with_modules: Callable[..., Path]) -> None:
    from safetensors.numpy import load_file

    folder = with_modules("dense", "Pooling", "Dense", "Normalize")
    dense = load_file(folder / "2_Dense" / "model.safetensors")
    pooled = np.array([by_hand(folder, text, "mean") for text in LONG])
    expected = normalised(np.tanh(pooled @ dense["linear.weight"].T.astype(float) + dense["linear.bias"]))
    np.testing.assert_allclose(encode(LONG, folder, cache=False), expected, atol=1e-5)


@pytest.mark.parametrize("include", [True, False])
def test_a_prompt_stands_before_every_window_and_counts_once(include: bool, with_modules: Callable[..., Path]) -> None:
    folder = with_modules("prompted", "Pooling", pooling={"pooling_mode": "mean", "include_prompt": include})
    settings = {"prompts": {"own": "the red "}, "default_prompt_name": "own"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    rows = []
    for text in LONG:
        tokens, _, _, head = assembled(folder, "the red " + text, LIMIT, prompt=2)
        rows.append(tokens[0 if include else head :].mean(axis=0))
    np.testing.assert_allclose(encode(LONG, folder, cache=False), rows, atol=1e-5)


@pytest.mark.parametrize("truncate", [False, True])
def test_a_prompt_takes_room_from_texts(truncate: bool, with_modules: Callable[..., Path]) -> None:
    folder = with_modules("prompted", "Pooling", pooling={"pooling_mode": "mean"})
    settings = {"prompts": {"own": "the red "}, "default_prompt_name": "own"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    # Beside two special pieces and two of the prompt 60 fit; of 61 and 63, 1 and 3 are beyond the limit.
    texts = ["cat " * count for count in (60, 61, 63)]
    facts = resolve_encoder(folder, truncate=truncate).facts(texts)
    assert facts == TextFacts(2, 4 / 184 if truncate else 0.0, 0.0)


def test_no_room_for_a_text_is_an_error(with_modules: Callable[..., Path]) -> None:
    folder = with_modules("full", "Pooling", pooling={"pooling_mode": "mean"})
    settings = {"prompts": {"own": "the red cat " * 21}, "default_prompt_name": "own"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match="at most 64 pieces at once, which leaves no room for a text"):
        encode(["a cat"], folder, cache=False)


def test_short_texts_keep_their_vectors_to_the_last_bit(tiny_bert: Path) -> None:
    texts = [*SHORT, *LONG]
    for batch_size in (2, 32):  # batches of long, of mixed and of short texts
        windows, cut = (
            encode(texts, tiny_bert, cache=False, batch_size=batch_size, truncate=way) for way in (False, True)
        )
        np.testing.assert_array_equal(windows[: len(SHORT)], cut[: len(SHORT)])
        # 64 pieces of one word are much like 62; the others have different words beyond the limit.
        assert np.abs(windows - cut)[len(SHORT) + 1 :].max(axis=1).min() > 1e-3


def test_cut_texts_are_the_old_way(tiny_bert: Path) -> None:
    expected = [by_hand(tiny_bert, " ".join(text.split()[: LIMIT - 2]), "mean") for text in LONG]
    np.testing.assert_allclose(encode(LONG, tiny_bert, truncate=True, cache=False), expected, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_no_more_windows_at_once_than_the_batch_size(batch_size: int, tiny_bert: Path) -> None:
    encoder: Any = resolve_encoder(tiny_bert)
    encode(["a"], encoder, cache=False)
    seen: list[tuple[int, ...]] = []
    encoder._model[0].register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0]["input_ids"].shape)))
    vectors = encode([*LONG, *SHORT], encoder, batch_size=batch_size, cache=False)
    assert max(rows for rows, _ in seen) <= batch_size
    assert max(length for _, length in seen) <= LIMIT
    np.testing.assert_allclose(vectors[:3], [by_hand(tiny_bert, text, "mean") for text in LONG], atol=1e-5)


def test_windows_and_cut_vectors_never_meet_in_the_cache(tiny_bert: Path) -> None:
    for _ in range(2):
        windows, cut = encode(LONG, tiny_bert), encode(LONG, tiny_bert, truncate=True)
        assert np.abs(windows - cut).max() > 1e-3
    assert VectorCache().summary().entries == 2 * len(LONG)
    assert resolve_encoder(tiny_bert).identity()["long texts"] == "windows"
    assert resolve_encoder(tiny_bert, truncate=True).identity()["long texts"] == "cut"


def test_limits_that_the_library_does_not_see(with_modules: Callable[..., Path]) -> None:
    """The smaller of what the tokenizer and the positions allow; what the model was made for goes before both."""
    from recapture.representations.folder import token_limit

    folder = with_modules("limits", "Pooling")
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    assert token_limit(folder) == LIMIT
    for declared, expected in ((40, 40), (500, LIMIT), (10**30, LIMIT)):
        (folder / "tokenizer_config.json").write_text(json.dumps({**tokenizer, "model_max_length": declared}))
        assert token_limit(folder) == expected
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 30}')
    assert token_limit(folder) == 30
    np.testing.assert_allclose(
        encode(LONG, folder, cache=False), [by_hand(folder, text, "mean", 30) for text in LONG], atol=1e-5
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # RoBERTa: positions are counted from the padding token's number + 1 (transformers' create_position_ids).
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
        ({"model_type": "gpt2", "n_positions": 1024}, 1024),
        ({"model_type": "t5", "n_positions": 512}, None),  # relative positions: Raffel et al. 2020, section 2.1
        ({"model_type": "clip", "text_config": {}}, 77),  # Radford et al. 2021, section 2.4: 76 and the end
        ({"model_type": "clip", "text_config": {"max_position_embeddings": 20}}, 20),
        ({"model_type": "unheard-of"}, None),
    ],
)
def test_limits_of_plain_folders(config: dict[str, Any], expected: int | None, tmp_path: Path) -> None:
    from recapture.representations.folder import token_limit

    (tmp_path / "config.json").write_text(json.dumps(config))
    assert token_limit(tmp_path) == expected


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ("---\nlicense: mit\nlanguage: en\ntags:\n- a\n---\n# A model", ["en"]),
        ("---\nlanguage:\n- en\n- 'zh'\ntags:\n- x\n---\n", ["en", "zh"]),
        ("---\nlanguage: [en, de]\n---\n", ["en", "de"]),
        ("---\nlicense: mit\n---\nlanguage: fr\n", []),
        ("# no settings\nlanguage: en\n", []),
        (None, []),
    ],
)
def test_languages_on_a_models_card(card: str | None, expected: list[str], tmp_path: Path) -> None:
    from recapture.representations.folder import card_languages

    if card is not None:
        (tmp_path / "README.md").write_text(card)
    assert card_languages(tmp_path) == expected


def test_scripts() -> None:
    from recapture.representations.scripts import scripts_of, share_outside

    assert scripts_of(["en", "pt-BR"]) == ("LATIN",)
    assert set(scripts_of(["ja", "en"])) == {"LATIN", "CJK", "HIRAGANA", "KATAKANA"}
    assert scripts_of(["en", "multilingual"]) == scripts_of([]) == ()
    # Six letters of ten are Cyrillic; digits, marks and blanks are no letters; é is one Latin letter in both spellings.
    assert share_outside(["Привет, 12!", "abcé"], ["LATIN"]) == 0.6
    assert share_outside(["Привет, 12!", "abce\u0301"], ["LATIN"]) == 0.6
    assert share_outside(["ａｂ 中文"], ["LATIN"]) == 0.5  # full-width letters are Latin ones
    assert share_outside(["12 !", ""], ["LATIN"]) == 0.0


def test_facts_counted_by_hand(tiny_bert: Path) -> None:
    # One piece a word, of which "strange" and "odd" are unknown; two special ones around each text.
    texts = ["a strange cat sat", "", "cat " * (LIMIT - 1), "dog " * (2 * LIMIT - 1) + "odd"]
    pieces = 4 + (LIMIT - 1) + 2 * LIMIT
    assert resolve_encoder(tiny_bert).facts(texts) == TextFacts(2, 0.0, 2 / pieces)  # type: ignore[attr-defined]
    cut = resolve_encoder(tiny_bert, truncate=True)
    assert cut.facts(texts) == TextFacts(2, (1 + LIMIT + 2) / pieces, 2 / pieces)  # type: ignore[attr-defined]
    assert cut.facts([""]) == TextFacts(0, 0.0, 0.0)  # type: ignore[attr-defined]


def test_facts_and_notes_of_each_set(tiny_bert: Path) -> None:
    sets = [["the cat sat", "a dog"], ["the cat " * 40, "dog"], ["strange words", "cat"]]
    names = ["reference", "candidate 'long'", "candidate 'odd'"]
    encoded = vectors_of(sets, names, tiny_bert)
    assert encoded.facts == [TextFacts(0, 0.0, 0.0), TextFacts(1, 0.0, 0.0), TextFacts(0, 0.0, 2 / 3)]
    assert encoded.notes[0] == []
    assert encoded.notes[1] == [
        "1 of 2 texts of candidate 'long' are longer than 64 pieces: "
        "their vectors are means over windows of the whole text"
    ]
    (unknown,) = encoded.notes[2]
    assert unknown.startswith("66.7% of the pieces of candidate 'odd' are unknown to tiny-bert")
    again = vectors_of(sets, names, tiny_bert, truncate=True)
    # 80 pieces, of which 62 fit, and one more text of one piece.
    assert again.facts[1] == TextFacts(1, 18 / 81, 0.0)
    assert again.notes[1] == [
        "1 of 2 texts of candidate 'long' are longer than 64 pieces and were cut: "
        "22.2% of all pieces of candidate 'long' were not seen"
    ]


def test_other_scripts_than_those_of_the_card(with_modules: Callable[..., Path]) -> None:
    folder = with_modules("carded", "Pooling")
    (folder / "README.md").write_text("---\nlanguage: en\n---\n")
    texts = [["the cat sat"] * 3, ["the cat sat", "the cat sat", "кот"]]  # 3 of 21 letters
    notes = vectors_of(texts, ["reference", "candidate"], folder).notes
    assert notes[0] == []
    assert any(
        note.startswith("14% of the letters of candidate are of scripts that carded was not") for note in notes[1]
    )
    (folder / "README.md").unlink()
    assert not any("scripts" in note for note in vectors_of(texts, ["reference", "candidate"], folder).notes[1])


def test_facts_of_other_encoders(tmp_path: Path) -> None:
    # Words of the reference: the, cat, sat, on, a, mat. Of the candidate's 5 words 2 are not among them.
    texts = [["the cat sat", "on a mat"], ["the dog sat on fire"]]
    counts = vectors_of(texts, ["reference", "candidate"], "bag-of-words")
    assert counts.facts == [TextFacts(0, 0.0, 0.0), TextFacts(0, 0.0, 2 / 5)]
    assert counts.notes[1][0].startswith("40.0% of the words of candidate are unknown to bag-of-words")
    file = tmp_path / "tiny.txt"
    file.write_text("the 1 0\ncat 0 1\nsat 1 1\non 2 1\na 1 2\nmat 2 2\n")
    words = vectors_of(texts, ["reference", "candidate"], file)
    assert words.facts == counts.facts
    assert len(words.notes[1]) == 1  # said once, in its own words
    assert vectors_of(texts, ["one", "other"], lambda texts: np.ones((len(texts), 2))).facts == [TextFacts()] * 2
    assert vectors_of([np.ones((3, 2))] * 2, ["one", "other"]).facts == [TextFacts()] * 2


def test_truncation_is_for_encoders_with_a_limit(tmp_path: Path, tiny_bert: Path) -> None:
    file = tmp_path / "tiny.txt"
    file.write_text("the 1 0\n")
    for encoder in ("bag-of-words", str(file)):
        with pytest.raises(InputError, match="any length"):
            resolve_encoder(encoder, truncate=True)
    with pytest.raises(InputError, match="by name"):
        encode(["a"], resolve_encoder(tiny_bert), truncate=True)


@pytest.mark.slow
def test_facts_need_no_torch_where_vectors_are_kept(tiny_bert: Path) -> None:
    names = ["reference", "candidate"]
    before = vectors_of([SHORT, LONG], names, tiny_bert)
    assert before.facts[1].beyond_limit == len(LONG)
    script = (
        "import json, sys; from recapture.representations.vectors import vectors_of\n"
        f"found = vectors_of({[SHORT, LONG]!r}, {names!r}, {str(tiny_bert)!r})\n"
        "print(json.dumps([found.facts, found.notes, sorted({'torch', 'transformers'} & set(sys.modules))]))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ})
    facts, notes, loaded = json.loads(ran.stdout)
    assert [TextFacts(*fact) for fact in facts] == before.facts
    assert notes == before.notes
    assert loaded == []


def test_the_bar_goes_by_estimated_tokens(monkeypatch: pytest.MonkeyPatch, tiny_bert: Path) -> None:
    """The longest texts come first: counted by texts, a third of the time would look like a hundredth."""
    from recapture.representations import encode as module

    class Bar:
        def __init__(self, title: str, total: int, unit: str) -> None:
            bars.append((total, steps := []))
            self.advance = steps.append

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None: ...

    bars: list[tuple[int, list[int]]] = []
    monkeypatch.setattr(module, "Progress", Bar)
    texts = ["dog " * 1000, *(f"cat {number}" for number in range(99))]
    encode(texts, tiny_bert, cache=False, batch_size=10)
    encode(texts, tiny_bert, cache=False, batch_size=10, truncate=True)
    (whole, by_window), (less, by_cut) = bars
    assert sum(by_window) == whole and sum(by_cut) == less
    assert by_window[0] / whole > 0.8 > 0.4 > by_cut[0] / less  # 2,000 tokens of windows; 64 of a cut text


def test_truncation_reaches_the_encoder_from_every_entry(tiny_bert: Path, tmp_path: Path, capsys: Any) -> None:
    import recapture as rc
    from recapture.cli.app import run

    texts = [" ".join(["the cat sat", *["dog"] * (number * 20)]) for number in range(5)]
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(texts))
    encoder = str(tiny_bert)
    for truncate, way, said in ((False, "windows", "windows"), (True, "cut", "were cut")):
        results = rc.evaluate(texts, texts, "frechet", encoder, truncate=truncate, ceiling=False)
        result = results["candidate"]["frechet"]
        assert result.signature["encoder"]["long texts"] == way
        assert any("2 of 5 texts of reference are longer than 64" in note and said in note for note in result.warnings)
        context = {"references": texts, "candidates": texts[:2]}
        contexts = rc.evaluate_contexts([context], "embedding", encoder=encoder, truncate=truncate, resume=False)
        assert contexts.signature["encoder"]["long texts"] == way
        assert any("2 of 7 texts of the contexts are longer" in note and said in note for note in contexts.warnings)
        scores = rc.pairwise_scores(texts, texts, "embedding", encoder=encoder, truncate=truncate)
        vectors = normalised(encode(texts, encoder, truncate=truncate).astype(float))
        np.testing.assert_allclose(scores, vectors @ vectors.T, atol=1e-6)
        flag = ["--truncate"] if truncate else []
        names = ["-r", str(file), "-c", str(file), "--encoder", encoder, "--metrics", "frechet", "--format", "json"]
        assert run(["score", *names, *flag]) == 0
        assert f'"long texts": "{way}"' in capsys.readouterr().out
        assert run(["embed", str(file), "--encoder", encoder, "-o", str(tmp_path / "rows.npy"), *flag]) == 0
        assert said in capsys.readouterr().err
        np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), encode(texts, encoder, truncate=truncate))
    with pytest.raises(InputError, match="truncate was named"):
        rc.evaluate(np.eye(4), np.eye(4), "frechet", truncate=True)
    with pytest.raises(InputError, match="truncate was named"):
        rc.evaluate_contexts([context], "rouge-l", truncate=True)


def test_what_encoders_are_for_is_listed(capsys: Any) -> None:
    from recapture.cli.app import run

    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    assert "all-MiniLM-L6-v2 is for English; 256 pieces at once; nearly blind to word order" in shown
    assert "bag-of-words is for any language with blanks between words; no known limit of length; blind to" in shown


# all-MiniLM-L6-v2 from the weights package.


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    return float(normalised(one.astype(float)) @ normalised(other.astype(float)))


def human_words(count: int) -> str:
    words = (Path(__file__).parents[2] / "examples" / "demo" / "human.txt").read_text("utf-8").split()
    return " ".join(words[:count])


@pytest.mark.slow
def test_nonsense_beyond_the_limit_is_seen(needs_minilm: None) -> None:
    """The case of a new user: 300 human words followed by 1,200 times "banana"."""
    human = human_words(300)
    texts = [human, human + " banana" * 1200, "banana " * 1200]
    old = encode(texts[:2], truncate=True, cache=False)
    assert likeness(old[0], old[1]) > 0.999
    new = encode(texts, cache=False)
    # By the share of tokens, four fifths of the second text are bananas.
    assert likeness(new[0], new[1]) < 0.5 < 0.9 < likeness(new[1], new[2])
    from recapture.representations.locate import find_weights

    folder = find_weights("all-MiniLM-L6-v2").folder
    np.testing.assert_allclose(new[1], normalised(by_hand(folder, texts[1], "mean", 256)), atol=1e-5)


@pytest.mark.slow
def test_nonsense_beyond_the_limit_is_seen_in_real_texts(needs_minilm: None) -> None:
    data = os.environ.get("RECAPTURE_DATA")
    file = Path(data or "") / "ghostbuster" / "wp.jsonl.gz"
    if not data or not file.is_file():
        pytest.skip("needs the folder ghostbuster in RECAPTURE_DATA")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    human = [row["text"] for row in rows if row["source"] == "human"][:3]
    text = " ".join(human)  # documents here are cut to 120 words
    old, new = (encode([text, text + " banana" * 1200], truncate=way, cache=False) for way in (True, False))
    assert likeness(*old) > 0.999
    assert likeness(*new) < 0.6


@pytest.mark.slow
def test_pieces_are_counted_as_the_model_cuts_them(needs_minilm: None) -> None:
    from transformers import AutoTokenizer

    from recapture.representations.locate import find_weights

    texts = [human_words(400), "naïve café — 猫 鱻 ☃ ﷺ", "", "a" * 300]
    ids = AutoTokenizer.from_pretrained(find_weights("all-MiniLM-L6-v2").folder)(texts, truncation=False)["input_ids"]
    pieces = sum(map(len, ids)) - 2 * len(texts)
    expected = TextFacts(1, (len(ids[0]) - 256) / pieces, sum(row.count(100) for row in ids) / pieces)
    assert resolve_encoder(truncate=True).facts(texts) == pytest.approx(expected, abs=1e-15)  # type: ignore[attr-defined]
    assert resolve_encoder().made_for[:3] == ("English", 256, "nearly blind")  # type: ignore[attr-defined]
