"""What stands beside a value in a Result: intervals, p-values, human bands, null distributions."""

import copy
import json
import pickle

import numpy as np
import pytest

from recapture.report.result import Result, short_p
from recapture.sets.human import Band


def result(values=None, **more):
    values = {"value": 0.25} if values is None else values
    return Result("m", values, "lower", dict.fromkeys(values, (0.0, 1.0)), {"reference": 3, "candidate": 2}, **more)


ALL = {
    "intervals": {"value": (0.2, 0.3)},
    "pvalues": {"value": 0.031},
    "human": {"value": Band(0.0001, -0.1, 0.1)},
    "at_human_size": {"value": Band(0.02, 0.01, 0.03)},
    "inside": {"value": 0.25},
    "nulls": {"value": np.array([0.25, 0.5])},
    "inference": {"pvalues": {"method": "exact", "smallest": {"value": 0.01}}},
}


def test_one_number_is_read_without_its_name():
    made = result(**ALL)
    assert (made.pvalue, made.interval, made.ceiling) == (0.031, (0.2, 0.3), 0.0001)
    assert made.null.tolist() == [0.25, 0.5]
    other = result({"score": 1.0}, pvalues={"score": 0.5})
    assert other.pvalue == 0.5


def test_what_was_not_asked_for_is_none():
    made = result()
    assert made.pvalue is made.interval is made.ceiling is made.null is None
    assert made.shown("value") == "0.2500" and not {"pvalues", "intervals", "human", "inference"} & set(made.to_dict())


def test_several_numbers_have_several():
    made = result({"precision": 0.5, "recall": 0.25}, pvalues={"precision": 0.1, "recall": 0.2})
    with pytest.raises(AttributeError, match=r"see \.pvalues, by precision, recall"):
        _ = made.pvalue
    assert made.pvalues["recall"] == 0.2 and not hasattr(made, "interval")
    assert result({"other": 0.25, "value": 0.5}, pvalues={"other": 0.2, "value": 0.1}).pvalue == 0.1


def test_shown_with_all_that_stands_beside():
    made = result(**ALL)
    parts = "(parts of equal size: 0.0200, human 0.0001 [-0.1000, 0.1000], 25% inside)"
    assert made.shown("value") == f"0.2500 [0.2000, 0.3000] p 0.031 {parts}"
    assert made.beside("value") == "[0.2000, 0.3000] p 0.031"
    assert str(made).splitlines()[1] == f"  value  0.2500 [0.2000, 0.3000] p 0.031 {parts}"
    assert "p 0.031" in made._repr_html_()


@pytest.mark.parametrize(
    "p, shown", [(1.0, "1"), (0.5, "0.5"), (2 / 252, "0.0079"), (1e-4, "0.0001"), (3.2e-9, "3e-09")]
)
def test_p_values_are_never_shown_as_0(p, shown):
    assert short_p(p) == shown


def test_to_dict_is_plain_and_the_null_comes_on_request():
    made = result(**ALL)
    content = made.to_dict()
    assert content["pvalues"] == {"value": 0.031} and content["intervals"] == {"value": [0.2, 0.3]}
    assert content["inference"]["pvalues"]["smallest"] == {"value": 0.01} and "nulls" not in content
    assert json.loads(json.dumps(made.to_dict(arrays=True)))["nulls"] == {"value": [0.25, 0.5]}


def test_read_only_copied_and_pickled():
    made = result(**ALL)
    with pytest.raises(TypeError):
        made.pvalues["value"] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.null[0] = 1
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again.pvalue == 0.031 and again.null.tolist() == [0.25, 0.5]
