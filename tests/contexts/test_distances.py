"""Where distances come from: a name, a function, a ready matrix; and what is refused, in one sentence."""

import numpy as np
import pytest

import recapture as rc

REFERENCES, CANDIDATES = ["one", "three"], ["seven", "a"]


def length(a, b):
    return abs(len(a) - len(b))


def test_a_function_and_the_matrix_of_its_answers():
    texts = REFERENCES + CANDIDATES
    matrix = [[length(a, b) for b in texts] for a in texts]
    called, given = (rc.triangle_rank(REFERENCES, CANDIDATES, distance=each, pvalue=True) for each in (length, matrix))
    assert (called.value, called.pvalue) == (given.value, given.pvalue)


def test_a_function_is_asked_for_hypothesis_then_reference():
    asked = []

    def distance(hypothesis, reference):
        asked.append((hypothesis, reference))
        return 1.0 if (hypothesis, reference) == ("a", "one") else 0.0

    found = rc.triangle_rank(REFERENCES, ["a"], distance=distance)
    assert len(asked) == len(set(asked)) == 9
    # One cross edge is longer than the within edge, the other ties with it: shortest and middle share the credit.
    assert found.details["shares"]["candidates amid references"] == [0.5, 0.5, 0]


def test_the_lists_beside_a_matrix_only_need_the_right_lengths():
    distances = np.ones((4, 4))
    for sides in (([None] * 2, [1, "b"]), (range(2), "xy"), (("a", "b"), np.zeros(2))):
        assert rc.triangle_rank(*sides, distance=distances).value == 0


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda rows: np.array(rows, np.int8)])
def test_any_square_will_do(kind):
    rows = [[0, 1, 2], [1, 0, 2], [3, 1, 0]]
    assert rc.triangle_rank([1, 2], [3], distance=kind(rows)).value == pytest.approx(
        rc.triangle_rank([1, 2], [3], distance=np.array(rows, float)).value
    )


def test_a_given_diagonal_is_taken_as_0_and_the_matrix_is_left_alone():
    matrix = np.array([[7.0, 1, 2], [1, 7, 2], [3, 1, 7]])
    before = matrix.copy()
    rc.triangle_rank([1, 2], [3], distance=matrix)
    assert np.array_equal(matrix, before)


def test_a_function_may_be_off_by_a_millionth_at_its_own_text():
    assert rc.triangle_rank(["a", "b"], ["c"], distance=lambda a, b: 9e-7 if a == b else 1.0).value == 0
    with pytest.raises(rc.InputError, match="distance of text 1 from itself is 2e-06"):
        rc.triangle_rank(["a", "b"], ["c"], distance=lambda a, b: 2e-6 if a == b == "b" else float(a != b))


def constant(value):
    return lambda a, b: value


def square(**cells):
    made = np.ones((3, 3))
    for name, value in cells.items():
        made[tuple(map(int, name[1:]))] = value
    return made


WRONG = {
    "no candidates": ((["a", "b"], []), square(), "there are no candidates"),
    "one reference": ((["a"], ["b", "c"]), square(), "2 references are needed, but there is 1"),
    "no references": (([], ["b", "c"]), square(), "2 references are needed, but there are none"),
    "NaN": ((["a", "b"], ["c"]), constant(float("nan")), "texts 0 and 0 is nan: distances are finite and at least 0"),
    "None": ((["a", "b"], ["c"]), constant(None), "distance"),
    "negative": ((["a", "b"], ["c"]), lambda a, b: len(a) - ord(b) / 98, "at least 0"),
    "infinite": ((["a", "b"], ["c"]), constant(float("inf")), "inf"),
    "far from itself": ((["a", "b"], ["c"]), constant(0.1), "text 0 from itself is 0.1; it must be 0"),
    "a word": ((["a", "b"], ["c"]), constant("far"), "one number for two texts"),
    "two numbers": ((["a", "b"], ["c"]), constant([1, 2]), "one number for two texts"),
    "not texts": ((["a", 3], ["c"]), constant(0), "text 1 of references is not a string but int"),
    "one string": (("ab", ["c"]), constant(0), "references must be a list of texts, not one string"),
    "one string of candidates": ((["a", "b"], "cd"), constant(0), "candidates must be a list of texts"),
    "too large": ((["a", "b"], ["c"]), np.ones((4, 4)), r"shape \(4, 4\), but 2 references .* need 3 x 3"),
    "not square": ((["a", "b"], ["c"]), np.ones((2, 1)), r"shape \(2, 1\)"),
    "ragged": ((["a", "b"], ["c"]), [[0, 1], [1]], "a name, a function of two texts or a square matrix"),
    "words in a matrix": ((["a", "b"], ["c"]), [["x"] * 3] * 3, "a name, a function of two texts or a square matrix"),
    "complex": ((["a", "b"], ["c"]), np.ones((3, 3)) * 1j, "square matrix of real numbers"),
    "nothing": ((["a", "b"], ["c"]), None, "not NoneType"),
    "a number": ((["a", "b"], ["c"]), 3.5, "not float"),
    "NaN in a matrix": ((["a", "b"], ["c"]), square(_20=np.nan), "texts 2 and 0 is nan"),
    "negative in a matrix": ((["a", "b"], ["c"]), square(_12=-1e-3), "texts 1 and 2 is -0.001"),
    "unknown name": ((["a", "b"], ["c"]), "ciderr", "did you mean cider"),
    "cider without df": ((["a", "b"], ["c"]), "cider", "document frequencies"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_one_sentence(name):
    sides, distance, words = WRONG[name]
    with pytest.raises(rc.InputError, match=words) as caught:
        rc.triangle_rank(*sides, distance=distance)
    assert "\n" not in str(caught.value)
    if "reference" not in name:  # dispersion is content with one reference
        with pytest.raises(rc.InputError, match=words):
            rc.dispersion(*sides, distance=distance)


def test_options_go_with_names():
    with pytest.raises(rc.InputError, match="df goes with a distance chosen by name"):
        rc.triangle_rank(["a", "b"], ["c"], distance=np.ones((3, 3)), df=1)
    with pytest.raises(rc.InputError, match="cider has no option 'dff': did you mean df"):
        rc.triangle_rank(["a", "b"], ["c"], distance="cider", dff=1)
