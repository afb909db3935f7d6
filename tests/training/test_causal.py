"""The causal language model: its store of keys and values, sampling, beam search, prompts. All texts are made up."""

import gzip
import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")
sys.path.insert(0, str(Path(__file__).parents[2]))

from training import causal, causal_data, causal_model, causal_sampling  # noqa: E402

END, AND, PAD = causal_data.END, causal_data.AND, causal_data.PAD


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(3)
    made = causal_model.CausalModel(7, layers=2, width=16, heads=2, length=24).eval()
    with torch.no_grad():
        for weight in made.parameters():  # far from uniform, so that a mistake shows
            weight += 0.4 * torch.randn_like(weight)
    return made


def slowly(model, ids):
    """Log-probabilities of the next token, by reading the whole text anew, alone."""
    with torch.no_grad():
        return model.scores(model(torch.tensor([ids]))[:, -1])[0].log_softmax(0)


def test_the_store_gives_what_reading_anew_gives(small):
    """Prompts of unequal length in one batch; oracle: each alone, without store and padding."""
    prompts = [[1, 3, 4, 5], [1], [1, 6, 6, 2, 3, 5, 4]]
    ending = causal_sampling.Ending(9, (), (PAD,), (6,))
    drawn = causal_sampling.draw(small, prompts, causal_sampling.Setting(search="greedy"), ending, 0)
    for prompt, found in zip(prompts, drawn, strict=True):
        ids = list(prompt)
        for place, token in enumerate(found):
            scores = slowly(small, ids)
            scores[[PAD] + [6] * (place == 0)] = -torch.inf
            assert token == int(scores.argmax())
            ids.append(token)
        assert len(found) == 9


def test_a_wide_beam_finds_the_likeliest_text(small):
    """Oracle: all texts of at most three tokens, one by one. A beam as wide as their number cannot miss."""
    allowed = [3, 4, 5, 6]

    def likelihood(prompt, text):
        total, ids = 0.0, list(prompt)
        for place, token in enumerate(text):
            scores = slowly(small, ids)
            scores[[PAD, END] + [AND] * (place == 0)] = -torch.inf
            total += float(scores.log_softmax(0)[token])
            ids.append(token)
        return total

    ending = causal_sampling.Ending(3, (AND,), (PAD, END), (AND,))
    prompts = [[1, 3], [1, 5, 2, 4]]
    found = causal_sampling.draw(small, prompts, causal_sampling.Setting(search="beam", beams=80), ending, 0)
    for prompt, text in zip(prompts, found, strict=True):
        ended = [(*each, AND) for size in (1, 2) for each in itertools.product(allowed, repeat=size)]
        best = max([*ended, *itertools.product(allowed, repeat=3)], key=lambda each: likelihood(prompt, each))
        assert tuple(text) == tuple(token for token in best if token != AND)


def test_chances_by_hand():
    """Probabilities .5 .3 .15 .05 of the third to first and fourth token."""
    scores = torch.log(torch.tensor([[0.15, 0.3, 0.5, 0.05]]))

    def shares(**setting):
        found = causal_sampling.chances(scores, causal_sampling.Setting(**setting))[0]
        return (found / found.sum()).tolist()

    assert shares() == pytest.approx([0.15, 0.3, 0.5, 0.05])
    assert shares(top_k=2) == pytest.approx([0, 0.375, 0.625, 0])
    assert shares(top_p=0.79) == pytest.approx([0, 0.375, 0.625, 0])  # .5 is too little, .8 is enough
    assert shares(top_p=0.81) == pytest.approx([0.15 / 0.95, 0.3 / 0.95, 0.5 / 0.95, 0])
    assert shares(top_p=0.1) == pytest.approx([0, 0, 1, 0])  # the likeliest always stays
    squares = np.array([0.15, 0.3, 0.5, 0.05]) ** 2
    assert shares(temperature=0.5) == pytest.approx((squares / squares.sum()).tolist())
    # top-p is of what temperature and top-k leave: .5 ** 2 / (.5 ** 2 + .3 ** 2) = .735
    assert shares(temperature=0.5, top_k=2, top_p=0.73) == pytest.approx([0, 0, 1, 0])


def test_draws_follow_the_model(small):
    """First tokens drawn 4,000 times against the model's own probabilities (chi-square, 4 degrees: 18.5 at .001)."""
    ending = causal_sampling.Ending(1, (), (PAD, END), ())
    setting = causal_sampling.Setting(temperature=1.5)
    drawn = causal_sampling.draw(small, [[1, 4, 3]] * 4000, setting, ending, 5)
    assert drawn == causal_sampling.draw(small, [[1, 4, 3]] * 4000, setting, ending, 5)
    scores = slowly(small, [1, 4, 3]) / 1.5
    scores[[PAD, END]] = -torch.inf
    expected = 4000 * scores.softmax(0).numpy()
    counts = np.bincount([token for (token,) in drawn], minlength=7)
    assert counts[:2].tolist() == [0, 0]
    assert ((counts - expected)[2:] ** 2 / expected[2:]).sum() < 18.5


def test_likelihood_of_a_part(small):
    """Oracle: token by token. Only what is foretold counts, and rows of unequal length share a batch."""
    texts = [([1, 3, 4], [5, 6, 2]), ([1], [4]), ([1, 2, 2, 2], [3, 3])]
    found = causal.likelihood(small, texts, torch.device("cpu"), many=3)
    for (before, after), (nats, count) in zip(texts, found, strict=True):
        total, ids = 0.0, list(before)
        for token in after:
            total -= float(slowly(small, ids)[token])
            ids.append(token)
        assert count == len(after)
        assert nats == pytest.approx(total, rel=1e-5)


