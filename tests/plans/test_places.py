"""Plans and vectors behind URLs: the same numbers as in folders, and no half-written or wrong file is ever used."""

import json
import os
import pickle
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.plans import local_copies, ray_engine, tile_plan
from recapture.plans.phases import RADII
from recapture.plans.places import RemotePath, beside, place_of, seen_from
from recapture.plans.planned_parts import PlannedParts
from recapture.plans.ray_engine import _WithoutRay
from recapture.plans.tile_plan import TilePlan

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'recapture[storage]'")

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]


@pytest.fixture
def sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local_copies.tempfile, "tempdir", str(tmp_path))  # copies of what lies elsewhere go there
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    reference, candidate = np.random.default_rng(3).standard_normal((2, 90, 5)).round(1)
    reference[70:80], candidate[:40:2] = reference[3], reference[:20]
    np.save("human.npy", reference)
    np.save("model.npy", candidate)
    return reference, candidate


def upload(url, path):
    fsspec.filesystem("memory").pipe_file(url.removeprefix("memory://"), Path(path).read_bytes())


def expected(sets, reference_name="human.npy"):
    given = {"metrics": METRICS, "ceiling": False, "reference_name": reference_name}
    return rc.evaluate(sets[0], {"model.npy": sets[1]}, **given).to_json(arrays=True)


def test_a_plan_behind_a_url_takes_the_vectors_with_it(sets):
    rc.make_plan("human.npy", "model.npy", "memory://plans/one", parts=3)
    for name in ("human.npy", "model.npy"):
        Path(name).unlink()
    assert rc.run_plan("memory://plans/one", 1, 2).missing == [
        "radii-reference-0002",
        "radii-candidate-0001",
        "radii-candidate-0003",
    ]
    rc.run_plan("memory://plans/one")
    assert rc.merge_plan("memory://plans/one").to_json(arrays=True) == expected(sets)
    assert rc.run_plan("memory://plans/one").made == []


@pytest.mark.parametrize("folder", ["memory://plans/two", "here"])
def test_vectors_behind_urls_are_read_where_they_lie(sets, folder):
    for name in ("human.npy", "model.npy"):
        upload(f"memory://data/{name}", name)
        Path(name).unlink()
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", folder, parts=2)
    plan = TilePlan.opened(place_of(folder))
    assert (plan.reference.copy, plan.candidate.copy) == (None, None)
    rc.run_plan(folder)
    assert rc.merge_plan(folder).to_json(arrays=True) == expected(sets, "memory://data/human.npy")


def test_other_vectors_and_damaged_copies(sets, tmp_path):
    """A copy on this machine is used only if it has the content that the plan names; the file itself decides."""
    for name in ("human.npy", "model.npy"):
        upload(f"memory://data/{name}", name)
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", "memory://plans/three", parts=2)
    (*copies,) = tmp_path.glob("recapture-*/*.npy")
    assert len(copies) == 2
    for copy in copies:
        copy.write_bytes(copy.read_bytes()[:-3] + b"abc")
    rc.run_plan("memory://plans/three")
    assert rc.merge_plan("memory://plans/three").to_json(arrays=True) == expected(sets, "memory://data/human.npy")
    np.save("model.npy", sets[1] + 1)
    upload("memory://data/model.npy", "model.npy")
    for copy in copies:
        copy.unlink()
    with pytest.raises(
        InputError, match=r"^the candidate memory://data/model.npy is not the file that the plan was made"
    ):
        rc.merge_plan("memory://plans/three")


def test_another_plan_of_the_same_vectors_disturbs_nobody(sets):
    """It needs the same copy, which is there."""
    for name in ("human.npy", "model.npy"):
        upload(f"memory://data/{name}", name)
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", "planned", parts=2)
    plan = TilePlan.opened(Path("planned"))
    work = PlannedParts(plan)
    first, second = plan.parts[RADII[0]]
    work.make(first)
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", "another", k=2, parts=2)
    work.make(second)
    rc.run_plan("planned")
    assert rc.merge_plan("planned").to_json(arrays=True) == expected(sets, "memory://data/human.npy")


