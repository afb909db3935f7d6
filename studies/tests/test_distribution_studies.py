"""Studies of the distribution-aware paper: what theory forces them to find, on sentences made up here."""

import json
from fractions import Fraction

import numpy as np
import pytest

import recapture as rc
from recapture import InputError
from recapture_studies.distribution_aware import decoding_sets, embeddings
from recapture_studies.distribution_aware.captions import Scoring, of_one_candidate
from recapture_studies.distribution_aware.single_candidate_paper import equal_shares
from recapture_studies.encoders import RememberingEncoder
from recapture_studies.files import plain
from recapture_studies.made_up.contexts import build
from recapture_studies.made_up.writing import write_records
from recapture_studies.paper import statements
from recapture_studies.study import Setup, find_study


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return folder


def quick(name, data):
    """The study's quick form on word counts; its tables as rows of dicts, by name."""
    encoder = "bag-of-words" if find_study(name).encodes else None
    findings = find_study(name).run(Setup(data, quick=True, encoder=encoder))
    tables = {
        table.name: [dict(zip(table.table.heads, row, strict=True)) for row in table.table.rows]
        for table in findings.tables
    }
    claims = find_study(name).claims(findings)
    assert all(claim.here and claim.data and claim.id in statements() for claim in claims)
    # From the tables alone, as they are stored.
    assert list(claims) == list(find_study(name).judge(json.loads(json.dumps(tables)), plain(findings.settings)))
    return findings, tables


def claims_of(name, findings):
    return {claim.id.partition("/")[2]: claim for claim in find_study(name).claims(findings)}


METRICS = ("embedding", "CIDEr-D", "BLEU@4", "METEOR", "ROUGE-L")


def test_means_of_equal_shares():
    """By fractions: N / (N/1 + N/2 + ... + N/N), and (N + 1) / 2N."""
    for count in (5, 20):
        harmonic = count / sum(Fraction(count, rank) for rank in range(1, count + 1))
        assert equal_shares(count, "harmonic mean") == pytest.approx(float(harmonic), rel=1e-12)
        assert equal_shares(count, "arithmetic mean") == pytest.approx((count + 1) / (2 * count))


@pytest.mark.slow
def test_one_candidate_in_words_of_its_own_has_the_least_p_there_can_be(data):
    """It shares nothing with anybody, all references share words: 1 of 5 partitions, in every context."""
    findings, tables = quick("single-candidate", data)
    rows = tables["joined"]
    model = [row for row in rows if row["candidate from"] == "a model" and row["joined by"] != "Fisher"]
    assert len(model) == 4
    for row in model:
        assert [float(row[name]) for name in METRICS] == [0.2] * 5, row["data"]
    harmonic = [row for row in rows if row["joined by"] == "harmonic mean"]
    assert all(float(row[name]) >= 1 / (1 + int(row["references"])) for row in harmonic for name in METRICS)
    # Equality of all p-values makes Fisher's statistic 2 L ln 5 with 2 L degrees of freedom.
    from scipy.stats import chi2

    fisher = next(row for row in rows if row["candidate from"] == "a model" and row["joined by"] == "Fisher")
    expected = chi2.sf(2 * 24 * np.log(5), 48)
    assert all(float(fisher[name]) == pytest.approx(expected, rel=0.06) for name in METRICS)
    assert claims_of("single-candidate", findings)["table-1/one-candidate"].holds == "holds"


@pytest.mark.slow
def test_means_are_in_order_for_people(data):
    """Harmonic means are at most arithmetic ones."""
    _, tables = quick("single-candidate", data)
    by = {(row["data"], row["references"], row["candidate from"], row["joined by"]): row for row in tables["joined"]}
    for (*key, how), row in by.items():
        if how == "harmonic mean":
            other = by[(*key, "arithmetic mean")]
            assert all(float(row[name]) <= float(other[name]) for name in METRICS)


