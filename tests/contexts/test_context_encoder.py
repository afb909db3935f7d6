"""An encoder that learns, in contexts: from references alone, and blind to sides where they are tested."""

import recapture as rc

CONTEXTS = [
    rc.Context("1", ("red fox runs", "red hare hops"), ("blue whale dives", "blue seal swims")),
    rc.Context("2", ("old oak falls", "old elm bends"), ("new car stops", "new bus turns")),
]


def words_known(**options):
    results = rc.evaluate_contexts(CONTEXTS, "mmd", encoder="bag-of-words", resume=False, **options)
    return results.signature["encoder"]["words"]


def test_words_of_candidates_count_where_sides_are_tested():
    """Ten different words stand in the references, and as many in the candidates."""
    assert words_known() == "10"
    assert words_known(pvalue=True) == "20"
