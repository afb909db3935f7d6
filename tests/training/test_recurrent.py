"""The recurrent sentence encoder: sentences, pairs, pieces, training that goes on, and what recapture makes of it."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if importlib.util.find_spec("sentence_transformers") is None:  # looked for, not imported: that takes seconds
    pytest.skip("needs recapture[models]", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parents[2]))

import recapture as rc  # noqa: E402
from recapture.representations.encoders.bag_of_words import BagOfWords  # noqa: E402
from training import adjacent, recurrent  # noqa: E402

TOPICS = {
    "sea": ("harbour", "sailor", "wave", "anchor"),
    "garden": ("flower", "spade", "hedge", "seed"),
    "kitchen": ("oven", "spoon", "flour", "onion"),
}
TINY = recurrent.Recipe(
    steps=14, rows=8, pieces=400, longest=16, width=12, hidden=10, evaluate_every=0, log_every=7, learning_rate=0.02
)


def _takes_pieces():
    """Whether the library's word vectors can be looked up by a tokenizer of transformers; in 6.0.0 they cannot."""
    from sentence_transformers.sentence_transformer.modules.tokenizer import TransformersTokenizerWrapper

    return isinstance(TransformersTokenizerWrapper(lambda text: {"input_ids": [2, 3]}).tokenize("a"), list)


@pytest.fixture
def pieces_taken():
    if not _takes_pieces():
        pytest.skip("this release of sentence-transformers reads one piece")


needs_pieces = pytest.mark.usefixtures("pieces_taken")


def paragraphs(count, seed):
    """Made-up paragraphs of three sentences on one topic."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        topic = list(TOPICS.values())[rng.integers(len(TOPICS))]
        words = [rng.choice(topic, 3, replace=False) for _ in range(3)]
        made.append(" ".join(f"The old {a} is beside the {b} and the {c}." for a, b, c in words))
    return made


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    (folder / "train.txt").write_text("\n".join(paragraphs(80, 1)) + "\n", encoding="utf-8")
    lines = (f"made-up\t{paragraph}" for paragraph in paragraphs(20, 2))
    (folder / "heldout.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def run(texts, output, **options):
    recipe = options.pop("recipe", TINY)
    cpu = torch.device("cpu")
    return recurrent.train(recipe, texts / "train.txt", texts / "heldout.tsv", output, cpu, **options)


@pytest.fixture(scope="module")
def folder(texts, tmp_path_factory):
    output = tmp_path_factory.mktemp("trained")
    assert run(texts, output)
    return output / recurrent.ENCODER


def test_sentences_by_hand():
    text = 'Mr. Pope came. "Who was it?" he asked. It was J. Smith! He left (at 5.30 p.m. or so). 3 men saw him'
    assert adjacent.sentences(text) == [
        "Mr. Pope came.",
        '"Who was it?" he asked.',
        "It was J. Smith!",
        "He left (at 5.30 p.m. or so).",
        "3 men saw him",
    ]
    assert adjacent.sentences("  ") == []


def test_pairs_follow_each_other_and_nothing_is_left_out_between():
    first = "One two three four. Five six seven eight. Too short. Nine ten eleven twelve. And now the last one."
    found, pairs = adjacent.neighbours([first, "Alone in its own paragraph.", "No."])
    assert len(found) == 5 and [(found[a][:3], found[b][:3]) for a, b in pairs] == [("One", "Fiv"), ("Nin", "And")]


def test_words_that_nobody_knows_are_spelled_by_shorter_pieces():
    known = ["wild wood river " * 9, "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 6]
    tokenizer = adjacent.learn_pieces(known, 300)
    assert tokenizer.encode("Wildwood, river").tokens[:2] == ["[CLS]", "wild"]
    assert "".join(tokenizer.encode("wildwood").tokens[1:-1]).replace("##", "") == "wildwood"
    assert tokenizer.encode("").tokens == ["[CLS]", "[SEP]"]
    assert tokenizer.get_vocab() == adjacent.learn_pieces(known[::-1], 300).get_vocab()


def test_copies_out_of_order_keep_their_words_whole():
    """Words of two pieces stay together, marks stay at both ends, nothing is lost; a text of one word cannot differ."""
    begin, end = adjacent.BEGIN, adjacent.END
    rows = torch.tensor([[begin, 10, 11, 20, 21, 30, 40, 41, 50, end, 0, 0], [begin, 10, 11, end, *[0] * 8]])
    words = torch.tensor([[0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8], [0, 1, 1, 2, *range(3, 11)]])
    lengths = torch.tensor([10, 4])
    generator = torch.Generator().manual_seed(3)
    orders = set()
    for _ in range(40):
        moved, differs = recurrent.out_of_order(rows, words, lengths, generator)
        assert sorted(moved[0].tolist()) == sorted(rows[0].tolist())
        assert moved[0, 0] == begin and moved[0, 9:].tolist() == [end, 0, 0]
        listed = moved[0].tolist()
        assert all(listed.index(piece + 1) == listed.index(piece) + 1 for piece in (10, 20, 40))
        assert moved[1].tolist() == rows[1].tolist() and not differs[1]
        assert bool(differs[0]) is (listed != rows[0].tolist())
        orders.add(tuple(listed))
    assert len(orders) > 10


def test_a_run_that_was_stopped_ends_where_a_whole_one_does(texts, folder, tmp_path):
    assert not run(texts, tmp_path, stop_after=0)
    assert run(texts, tmp_path, resume=True)
    files = [f"{part}/model.safetensors" for part in ("0_WordEmbeddings", "1_LSTM")]
    for file in [*files, "0_WordEmbeddings/tokenizer.json", "modules.json"]:
        assert (tmp_path / recurrent.ENCODER / file).read_bytes() == (folder / file).read_bytes()
    other = recurrent.Recipe(**{**vars(TINY), "seed": 2})
    with pytest.raises(SystemExit, match="another settings"):
        run(texts, tmp_path, resume=True, recipe=other)


@needs_pieces
def test_the_folder_gives_the_vectors_of_the_model(folder, texts, own_cache):
    """Against the training program's own pass over the same float16 weights; alone or in a batch, also if empty."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    parts = [load_file(folder / part / "model.safetensors") for part in ("0_WordEmbeddings", "1_LSTM")]
    tokenizer = Tokenizer.from_file(str(folder / "0_WordEmbeddings" / "tokenizer.json"))
    model = recurrent.Recurrent(tokenizer.get_vocab_size(), TINY).eval()
    model.load_state_dict({name: tensor.float() for part in parts for name, tensor in part.items()})
    written = ["The old wave is beside the anchor.", "A spade!", "", "An unheard-of word: ж"]
    pieces = adjacent.to_pieces(tokenizer, written, 32)
    with torch.no_grad():
        expected = model(torch.from_numpy(pieces.rows), torch.from_numpy(pieces.lengths)).numpy()
    encoder = rc.resolve_encoder(str(folder))
    np.testing.assert_allclose(rc.encode(written, encoder, cache=False), expected, atol=1e-6)
    alone = np.concatenate([rc.encode([text], encoder, cache=False) for text in written])
    np.testing.assert_allclose(alone, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)
    assert encoder.identity()["encoder"] == "recurrent-lstm" and encoder.identity()["pooling"] == "max"