@pytest.mark.slow
def test_five_texts_of_people_are_not_told_apart(data):
    _, tables = quick("mauve-small", data)
    rows = {(row["sides"], row["metric"]): row for row in tables["log-p"]}
    for sides in ("scenes: people", "E2E: people"):
        for metric in ("mauve", "meteor", "trm-meteor", "mmd", "mauve, one clustering", "mauve, five clusters"):
            row = rows[sides, metric]
            # Exact p-values: at most 5 % false alarms, and chance over 20 contexts.
            assert float(row["p ≤ 0.05"].rstrip("%")) <= 100 * (0.05 + 4 * np.sqrt(0.05 * 0.95 / 20))
            assert float(row["mean ln p"]) >= np.log(1 / 252)
    # Sides without a common word score 0, and so do they the other way round; all other partitions score more.
    assert float(rows["E2E: five seeds", "meteor"]["mean ln p"]) == pytest.approx(np.log(2 / 252), abs=1e-3)


@pytest.mark.slow
def test_one_clustering_has_the_p_values_that_counting_allows(data, monkeypatch):
    """Of two clusters with s and 10 - s of ten texts the statistic knows one count, which is farthest from even where
    all s stand on one side: 2 C(10 - s, 5) of C(10, 5) partitions."""
    from math import comb

    from recapture_studies.distribution_aware import mauve_small

    seen = []
    row = mauve_small._row
    monkeypatch.setattr(mauve_small, "_row", lambda *given: seen.append(row(*given)) or seen[-1])
    quick("mauve-small", data)
    allowed = [1.0, *(2 * comb(10 - s, 5) / comb(10, 5) for s in range(1, 6))]
    for each in seen:
        least = each.smallest["mauve, one clustering"]
        assert all(min(abs(value - other) for other in allowed) < 1e-12 for value in least)
    assert len(seen) == 4


def number(cell):
    return float(cell.split(" ±")[0])


def test_the_central_sentence_is_the_one_with_the_least_sum_of_distances():
    from recapture_studies.distribution_aware.central_sets import _ranked

    distances = np.array([[0, 2, 3, 9], [1, 0, 1, 9], [4, 1, 0, 9], [9, 9, 9, 0.0]])
    assert _ranked(distances, range(3)) == [1, 0, 2]  # sums 5, 2, 5: ties by position
    assert _ranked(distances, range(4)) == [1, 0, 2, 3]
    assert _ranked(distances, [3, 0]) == [0, 3]


@pytest.mark.slow
def test_one_sentence_over_and_over_is_the_farther_from_people_by_triangles(data):
    """All candidates alike: the edge within them is 0, the shortest of every triangle with a reference that differs.
    Q(R, C) is then its largest, 4/3, and TRM at least that; ten others of the same people stay below."""
    findings, tables = quick("central", data)
    rows = {(row["data"], row["candidates"]): row for row in tables["scores"]}
    assert len(rows) == 10
    for (name, which), row in rows.items():
        if "repeated" in which:
            # A reference may equal the sentence by chance: a few of several hundred triangles.
            assert number(row["TRM-METEOR ↓"]) > 4 / 3 - 0.2
        else:
            assert number(row["TRM-METEOR ↓"]) < number(rows[name, "the central one, repeated"]["TRM-METEOR ↓"])
    for name in ("abstract48s", "e2e_dev_multi"):
        central, least = (rows[name, f"the {which}, repeated"] for which in ("central one", "least central"))
        assert number(central["METEOR, mean ↑"]) > number(least["METEOR, mean ↑"])
    assert len(claims_of("central", findings)) == 3  # one of them on three data sets
    shown = " ".join(cell for table in findings.tables for row in table.table.rows for cell in row)
    assert "The " not in shown  # ids and lengths, never the sentences


