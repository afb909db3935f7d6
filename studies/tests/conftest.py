"""Fixtures that the tests of recapture itself have, too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from folders import data_folder, own_cache  # noqa: F401 - fixtures for all tests here
from tiny_models import loaded_once, tiny_bert, tiny_models_once  # noqa: F401
