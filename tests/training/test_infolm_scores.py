"""Scores of summaries for a grid of InfoLM's settings: which jobs there are, and whether the study finds them."""

import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs recapture[models]")
studies = pytest.importorskip("recapture_studies", reason="needs recapture-studies")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recapture_studies.infolm import summary_parameters  # noqa: E402
from recapture_studies.item_scores import key, making  # noqa: E402
from recapture_studies.made_up.summaries import build  # noqa: E402
from recapture_studies.study import Setup  # noqa: E402
from training import infolm_scores  # noqa: E402


def test_every_setting_of_the_grid_is_scored_once(tmp_path: Path) -> None:
    """Three alphas, three betas, three temperatures: 27 settings of AB, 9 of alpha and of gamma, 3 of the others."""
    build(tmp_path)
    jobs = infolm_scores._jobs(tmp_path, quick=False)
    assert len(jobs) == len(set(jobs)) == 2 * 2 * 9  # kinds of systems, models, pairs of alpha and beta
    part = next(iter(summary_parameters.parameter_parts(Setup(tmp_path))))
    settings: Counter[str] = Counter()
    for task in part.tasks:
        if task.metric == "infolm" and task.label.startswith("infolm-head"):
            settings.update({name: len(task.parameters["temperature"]) for name in task.parameters["measure"]})
    assert settings == {
        "ab": 27,
        "alpha": 9,
        "gamma": 9,
        **dict.fromkeys(("jeffreys", "fisher_rao", "l1", "l2", "linf"), 3),
    }


@pytest.mark.slow
def test_the_study_finds_what_was_made(tmp_path: Path, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path)
    monkeypatch.setattr(summary_parameters, "_models", lambda setup: {"infolm": str(tiny_bert)})
    (job, other) = infolm_scores._jobs(tmp_path, quick=True)
    assert "realsumm-abs infolm-0.5-0.5" in infolm_scores._score(job, tmp_path, tmp_path / "scores", "cpu", True)
    assert other[0] == "realsumm-ext"
    part = next(iter(summary_parameters.parameter_parts(Setup(tmp_path, quick=True))))
    (made,) = (tmp_path / "scores").iterdir()
    assert made.stem.endswith(key(part, part.tasks[0], making(offline=True)))