@pytest.mark.parametrize("url", ["memory://", "memory:///", "memory://plans//", "memory:///plans/"])
def test_slashes_at_the_end_of_a_url_say_nothing(sets, url):
    rc.make_plan("human.npy", "model.npy", url, parts=2)
    rc.run_plan(url.rstrip("/") if "plans" in url else url)
    assert rc.merge_plan(url).to_json(arrays=True) == expected(sets)
    assert not Path("memory:").exists()


def test_damage_behind_a_url_is_found(sets):
    rc.make_plan("human.npy", "model.npy", "memory://plans/four", parts=3)
    rc.run_plan("memory://plans/four")
    store = fsspec.filesystem("memory")
    for name, content in (("counts-0002.part", b"half"), ("radii-candidate-0001.part", b""), ("candidate.npy", b"x")):
        store.pipe_file(f"/plans/four/{name}", content)
    with pytest.raises(InputError, match=r"candidate.npy, a copy of the candidate, is missing or damaged: make"):
        rc.run_plan("memory://plans/four")
    rc.make_plan("human.npy", "model.npy", "memory://plans/four", parts=3)  # mends the copy
    assert rc.run_plan("memory://plans/four").made == ["radii-candidate-0001", "counts-0002"]
    assert rc.merge_plan("memory://plans/four").to_json(arrays=True) == expected(sets)


def test_file_urls_are_folders(sets, tmp_path):
    rc.make_plan("human.npy", "model.npy", f"file://{tmp_path}/planned", parts=2)
    rc.run_plan("planned")
    assert rc.merge_plan(f"file://{tmp_path}/planned").to_json(arrays=True) == expected(sets)
    assert not Path("planned/reference.npy").exists()


@pytest.mark.parametrize(
    ("path", "folder", "seen"),
    [
        ("s3://bucket/data/a.npy", "s3://bucket/plans/one", "../../data/a.npy"),
        ("s3://bucket/a.npy", "gs://bucket/plans", "s3://bucket/a.npy"),
        ("s3://bucket/a.npy", "/plans", "s3://bucket/a.npy"),
        ("/data/a.npy", "s3://bucket/plans", "/data/a.npy"),
        ("simplecache::s3://bucket/a.npy", "s3://bucket/plans", "simplecache::s3://bucket/a.npy"),
        ("/data/a.npy", "/plans/one", "../../data/a.npy"),
    ],
)
def test_files_as_seen_from_a_folder(path, folder, seen):
    assert beside(path, place_of(folder)) == seen
    found = seen_from(place_of(folder), seen)
    assert str(found) == (path if isinstance(found, RemotePath) or seen == path else "/plans/one/../../data/a.npy")


def test_a_remote_path_travels_to_other_processes(sets):
    upload("memory://data/human.npy", "human.npy")
    path = place_of("memory://data") / "human.npy"
    path.is_file()  # what it has opened stays behind
    assert pickle.loads(pickle.dumps(path)).read_bytes() == Path("human.npy").read_bytes()
    assert [str(each) for each in place_of("memory://data").iterdir()] == ["memory://data/human.npy"]
    assert list(place_of("memory://nothing").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "memory://nowhere"], "memory://nowhere holds no plan: there is no plan.json"),
        (["run", "nosuch://bucket/plan"], "nosuch://bucket/plan/plan.json cannot be opened: Protocol not known"),
        (["plan", "-r", "human.npy", "-c", "model.npy", "-o", "nosuch://bucket/plan"],
         "nosuch://bucket/plan cannot be opened: Protocol not known"),
        (["plan", "-r", "human.npy", "-c", "memory://data/none.npy", "-o", "new"],
         "memory://data/none.npy cannot be read: "),
        (["plan", "-r", "human.npy", "-c", "memory://data/cut.npy", "-o", "new"],
         "memory://data/cut.npy is cut off or damaged: its header promises 90 x 5 numbers, 3,600 bytes"),
        (["plan", "-r", "human.npy", "-c", "memory://data/texts.txt", "-o", "new"],
         "candidate memory://data/texts.txt holds texts and reference human.npy holds vectors: give both in one form"),
        (["plan", "-r", "human.npy", "-c", "model.npy", "-o", "memory://data"],
         "memory://data holds other things than a plan, such as cut.npy: name a folder of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_one_sentence(sets, arguments, told, capsys):
    Path("cut.npy").write_bytes(Path("model.npy").read_bytes()[:-600])
    Path("texts.txt").write_text("a\nb\n")
    upload("memory://data/cut.npy", "cut.npy")
    upload("memory://data/texts.txt", "texts.txt")
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"recapture: {told}") and printed.err.count("\n") == 1
    assert not Path("new").exists()