@pytest.mark.slow
def test_central_on_real_data(data_folder):
    """Section 3.1 and Figure 4 of the paper: one central sentence wins by METEOR and loses by triangle ranks."""
    _, tables = quick("central", data_folder)
    rows = {(row["data"], row["candidates"]): row for row in tables["scores"]}
    for name in ("abstract48s", "e2e_dev_multi"):
        central, people = rows[name, "the central one, repeated"], rows[name, "other people, each once"]
        assert number(central["METEOR, mean ↑"]) > number(people["METEOR, mean ↑"])
        assert number(central["TRM-METEOR ↓"]) > number(people["TRM-METEOR ↓"])


@pytest.mark.slow
def test_efficiency_times_all_seven_metrics(data):
    """Timings are printed, never judged; the paper's rates and minutes belong together (40,504 images)."""
    from recapture_studies.distribution_aware.efficiency import _PAPER

    findings, tables = quick("efficiency", data)
    assert [row["metric"] for row in tables["times"]] == list(_PAPER)
    assert all(number(row["contexts a second"].replace(",", "")) > 0 for row in tables["times"])
    for rate, _, minutes in _PAPER.values():
        assert rate * minutes * 60 == pytest.approx(40_504, rel=0.002)  # MS-COCO's validation images, as in Table 2
    assert len(claims_of("efficiency", findings)) == 4


def test_encoders_tell_apart_what_shares_no_word_and_leave_people_alone(data):
    """Word counts without a common word: candidates and references are two clusters, so only labellings that keep both
    together reach the observed MMD. With one candidate of 10 + 1 texts that is 1 of 11, with two 1 of 66."""
    from math import comb

    findings, tables = quick("embeddings", data)
    rows = {(row["candidates from"], row["encoder"]): row for row in tables["sensitivity"]}
    seeds = rows["seeds", "bag-of-words"]
    for count in range(1, 8):
        least = 1 / comb(10 + count, count)
        # Seeds say things alike, but not the same: no smaller than what counting allows, and near it.
        assert np.log10(least) - 5e-4 <= float(seeds[str(count)]) <= np.log10(least) + 0.35
    (people,) = tables["people-and-speed"]
    assert float(people["p ≤ 0.05"].rstrip("%")) <= 100 * (0.05 + 4 * np.sqrt(0.05 * 0.95 / 12))
    assert claims_of("embeddings", findings)["figure-7/clip"].verdict.rule == "absent"


def test_an_encoder_that_is_named_stands_beside_the_others(data):
    def lengths(texts):
        return np.array([[len(text), text.count(" ")] for text in texts], np.float32)

    findings = find_study("embeddings").run(Setup(data, quick=True, encoder=lengths))
    first, second = (row[0] for row in findings.tables[1].table.rows)
    assert first == "bag-of-words" and "lengths" in second


@pytest.mark.slow
def test_decoding_counts_votes_and_repeats(data):
    findings, tables = quick("decoding", data)
    votes = {row["of"]: row for row in tables["votes"]}
    # Three of four voices are for contrastive search on each of 12 prompts: 2 of 2^12 outcomes are as one-sided.
    assert votes["prompts, all"]["for contrastive search"] == "12"
    assert votes["single votes"] | {"sign test": ""} == {
        "of": "single votes",
        "for contrastive search": "36",
        "for contrastive decoding": "12",
        "even": "0",
        "sign test": "",
    }
    assert float(votes["prompts, all"]["sign test"]) == pytest.approx(2 / 2**12, rel=0.05)
    by = {row["candidates"]: row for row in tables["variety"]}
    assert list(by)[:5] == [f"{count} different" for count in (1, 2, 3, 5, 7)]  # seven outputs a context were made up
    for row in by.values():
        assert number(row["METEOR ↑"]) == 0  # no word in common with anybody
    # One text over and over that shares no word with people, who share some: the edge within is the shortest of every
    # triangle, on both sides: 2/3 + 1/3 + 1/3 each.
    assert number(by["1 different"]["TRM-METEOR ↓"]) == pytest.approx(8 / 3, abs=1e-3)
    assert list(claims_of("decoding", findings)) == ["section-3.1/one-text-is-best", "figure-4/variety-improves-trm"]


