"""Test-wide settings: oracles importable, the vector cache kept out of the user's own, real data where present."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for tests in all folders
from tiny_models import default_masked_model, loaded_once, minilm, tiny_bert  # noqa: F401

# How fast the machine is, and what else it does, decides about no test.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items):
    """Slow tests of the library are not traced for coverage, as loops take several times as long where each line is
    noted. They show that numbers are right; that branches are reached is for quick tests to show, and for those slow
    ones that are marked `traced`, as they are the only ones to reach some."""
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if item.path.is_relative_to(Path(__file__).parent) and "slow" in marks and "traced" not in marks:
            item.add_marker("no_cover")
