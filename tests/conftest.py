"""Test-wide settings: oracles importable, the vector cache kept out of the user's own, real data where present."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for tests in all folders
from tiny_models import default_masked_model, minilm, tiny_bert  # noqa: F401


def pytest_collection_modifyitems(config, items):
    """What needs a GPU runs only where it is asked for: the same oracles, on another device."""
    if "gpu" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("gpu")])
        items[:] = [item for item in items if not item.get_closest_marker("gpu")]
