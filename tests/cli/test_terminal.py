"""The program as others start it: closed and full streams, readers that leave, signals at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCORE = ["score", "-r", "human.npy", "-c", "human.npy", "--metrics", "mmd", "--no-ceiling"]
PROGRAM = [sys.executable, "-m", "recapture"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.save("human.npy", np.random.default_rng(1).normal(size=(20, 3)))
    return tmp_path


def shell(line):
    """Exit code, standard output and messages of a line of shell."""
    script = f'recapture() {{ {sys.executable} -m recapture "$@"; }}; set -o pipefail; {line}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_streams_that_are_closed_full_or_left(files):
    score = " ".join(SCORE)
    assert shell(f"recapture {score} >&-")[::2] == (2, "recapture: cannot write the results: Bad file descriptor\n")
    code, out, _ = shell(f"recapture {score} 2>&- <&-")
    assert code == 0 and "mmd" in out
    assert shell(f"recapture {score} -o o.json >&- 2>&- <&-")[0] == 0 and Path("o.json").stat().st_size > 100
    assert shell(f"recapture {score} >/dev/full")[::2] == (
        2, "recapture: cannot write the results: No space left on device\n",
    )  # fmt: skip
    code, out, _ = shell(f"recapture {score} 2>/dev/full")
    assert code == 0 and "mmd" in out
    assert shell("recapture list | head -n 1")[0] == 0
    assert shell("recapture list | head -n 0")[0] == 0


def with_a_signal(number, code):
    """The program, with a signal that comes where this code calls `send`."""
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have had it ignored
def send(kill=os.kill, process=os.getpid()):
    kill(process, {number})
{code}
from recapture.cli import main
main(["score", "-r", "human.npy", "-c", "human.npy", "--metrics", "mmd", "--no-ceiling", "-o", "o.json"])
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)


def at_import(module, number):
    """The program, with a signal that comes while it imports a module."""
    return with_a_signal(
        number,
        f"""
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            send()
sys.meta_path.insert(0, Finder())
""",
    )


@pytest.mark.slow
@pytest.mark.parametrize("module", ["recapture.cli.signals", "click", "numpy", "recapture.sets.evaluate"])
def test_interrupted_while_libraries_load(files, module):
    done = at_import(module, int(signal.SIGINT))
    assert done.returncode == 130 and "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 2, done.stderr
    assert not Path("o.json").exists()


def test_interrupted_within_executed_text(files):
    """CPython remembers an interrupt that went through text given to exec, caught or not, and ends as if killed."""
    code = """
import sys
from recapture.cli.signals import keep_exit_code
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    pass
{}
sys.exit(7)
"""
    for line, expected in (("", -signal.SIGINT), ("keep_exit_code()", 7)):
        Path("run_me.py").write_text(code.format(line))
        assert subprocess.run([sys.executable, "-m", "run_me"]).returncode == expected


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_python_ends(files, number):
    """All is written and said: that a signal comes while objects are removed changes nothing."""
    done = with_a_signal(
        int(number),
        """
class Last:
    def __del__(self, send=send):
        send()
last = Last()
""",
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr and Path("o.json").exists(), done.returncode


@pytest.mark.slow
def test_asked_to_end(files):
    done = at_import("recapture.sets.evaluate", int(signal.SIGTERM))
    assert done.returncode == 143 and "Traceback" not in done.stderr


def test_an_error_that_an_interruption_became(monkeypatch, capsys):
    """Libraries turn a KeyboardInterrupt into errors of their own, as NumPy does while its classes are made."""
    import recapture.cli.app as program
    from recapture.cli import signals

    def main(**_):
        raise RuntimeError("Error calling __set_name__ on 'cached_property' instance")

    monkeypatch.setattr(program.app, "main", main)
    monkeypatch.setattr(signals, "_got", int(signal.SIGINT))
    assert program.run(["list"]) == 130
    assert capsys.readouterr().err == "recapture: interrupted; no results were written\n"
    monkeypatch.setattr(signals, "_got", 0)
    with pytest.raises(RuntimeError):
        program.run(["list"])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="nothing tells how far a process is")
def test_interrupted_at_any_moment(files):
    """From the moment the program runs: 130 and at most one line, or the end of a run that was finished."""
    for step in range(8):
        process = subprocess.Popen([*PROGRAM, *SCORE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        loaded = Path(f"/proc/{process.pid}/maps")  # NumPy is: what comes before our first line is not ours to handle
        while process.poll() is None and "multiarray" not in loaded.read_text():
            time.sleep(0.005)
        time.sleep(0.05 * step)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode in (0, 130) and "Traceback" not in said, said


FILE_RIGHTS = "-dac_override,-dac_read_search"
WITHOUT_RIGHTS = ["setpriv", f"--bounding-set={FILE_RIGHTS}", f"--inh-caps={FILE_RIGHTS}"]


def without_rights(*arguments, **environment):
    """As a user whom file rights stop, who may be root otherwise."""
    prefix = [*WITHOUT_RIGHTS, "--"] if os.geteuid() == 0 else []
    try:
        return subprocess.run(
            [*prefix, *PROGRAM, *arguments], capture_output=True, text=True, env={**os.environ, **environment}
        )
    except FileNotFoundError:
        pytest.skip("no setpriv to do without root's rights")


@pytest.mark.slow
def test_folders_without_access(files):
    Path("human.txt").write_text("a cat sat\na dog ran\nrain fell\nwe ate soup\n")
    Path("vec.txt").write_text("".join(f"{word} 1 {n}\n" for n, word in enumerate(("a", "cat", "sat", "dog", "ran"))))
    Path("contexts.jsonl").write_text('{"id": "1", "references": ["a b", "c"], "candidates": ["a b", "d"]}\n')
    for name, mode in (("shut", 0), ("fixed", 0o555)):
        Path(name).mkdir()
        (Path(name) / "old.json").write_text("old")
        Path(name).chmod(mode)
    words = ["score", "-r", "human.txt", "-c", "human.txt", "--encoder", "vec.txt", "--metrics", "mmd", "--no-ceiling"]
    try:
        for folder in ("shut", "fixed"):
            done = without_rights(*words, RECAPTURE_CACHE=str(files / folder))
            assert done.returncode == 0 and done.stderr.count("going on without the vector cache") == 1, done.stderr
            over = ["contexts", "contexts.jsonl", "--metrics", "meteor"]
            done = without_rights(*over, RECAPTURE_CACHE=str(files / folder))
            assert done.returncode == 0 and done.stderr.count("nothing is kept in") == 1, done.stderr
            for name in ("new.json", "old.json"):
                done = without_rights(*words, "-o", f"{folder}/{name}")
                assert done.returncode == 2 and done.stderr.startswith(f"recapture: cannot write {folder}/{name}: ")
                assert len(done.stderr.splitlines()) == 1
        done = without_rights("cache", "--all", RECAPTURE_CACHE=str(files / "shut"))
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    finally:
        for name in ("shut", "fixed"):
            Path(name).chmod(0o755)
