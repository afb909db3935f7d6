"""Files as their authors distribute them, made up here in miniature, become what the studies read."""

import gzip
import json

import pytest

import recapture as rc
from recapture_studies import convert
from recapture_studies.convert import CONVERTERS, main
from recapture_studies.made_up import BUILDERS


def rows(path):
    with gzip.open(path, "rt") as stream:
        return [json.loads(line) for line in stream]


def test_premises_stand_before_their_hypotheses(tmp_path):
    head = "genre\tlabel\tsentence1_en\tsentence2_en\tsentence1_my\tsentence2_my\n"
    lines = [
        f'travel\t{label}\tA "quay".\tThe {label}.\t-\t-\n' for label in ("neutral", "entailment", "contradiction")
    ]
    lines += [f"letters\t{label}\tB.\tIt is {label}.\t-\t-\n" for label in ("neutral", "entailment", "contradiction")]
    for split in ("dev", "test"):
        (tmp_path / f"my.genre.{split}.tsv").write_text(head + "".join(lines))
    assert main(["xnli_en_genres", str(tmp_path), str(tmp_path / "data")]) == 0
    made = rows(tmp_path / "data/xnli_en_genres/sentences.jsonl.gz")
    assert [row["role"][0] for row in made] == list("phhhphhh") * 2
    assert (
        made[0]["text"] == 'A "quay".'
        and made[0]["genre"] == "travel"
        and [row["pair"] for row in made[:5]] == [0, 0, 1, 2, 3]
    )


def test_tags_are_taken_off(tmp_path):
    (tmp_path / "cats.txt").write_text("ca01 news\ncb01 reviews\n")
    (tmp_path / "ca01").write_text(
        "\n\tThe/at jury/nn said/vbd ``/`` no/rb ''/'' ./.\n\n\tIt/pps left/vbd 1/2/cd ./.\n"
    )
    (tmp_path / "cb01").write_text("\tFine/jj ./.\n")
    assert main(["brown_genres", str(tmp_path), str(tmp_path / "data")]) == 0
    made = rows(tmp_path / "data/brown_genres/sentences.jsonl.gz")
    assert [row["text"] for row in made] == ['The jury said "no".', "It left 1/2.", "Fine."]
    assert [(row["genre"], row["file"], row["n"]) for row in made] == [
        ("news", "ca01", 0),
        ("news", "ca01", 1),
        ("reviews", "cb01", 0),
    ]


def test_captions_by_image(tmp_path):
    captions = [{"image_id": image, "caption": f"{image} {at}"} for at in range(2) for image in ("a.png", "b.png")]
    (tmp_path / "abstract48S.json").write_text(json.dumps(captions))
    assert main(["abstract48s", str(tmp_path), str(tmp_path / "data")]) == 0
    made = rows(tmp_path / "data/abstract48s/contexts.jsonl.gz")
    assert made == [{"id": name, "references": [f"{name} 0", f"{name} 1"]} for name in ("a.png", "b.png")]
    (tmp_path / "dataset.json").write_text(json.dumps([{"references": ["x"], "candidates": ["y"], "metadata": {}}]))
    assert main(["captions_coco1000", str(tmp_path), str(tmp_path / "data")]) == 0
    made = rows(tmp_path / "data/captions_coco1000/captions.jsonl.gz")
    assert made == [{"id": 0, "references": ["x"], "candidates": ["y"]}]


def test_seeds_stand_beside_references(tmp_path, capsys):
    (tmp_path / "devset.csv").write_text(
        'mr,ref\n"name[A], food[B]",One.\n"name[A], food[B]","Two, too."\nname[C],Three.\n'
    )
    for seed in (1, 2):
        folder = tmp_path / f"model_seed{seed}-x"
        folder.mkdir()
        (folder / f"predictions.epoch{seed}").write_text(f"first {seed}\nsecond {seed}\n")
    assert main(["e2e_dev_multi", str(tmp_path), str(tmp_path / "data")]) == 0
    made = rows(tmp_path / "data/e2e_dev_multi/contexts.jsonl.gz")
    assert made[0]["references"] == ["One.", "Two, too."] and made[1]["candidates"] == ["second 1", "second 2"]
    (tmp_path / "model_seed1-x" / "predictions.epoch1").write_text("one\n")
    assert main(["e2e_dev_multi", str(tmp_path), str(tmp_path / "data")]) == 2
    assert "has 1 lines" in capsys.readouterr().err


def test_outputs_and_judgements(tmp_path):
    (tmp_path / "testset_w_refs.csv").write_text('mr,ref\n"name[A], food[B]",One.\nname[C],Three.\n')
    (tmp_path / "primary").mkdir()
    for system in ("slug", "tgen"):
        text = f'MR\toutput\n"name[A], food[B]"\t"{system} one"\nname[C]\t{system} two\n'
        (tmp_path / "primary" / f"{system}.tsv").write_text(text)
    for criterion in ("quality", "naturalness"):
        names = [f"{what}{at}" for what in ("sys", criterion) for at in range(1, 6)]
        (tmp_path / f"{criterion}.csv").write_text(
            ",".join(["mr_id", *names]) + "\n" + "2,slug,tgen,slug,tgen,slug,100,90,80.5,1e9,60\n"
        )
    assert main(["e2e_nlg", str(tmp_path), str(tmp_path / "data")]) == 0
    folder = tmp_path / "data/e2e_nlg"
    assert {"system": "tgen", "id": 1, "output": "tgen two"} in rows(folder / "outputs.jsonl.gz")
    assert {"system": "slug", "id": 0, "output": "slug one"} in rows(folder / "outputs.jsonl.gz")
    (judged,) = rows(folder / "human_quality.jsonl.gz")
    assert judged["id"] == 1 and judged["scores"] == [100, 90, 80.5, 1e9, 60] and judged["systems"][1] == "tgen"


