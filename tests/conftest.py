"""Test-wide settings: oracles importable, the vector cache kept out of the user's own, real data where present."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for all folders
from tiny_models import default_masked_model, loaded_once, minilm, tiny_bert, tiny_models_once  # noqa: F401

# How fast the machine is, and what else it does, decides about no test.
settings.register_profile("any machine", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
