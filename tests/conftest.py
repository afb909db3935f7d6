"""Test-wide settings: oracles importable, the vector cache kept out of the user's own, real data where present."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for all folders
from tiny_models import default_masked_model, loaded_once, minilm, tiny_bert, tiny_models_once  # noqa: F401

from torch_devices import anywhere, there  # noqa: F401

# How fast the machine is, and what else it does, decides about no test.
settings.register_profile("any machine", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(config, items):
    # What needs a GPU runs only where it is asked for: the same oracles, on another device.
    if "gpu" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("gpu")])
        items[:] = [item for item in items if not item.get_closest_marker("gpu")]