def test_without_fsspec_and_without_ray(sets, monkeypatch, capsys):
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(["merge", "s3://bucket/plan"]) == 2
    assert 'with fsspec, which is missing: pip install "recapture[storage]"' in capsys.readouterr().err
    assert run(["run", "planned", "--engine", "ray"]) == 2
    assert capsys.readouterr().err == 'recapture: the engine ray needs the package ray: pip install "recapture[ray]"\n'


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "spark"], "no engine 'spark'; there are local and ray"),
        (["--address", "auto"], "only the engine ray has an address: say --engine"),
        (["1/2", "--engine", "ray"], "the engine ray shares the parts out itself: name no share"),
    ],
)
def test_engines_that_are_none(sets, arguments, told, capsys):
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    assert run(["run", "planned", *arguments]) == 2
    assert told.partition(":")[0] in capsys.readouterr().err


def test_what_cannot_be_fetched_is_told_of_its_place(sets, tmp_path, monkeypatch):
    """Not of the copy that was to be made of it."""

    def fails(*_, **__):
        raise OSError("the connection was reset")

    for name in ("human.npy", "model.npy"):
        upload(f"memory://data/{name}", name)
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", "planned", parts=2)
    for copy in tmp_path.glob("recapture-*/*.npy"):
        copy.unlink()
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "get_file", fails)
    with pytest.raises(InputError, match=r"^memory://data/human.npy cannot be read: the connection was reset$"):
        rc.run_plan("planned")


def test_storage_that_fails_is_told_in_its_own_words(sets, monkeypatch):
    """Every kind of storage has errors of its own kinds."""

    class StrangeError(Exception):
        pass

    def fails(*_, **__):
        raise StrangeError("the lease has expired\nand more")

    rc.make_plan("human.npy", "model.npy", "memory://plans/five", parts=2)
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "put_file", fails)
    with pytest.raises(InputError, match=r"^cannot write memory://plans/five/\S+: the lease has expired$"):
        rc.run_plan("memory://plans/five")


@pytest.mark.parametrize("call", ["info", "ls", "cat_file", "get_file"])
def test_storage_that_does_not_answer_once_is_told_of_what_was_asked(sets, call, monkeypatch, capsys):
    """One sentence about the storage, or, where nothing depends on it, nothing; the next try writes the numbers."""
    rc.make_plan("human.npy", "model.npy", "memory://plans/ill", parts=2)
    memory, ended = type(fsspec.filesystem("memory")), 0
    usual = getattr(memory, call)
    for time_of_it in range(1, 9):
        asked = []

        def fails(self, *given, asked=asked, time_of_it=time_of_it, **more):
            asked.append(self)
            if len(asked) == time_of_it:
                raise RuntimeError("connection reset")
            return usual(self, *given, **more)

        with monkeypatch.context() as patch:
            patch.setattr(memory, call, fails)
            code = run(["run", "memory://plans/ill"])
        said = capsys.readouterr().err
        assert code in (0, 2) and "Traceback" not in said
        if code == 2:
            ended += 1
            last = said.splitlines()[-1]
            assert last.startswith("recapture: memory://plans/ill") and last.endswith("connection reset")
    assert ended > 0
    assert run(["run", "memory://plans/ill"]) == 0
    assert rc.merge_plan("memory://plans/ill").to_json(arrays=True) == expected(sets)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners")
def test_copies_are_kept_where_nobody_else_can_change_them(sets, monkeypatch):
    upload("memory://data/human.npy", "human.npy")
    Path(f"recapture-{os.getuid() + 1}").mkdir()
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(InputError, match=r"^copies cannot be kept in \S+: somebody else may write there$"):
        rc.make_plan("memory://data/human.npy", "model.npy", "planned")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners")
