"""The training program: packing, masking, names, export, resuming, held-out questions. All texts here are made up."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
sys.path.insert(0, str(Path(__file__).parents[2]))

from safetensors import safe_open  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from training import base, data, evaluate, export, masking, model, optimise, settings, train  # noqa: E402

WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrstu"]
SIZE = data.MASK + 1 + len(WORDS)
CONFIG = {
    "vocab_size": SIZE, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 40,
    "max_position_embeddings": 128, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
}  # fmt: skip


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(5)
    made = transformers.BertForMaskedLM(transformers.BertConfig(**CONFIG)).eval()
    with torch.no_grad():
        for weight in made.parameters():  # norms and biases start as 1 and 0, which would hide a mistake
            weight += 0.05 * torch.randn_like(weight)
    return made


@pytest.fixture(scope="module")
def base_dir(bert, tmp_path_factory):
    """A small encoder with a word tokenizer, stored as the real one is: no prefix, no head."""
    folder = tmp_path_factory.mktemp("base")
    weights = {name[5:]: tensor.clone() for name, tensor in bert.state_dict().items() if name.startswith("bert.")}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    special = {"[PAD]": data.PAD, "[UNK]": data.UNKNOWN, "[CLS]": data.CLS, "[SEP]": data.SEP, "[MASK]": data.MASK}
    vocabulary = special | {f"[unused{n}]": n for n in range(1, data.UNKNOWN)}
    vocabulary |= {word: data.MASK + 1 + n for n, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(special))
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=5)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice(WORDS, size=size)) for size in [*rng.integers(1, 90, size=50), 1, 30, 31, 60]]


@pytest.fixture(scope="module")
def files(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    (folder / "train.txt").write_text("\n".join(texts) + "\n\n")
    (folder / "heldout.tsv").write_text("\n".join(f"{'xy'[n % 2]}\t{text}" for n, text in enumerate(texts[:12])) + "\n")
    return folder


TINY = settings.Settings(
    steps=6, rows=4, length=32, packings=2, dropout=0.1, attention_dropout=0.1, single_share=0.2, keep_share=0.1,
    random_share=0.1, average=0.9, compile=False, bfloat16=False, log_every=2, evaluate_every=0,
)  # fmt: skip


def segments_of(rows):
    """[CLS] ... [SEP] runs, read one token at a time (not the way the code finds them)."""
    found = []
    for row in rows.tolist():
        inside = None
        for token in row:
            if token == data.CLS:
                assert inside is None
                inside = []
            elif token == data.SEP:
                found.append(tuple(inside))
                inside = None
            elif inside is None:
                assert token == data.PAD
            else:
                inside.append(token)
        assert inside is None
    return found


@pytest.mark.parametrize("random_cuts", [False, True])
def test_packing_keeps_every_token_once(base_dir, texts, random_cuts):
    encoded = data.Tokeniser(base_dir).encode(texts)
    assert [len(ids) for ids in encoded] == [len(text.split()) for text in texts]  # tokenizer.json's own cut is off
    rows = data.pack(encoded, 32, np.random.default_rng(1) if random_cuts else None)
    pieces = segments_of(rows)
    assert all(0 < len(piece) <= 30 for piece in pieces)
    plain = Counter(token for ids in encoded for token in ids.tolist())
    assert Counter(token for piece in pieces for token in piece) == plain
    if not random_cuts:
        lists = [ids.tolist() for ids in encoded]
        expected = Counter(tuple(ids[at : at + 30]) for ids in lists for at in range(0, len(ids), 30))
        assert Counter(pieces) == expected
    assert (rows != data.PAD).mean() > 0.9


def test_paragraphs_of_one_row_do_not_see_each_other(bert, base_dir):
    """Each paragraph of a packed row gets the logits transformers gives it alone."""
    first, second = np.array([104, 106, 110, 120]), np.array([111, 105, 108])
    rows = torch.from_numpy(data.pack([first, second], 12)).long()
    assert rows.shape == (1, 12)
    own = model.MaskedModel(CONFIG)
    own.load_named(bert.state_dict())
    own.eval()
    with torch.no_grad():
        packed = own(rows, *model.layout(rows), torch.arange(11))[:, :SIZE]
        alone = [
            bert(input_ids=torch.tensor([[data.CLS, *ids.tolist(), data.SEP]])).logits[0] for ids in (first, second)
        ]
    torch.testing.assert_close(packed, torch.cat(alone), atol=1e-5, rtol=1e-5)


def test_names_are_those_of_transformers(bert):
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert set(model.MaskedModel(CONFIG).named()) == set(bert.state_dict()) - tied


def test_export_gives_the_logits_of_transformers(bert, base_dir, tmp_path):
    own = model.MaskedModel(CONFIG)
    own.load_named(bert.state_dict())
    path = tmp_path / export.FILE
    export.write(path, own, base_dir, steps=7, corpus_hash="abc")
    with safe_open(path, "pt") as file:
        notes = file.metadata()
        assert base.WORDS not in file.keys()  # noqa: SIM118
    assert notes["licence"] == "CC BY-SA 4.0" and notes["steps"] == "7" and len(notes["base_blake2b"]) == 64
    loaded = evaluate.load_shipped(path, base_dir, torch.device("cpu"))
    ids = torch.tensor([[data.CLS, 104, data.MASK, 119, 107, data.SEP]])
    theirs = transformers.BertForMaskedLM(transformers.BertConfig(**CONFIG)).eval()
    left = theirs.load_state_dict(
        {**load_file(path), base.WORDS: base.base_weights(base_dir)[base.WORDS]}, strict=False
    )
    assert not left.unexpected_keys and all("decoder" in name for name in left.missing_keys)
    theirs.tie_weights()
    with torch.no_grad():
        ours = loaded(ids, *model.layout(ids), torch.arange(6))[:, :SIZE]
        torch.testing.assert_close(ours, theirs(input_ids=ids).logits[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours, bert(input_ids=ids).logits[0], atol=1e-3, rtol=1e-3)  # float16


def test_another_base_is_refused(bert, base_dir, tmp_path):
    own = model.MaskedModel(CONFIG)
    path = tmp_path / export.FILE
    export.write(path, own, base_dir, 1, "abc")
    base.copy_small(base_dir, tmp_path / "small")
    evaluate.load_shipped(path, tmp_path / "small", torch.device("cpu"))  # a copy is the same model
    weights = load_file(base_dir / "model.safetensors")
    save_file({name: tensor + 1 for name, tensor in weights.items()}, tmp_path / "small" / "model.safetensors")
    with pytest.raises(SystemExit, match="another base"):
        evaluate.load_shipped(path, tmp_path / "small", torch.device("cpu"))


def test_shipped_size_and_parts(tmp_path, monkeypatch):
    """The real shape (config.json of all-MiniLM-L6-v2) stays under 24 MB; parts put together are the file."""
    real = {
        "vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
        "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 2,
    }  # fmt: skip
    monkeypatch.setattr(export, "base_hash", lambda folder: "0" * 64)
    path = tmp_path / export.FILE
    export.write(path, model.MaskedModel(real), tmp_path, 1, "abc")
    assert path.stat().st_size <= 24_000_000
    parts = export.split(path)
    assert all(part.stat().st_size < 16 * 2**20 for part in parts)
    assert b"".join(part.read_bytes() for part in parts) == path.read_bytes()
    monkeypatch.setattr(export, "LARGEST", 1000)
    with pytest.raises(SystemExit, match="may ship"):
        export.write(path, model.MaskedModel(CONFIG), tmp_path, 1, "abc")


def test_questions_are_seeded_and_free_of_order(base_dir, files, tmp_path):
    def asked(path):
        return Counter((each.source, tuple(each.ids), each.place) for each in evaluate.read_questions(path, base_dir))

    lines = (files / "heldout.tsv").read_text().splitlines()
    turned = tmp_path / "turned.tsv"
    turned.write_text("\n".join(lines[::-1]))
    assert asked(files / "heldout.tsv") == asked(turned)
    for line in lines:
        ids = np.array([data.CLS, *range(104, 104 + min(126, len(line.split("\t")[1].split()))), data.SEP])
        places = evaluate.places_asked(line, ids)
        assert len(set(places)) == min(8, len(ids) - 2) and min(places) > 0 and max(places) < len(ids) - 1
    long = np.array([data.CLS, *[104] * 60, data.UNKNOWN, data.SEP])
    assert evaluate.places_asked("t", long, seed=0) == evaluate.places_asked("t", long, seed=0)
    assert evaluate.places_asked("t", long, seed=0) != evaluate.places_asked("t", long, seed=1)


def test_held_out_figures_against_transformers(bert, base_dir, files):
    own = model.MaskedModel(CONFIG)
    own.load_named(bert.state_dict())
    questions = evaluate.read_questions(files / "heldout.tsv", base_dir)
    losses, hits = [], []
    for each in questions:
        ids = torch.from_numpy(each.ids.copy()).long()
        ids[each.place] = data.MASK
        with torch.no_grad():
            logits = bert(input_ids=ids[None]).logits[0, each.place]
        losses.append(-logits.log_softmax(0)[each.answer].item())
        hits.append(logits.argmax().item() == each.answer)
    figures = evaluate.held_out(own, questions, torch.device("cpu"))
    assert figures["total"].count == len(questions) == figures["x"].count + figures["y"].count
    assert figures["total"].perplexity == pytest.approx(np.exp(np.mean(losses)), rel=1e-4)
    assert figures["total"].top1 == pytest.approx(np.mean(hits))


def test_masks_are_a_fixed_number_and_single_ones_stay_single(base_dir, files):
    corpus = data.read_corpus(files / "train.txt", base_dir, 32, 1, SIZE, seed=1)
    rows = torch.from_numpy(corpus.packings[0])
    allowed = masking.hidable(SIZE, torch.device("cpu"))
    for share, count in ((0.0, 37), (0.5, 60)):
        chosen = settings.Settings(single_share=share, length=32)
        torch.manual_seed(2)
        batch = masking.draw(rows, count, allowed, chosen)
        assert len(batch.chosen) == count == len(set(batch.chosen.tolist()))
        assert batch.weights.min() == 1
        assert (batch.inputs.flatten()[batch.chosen] == data.MASK).all()
        assert (batch.inputs == data.MASK).sum() == count
        assert allowed[batch.targets].all()
    # With every paragraph single and too many masks asked for, each paragraph has one and the rest weigh nothing.
    torch.manual_seed(2)
    batch = masking.draw(rows, 300, allowed, settings.Settings(single_share=1.0, length=32))
    paragraphs = int((rows == data.CLS).sum())
    assert batch.weights.sum() == paragraphs == (batch.inputs == data.MASK).sum()
    per = Counter(zip(*(each.tolist() for each in torch.where(batch.inputs == data.MASK)), strict=True))
    owners = Counter((row, int(batch.segments[row, place])) for row, place in per)
    assert set(owners.values()) == {1} and len(owners) == paragraphs


def test_masking_rate_follows_the_settings(base_dir, files):
    """The number drawn is the expected share of real tokens: 11.5 % for rates uniform in 3..20 %."""
    corpus = data.read_corpus(files / "train.txt", base_dir, 32, 1, SIZE, seed=1)
    rows = corpus.packings[0]
    count = masking.masks_per_batch(rows, settings.Settings(rows=len(rows), length=32))
    assert count == round(0.115 * int((rows > data.MASK).sum()))


def test_frozen_parts_stay(base_dir):
    own = model.MaskedModel(CONFIG)
    expected = {"all": {"places", "kinds", "norm", "0", "1", "2"}, 2: {"1", "2"}, 1: {"2"}, "none": set()}
    for layers, body in expected.items():
        own.choose_trained(layers)
        trained = {name for name, weight in own.named_parameters() if weight.requires_grad}
        parts = {name.split(".")[1] if name.startswith("blocks") else name.split(".")[0] for name in trained}
        assert parts == body | {"head", "head_norm", "bias"}


def test_schedule():
    chosen = settings.Settings(warmup=0.1, schedule="linear", final=0.0)
    assert [optimise.scale(done, chosen) for done in (0, 0.05, 0.1, 0.55, 1)] == pytest.approx([0, 0.5, 1, 0.5, 0])
    chosen = settings.Settings(warmup=0.0, schedule="cosine", final=0.2)
    assert [optimise.scale(done, chosen) for done in (0, 0.5, 1)] == pytest.approx([1, 0.6, 0.2])


@pytest.mark.slow
def test_resumed_run_equals_an_uninterrupted_one(base_dir, files, tmp_path):
    arguments = (files / "train.txt", files / "heldout.tsv")
    cpu = torch.device("cpu")
    assert train.train(TINY, *arguments, tmp_path / "whole", base_dir, cpu)
    assert not train.train(TINY, *arguments, tmp_path / "broken", base_dir, cpu, stop_after=0)  # after one step
    assert not train.train(TINY, *arguments, tmp_path / "broken", base_dir, cpu, stop_after=0, resume=True)
    assert train.train(TINY, *arguments, tmp_path / "broken", base_dir, cpu, resume=True)
    whole, broken = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("whole", "broken"))
    assert whole.keys() == broken.keys()
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    notes = []
    for folder in ("whole", "broken"):
        with safe_open(tmp_path / folder / export.FILE, "pt") as file:
            notes.append(file.metadata())
    assert notes[0] == notes[1]
    start = base.base_weights(base_dir)["bert.encoder.layer.0.output.dense.weight"]
    assert not torch.equal(
        load_file(tmp_path / "whole" / export.FILE)["bert.encoder.layer.0.output.dense.weight"], start.half()
    )
    entries = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in entries if "loss" in entry] == [2, 4, 6]
    assert entries[-1]["event"] == "final" and float(notes[0]["perplexity"]) == pytest.approx(
        entries[-1]["perplexity"], rel=1e-3
    )
    other = settings.Settings(**{**vars(TINY), "learning_rate": 1e-4})
    with pytest.raises(SystemExit, match="another settings"):
        train.train(other, *arguments, tmp_path / "broken", base_dir, cpu, resume=True)


def test_unknown_setting_is_refused(tmp_path):
    (tmp_path / "c.json").write_text('{"stepz": 3}')
    with pytest.raises(SystemExit, match="stepz"):
        settings.read_settings(tmp_path / "c.json")
    for path in (Path(__file__).parents[2] / "training" / "configs").glob("*.json"):
        settings.read_settings(path)