def test_continuations_and_votes(tmp_path):
    for domain, k in (("book", 6), ("wikitext", 5)):
        item = {"prefix_text": f"{domain} p", "reference_text": "h", "generated_result": {"0": "m"}}
        (tmp_path / f"{domain}_contrastive_k_{k}_alpha_0.6_result.json").write_text(json.dumps([item]))
    vote = {"prompt": "p", "domain": "book", "human_annotation": {"annotator_1": "system a is more human-like."}}
    (tmp_path / "human_evaluation_annotations.json").write_text(json.dumps([vote]))
    assert main(["gpt2xl_contrastive_search", str(tmp_path), str(tmp_path / "data")]) == 0
    folder = tmp_path / "data/gpt2xl_contrastive_search"
    assert rows(folder / "wikitext.jsonl.gz")[0] == {
        "prompt": "wikitext p",
        "human": "h",
        "gpt2xl_contrastive_search": "m",
    }
    assert rows(folder / "human_pairwise.jsonl.gz") == [vote]


@pytest.mark.parametrize(
    "name, message",
    [
        ("xnli_en_genre", "did you mean xnli_en_genres"),
        ("xnli_en_genres", "has no file my.genre.dev.tsv"),
        ("abstract48s", "has no file"),
    ],
)
def test_what_is_missing_is_named(name, message, tmp_path, capsys):
    assert main([name, str(tmp_path), str(tmp_path / "data")]) == 2
    assert message in capsys.readouterr().err
    assert main([name, str(tmp_path / "nowhere"), str(tmp_path)]) == 2
    assert main([]) == 2


def test_only_known_folders():
    assert set(CONVERTERS) <= set(BUILDERS)


def test_translations_stay_as_they_are_stored(tmp_path):
    """Names of files and columns as in the repository that docs/data.md names."""
    outputs = tmp_path / "WMT17/system-outputs/cs-en"
    outputs.mkdir(parents=True)
    (outputs / "newstest2017.online-A.0.cs-en").write_text("it &apos;s one .\ntwo .\n")
    (tmp_path / "WMT17/newstest2017-csen-ref.en").write_text("one .\ntwo !\n")
    (tmp_path / "WMT17/DA-syslevel.csv").write_text("LP HUMAN SYSTEM\nen-cs 0.3 other.1\ncs-en -0.068 online-A.0\n")
    head = "LP\tsource\ttranslation\treference\tHUMAN_score\tsentBLEU\n"
    (tmp_path / "WMT17/testset_cs-en.tsv").write_text(head + "cs-en\tx\ttwo .\ttwo !\t-1.5\t0.1\n")
    assert main(["wmt17_to_english", str(tmp_path), str(tmp_path / "data")]) == 0
    made = tmp_path / "data/wmt17_to_english"
    assert rows(made / "segments.jsonl.gz")[1] == {"lp": "cs-en", "sid": 2, "reference": "two !"}
    assert rows(made / "outputs.jsonl.gz")[0] == {
        "lp": "cs-en", "system": "online-A.0", "sid": 1, "hyp": "it &apos;s one .",
    }  # fmt: skip
    assert (made / "system_da.tsv").read_text() == "lp\tsystem\thuman_da\ncs-en\tonline-A.0\t-0.068\n"
    assert json.loads((made / "segment_da.jsonl").read_text()) == {
        "lp": "cs-en", "reference": "two !", "hyp": "two .", "human_da": -1.5,
    }  # fmt: skip
    (outputs / "newstest2017.short.1.cs-en").write_text("one\n")
    assert main(["wmt17_to_english", str(tmp_path), str(tmp_path / "data")]) == 2