def test_copies_are_kept_in_no_folder_that_somebody_else_chose(sets, tmp_path):
    upload("memory://data/human.npy", "human.npy")
    folder = tmp_path / f"recapture-{os.getuid()}"
    Path("own").mkdir()
    folder.symlink_to(tmp_path / "own")
    told = r"^copies cannot be kept in \S+: somebody else may write there$"
    with pytest.raises(InputError, match=told):
        rc.make_plan("memory://data/human.npy", "model.npy", "planned")
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(InputError, match=told):
        rc.make_plan("memory://data/human.npy", "model.npy", "planned")
    assert not list(Path("own").iterdir()) and not list(folder.iterdir())


def test_a_digest_in_a_plan_is_the_name_of_no_other_file(sets, tmp_path):
    """Copies are kept under digests, which whoever wrote the plan has chosen, with the checksum of the plan."""
    for name in ("human.npy", "model.npy"):
        upload(f"memory://data/{name}", name)
    rc.make_plan("memory://data/human.npy", "memory://data/model.npy", "planned", parts=2)
    kept = tmp_path / "kept.npy"
    kept.write_bytes(b"x")
    said = json.loads(Path("planned/plan.json").read_text())
    said["reference"]["content"]["digest"] = "../kept"
    said.pop("check")
    Path("planned/plan.json").write_text(json.dumps({"check": tile_plan._digest(said), **said}))
    with pytest.raises(InputError, match="cut off or damaged"):
        rc.run_plan("planned")
    assert kept.read_bytes() == b"x"


# Copies are gone with the last process that uses them


