"""For the tests of all packages here: a cache of their own, real data where there is some."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """No test reads or writes the cache of the person who runs the tests."""
    before = os.environ.get("RECAPTURE_CACHE")
    cache = tmp_path_factory.mktemp("cache")
    if "PYTEST_XDIST_WORKER" in os.environ:  # what studies keep serves all processes of this run, as it does users
        for kept in ("studies", "scores"):
            shared = tmp_path_factory.getbasetemp().parent / kept
            shared.mkdir(exist_ok=True)
            (cache / kept).symlink_to(shared)
    os.environ["RECAPTURE_CACHE"] = str(cache)
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
