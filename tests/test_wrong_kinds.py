"""A value of the wrong kind for any parameter of any public function is refused with a sentence, or means something."""

import warnings

import numpy as np
import pytest

import recapture as rc
from number_doors import every_parameter
from recapture.errors import InputError

WRONG = [
    3,
    -1.5,
    b"x",
    "",
    "no such thing",
    object(),
    None,
    [],
    [[]],
    [["a"], [1]],
    [None],
    {},
    {5: 1},
    {"a": object()},
    1j,
]
WRONG += [np.zeros((0, 4)), np.zeros((2, 3)), np.array(["a", "b"]), np.array(None), range(3)]
PARAMETERS = every_parameter()


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("function", PARAMETERS)
def test_wrong_kinds_are_refused_with_a_sentence(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, call in PARAMETERS[function].items():
        for value in WRONG:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    call(value)
                except InputError as error:
                    assert len(str(error)) < 600
                    assert "\n" not in str(error)
                except Exception as error:
                    raise AssertionError(f"{function}: {name} = {value!r}") from error


def test_scores_of_no_system():
    for given in (np.zeros((0, 4)), np.zeros((0, 0)), [[]]):
        with pytest.raises(InputError):
            rc.correlate(given, given)


@pytest.mark.slow
def test_tensors_are_no_texts():
    torch = pytest.importorskip("torch")
    nested = torch.nested.nested_tensor([torch.zeros(2, 4), torch.zeros(3, 4)])
    for given in (nested, torch.zeros(2, 2), torch.zeros(3).to_sparse()):
        for call in (
            rc.distinct_n,
            rc.encode,
            lambda texts: rc.chrf(texts, texts),
            lambda texts: rc.rouge(texts, ["a"]),
        ):
            with pytest.raises(InputError):
                call(given)


def too_early(texts):
    raise AssertionError("texts were encoded before all was checked")


@pytest.mark.parametrize(
    "wrong",
    [{"seed": -1}, {"interval": 2}, {"pvalue": "often"}, {"balance": -1}, {"ceiling": -1}, {"paired": 7}],
    ids=str,
)
def test_options_are_checked_before_texts_are_encoded(wrong):
    texts = ["a cat", "a dog", "a bird", "a fish"]
    for call in (rc.evaluate, rc.mmd):
        with pytest.raises(InputError):
            call(texts, texts[::-1], encoder=too_early, **wrong)
