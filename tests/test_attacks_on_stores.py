"""Random attacks on stores, outputs and names (attack/stores.py), a few of each kind; `make kill` in small."""

import random

import pytest

from attack import kill, stores


@pytest.mark.parametrize("chosen", stores.ATTACKS, ids=lambda chosen: chosen.__name__)
def test_attacks(chosen, tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "ATTACKS", (chosen,))
    for seed in range(5):
        folder = tmp_path / str(seed)
        folder.mkdir()
        stores.attack(random.Random(seed), folder)


def test_a_wrong_number_is_told_with_the_attack(tmp_path, monkeypatch):
    """The kit sees what it is for: a journal that does not check gives out what was damaged."""
    monkeypatch.setattr("recapture.journal._head", lambda rest: b'{"check": "%s", ' % (b"0" * 16))
    monkeypatch.setattr(stores, "ATTACKS", (stores.journal,))
    with pytest.raises(AssertionError, match=r"journal: .* at "):
        for seed in range(100):
            (tmp_path / str(seed)).mkdir()
            stores.attack(random.Random(seed), tmp_path / str(seed))


@pytest.mark.slow
def test_killed_commands_go_on(tmp_path):
    said = []
    trials = [trial for trial in kill.TRIALS if trial.name in ("contexts", "embed", "texts")]
    assert kill.campaign(tmp_path, 6, seed=1, trials=trials, say=said.append) >= 3