def test_perplexities_by_hand():
    """Two texts of 2 and 3 tokens, 1 and 2 words, 4 and 6 bytes, all tokens of probability 1/4."""
    nats = np.array([[2 * math.log(4), 2], [3 * math.log(4), 3]])
    found = causal.perplexities(nats, ["a", "b"], [1, 2], [4, 6])
    assert found["all"] == {"texts": 2, "token": 4.0, "word": round(4 ** (5 / 3), 2), "bits_a_byte": 1.0}
    assert found["a"]["word"] == 16.0


def scene(number, texts):
    return causal_data.Scene(f"name_{number // 2}_{number % 2}", texts, [[10 + len(text)] for text in texts])


def test_scenes_that_prompt_are_not_trained_on():
    scenes = [scene(number, ["x" * (n + 1) for n in range(6)]) for number in range(20)]
    train, check, held = causal_data.split_scenes(scenes, 3, 2, 1)
    assert len(train) + len(check) + len(held) == 20
    families = [{each.id.rpartition("_")[0] for each in part} for part in (train, check, held)]
    assert [len(each) for each in families] == [5, 2, 3]
    assert not families[0] & families[1] and not families[0] & families[2] and not families[1] & families[2]
    for prompt in causal_data.scene_prompts(held, 2, 1):
        shown = prompt.prompt.split(" / ")
        assert sorted([*shown, *prompt.human]) == ["x" * (n + 1) for n in range(6)]
        assert prompt.ids == [END, 10 + len(shown[0]), AND, 10 + len(shown[1]), AND]


def test_rows_hold_every_description_once():
    scenes = [scene(number, ["x" * (n + 1) for n in range(6)]) for number in range(3)]
    rows = causal_data.SceneRows(scenes, 9).epoch(1, 0)
    assert rows.shape[1] == 9
    kept = sorted(int(token) for token in rows.flatten() if token > AND)
    assert kept == sorted(token for each in scenes for (token,) in each.ids)
    assert all(row[0] == END for row in rows)


WORDS = ["river", "stone", "light", "green", "under", "walks", "sleeps", "old", "a", "the"]


@pytest.mark.slow
def test_from_texts_to_samples(tmp_path):
    """The whole program on made-up texts: what it writes has every field, setting and count."""
    rng = np.random.default_rng(2)

    def text(count):
        return " ".join(rng.choice(WORDS, count))

    (tmp_path / "train.txt").write_text("\n".join(text(25) for _ in range(40)))
    (tmp_path / "heldout.tsv").write_text("\n".join(f"{'ab'[n % 2]}\t{text(4 + 6 * (n % 3))}" for n in range(9)))
    scenes = tmp_path / "scenes.jsonl.gz"
    with gzip.open(scenes, "wt") as file:
        for number in range(8):
            print(json.dumps({"id": f"s_{number}_0", "references": [text(4) for _ in range(5)]}), file=file)
    (tmp_path / "tiny.json").write_text(json.dumps({
        "vocabulary": 300, "layers": 1, "width": 16, "heads": 2, "length": 64, "epochs": 1, "rows": 8,
        "scene_epochs": 1, "scene_rows": 8, "checked_share": 0.1, "checked_scenes": 2, "held_scenes": 3, "shown": 2,
        "prompt_words": 5, "words": 4, "prose_tokens": 6, "scene_tokens": 6, "prose_samples": 2, "scene_samples": 3,
        "beams": 2,
    }))  # fmt: skip
    output = tmp_path / "out"
    arguments = ["--config", str(tmp_path / "tiny.json"), "--corpus", str(tmp_path), "--scenes", str(scenes),
                 "--output", str(output), "--weights", str(tmp_path / "weights"), "--device", "cpu"]  # fmt: skip
    causal.main(arguments)
    rows = [json.loads(line) for line in gzip.decompress((output / "prose.jsonl.gz").read_bytes()).splitlines()]
    assert len(rows) == 6  # 10 and 16 words are enough for 5 and 4, 4 are not
    assert all(len(row["human"]) == 1 and len(row["human"][0].split()) == 4 for row in rows)
    wanted = len(causal.TEMPERATURES) * 2 + len(causal.TOP_P) + 2
    for row in rows:
        assert len(row["samples"]) == wanted
        assert all(len(each["texts"]) == (1 if "search" in each else 2) for each in row["samples"])
        assert all(text.strip() and len(text.split()) <= 4 for each in row["samples"] for text in each["texts"])
    told = [json.loads(line) for line in gzip.decompress((output / "scenes.jsonl.gz").read_bytes()).splitlines()]
    assert [row["model"] for row in told] == ["corpus, then scenes"] * 3 + ["scenes alone"] * 3
    assert {"temperature": 1.2, "top_p": 0.9, "top_k": 20} in [
        {key: value for key, value in each.items() if key != "texts"} for each in told[0]["samples"]
    ]
    report = json.loads((output / "report.json").read_text())
    assert set(report["perplexity"]) == {"prose", "corpus, then scenes", "scenes alone"}
    assert "example" not in json.dumps(report)
    # The same weights are taken, and the same texts are drawn, when it runs again.
    kept = [output / "prose.jsonl.gz", tmp_path / "weights" / "prose.safetensors"]
    before = kept[0].read_bytes(), kept[1].stat().st_mtime_ns
    causal.main(arguments)
    assert before == (kept[0].read_bytes(), kept[1].stat().st_mtime_ns)


def test_a_setting_nobody_knows(tmp_path):
    (tmp_path / "odd.json").write_text('{"layer": 3}')
    with pytest.raises(SystemExit, match="no setting is called 'layer'"):
        causal.read_recipe(tmp_path / "odd.json")
