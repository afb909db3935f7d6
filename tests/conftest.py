"""Test-wide settings: oracles importable, the vector cache kept out of the user's own, real data where present."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for tests in all folders
from tiny_models import default_masked_model, minilm, tiny_bert  # noqa: F401
