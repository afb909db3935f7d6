"""Commands of other packages: found through entry points, loaded when asked for, named where they are absent."""

import subprocess
import sys

import click
import pytest

from recapture.cli import app as program


class Point:
    name = "wave"
    loaded = 0

    def load(self):
        Point.loaded += 1

        @click.command("wave", short_help="Wave.")
        def wave():
            click.echo("waving")

        return wave


@pytest.fixture
def installed(monkeypatch):
    """What entry_points gives: nothing, until something is put in."""
    points = []

    def found(group, name=None):
        assert group == "recapture.commands"
        return [point for point in points if name in (None, point.name)]

    monkeypatch.setattr(program, "entry_points", found)
    return points


def test_without_the_package_one_sentence_says_where_the_command_is(installed, capsys):
    for arguments in (["reproduce"], ["reproduce", "k-sweep", "--quick", "--data", "x"]):
        assert program.run(arguments) == 2
        message = capsys.readouterr().err
        assert "recapture-studies" in message and "pip install ./studies" in message and message.count("\n") == 1


def test_help_lists_it_either_way(installed, capsys):
    assert program.run(["--help"]) == 0
    assert "reproduce" in capsys.readouterr().out
    assert program.run(["reproduce", "--help"]) == 0
    assert "pip install ./studies" in capsys.readouterr().out


def test_a_command_is_loaded_when_it_is_asked_for(installed, capsys):
    Point.loaded = 0
    installed.append(Point())
    assert program.run(["list"]) == 0 and Point.loaded == 0
    assert program.run(["wave"]) == 0 and Point.loaded == 1
    assert "waving" in capsys.readouterr().out
    assert program.run(["--help"]) == 0
    assert "wave" in capsys.readouterr().out


def test_unknown_commands_are_still_unknown(installed, capsys):
    assert program.run(["reproduse"]) == 2
    assert "No such command" in capsys.readouterr().err


@pytest.mark.slow
def test_other_commands_import_no_study():
    code = "import sys; from recapture.cli.app import run; run(['list']); print('recapture_studies' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "False"
