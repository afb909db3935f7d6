"""Fixtures for the tests of all packages here: a cache of their own, and real data where there is some."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """No test reads or writes the cache of the person who runs the tests."""
    before = os.environ.get("RECAPTURE_CACHE")
    os.environ["RECAPTURE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["RECAPTURE_CACHE"]
    else:
        os.environ["RECAPTURE_CACHE"] = before


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real evaluation data named by RECAPTURE_DATA."""
    folder = os.environ.get("RECAPTURE_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("RECAPTURE_DATA names no folder of evaluation data")
    return Path(folder)