def test_descriptions_meet_their_ratings_without_raters(tmp_path, capsys):
    (tmp_path / "rdf-to-text-generation-test-data-with-refs-en.xml").write_text(
        '<benchmark><entries><entry eid="Id1"><lex lid="Id1">A.</lex><lex lid="Id2">B.</lex></entry>'
        '<entry eid="Id2"><lex lid="Id1">C.</lex></entry></entries></benchmark>'
    )
    submission = tmp_path / "submissions/rdf2text/en/bt5"
    submission.mkdir(parents=True)
    (submission / "primary.en").write_text("one\ntwo\n")
    names = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
    for system in ("bt5", "WebNLG-2020-reference"):
        results = tmp_path / "evaluation/human-evaluation/results/en" / system
        results.mkdir(parents=True)
        ratings = {"W1": dict.fromkeys(names, 100), "W2": {**dict.fromkeys(names, 50), "feedback": "odd"}}
        (results / "primary.json").write_text(json.dumps({"2": ratings}))
    assert main(["webnlg2020_en", str(tmp_path), str(tmp_path / "data")]) == 0
    made = tmp_path / "data/webnlg2020_en"
    assert rows(made / "outputs.jsonl.gz")[1] == {"system": "bt5", "id": 2, "output": "two"}
    by_system = {row["system"]: row for row in rows(made / "human_eval.jsonl.gz")}
    assert by_system["bt5"] == {
        "system": "bt5", "id": 2, "references": ["C."], "output": "two", "human_mean": dict.fromkeys(names, 75.0),
    }  # fmt: skip
    assert by_system["WebNLG-2020-reference"]["output"] is None
    (submission / "primary.en").write_text("one\n")
    capsys.readouterr()
    assert main(["webnlg2020_en", str(tmp_path), str(tmp_path / "data")]) == 2
    assert "has 1 lines" in capsys.readouterr().err


def test_what_does_not_fit_is_a_sentence(tmp_path, capsys):
    """Two files that could be meant, and a score that is no number."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dataset.json").write_text("[]")
    assert main(["captions_coco1000", str(tmp_path), str(tmp_path / "data")]) == 2
    assert "could both be meant" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
    outputs = tmp_path / "system-outputs/cs-en"
    outputs.mkdir(parents=True)
    (outputs / "newstest2017.s.1.cs-en").write_text("one\n")
    (tmp_path / "newstest2017-csen-ref.en").write_text("one\n")
    (tmp_path / "DA-syslevel.csv").write_text("LP HUMAN SYSTEM\ncs-en 0.1 s.1\n")
    (tmp_path / "testset_cs-en.tsv").write_text("LP\ttranslation\treference\tHUMAN_score\ncs-en\ta\tb\tnone\n")
    assert main(["wmt17_to_english", str(tmp_path), str(tmp_path / "data")]) == 2
    assert "HUMAN_score is no number but 'none'" in capsys.readouterr().err


def converted(name, folder, capsys):
    assert main([name, str(folder), str(folder / "data")]) == 2
    return capsys.readouterr().err


def test_files_of_another_form_are_refused_with_a_sentence(tmp_path, capsys):
    for split in ("dev", "test"):
        (tmp_path / f"my.genre.{split}.tsv").write_text("genre\tlabel\tsentence1_en\nnews\tneutral\tA.\n")
    assert "my.genre.dev.tsv has no column 'sentence2_en'" in converted("xnli_en_genres", tmp_path, capsys)
    for content in ({"image_id": 1}, [{"image_id": 1}], ["caption"]):
        (tmp_path / "abstract48S.json").write_text(json.dumps(content))
        assert "is no list of objects with the field" in converted("abstract48s", tmp_path, capsys)


def test_lines_without_a_genre_name_no_document(tmp_path):
    (tmp_path / "cats.txt").write_text("ca01 news\n\nca02\n")
    (tmp_path / "ca01").write_text("\tFine/jj ./.\n")
    assert main(["brown_genres", str(tmp_path), str(tmp_path / "data")]) == 0
    assert [row["text"] for row in rows(tmp_path / "data/brown_genres/sentences.jsonl.gz")] == ["Fine."]


def test_continuations_need_a_text(tmp_path, capsys):
    item = {"prefix_text": "a", "reference_text": "b"}
    votes = [{"prompt": "a", "domain": "book", "human_annotation": {}}]
    (tmp_path / "human_evaluation_annotations.json").write_text(json.dumps(votes))
    for results in (["c"], {"0": 1}, {"1": "c"}):
        for domain in ("book", "wikitext"):
            path = tmp_path / f"{domain}_contrastive_k_5_alpha_0.6_result.json"
            path.write_text(json.dumps([{**item, "generated_result": results}]))
        assert "generated_result has no text '0'" in converted("gpt2xl_contrastive_search", tmp_path, capsys)


def test_cells_with_odd_separators_stay_whole_and_short_rows_are_refused(tmp_path):
    """Only a line feed ends a row; a row that lacks a cell is no row with null in it."""
    rows = [("a", "one\u2028two"), ("a", "three\x0cfour"), ("b", "five")]
    path = tmp_path / "x.csv"
    path.write_text("mr,ref\n" + "".join(f"{mr},{ref}\n" for mr, ref in rows), encoding="utf-8")
    assert [(row["mr"], row["ref"]) for row in convert._table(path, ("mr", "ref"))] == rows
    for line in ("c", "c,six,seven", 'c,"six'):
        path.write_text(f"mr,ref\n{line}\n")
        with pytest.raises(rc.InputError, match="line 2: "):
            convert._table(path, ("mr", "ref"))


def test_what_is_no_text_does_not_become_one(tmp_path, capsys):
    for caption in (None, 7, ["a"]):
        (tmp_path / "abstract48S.json").write_text(json.dumps([{"image_id": 1, "caption": caption}]))
        assert "element 1: 'caption' must be a text" in converted("abstract48s", tmp_path, capsys)