@pytest.mark.slow
def test_decoding_on_real_votes(data_folder):
    """150 prompts with four voices each, as the folder's card says."""
    _, tables = quick("decoding", data_folder)
    votes = {row["of"]: row for row in tables["votes"]}
    heads = ("for contrastive search", "for contrastive decoding", "even")
    assert sum(int(votes["prompts, all"][head]) for head in heads) == 150
    assert sum(int(votes["single votes"][head]) for head in heads) == 600


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single-candidate", "mauve-small", "central", "embeddings", "decoding"])
def test_a_second_run_takes_what_the_first_kept(name, data, monkeypatch):
    """Interrupted studies go on: what is kept is not made again, and says the same."""
    first, _ = quick(name, data)
    for work in ("scores", "squares", "prepare"):
        monkeypatch.setattr(Scoring, work, lambda *_, **__: pytest.fail("made again"))
    second, _ = quick(name, data)
    assert [row for table in first.tables for row in table.table.rows if table.name != "people-and-speed"] == [
        row for table in second.tables for row in table.table.rows if table.name != "people-and-speed"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sensitivity", "human-null", "diversity-quality", "seeds"])
def test_claims_of_the_older_studies(name, data):
    findings, tables = quick(name, data)
    assert claims_of(name, findings)
    if name == "sensitivity":
        # As Figure 3 of the paper says.
        paper = [row["paper, 10 references, 7 candidates"] for row in tables["beside-the-paper"]]
        assert paper == ["+162.0%", "+49.3%", "-"]
        # Both of the paper's forms, and no number missing from one candidate on.
        forms = {(row["candidates from"], row["references"]) for row in tables["mean-log-p"]}
        assert forms == {(which, count) for which in ("seeds", "strangers") for count in ("5", "10")}
        assert all(float(row[str(count)]) <= 0 for row in tables["mean-log-p"] for count in range(1, 6))
    if name == "human-null":
        assert claims_of(name, findings)["table-3/people-and-people"].holds == "holds"  # exact p-values see to it


STUDIES = ["single-candidate", "central", "decoding", "efficiency", "embeddings", "mauve-small"]


@pytest.mark.parametrize("name", [*STUDIES, "sensitivity", "human-null", "diversity-quality", "seeds"])
def test_missing_folders_are_named(name, tmp_path):
    from recapture import InputError

    study = find_study(name)
    assert set(study.layout) == set(study.data) and study.takes
    with pytest.raises(InputError, match="it should hold"):
        study.run(Setup(tmp_path, quick=True))


def test_continuations_and_votes_that_are_too_few_or_of_others(tmp_path):
    folder = tmp_path / "gpt2xl_contrastive_search"
    row = {"prompt": "a", "human": "b", "gpt2xl_contrastive_search": "c"}
    for domain in ("book", "wikitext"):
        write_records(folder / f"{domain}.jsonl.gz", [row] * 19)
    setup = Setup(tmp_path, quick=True, encoder="bag-of-words")
    with pytest.raises(InputError, match="has 19 continuations; the study needs at least 20"):
        decoding_sets.continuations(setup, 5)
    vote = {"prompt": "a", "domain": "book", "system_a_name": "contrastive_search", "system_a_result": "a x",
            "system_b_name": "contrastive_decoding", "system_b_result": "a y",
            "human_annotation": {"1": "System A is better", "2": "System B is better", "3": "neither"}}  # fmt: skip
    won = {**vote, "human_annotation": {"1": "system b is better"}, "prompt": "unknown"}
    write_records(folder / "human_pairwise.jsonl.gz", [vote, won])
    judged = decoding_sets.votes(setup, None)
    # One prompt even, one for contrastive decoding; one voice against two, one for neither; one prompt is known.
    assert judged.prompts == {"book": (0, 1, 1)} and judged.voices == (1, 2, 1)
    assert judged.matched == 1 and judged.beside == {}
    write_records(folder / "human_pairwise.jsonl.gz", [{**vote, "system_b_name": "beam_search"}])
    with pytest.raises(InputError, match="not contrastive search, beam search"):
        decoding_sets.votes(setup, None)


def of_encoder(last, people, speed=100.0):
    curves = {label: [-0.5] * 6 + [last] for label in ("seeds", "strangers")}
    return embeddings._Found(curves, {"seeds": 0.5, "strangers": 0.5, "people": 0.0}, people, 0.01, speed)


def test_what_is_said_of_encoders_that_differ_and_of_some_that_do_not():
    differ = {"my-CLIP": of_encoder(-2.5, -0.434), "bag-of-words": of_encoder(-1.0, -0.6, 400.0)}
    lines = embeddings._verdict(differ, ["all-MiniLM, cls"])
    assert "most sensitive first, my-CLIP (mean log10 p -2.50); bag-of-words (mean log10 p -1.00)." in lines[0]
    assert "fastest first: bag-of-words (400 texts a second), my-CLIP (100 texts a second)" in lines[3]
    assert lines[4] == "Left out, since their weights are not on this machine: all-MiniLM, cls."
    assert len(embeddings._verdict(differ, [])) == 4


def encoder_claims(encoders, gap, half, people="0.000 ± 0.010"):
    """With one gap between two encoders on both kinds of candidates, and another for people."""
    one, other = encoders
    own = f"{gap} ± {half}"
    differences = [{"candidates from": label, "one": one, "other": other, "difference": cell}
                   for label, cell in (("seeds", own), ("strangers", own), ("people", people))
                   ]  # fmt: skip
    tables = {"differences": differences, "sensitivity": [], "people-and-speed": []}
    claims = {claim.id.rpartition("/")[2]: claim.holds for claim in embeddings.judge(tables, {"encoders": encoders})}
    return [claims[name] for name in ("sensitivity-differs", "clip", "people-differ", "clip-people")]


def test_claims_of_encoders_by_their_differences():
    """1.5 lower, give or take .1: they differ, and the first is the more sensitive. Give or take 2: nobody knows.
    Within .03 at most: they are alike. People: within .01."""
    never, unknown = "does not hold", "cannot be told"
    assert encoder_claims(("my-CLIP", "bag"), -1.5, 0.1) == ["holds", "holds", never, unknown]
    assert encoder_claims(("bag", "my-CLIP"), -1.5, 0.1) == ["holds", never, never, unknown]
    assert encoder_claims(("my-CLIP", "bag"), -1.5, 2) == [unknown, unknown, never, unknown]
    assert encoder_claims(("a", "b"), 0.01, 0.02) == [never, unknown, never, unknown]
    assert encoder_claims(("a", "b"), 0.01, 0.02, "0.200 ± 0.100")[2:] == ["holds", unknown]
    assert encoder_claims(("my-CLIP", "bag"), 0.01, 0.02, "0.200 ± 0.100")[3] == "holds"
    assert encoder_claims(("bag", "my-CLIP"), 0.01, 0.02, "0.200 ± 0.100")[3] == never


def test_a_slower_clip_is_judged_by_its_speed():
    speeds = [{"encoder": "all-MiniLM-L6-v2, mean", "mean log10 p": "-0.4 ± 0.1", "texts a second": "1,200"},
              {"encoder": "my-CLIP", "mean log10 p": "-0.3 ± 0.1", "texts a second": "310"}]  # fmt: skip
    tables = {"differences": [], "sensitivity": [], "people-and-speed": speeds}
    for order, holds in ((speeds, "holds"), ([{**speeds[0], "texts a second": "300"}, speeds[1]], "does not hold")):
        claims = embeddings.judge(tables | {"people-and-speed": order}, {"encoders": ["my-CLIP"]})
        assert {claim.id.rpartition("/")[2]: claim.holds for claim in claims}["clip-slower"] == holds


@pytest.mark.parametrize("seed", range(3))
def test_one_candidate_against_forms_that_take_two(seed):
    """MMD's biased form and the Fréchet distance see a set's distribution alone: a text said twice is that text."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((11, 6)) + (np.arange(11) == 10)[:, None] * 0.7
    if seed == 2:
        rows[3] = rows[10]  # a reference that says what the candidate says: a tie
    width = rc.mmd(rows[:5], rows[5:]).bandwidth
    values = {"mmd": [], "frechet": []}
    for at in range(11):
        rest, twice = np.delete(rows, at, axis=0), rows[[at, at]]
        values["mmd"].append(rc.mmd(rest, twice, bandwidth=width).biased)
        values["frechet"].append(rc.frechet(rest, twice).value)
    expected = {name: np.mean(np.array(each) >= each[10] - 1e-9) for name, each in values.items()}
    assert of_one_candidate(rows) == expected
    assert len(set(np.round(values["mmd"], 9))) > 5  # not a test of equal numbers


def test_one_candidate_among_equal_texts_is_never_told_apart():
    assert of_one_candidate(np.ones((5, 3))) == {"mmd": 1.0, "frechet": 1.0}


def test_texts_that_were_not_remembered_are_encoded_when_asked_for(own_cache):
    setup = Setup(None, encoder="bag-of-words", encoding={"cache": False})
    references = ["a red fox", "the blue sea"]
    remembered, asked = (RememberingEncoder(setup, references) for _ in range(2))
    remembered.remember(["a fox", "a sea"])
    np.testing.assert_array_equal(asked.encode_batch(["a sea", "a fox"]), remembered.encode_batch(["a sea", "a fox"]))


def test_scores_of_words_need_no_vectors():
    """METEOR alone: nothing is encoded; a text against itself has the best score of a context."""
    references = [["a red fox ran home", "the blue sea"], ["one two three four", "five six"]]
    scoring = Scoring(Setup(None), ["meteor"], references)
    scoring.prepare(references)
    assert scoring.encoder is None
    same, other = ([context["meteor"]["value"] for context in scoring.scores(references, candidates, pvalue=False)]
                   for candidates in (references, references[::-1]))  # fmt: skip
    assert min(same) > 0.9 and other == [0.0, 0.0]


@pytest.mark.slow
def test_the_analytic_p_value_keeps_its_promise_on_normal_samples(tmp_path, own_cache, monkeypatch):
    """No more false alarms than a binomial allows (all but one chance in 10,000); near exact p-values even at 5 v 5;
    a second run finds everything done."""
    from scipy.stats import binom

    from recapture_studies.made_up import build as build_all

    build_all(tmp_path, ["brown_genres"])
    findings, tables = quick("analytic-p", tmp_path)
    normal = [row for row in tables["false-alarms"] if row["sides from"].startswith("normal")]
    assert len(normal) == 3 and len(tables["false-alarms"]) == 5
    for row in normal:
        assert row["refused"] == "0%" and float(row["p ≤ .05"].rstrip("%")) <= 100 * binom.ppf(1 - 1e-4, 20, 0.05) / 20
    for row in tables["beside-relabelling"]:
        if row["sides from"].startswith("normal"):
            assert float(row["correlation"]) > 0.95 and float(row["largest gap"]) < 0.25
    # On a circle no point stands out, whatever the seed.
    assert findings.settings["refused on a circle"] >= 0.8
    (claim,) = claims_of("analytic-p", findings).values()
    assert claim.verdict.rule == "alarms" and claim.holds == "holds"
    monkeypatch.setattr("recapture.triangle_rank", None)
    assert quick("analytic-p", tmp_path)[1] == tables


def test_the_analytic_study_says_where_sentences_are_missing(tmp_path):
    with pytest.raises(InputError, match="brown_genres is not there"):
        quick("analytic-p", tmp_path)