class Process:
    """Another process, told line by line what to do, with all files for temporary use in one folder."""

    def __init__(self, folder):
        code = "import sys\nfrom recapture.plans.local_copies import *\nfrom recapture.plans.places import *\n"
        code += "for line in sys.stdin:\n    exec(line)\n    print('done', flush=True)\n"
        environment = {**os.environ, "TMPDIR": str(folder)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._child = subprocess.Popen([sys.executable, "-c", code], **pipes, text=True, env=environment)

    def do(self, line):
        self._child.stdin.write(f"{line}\n")
        self._child.stdin.flush()
        assert self._child.stdout.readline() == "done\n"

    def copy(self, path):
        """Use the copy of a file, whose digest is made up."""
        self.do(f"copy = local_copy(place_of('local://{path}'), '{DIGEST}'); assert copy.read_bytes() == b'12345'")

    def end(self):
        self._child.communicate()
        assert self._child.returncode == 0

    def kill(self):
        self._child.kill()
        self._child.communicate()


DIGEST = "0123456789abcdef" * 2


@pytest.fixture
def far(tmp_path):
    (tmp_path / "far.npy").write_bytes(b"12345")
    (tmp_path / "temporary").mkdir()
    return tmp_path / "far.npy"


def kept(far):
    return {path.name for path in (far.parent / "temporary").glob("recapture-*/*") if path.suffix == ".npy"}


def left(far):
    return {path.name for path in (far.parent / "temporary").glob("recapture-*/*")}


needs_locks = pytest.mark.skipif(local_copies.fcntl is None, reason="files cannot be locked")


@needs_locks
def test_a_copy_is_shared_and_deleted_with_its_last_user(far):
    one, other = (Process(far.parent / "temporary") for _ in range(2))
    one.copy(far)
    other.copy(far)
    (copy,) = (far.parent / "temporary").glob("recapture-*/*.npy")
    number = copy.stat().st_ino
    one.end()
    assert copy.stat().st_ino == number and copy.read_bytes() == b"12345"
    other.copy(far)
    other.end()
    assert left(far) == set()


@needs_locks
def test_copies_of_killed_processes_are_deleted_by_the_next_one(far):
    """The one it used, one that was half fetched, and one whose content was not known yet; nothing else."""
    killed, living = (Process(far.parent / "temporary") for _ in range(2))
    killed.copy(far)
    killed.do("unknown = unnamed_copy('far.npy'); unknown.__enter__().write_bytes(b'123')")
    folder = next((far.parent / "temporary").glob("recapture-*"))
    (folder / f".{DIGEST[::-1]}.npy.abc.npy").write_bytes(b"12")
    (folder / "notes.txt").write_text("mine")
    (folder / DIGEST[2:]).write_text("mine")
    killed.kill()
    assert len(kept(far)) == 3
    living.do("unnamed_copy('other.npy').__enter__()")
    assert kept(far) == set()
    living.end()
    assert left(far) == {"notes.txt", DIGEST[2:]}


@needs_locks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes to fork")
def test_a_child_does_not_delete_what_its_parent_uses(far):
    parent = Process(far.parent / "temporary")
    parent.copy(far)
    ends = "import atexit; child = os.fork(); _ = child or (BEFORE, atexit._run_exitfuncs(), os._exit(0)); os.wait()"
    parent.do(ends.replace("BEFORE", "0"))
    assert kept(far) == {f"{DIGEST}.npy"}
    parent.do(ends.replace("BEFORE", f"local_copy(place_of('local://{far}'), '{DIGEST}')"))
    assert kept(far) == {f"{DIGEST}.npy"}
    parent.end()
    assert left(far) == set()


@needs_locks
def test_what_processes_hold_for_a_run_is_let_go_when_it_is_done(far):
    """A cluster ends them later, and without asking them. What others hold, they hold still."""
    one, other, alone = (Process(far.parent / "temporary") for _ in range(3))
    for process, name in ((one, "a1"), (other, "b2")):
        process.do(f"work_for('{name}')")
        process.copy(far)
    alone.copy(far)
    for ends in ("end_of('a1')", "end_of('none')"):
        alone.do(ends)
        assert kept(far) == {f"{DIGEST}.npy"}
    alone.end()
    assert kept(far) == {f"{DIGEST}.npy"}
    one.do("end_of('b2')")
    assert left(far) == set()
    one.do("work_for('c3')")
    one.copy(far)  # it is used for something else now
    other.kill()
    last = Process(far.parent / "temporary")
    last.do("unnamed_copy('other.npy').__enter__()")
    assert f"{DIGEST}.npy" in kept(far)
    last.end()
    one.kill()


@needs_locks
def test_nothing_is_deleted_in_a_folder_that_others_may_write_to(far, tmp_path):
    folder = tmp_path / "others"
    folder.mkdir()
    (folder / f"{DIGEST}.npy").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(folder)
    local_copies.delete_unused(tmp_path / "link")
    folder.chmod(0o777)
    local_copies.delete_unused(folder)
    assert [path.name for path in folder.iterdir()] == [f"{DIGEST}.npy"]
    folder.chmod(0o700)
    local_copies.delete_unused(folder)
    assert [path.name for path in folder.iterdir()] == []


@needs_locks
@pytest.mark.slow
def test_commands_leave_no_copies_behind(sets, tmp_path):
    for command in (
        ["plan", "-r", f"local://{tmp_path}/human.npy", "-c", "model.npy", "-o", f"local://{tmp_path}/planned"],
        ["run", f"local://{tmp_path}/planned"],
        ["merge", f"local://{tmp_path}/planned"],
    ):
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        ran = subprocess.run([sys.executable, "-m", "recapture", *command], capture_output=True, env=environment)
        assert ran.returncode == 0, ran.stderr
    assert not list(tmp_path.glob("recapture-*/*"))


def test_what_threads_of_ray_print_is_no_result(capsys):
    """Ray tells of lost nodes and actors on either stream, from a thread of its own."""
    with redirect_stdout(_WithoutRay(sys.stdout)), redirect_stderr(_WithoutRay(sys.stderr)):
        for stream in (sys.stdout, sys.stderr):
            print("own", file=stream)
            noise = threading.Thread(
                target=print, args=["the node is dead"], kwargs={"file": stream}, name="ray_listen_error_messages"
            )
            noise.start()
            noise.join()
    assert capsys.readouterr() == ("own\n", "own\n")


@pytest.mark.parametrize("kind", ["", "ray://"])
def test_an_address_whose_packets_are_dropped_is_refused_soon(kind, monkeypatch):
    """As by a server whose queue is full. Ray itself is not asked, which would take half a minute."""
    monkeypatch.setattr(ray_engine, "_CONNECT", 0.3)
    monkeypatch.setattr(ray_engine.subprocess, "run", lambda *_, **__: pytest.fail("Ray was asked"))
    with socket.socket() as server, ExitStack() as stack:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        for _ in range(20):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0.2)
            if waiting.connect_ex(address):
                break
        else:
            pytest.skip("this system queues as many as there are")
        told = f"{kind}127.0.0.1:{address[1]}"
        with pytest.raises(InputError, match=f"^no cluster of Ray answers at {told}: timed out$"):
            ray_engine._check_reachable(told)
