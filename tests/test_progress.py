"""Progress where nobody watches a terminal: a line a minute in logs, bars in notebooks and on terminals."""

import io
import re
import subprocess
import sys
import time
import types
import warnings

import pytest

from recapture import progress as module
from recapture.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes only when it is told to."""
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(module._Line, "_open", [])
    monkeypatch.setattr(module._Line, "_last", -60.0)
    monkeypatch.setattr(module._Line, "_ended", -60.0)
    now = types.SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(module, "time", types.SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def lines(capsys):
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err.splitlines()


def test_a_log_gets_one_line_a_minute(clock, capsys):
    """A step a second for 200 of 1,000: after 60 steps 940 s are left, after 120 880 s, after 180 820 s."""
    with Progress("encoding", 1000, "text") as bar:
        for _ in range(200):
            clock.seconds += 1
            bar.advance()
    assert lines(capsys) == [
        "recapture: encoding: 60 of 1,000 texts (6%) in 1 min, about 16 min left",
        "recapture: encoding: 120 of 1,000 texts (12%) in 2 min, about 15 min left",
        "recapture: encoding: 180 of 1,000 texts (18%) in 3 min, about 14 min left",
    ]


def test_short_work_says_nothing(clock, capsys):
    with Progress("encoding", 10) as bar:
        for _ in range(10):
            clock.seconds += 5.9
            bar.advance()
    assert lines(capsys) == []


def test_the_outermost_speaks_though_the_inner_one_moves(clock, capsys):
    with Progress("contexts", 8, "context") as outer:
        for _ in range(4):
            with Progress("encoding", 50, "text") as inner:
                for _ in range(50):
                    clock.seconds += 1
                    inner.advance()
            outer.advance()
    assert lines(capsys) == [
        "recapture: contexts: 1 of 8 contexts (12%) in 1 min, about 7 min left",
        "recapture: contexts: 2 of 8 contexts (25%) in 2 min, about 6 min left",
        "recapture: contexts: 3 of 8 contexts (38%) in 3 min, about 5 min left",
    ]


def test_short_pieces_of_long_work_are_heard(clock, capsys):
    """Ten pieces of 20 s: none lasts a minute, but all together do."""
    for _ in range(10):
        with Progress("tiles", 20, "tile") as bar:
            for _ in range(20):
                clock.seconds += 1
                bar.advance()
    assert [line.split(" in ")[0] for line in lines(capsys)] == ["recapture: tiles: 20 of 20 tiles (100%)"] * 3


def test_after_a_pause_the_minute_starts_anew(clock, capsys):
    for _ in range(2):
        with Progress("tiles", 1) as bar:
            clock.seconds += 30
            bar.advance()
        clock.seconds += 3600
    assert lines(capsys) == []


def test_silence_on_request_and_without_stderr(clock, capsys, monkeypatch):
    for setting in (lambda: monkeypatch.setenv("TQDM_DISABLE", "1"), lambda: monkeypatch.setattr(sys, "stderr", None)):
        setting()
        with Progress("tiles", 2) as bar:
            clock.seconds += 100
            bar.advance()
    monkeypatch.undo()
    assert lines(capsys) == []


@pytest.mark.parametrize(
    "seconds, words", [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min"), (3570, "1 h 0 min"), (8000, "2 h 13 min")]
)
def test_times_in_words(seconds, words):
    assert module.span(seconds) == words


@pytest.fixture
def notebook(monkeypatch):
    """A kernel as IPython shows it (its documented `get_ipython().config`), and a stand-in for its bar."""
    made = []

    class Bar:
        def __init__(self, **settings):
            self.settings, self.steps, self.closed = settings, 0, False
            made.append(self)
            warnings.warn("IProgress not found. Please update jupyter and ipywidgets.", stacklevel=1)

        def update(self, steps):
            self.steps += steps

        def close(self):
            self.closed = True

    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    monkeypatch.setattr(module._Line, "_last", time.monotonic())  # the minute of earlier tests may just be over
    return made, shell


def test_a_notebook_gets_the_bar_of_tqdm_auto(notebook, capsys, recwarn):
    made, shell = notebook
    with Progress("encoding", 5, "text") as bar:
        bar.advance(3)
    (drawn,) = made
    assert (drawn.settings["desc"], drawn.settings["total"], drawn.settings["unit"]) == ("encoding", 5, "text")
    assert drawn.steps == 3 and drawn.closed and "disable" not in drawn.settings and not recwarn
    shell.config = {"TerminalIPythonApp": {}}  # IPython in a terminal or a pipe is no notebook
    with Progress("encoding", 5) as bar:
        bar.advance()
    assert len(made) == 1 and capsys.readouterr().err == ""


def test_the_real_bar_of_a_notebook_is_drawn_somewhere(monkeypatch):
    """tqdm.auto itself, which draws characters where there are no widgets; stderr of a kernel is no terminal."""
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("encoding", 4, "text") as bar:
        bar._shown.delay = 0
        for _ in range(4):
            bar.advance()
            bar._shown.refresh()
    assert re.search(r"encoding: 100%.*4/4", stream.getvalue())


def test_a_terminal_gets_a_bar(monkeypatch):
    """Its delay is taken away so that nobody has to wait."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with Progress("tiles", 3, "tile") as bar:
        bar._shown.delay = 0
        for _ in range(3):
            bar.advance()
            bar._shown.refresh()
    assert re.search(r"tiles: 100%.*3/3", stream.getvalue())


def test_a_pipe_gets_no_bar():
    code = (
        "import sys; from recapture.progress import Progress\n"
        "with Progress('tiles', 3, 'tile') as bar:\n"
        "    for _ in range(3): bar.advance()\n"
        "print('tqdm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_short_work_after_a_minute_of_others_says_nothing(monkeypatch, capsys):
    """Many short works in a row make a minute together, but none of them has anything to tell."""
    monkeypatch.setattr(module._Line, "_last", time.monotonic() - 2 * module.MINUTE)
    monkeypatch.setattr(module._Line, "_ended", time.monotonic())
    with Progress("scoring pairs", 3, "pair") as bar:
        bar.advance(3)
    assert capsys.readouterr().err == ""
