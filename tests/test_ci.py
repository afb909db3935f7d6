"""The script for the oldest versions, with programs in place of Python that install and test nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = ("bash", "dirname", "mkdir", "cp", "rm", "touch", "tr")
PYTHON = """#!/bin/sh
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  --version) echo "Python 3.12.0" ;;
  "-m pytest "*) echo "tests ran"; exit "${TESTS_END:-0}" ;;
esac
"""


@pytest.fixture
def oldest(tmp_path):
    """Runs the script in a folder of its own, with nothing but a few tools on the path: no Python 3.10, no pyenv."""
    if any(shutil.which(tool) is None for tool in TOOLS):
        pytest.skip(f"not all of {', '.join(TOOLS)} are here")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool))
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "clone" / ".ci").mkdir(parents=True)
    script = shutil.copy(ROOT / ".ci" / "oldest", tmp_path / "clone" / ".ci")

    def run(**variables):
        known = {"PATH": str(tools), "PYTHON": str(python), **variables}
        return subprocess.run([tools / "bash", script], env=known, capture_output=True, text=True)

    return run


WARNING = "WARNING: no Python 3.10 here (OLDEST_PYTHON names one): the oldest versions run on Python 3.12.0 alone"


def test_no_python_310_is_said_at_once(oldest):
    ran = oldest()
    assert ran.returncode == 0 and ran.stderr == WARNING + "\n" and ran.stdout.count("tests ran") == 1


@pytest.mark.parametrize("ending", [0, 3])
def test_in_ci_it_is_said_at_the_end_too(oldest, ending):
    ran = oldest(CI="true", TESTS_END=str(ending))
    line = "=" * len(WARNING)
    assert ran.returncode == ending
    assert ran.stderr == f"{WARNING}\n\n{line}\n{WARNING}\n{line}\n"


def test_with_python_310_nothing_is_warned_of(oldest, tmp_path):
    ran = oldest(CI="true", OLDEST_PYTHON=os.fspath(tmp_path / "python"))
    assert ran.returncode == 0 and ran.stderr == "" and ran.stdout.count("tests ran") == 2