@needs_pieces
def test_order_of_words_counts(folder, own_cache):
    """The same words in another order are another text to it; to a bag of words they are the same."""
    written = ["the", "old", "wave", "is", "beside", "the", "anchor", "and", "the", "harbour"]
    others = [np.random.default_rng(seed).permutation(written).tolist() for seed in range(10)]
    texts = [" ".join(words) for words in (written, *others)]
    vectors = rc.encode(texts, rc.resolve_encoder(str(folder)), cache=False)
    assert (np.linalg.norm(vectors[1:] - vectors[0], axis=1) > 1e-3).all()
    counts = BagOfWords().fit(texts).encode_batch(texts)
    np.testing.assert_array_equal(counts, np.repeat(counts[:1], len(texts), axis=0))


@pytest.mark.slow
@needs_pieces
def test_neighbours_are_found(texts, tmp_path):
    """Three topics, each in a third of the paragraphs: who knows the topic is right three times as often as chance."""
    recipe = recurrent.Recipe(**{**vars(TINY), "steps": 120, "average": 0.9})
    data, tokenizer, _ = adjacent.read_neighbours(texts / "train.txt", recipe.pieces, recipe.longest)
    asked = adjacent.read_held_out(texts / "heldout.tsv", tokenizer, recipe.longest)
    assert len(data.pairs) == 160 and len(asked.pairs) == 20
    assert run(texts, tmp_path, recipe=recipe)
    figures = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert '"event": "final"' in figures
    encoder = rc.resolve_encoder(str(tmp_path / recurrent.ENCODER))
    by_topic = [f"The old {a} is beside the {b} and the {c}." for a, b, c, _ in TOPICS.values()]
    again = [f"The old {d} is beside the {a} and the {b}." for a, b, _, d in TOPICS.values()]
    cosines = rc.encode(by_topic, encoder, cache=False) @ rc.encode(again, encoder, cache=False).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


def test_texts_without_neighbours_are_refused(tmp_path):
    (tmp_path / "train.txt").write_text("Only one sentence is here.\n")
    with pytest.raises(SystemExit, match="holds no two sentences that follow each other"):
        recurrent.train(TINY, tmp_path / "train.txt", None, tmp_path, torch.device("cpu"))


def test_options_of_the_command(texts, tmp_path, capsys):
    arguments = ["--corpus", str(texts / "train.txt"), "--output", str(tmp_path), "--steps", "2", "--rows", "4"]
    recurrent.main([*arguments, "--width", "4", "--hidden", "4", "--pieces", "200", "--device", "cpu"])
    assert (tmp_path / recurrent.ENCODER / "modules.json").is_file() and '"step": 2' in capsys.readouterr().out
