"""The public names, the result type and evaluate."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError

X = np.random.RandomState(0).randn(60, 5)
Y = np.random.RandomState(1).randn(50, 5)


def test_import_is_light():
    """Nothing heavy before first use, not even NumPy."""
    heavy = "numpy scipy sklearn torch transformers sentence_transformers click rich tqdm pyarrow"
    code = f"import sys, recapture; print([name for name in {heavy.split()} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_vectors_need_no_torch():
    code = (
        "import sys, numpy as np, recapture as rc; x = np.eye(9); rc.evaluate(x, x); "
        "print('torch' in sys.modules, 'sentence_transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False False"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'petersen'"):
        rc.petersen  # noqa: B018
    assert "mark_evaluate" in dir(rc)


def test_a_new_metric_is_one_file(monkeypatch):
    """A module that declares METRIC in the metrics folder is found by registry, evaluate and `rc.NAME`."""
    import pkgutil
    import types

    from recapture.sets import declaration as registry

    module = types.ModuleType("recapture.sets.metrics.mean_gap")
    module.METRIC = registry.SetMetric(
        name="mean-gap",
        title="Distance of means",
        outputs=(registry.Output("value", "length of the difference of means", (0.0, float("inf"))),),
        direction="lower",
        measure=lambda pair: registry.Measurement(
            {"value": np.linalg.norm(pair.reference.values.mean(0) - pair.candidate.values.mean(0))}
        ),
        citation="none",
    )
    module.mean_gap = lambda *sets: "called"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    real = pkgutil.iter_modules
    monkeypatch.setattr(pkgutil, "iter_modules", lambda path: [*real(path), types.SimpleNamespace(name="mean_gap")])
    monkeypatch.setattr(registry.METRICS, "_metrics", None)
    try:
        assert "mean-gap" in rc.list_metrics()
        result = rc.evaluate(X, X + 2, metrics=["mean-gap"])["candidate"]["mean-gap"]
        assert result.value == pytest.approx(2 * np.sqrt(5))
        # Parts are measured one by one where a metric declares no relabel.
        assert result.human["value"].mean < result.at_human_size["value"].mean
        with pytest.raises(InputError, match="mean-gap has no p-value"):
            rc.evaluate(X, X + 2, metrics=["mean-gap"], pvalue=True)
        assert rc.mean_gap(X, Y) == "called"
    finally:
        rc.__dict__.pop("mean_gap", None)


def test_evaluate_gives_every_metric_for_every_candidate():
    results = rc.evaluate(X, {"a": Y, "b": X}, ceiling=False)
    assert list(results) == ["a", "b"]
    assert set(results["a"]) == set(rc.list_metrics())
    assert results["a"]["mark-evaluate"].petersen == rc.mark_evaluate(X, Y).petersen
    assert results["a"]["precision-recall"].recall == rc.precision_recall(X, Y).recall
    assert results["a"]["density-coverage"].signature["k"] == 5
    assert results["b"]["frechet"].value == pytest.approx(0, abs=1e-12)
    assert list(rc.evaluate(X, Y, metrics="mmd")) == ["candidate"]


def test_evaluate_with_one_k_for_all():
    results = rc.evaluate(X, Y, metrics=["mark-evaluate", "precision_recall", "density-coverage", "mmd"], k=2)
    assert {name: result.signature.get("k") for name, result in results["candidate"].items()} == {
        "mark-evaluate": 2, "precision-recall": 2, "density-coverage": 2, "mmd": None,
    }  # fmt: skip
    assert results["candidate"]["precision-recall"].values == rc.precision_recall(X, Y, k=2).values


def test_evaluate_texts_with_a_function_as_encoder():
    def letters(texts):
        return [[text.count(letter) for letter in "aeiou"] for text in texts]

    references = ["a boat", "the sea is blue", "an old harbour", "we ate soup"] * 10
    results = rc.evaluate(references, {"same": references, "other": ["zzz", ""] * 20}, encoder=letters, ceiling=False)
    assert results["same"]["mark-evaluate"].quality == 1
    assert any("20 of 40 texts of candidate 'other' are empty" in note for note in results["other"]["mmd"].warnings)
    assert results["same"]["mmd"].signature["encoder"]["kind"] == "function"


def test_empty_texts_are_counted_at_every_door():
    words = np.array(["a boat", "the sea", "", "a net"] * 3)
    expected = "3 of 12 texts of reference are empty; they were kept"
    assert expected in rc.precision_recall(words, list(words), encoder="bag-of-words").warnings
    assert expected in rc.evaluate(words, words, encoder="bag-of-words")["candidate"]["mmd"].warnings


def test_metrics_take_texts_too():
    references = ["a boat", "the sea is blue", "an old harbour", "we ate soup"] * 10
    assert rc.precision_recall(references, references, encoder="bag-of-words").precision == 1


def test_results_show_themselves_and_write_themselves_down():
    results = rc.evaluate(X, {"<b>one</b>": Y, "two": X}, metrics="precision-recall")
    assert "<b>one</b>" in str(results) and "precision" in str(results)
    assert "&lt;b&gt;one&lt;/b&gt;" in results._repr_html_() and "<b>one" not in results._repr_html_()
    assert json.loads(results.to_json())["results"]["two"]["precision-recall"]["values"]["recall"] == 1
    assert "textbf" not in results.to_latex()  # nothing is bold until systems are tested against each other
    assert "\n| candidate |" in results.to_markdown()
    assert len(results.to_csv().splitlines()) == 5
    assert isinstance(results, dict) and results == {name: dict(by) for name, by in results.items()}


def test_read_gives_texts_or_vectors(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": "two\\u2028halves"}\n')
    assert rc.read(tmp_path / "a.jsonl") == ["one", "two\u2028halves"]
    np.save(tmp_path / "a.npy", X)
    np.testing.assert_array_equal(rc.read(tmp_path / "a.npy"), X)


def test_sets_in_the_forms_people_have_them():
    """Generators, object arrays, lists of arrays: the same numbers."""
    expected = rc.precision_recall(X, Y).values
    column = np.empty(len(Y), object)
    column[:] = list(Y)
    for given in (list(Y), Y.tolist(), column, (row for row in Y)):
        assert rc.precision_recall(X, given).values == expected
    words = ["a boat", "the sea", "an oar", "a net"] * 3
    expected = rc.precision_recall(words, words[:8], encoder="bag-of-words").values
    for given in (tuple(words[:8]), np.array(words[:8]), np.array(words[:8], object), iter(words[:8])):
        assert rc.precision_recall(words, given, encoder="bag-of-words").values == expected


def test_signature_says_how_the_number_was_made():
    signature = rc.mmd(X, Y).signature
    assert signature["metric"] == "mmd" and signature["encoder"] == "vectors as given"
    assert signature["versions"]["numpy"] == np.__version__
    assert rc.prd(X, Y, clusters=5, seed=3).signature["clusters"] == 5
    assert rc.prd(X, Y, clusters=5, seed=3).signature["seed"] == 3
    assert rc.evaluate(X, Y, metrics="prd", seed=3)["candidate"]["prd"].values == rc.prd(X, Y, seed=3).values


def test_result_is_frozen_and_travels():
    result = rc.mark_evaluate(X, Y)
    with pytest.raises(AttributeError):
        result.metric = "other"
    with pytest.raises(TypeError):
        result.values["petersen"] = 1
    with pytest.raises(ValueError):
        result.candidate_inside[0] = True
    copy = pickle.loads(pickle.dumps(result))
    assert copy.to_dict(arrays=True) == result.to_dict(arrays=True)
    assert copy.petersen == result.petersen


def test_result_shows_itself():
    result = rc.precision_recall(X, Y)
    assert str(result).splitlines()[0] == "precision-recall (higher is better; 60 reference v 50 candidate)"
    assert f"precision  {result.precision:.4f}" in str(result)
    html = result._repr_html_()
    assert "<table>" in html and f"{result.recall:.4f}" in html
    with pytest.raises(AttributeError, match="has no 'quality'; it has precision, recall"):
        result.quality  # noqa: B018
    assert "precision" in dir(result)
    assert (result.direction, result.range, dict(result.sizes)) == (
        "higher",
        (0, 1),
        {"reference": 60, "candidate": 50},
    )
    assert rc.density_coverage(X, Y).range == (0, float("inf"))


def test_html_is_escaped():
    result = rc.evaluate(X, {"<script>alert(1)</script>": Y[:5].repeat(2, axis=0)}, metrics="precision-recall", k=1)
    (by_metric,) = result.values()
    assert "<script>" not in by_metric["precision-recall"]._repr_html_()


def test_to_dict_is_plain_and_precise():
    result = rc.mark_evaluate(X, Y)
    content = json.loads(json.dumps(result.to_dict(arrays=True)))
    assert content["values"]["petersen"] == result.petersen
    assert content["arrays"]["candidate_inside"] == result.candidate_inside.tolist()
    assert "arrays" not in result.to_dict()


BAD = {
    "reference is empty": (np.empty((0, 3)), X[:, :3], {}, "reference is empty"),
    "one sample": (X[:1], Y, {"metrics": "frechet"}, "reference has 1 sample: frechet needs at least 2"),
    "NaN": (X, np.where(np.arange(5) == 2, np.nan, Y), {}, r"candidate row 0 \(counting from 0\) holds NaN"),
    "infinite": (np.vstack([X, np.full(5, np.inf)]), Y, {}, r"reference row 60 .* infinite"),
    "overflowing": (X, Y * 1e200, {}, "overflow"),
    "dimensions": (X, Y[:, :4], {}, "reference has 5 dimensions and candidate has 4"),
    "one-dimensional": (X[0], Y, {}, r"must be samples x dimensions, but has shape \(5,\)"),
    "complex": (X + 1j, Y, {}, "real numbers"),
    "k too small": (X, Y, {"k": 0}, "k must be at least 1"),
    "k too large": (X, Y, {"k": 50}, "k = 50 needs at least 51 samples a side, but candidate has 50"),
    "k not whole": (X, Y, {"k": 1.5}, "k must be a whole number"),
    "unknown metric": (X, Y, {"metrics": ["precison-recall"]}, "did you mean precision-recall"),
    "no metric": (X, Y, {"metrics": ""}, "no metric"),
    "no candidate": (X, {}, {}, "no candidate"),
    "texts and vectors": (["a", "b"], Y, {}, "holds texts and .* holds vectors"),
    "encoder for vectors": (X, Y, {"encoder": "bag-of-words"}, "vectors already"),
    "one string": ("a text", Y, {}, "list of texts, not one string"),
    "empty list": ([], ["a", "b"], {"encoder": "bag-of-words"}, "reference is empty"),
    "balance": (X, Y, {"balance": -1}, "balance"),
    "several lists": (["a", "b"], [["a"], ["b"]], {"encoder": "bag-of-words"}, "name several sets in a mapping"),
    "a text that is none": (["a", None], ["b"], {"encoder": "bag-of-words"}, "text 1 of reference is not a string"),
    "k without neighbours": (X, Y, {"k": 2, "metrics": "mmd"}, "k was given, but mmd has no neighbourhoods"),
    "seed": (X, Y, {"seed": -1}, "seed must be"),
    "one name for two": (X, {1: X, "1": Y}, {}, "same name"),
    "metric that is no name": (X, Y, {"metrics": [3]}, "a metric is named by a text, not by 3"),
    "masked": (np.ma.masked_less(X, 0), Y, {}, "masked values"),
    "ragged": ([[1, 2], [3]], Y, {}, "rectangular"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_sentence(name):
    reference, candidate, options, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        rc.evaluate(reference, candidate, **options)
    assert "\n" not in str(caught.value)


def test_misspelt_options_name_the_function():
    """One kind of error, whether a function, a table of options or Python itself finds it."""
    for call, name in ((rc.mark_evaluate, "mark-evaluate"), (rc.frechet, "frechet")):
        with pytest.raises(TypeError, match=f"{name} has no option 'K'") as refused:
            call(X, Y, K=1)
        assert isinstance(refused.value, rc.InputError)
    with pytest.raises(TypeError, match=r"evaluate\(\) got an unexpected keyword argument 'K'"):
        rc.evaluate(X, Y, K=1)
    for wrong in (
        lambda: rc.evaluate_pairs(["a"], ["a"], "chrf", options={"chrf": {"K": 1}}),
        lambda: rc.aggregate(["a b", "b c"], ["a"], "meteor", K=1),
        lambda: rc.triangle_rank(["a b", "b c"], ["a"], "meteor", K=1),
        lambda: rc.chrf(["a b"], ["a"], K=1),
        lambda: rc.infolm(["a b"], ["a"], K=1),
        lambda: rc.compare_metrics({"m": X, "n": -X}, X, K=1, directions="higher"),
    ):
        with pytest.raises(TypeError, match="has no option 'K'") as refused:
            wrong()
        assert isinstance(refused.value, rc.InputError)


def test_few_samples_in_many_dimensions_bring_a_warning():
    wide = np.random.default_rng(1).standard_normal((2, 20, 30))
    assert "20 samples are few for a covariance in 30 dimensions" in rc.frechet(*wide).warnings[0]
    assert "set sizes differ" in rc.frechet(X, X[:30]).warnings[0]
    assert rc.frechet(X, X).warnings == ()


@pytest.mark.parametrize("width", [-1, 0, float("inf"), "a"])
def test_bad_bandwidth(width):
    with pytest.raises(InputError, match="bandwidth must be a positive number"):
        rc.mmd(X, Y, bandwidth=width)


@pytest.mark.parametrize("options", [{"clusters": 2.5}, {"clusters": 0}, {"angles": 2}, {"clusterings": 0}])
def test_bad_prd_parameters(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} must be a whole number"):
        rc.prd(X, Y, **options)


def test_no_submodule_takes_the_place_of_a_public_name():
    """Importing a submodule sets an attribute of its name on the package, which must not hide a function."""
    import pkgutil

    assert not {module.name for module in pkgutil.iter_modules(rc.__path__)} & set(rc.__all__)


def test_the_version_is_said_once():
    """What is installed says the version that the source says: pyproject.toml has no number of its own."""
    from importlib.metadata import version

    assert rc.__version__ == version("recapture") == version("recapture-studies")


def test_options_by_metric_are_mappings():
    for wrong in (["prd"], {"prd": 5}):
        with pytest.raises(InputError, match="a mapping from"):
            rc.evaluate(X, Y, "prd", options=wrong)


def test_one_name_is_declared_once(monkeypatch):
    """Two files of one folder with the same metric: which one counts would depend on their names."""
    from recapture import declarations
    from recapture.sets.declaration import METRICS as REAL
    from recapture.sets.declaration import SetMetric

    twice = [*REAL.all().values(), REAL.find("mmd")]
    monkeypatch.setattr(declarations, "declared", lambda *_: list(twice))
    with pytest.raises(ValueError, match="declare the metric 'mmd'"):
        declarations.Registry(SetMetric, "recapture.sets.metrics").all()


def test_tables_are_rectangular():
    for heads, rows in (([], []), (["a"], [["1", "2"]])):
        with pytest.raises(InputError, match="at least one column"):
            rc.Table(heads, rows)


def test_a_candidate_that_is_not_there_is_answered_with_those_that_are() -> None:
    same = [[0], [1], [2], [4]]
    results = rc.evaluate(same, {"copy": same}, "precision-recall", k=1, ceiling=False)
    with pytest.raises(KeyError) as caught:  # as every mapping has it
        results["copi"]
    assert isinstance(caught.value, rc.InputError)
    assert str(caught.value) == "no results of 'copi'; did you mean copy?"
    assert results.get("copi") is None
