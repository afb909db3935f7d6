"""Plans over files: the merged numbers are those of one process, and no fault leaves any other."""

import errno
import importlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracles
import pytest

import recapture as rc
from geometry.test_exactness import INPUTS
from recapture import progress
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.plans import marks, part_files, shares, tile_plan
from recapture.plans.phases import COUNTS, RADII, ready
from recapture.plans.places import place_of
from recapture.plans.planned_parts import PlannedParts
from recapture.plans.tile_plan import TilePlan
from recapture.texts import array_files, arrow_files, parquet

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]


def save(folder, reference, candidate):
    paths = folder / "human.npy", folder / "model.npy"
    for path, values in zip(paths, (reference, candidate), strict=True):
        np.save(path, values)
    return paths


def in_one_process(reference, candidate, **options):
    given = {"metrics": METRICS, "ceiling": False, "reference_name": "human.npy", **options}
    return rc.evaluate(reference, {"model.npy": candidate}, **given)


def everything(results):
    return results.to_json(arrays=True)


@pytest.fixture
def sets():
    """With rows that repeat, on one side and on both, so that the copies of a row fall into several parts."""
    reference, candidate = np.random.default_rng(3).standard_normal((2, 90, 5)).round(1)
    reference[70:80], candidate[:40:2], candidate[85:] = reference[3], reference[:20], candidate[80]
    return reference, candidate


@pytest.fixture
def planned(sets, tmp_path, monkeypatch):
    """A plan of three parts of each kind, none of them done."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path, *sets)
    rc.make_plan("human.npy", "model.npy", "planned", parts=3)
    return tmp_path / "planned"


# The same numbers


@pytest.mark.parametrize("name", INPUTS)
def test_merged_is_evaluate_to_the_last_digit(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference, candidate = INPUTS[name]
    save(tmp_path, reference, candidate)
    try:
        expected = in_one_process(reference, candidate, k=2)
    except InputError as error:  # numbers whose squares vanish
        with pytest.raises(InputError) as told:
            rc.make_plan("human.npy", "model.npy", "planned", k=2)
        assert str(told.value).replace("candidate model.npy", "candidate 'model.npy'") == str(error)
        assert not Path("planned").exists()
        return
    rc.make_plan("human.npy", "model.npy", "planned", METRICS, 2, parts=3)
    for worker in (2, 1, 2):
        rc.run_plan("planned", worker, 2)
    merged = rc.merge_plan("planned")
    assert everything(merged) == everything(expected)
    counts = oracles.counts(reference, candidate, 2)
    covered = counts.pop("covered")
    assert merged["model.npy"]["mark-evaluate"].counts == counts
    assert merged["model.npy"]["density-coverage"].coverage == covered / len(reference)


@pytest.mark.parametrize("parts", [1, 2, 7, 1000])
def test_the_number_of_parts_changes_nothing(sets, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, *sets)
    rc.make_plan("human.npy", "model.npy", "planned", parts=parts)
    assert rc.run_plan("planned").missing == []
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


def test_other_formats_are_copied_into_the_folder(sets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference, candidate = sets
    np.savez("human.npz", embeddings=reference, other=candidate)
    np.save("model.npy", np.asfortranarray(candidate.astype(">f8")))
    rc.make_plan("human.npz", "model.npy", "planned", parts=2)
    rc.run_plan("planned")
    expected = everything(in_one_process(reference, candidate, reference_name="human.npz"))
    assert everything(rc.merge_plan("planned")) == expected
    Path("human.npz").unlink()  # the copy is enough
    assert everything(rc.merge_plan("planned")) == expected
    np.savez("human.npz", embeddings=candidate)
    with pytest.raises(InputError, match=r"reference .*human.npz is not the file that the plan was made for"):
        rc.merge_plan("planned")


def tensor(path, kind, values):
    """A .safetensors file by its definition: length of the header, header, bytes."""
    header = json.dumps({"embeddings": {"dtype": kind, "shape": values.shape, "data_offsets": [0, values.nbytes]}})
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + values.tobytes())


def write_vectors(path, kind, values):
    if kind == "columns first":
        np.save(path.with_suffix(".npy"), np.asfortranarray(values))
        return path.with_suffix(".npy")
    if kind == "npz":
        np.savez_compressed(path.with_suffix(".npz"), embeddings=values)
        return path.with_suffix(".npz")
    if kind == "safetensors":
        tensor(path.with_suffix(".safetensors"), "F64", values)
        return path.with_suffix(".safetensors")
    pa = pytest.importorskip("pyarrow")
    if kind == "jsonl":
        path.with_suffix(".jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in values.tolist()))
        return path.with_suffix(".jsonl")
    table = pa.table({"e": pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])})
    if kind == "parquet":
        importlib.import_module("pyarrow.parquet").write_table(table, path.with_suffix(".parquet"), row_group_size=7)
        return path.with_suffix(".parquet")
    with pa.ipc.new_file(path.with_suffix(".arrow"), table.schema) as sink:
        sink.write_table(table, 11)
    return path.with_suffix(".arrow")


@pytest.mark.parametrize("kind", ["columns first", "npz", "safetensors", "parquet", "arrow", "jsonl"])
def test_every_format_of_vectors(kind, sets, tmp_path, monkeypatch):
    """Some rows at a time: blocks of three rows, and never the whole."""
    monkeypatch.chdir(tmp_path)
    for module in (array_files, parquet, arrow_files):
        monkeypatch.setattr(module, "_BLOCK" if module is array_files else "_ROWS", 120 if module is array_files else 3)
    paths = [write_vectors(Path(name), kind, values) for name, values in zip(("human", "model"), sets, strict=True)]
    rc.make_plan(*paths, "planned", parts=2)
    assert Path("planned/reference.npy").exists() == (kind != "safetensors")  # which is read where it lies
    rc.run_plan("planned")
    expected = rc.evaluate(sets[0], {paths[1].name: sets[1]}, METRICS, ceiling=False, reference_name=str(paths[0]))
    assert everything(rc.merge_plan("planned")) == everything(expected)
    for path, values in zip(paths, sets, strict=True):
        np.testing.assert_array_equal(rc.read(path), values)


def test_bfloat16_is_copied_as_float32(tmp_path, monkeypatch):
    """The upper halves of float32 numbers."""
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(1).standard_normal((2, 40, 4)).astype(np.float32)
    upper = (values.view(np.uint32) >> 16).astype(np.uint16)
    for name, half in zip(("human", "model"), upper, strict=True):
        tensor(Path(f"{name}.safetensors"), "BF16", half)
    rc.make_plan("human.safetensors", "model.safetensors", "planned", parts=2)
    short = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(np.load("planned/reference.npy"), short[0])
    np.testing.assert_array_equal(rc.read("model.safetensors"), short[1])


@pytest.mark.parametrize("kind", ["F4", "F32", "F64"])
def test_a_safetensors_file_that_promises_more_than_it_holds(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("human.npy", np.eye(9))
    tensor(Path("model.safetensors"), kind, np.eye(9, dtype=np.float32))
    content = Path("model.safetensors").read_bytes()
    for damaged in (content[:-1], content[:7], content[:30], b"\xff" * 40, content.replace(b"[9, 9]", b"[9,-9]")):
        Path("model.safetensors").write_bytes(damaged)
        said = refused(["plan", "-r", "human.npy", "-c", "model.safetensors", "-o", "new"], capsys)
        assert said.startswith("model.safetensors")
        assert not Path("new").exists()


def test_a_copy_that_is_damaged_is_told_and_made_again(sets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("human.npz", embeddings=sets[0])
    np.save("model.npy", sets[1])
    rc.make_plan("human.npz", "model.npy", "planned", parts=2)
    rc.run_plan("planned")
    before = everything(rc.merge_plan("planned"))
    for damage in (lambda path: flip(path, -20), gone, truncated):
        damage(Path("planned/reference.npy"))
        told = r"^planned/reference.npy, a copy of the reference, is missing or damaged: make the plan again$"
        with pytest.raises(InputError, match=told):
            rc.merge_plan("planned")
        rc.make_plan("human.npz", "model.npy", "planned", parts=2)  # as it says
        assert rc.run_plan("planned").made == []
        assert everything(rc.merge_plan("planned")) == before


def test_a_metric_that_needs_more_samples_has_no_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference, candidate = np.random.default_rng(4).standard_normal((2, 5, 3))
    save(tmp_path, reference, candidate)
    rc.make_plan("human.npy", "model.npy", "planned")
    rc.run_plan("planned")
    merged = rc.merge_plan("planned")
    assert everything(merged) == everything(in_one_process(reference, candidate))
    assert np.isnan(merged["model.npy"]["density-coverage"].density)


def test_files_and_plan_may_move_together(planned, sets, tmp_path, monkeypatch):
    rc.run_plan("planned")
    (tmp_path / "elsewhere").mkdir()
    for name in ("human.npy", "model.npy", "planned"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    assert everything(rc.merge_plan(tmp_path / "elsewhere" / "planned")) == everything(in_one_process(*sets))


def test_a_folder_behind_a_link_beside_other_files(sets, tmp_path, monkeypatch):
    """Seen from the folder the way to the files is another than from the link, and ends at other files."""
    (tmp_path / "there" / "planned").mkdir(parents=True)
    save(tmp_path / "there", *sets[::-1])
    monkeypatch.chdir(tmp_path)
    save(tmp_path, *sets)
    Path("planned").symlink_to(tmp_path / "there" / "planned")
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    rc.run_plan("planned")
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


# Shares


def test_radii_come_first_and_every_part_is_made_once(planned):
    waiting = rc.run_plan("planned", 1, 2)
    assert waiting.made == ["radii-reference-0001", "radii-reference-0003", "radii-candidate-0002"]
    assert waiting.missing == ["radii-reference-0002", "radii-candidate-0001", "radii-candidate-0003"]
    rest = rc.run_plan("planned", 2, 2)
    assert rest.made == [*waiting.missing, "counts-0002"] and not rest.missing
    again = rc.run_plan("planned", 1, 2)
    assert again.made == ["counts-0001", "counts-0003"] and again.found == waiting.made
    for worker in (1, 2):
        assert rc.run_plan("planned", worker, 2).made == []


@pytest.mark.parametrize("there_after", [0.05, 0.95, 7, 61, 140, 3000])
def test_little_of_a_wait_is_for_nothing(planned, there_after, monkeypatch):
    """At most a tenth of it, a tenth of a second, or 15 seconds, and few looks, of .05 s each."""
    passed, looks = [0.0], []

    def look():
        looks.append(passed[0])
        passed[0] += 0.05
        return {"radii-reference-0002"} if looks[-1] >= there_after else set()

    # A clock of its own: the process's would also turn that of the progress lines, and leave it turned.
    clock = SimpleNamespace(monotonic=lambda: passed[0], sleep=lambda pause: passed.append(passed.pop() + pause))
    monkeypatch.setattr(shares, "time", clock)
    share = shares._Share(PlannedParts(TilePlan.opened(planned)), 1, 2, 7200)
    object.__setattr__(share._plan, "look", look)
    others = share._plan.parts[RADII[0]][1:]
    begun_elsewhere(planned, [part.name for part in others])
    monkeypatch.setattr(marks, "_TRUSTED", 9999)
    assert share._after_waiting(others[:1], 7200) == []
    assert looks[-1] - there_after <= 0.05 + min(max(0.1, there_after / 10), 15)
    assert len(looks) <= 10 + 20 * np.log10(1 + 10 * there_after) + there_after / 15
    looks.clear()
    assert share._after_waiting(others, 9) == ["radii-reference-0003"]


def test_more_workers_than_parts_are_told_that_a_plan_wants_more(planned, capsys):
    """Three parts of each kind; but where rows are all equal no plan has more than one."""
    assert run(["run", "planned", "1/3"]) == 0
    assert "workers share" not in capsys.readouterr().err
    assert run(["run", "planned", "2/4"]) == 0
    told = (
        "4 workers share 3 parts of each kind, so some will have no counts to do: a plan wants several for every worker"
    )
    assert f"{told}, here 16\n" in capsys.readouterr().err
    np.save("human.npy", np.ones((9, 2)))
    np.save("model.npy", np.zeros((9, 2)))
    rc.make_plan("human.npy", "model.npy", "constant", "precision-recall", parts=3)
    assert run(["run", "constant", "1/4"]) == 0
    assert "workers share" not in capsys.readouterr().err


def begun_elsewhere(folder, names):
    """As a worker on another machine marks what it is at."""
    for name in names:
        Path(folder, f".begun-{name}").write_text("elsewhere 1")


def test_a_wait_may_be_written_as_a_time(planned):
    assert rc.run_plan("planned", 1, 1, wait="1min").missing == []
    for none in (0, "0", "0s"):
        assert rc.run_plan("planned", wait=none).missing == []
    for wrong in ("soon", "", -1, float("nan"), float("inf"), True):
        with pytest.raises(InputError, match="wait is 0 or a time such as 90s, 10min, 2h or 1h30min, not "):
            rc.run_plan("planned", wait=wrong)
    with pytest.raises(InputError, match="nobody waits for longer than 30 days"):
        rc.run_plan("planned", wait="40d")
    assert run(["run", "planned", "--wait", "0"]) == 0


def test_who_waits_in_vain_is_told_and_fails(planned, capsys):
    assert run(["run", "planned", "1/2"]) == 0  # says what is missing: the next round does it
    assert "run this again when they are there" in capsys.readouterr().err
    begun_elsewhere(planned, ["radii-candidate-0001"])
    assert run(["run", "planned", "1/2", "--wait", "1s"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "counts need all radii" in said and "the time to wait is over" in said


def test_more_workers_than_parts(planned, sets):
    for _ in range(2):
        for worker in range(20, 0, -1):
            rc.run_plan("planned", worker, 20)
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


def test_counts_alone_are_refused_without_radii(planned):
    """Whoever hands out parts one by one cannot take them in the wrong order."""
    plan = TilePlan.opened(planned)
    work = PlannedParts(plan)
    assert len(work.missing_radii()) == 6
    work.make(plan.parts[RADII[0]][1])
    with pytest.raises(InputError, match=r"counts-0001 needs all radii, but radii-reference-0001, .* are missing"):
        work.make(plan.parts[COUNTS][0])


def test_a_driver_that_asks_what_is_ready_does_every_part_once(planned, sets):
    plan = TilePlan.opened(planned)
    work, order = PlannedParts(plan), []
    while todo := ready(plan.parts, plan.done()):
        work.make(todo[-1])
        order.append(todo[-1].name)
    assert sorted(order) == sorted(plan.names) and {name.partition("-")[0] for name in order[:6]} == {"radii"}
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))
    plan.path(plan.parts[RADII[1]][0]).unlink()  # nobody needs it any more
    assert ready(plan.parts, plan.done()) == []
    plan.path(plan.parts[COUNTS][0]).unlink()
    assert [part.name for part in ready(plan.parts, plan.done())] == ["radii-candidate-0001"]


# Faults


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def truncated(path):
    path.write_bytes(path.read_bytes()[:-7])


def empty(path):
    path.write_bytes(b"")


def a_bit_in_the_numbers(path):
    flip(path, -9)


def a_bit_in_the_header(path):
    flip(path, 70)


def a_bit_in_the_checksum(path):
    flip(path, 20)


def longer(path):
    path.write_bytes(path.read_bytes() + b"\0" * 9)


def swapped_with_another_part(path):
    number = int(path.stem[-4:])
    other = path.with_name(f"{path.stem[:-4]}{number % 3 + 1:04}.part")
    path.write_bytes(other.read_bytes())


def of_other_files(path):
    """The same part of a plan for other vectors: whole, but stale."""
    values = np.load("human.npy")
    values[11] += 1
    np.save("other.npy", values)
    rc.make_plan("other.npy", "model.npy", "stale", parts=3)
    rc.run_plan("stale")
    path.write_bytes((Path("stale") / path.name).read_bytes())


def of_another_version(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tile_plan, "VERSION", "0.0.1")
        rc.make_plan("human.npy", "model.npy", "older", parts=3)
        rc.run_plan("older")
    path.write_bytes((Path("older") / path.name).read_bytes())


def gone(path):
    path.unlink()


DAMAGE = [
    truncated, empty, a_bit_in_the_numbers, a_bit_in_the_header, a_bit_in_the_checksum, longer,
    swapped_with_another_part, of_other_files, of_another_version, gone,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_part_is_never_merged_and_done_again(planned, damage, capsys):
    rc.run_plan("planned")
    whole = {path.name: path.read_bytes() for path in planned.iterdir()}
    expected = everything(rc.merge_plan("planned"))
    damage(planned / "counts-0002.part")
    assert (planned / "counts-0002.part").exists() == (damage is not gone)
    assert run(["merge", "planned"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "recapture: of planned counts-0002 is missing or damaged: run the plan again\n"
    damage(planned / "radii-candidate-0001.part")
    assert rc.run_plan("planned").made == ["radii-candidate-0001", "counts-0002"]
    assert {path.name: path.read_bytes() for path in planned.iterdir()} == whole
    assert everything(rc.merge_plan("planned")) == expected


@pytest.mark.parametrize("storage", ["here", "memory://unread"])
@pytest.mark.parametrize(("worker", "times"), [(4, 1), (1, 99)], ids=["its own", "another's"])
def test_a_part_that_cannot_be_read_for_a_while_is_not_removed(planned, storage, worker, times, monkeypatch):
    """Too many open files, a server that does not answer: nothing tells that the part is damaged."""
    if storage != "here":
        pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory").store.clear()
    rc.make_plan("human.npy", "model.npy", storage, parts=3)
    rc.run_plan(storage)
    expected = everything(rc.merge_plan(storage))
    lost, unread = place_of(storage) / "counts-0001.part", place_of(storage) / "radii-candidate-0001.part"
    lost.unlink()
    before, failed = unread.read_bytes(), []
    usual = part_files.content_up_to

    def content_up_to(place, most):
        if place.name == unread.name and len(failed) < times:
            failed.append(place)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return usual(place, most)

    with monkeypatch.context() as patch:
        patch.setattr(part_files, "content_up_to", content_up_to)
        patch.setattr(TilePlan, "keep", lambda self, part, _: pytest.fail(f"{part.name} was made again"))
        if times == 1:
            assert rc.run_plan(storage, worker, 9).found == [unread.name.removesuffix(".part")]
        else:
            with pytest.raises(InputError, match=r"^counts-0001 needs all radii, but radii-candidate-0001 is missing"):
                rc.run_plan(storage, worker, 9)
    assert failed and unread.read_bytes() == before
    assert rc.run_plan(storage).made == ["counts-0001"]
    assert everything(rc.merge_plan(storage)) == expected


def test_what_was_left_by_a_write_that_never_ended_does_not_count(planned):
    (planned / ".counts-0001.part.abc").write_bytes(b"half")
    rc.run_plan("planned")
    rc.merge_plan("planned")
    rc.make_plan("human.npy", "model.npy", "planned", parts=3)


KILLING = """
    import os, random, signal, sys, time
    import recapture as rc
    from recapture.geometry.parallel import engine
    from recapture.plans.tile_plan import TilePlan
    from pathlib import Path

    folder, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    plan, rng = TilePlan.opened(Path(folder)), random.Random(seed)
    parts = [part for own in plan.parts.values() for part in own]
    with engine(threads=1):  # all is loaded when the first child is made
        rc.run_plan(folder)
        begin = time.monotonic()
        plan.path(parts[-1]).unlink()
        rc.run_plan(folder)
    takes = 0.5 * len(parts) * (time.monotonic() - begin)
    for part in parts:
        plan.path(part).unlink()
    killed, before, seen = 0, set(), set()
    while killed < kills:
        child = os.fork()
        if not child:
            with engine(threads=1):
                rc.run_plan(folder)
            os._exit(0)
        time.sleep(rng.uniform(0, takes))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        whole = {part.name for part in parts if plan.read(part) is not None}
        there = {path.stem for path in Path(folder).glob("[!.]*.part")}
        assert whole == there, f"half a part: {there - whole}"
        assert before <= whole, f"lost: {before - whole}"
        before = whole
        seen.add(len(whole))
        if len(whole) == len(parts):  # there is nothing left to be killed
            for part in parts:
                plan.path(part).unlink()
            before, takes = set(), 0.9 * takes
    print(killed, len(seen))
"""


def killed_at_random(folder, kills, seed):
    """A process that starts workers and kills them (SIGKILL), and looks at what they leave each time."""
    code = textwrap.dedent(KILLING)
    ran = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(kills), str(seed)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    killed, moments = map(int, ran.stdout.split())
    assert killed == kills and moments > 3, "all were killed at the same moment"


def check_after_kills(folder, kills):
    rng = np.random.default_rng(5)
    reference, candidate = rng.standard_normal((2, 600, 8)).round(2)
    save(folder, reference, candidate)
    for name in ("killed", "undisturbed"):
        rc.make_plan("human.npy", "model.npy", name, parts=6)
    killed_at_random(folder / "killed", kills, seed=6)
    for name in ("killed", "undisturbed"):
        rc.run_plan(name)
    left, right = (
        {path.name: path.read_bytes() for path in (folder / name).iterdir() if not path.name.startswith(".")}
        for name in ("killed", "undisturbed")
    )
    assert left == right
    assert everything(rc.merge_plan("killed")) == everything(in_one_process(reference, candidate))


@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "SIGKILL"), reason="no processes to fork and kill")
def test_a_dozen_kills_lose_nothing_that_was_finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_after_kills(tmp_path, 12)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "SIGKILL"), reason="no processes to fork and kill")
def test_a_hundred_kills_lose_nothing_that_was_finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_after_kills(tmp_path, 100)


# Bad input


def refused(arguments, capsys):
    """The one sentence of a command that is refused."""
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("recapture: ") and printed.err.count("\n") == 1
    return printed.err.removeprefix("recapture: ").rstrip("\n")


@pytest.mark.parametrize("command", ["run", "merge"])
def test_other_files_are_refused(planned, command, capsys):
    rc.run_plan("planned", 1, 2)
    values = np.load("model.npy")
    values[4, 2] += 0.5
    np.save("model.npy", values)
    where = planned / ".." / "model.npy"
    expected = f"the candidate {where} is not the file that the plan was made for: make a plan anew, in another folder"
    assert refused([command, "planned"], capsys) == expected.replace(str(planned), "planned")
    Path("model.npy").unlink()
    assert refused([command, "planned"], capsys).endswith("model.npy, which the plan is for, is not there")


@pytest.mark.parametrize("command", ["run", "merge"])
def test_a_plan_of_another_version_is_refused(planned, command, capsys, monkeypatch):
    monkeypatch.setattr(tile_plan, "VERSION", "99.1")
    assert refused([command, "planned"], capsys) == (
        f"planned/plan.json was made by recapture {rc.__version__}, this is 99.1: make a plan anew"
    )


def rewritten(path, change):
    """As somebody would write it who knows the checksum."""
    said = json.loads(path.read_text())
    change(said)
    said.pop("check", None)
    path.write_text(json.dumps({"check": tile_plan._digest(said), **said}))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text(path.read_text().replace('"cuts": 3', '"cuts": 4')),
        truncated,
        empty,
        a_bit_in_the_header,
        lambda path: path.write_text("[]"),
        lambda path: path.write_bytes(b"\xff"),
        lambda path: path.write_text("{" * 5000),
        lambda path: rewritten(path, lambda said: said.pop("candidate")),
        lambda path: rewritten(path, lambda said: said["reference"].update(content=3)),
        lambda path: rewritten(path, lambda said: said.update(settings=None)),
        lambda path: rewritten(path, lambda said: said["settings"].update(cuts=10**12)),
        lambda path: rewritten(path, lambda said: said["settings"].update(cuts="3")),
        lambda path: rewritten(path, lambda said: said["settings"].update(ks=[3, 1])),
        lambda path: rewritten(path, lambda said: said["settings"].update(ks=[90])),
        lambda path: rewritten(path, lambda said: said.update(names=["a", "b", None, {}])),
        lambda path: rewritten(path, lambda said: said["reference"].update(side="../reference")),
        lambda path: rewritten(path, lambda said: said["reference"].update(form="pickle")),
        lambda path: rewritten(path, lambda said: said["reference"].update(different=91)),
        lambda path: rewritten(path, lambda said: said["candidate"].update(dimensions=6)),
        lambda path: rewritten(path, lambda said: said["candidate"]["content"].update(digest="../" * 9)),
        lambda path: rewritten(path, lambda said: said["candidate"].update(marks=[[0, 1]])),
        lambda path: rewritten(path, lambda said: said.update(texts={"encoding": {}, "lines": {}})),
    ],
)
def test_a_damaged_plan_is_refused_and_made_again(planned, change, capsys):
    rc.run_plan("planned")
    expected = everything(rc.merge_plan("planned"))
    change(planned / "plan.json")
    for command in ("run", "merge"):
        assert refused([command, "planned"], capsys) == ("planned/plan.json is cut off or damaged: make the plan again")
    rc.make_plan("human.npy", "model.npy", "planned", parts=3)
    assert rc.run_plan("planned").made == []
    assert everything(rc.merge_plan("planned")) == expected


@pytest.mark.parametrize("name", ["radii-reference-0001.part", "counts-0002.part"])
def test_nothing_is_written_through_links_in_the_folder(planned, name, tmp_path, capsys):
    """The folder may come from somebody else."""
    for target in (tmp_path / "precious", tmp_path / "not there"):
        (tmp_path / "precious").write_bytes(b"mine")
        (planned / name).unlink(missing_ok=True)
        (planned / name).symlink_to(target)
        assert refused(["run", "planned"], capsys) == (
            f"cannot write planned/{name}: a link, or no plain file, is in its place"
        )
        assert (tmp_path / "precious").read_bytes() == b"mine" and not (tmp_path / "not there").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_in_the_folder_are_not_waited_for(planned, capsys):
    os.mkfifo(planned / "radii-reference-0001.part")
    assert refused(["run", "planned"], capsys).endswith("a link, or no plain file, is in its place")
    (planned / "plan.json").unlink()
    os.mkfifo(planned / "plan.json")
    assert refused(["run", "planned"], capsys) == "planned/plan.json cannot be read: it is no plain file"


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room on disk cannot be asked for")
def test_a_full_disk_is_told_before_rows_are_written(sets, tmp_path, monkeypatch, capsys):
    """Where a disk fills up under a mapped file the system would end the process."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    np.savez("human.npz", embeddings=sets[0])
    np.save("model.npy", sets[1])
    monkeypatch.setattr(os, "posix_fallocate", full)
    told = refused(["plan", "-r", "human.npz", "-c", "model.npy", "-o", "new"], capsys)
    assert told == "cannot write new/reference.npy: No space left on device"
    assert not Path("new").exists()


def test_a_file_that_changes_while_it_is_read_leaves_no_part(planned, monkeypatch):
    plan = TilePlan.opened(planned)
    work = PlannedParts(plan)
    work.make(plan.parts[RADII[0]][0])
    content = Path("model.npy").read_bytes()
    Path("model.npy").write_bytes(content)
    os.utime("model.npy", ns=(1, 1))
    with pytest.raises(InputError, match=r"the candidate .*model.npy was changed while it was read"):
        work.make(plan.parts[RADII[0]][1])
    assert not plan.path(plan.parts[RADII[0]][1]).exists()


def test_another_plan_in_the_same_folder_is_refused(planned, capsys):
    before = {path.name: path.read_bytes() for path in planned.iterdir()}
    arguments = ["plan", "-r", "human.npy", "-c", "model.npy", "-o", "planned", "--parts"]
    assert refused([*arguments, "4"], capsys) == (
        "planned holds a plan for other files or settings: name another folder or storage"
    )
    np.savez("human.npz", embeddings=np.load("model.npy"))
    arguments[2] = "human.npz"  # which would be copied
    refused([*arguments, "3"], capsys)
    assert {path.name: path.read_bytes() for path in planned.iterdir()} == before


def test_a_folder_of_other_things_is_left_alone(planned, tmp_path, capsys):
    assert refused(["plan", "-r", "human.npy", "-c", "model.npy", "-o", "."], capsys) == (
        ". holds other things than a plan, such as human.npy: name a folder of its own"
    )
    Path("project").mkdir()
    for name, content in {"plan.json": '{"version": 4}', "notes.txt": "all that counts"}.items():
        Path("project", name).write_text(content)
    told = refused(["plan", "-r", "human.npy", "-c", "model.npy", "-o", "project"], capsys)
    assert told.startswith("project holds other things than a plan")
    assert Path("project/plan.json").read_text() == '{"version": 4}'
    np.savez("kept.npz", embeddings=np.eye(9))
    Path("own").mkdir()
    Path("kept.npz").rename("own/reference.npy")
    np.savez("other.npz", embeddings=np.eye(9))
    arguments = ["plan", "-r", "own/reference.npy", "-c", "other.npz", "-o", "own", "--input-format"]
    assert refused([*arguments, "npz"], capsys).startswith("cannot write own/reference.npy: it is an input")


def test_results_in_a_plan_s_own_folder_do_no_harm(planned, sets):
    rc.run_plan("planned")
    assert run(["merge", "planned", "--arrays", "-o", "planned/scores.json"]) == 0
    (planned / "plan.json").write_bytes((planned / "plan.json").read_bytes()[:-40])
    assert run(["plan", "-r", "human.npy", "-c", "model.npy", "-o", "planned", "--parts", "3"]) == 0
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


@pytest.mark.parametrize(
    ("rows", "parts"),
    [(3, 1), (499, 1), (999, 1), (1_000, 2), (1_512, 3), (8_000, 16), (99_999, 16), (100_000, 10), (10**6, 100)],
)
def test_parts_unless_they_are_said(rows, parts):
    """One for every 10,000 rows; below 100,000 rows up to 16, of 500 rows at least, as docs/large-sets.md says."""
    assert tile_plan.cuts_of(rows, None) == parts
    assert tile_plan.cuts_of(rows, 7) == min(7, rows)


def test_storage_that_never_answers_is_no_missing_part(planned, monkeypatch):
    """However long a look takes that fails: what is missing cannot be told."""
    begun_elsewhere(planned, ["radii-reference-0002"])
    share = shares._Share(PlannedParts(TilePlan.opened(planned)), 1, 2, 5)
    passed = [0.0]

    def look():
        passed[0] += 9
        raise InputError("planned cannot be read: connection reset")

    clock = SimpleNamespace(monotonic=lambda: passed[0], sleep=lambda pause: passed.append(passed.pop() + pause))
    monkeypatch.setattr(shares, "time", clock)
    object.__setattr__(share._plan, "look", look)
    with pytest.raises(InputError, match="connection reset"):
        share._after_waiting(share._plan.parts[RADII[0]][1:2], 5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-c", "model.npy", "--metrics", "mmd"], "plans are for metrics of neighbourhoods (mark-evaluate, "
         "precision-recall, density-coverage), not for mmd"),
        (["-c", "few.npy"], "reference human.npy has 5 dimensions and candidate few.npy has 3: "
         "both must come from the same encoder"),
        (["-c", "model.npy", "--k", "90"], "k = 90 needs at least 91 samples a side, but reference human.npy has 90"),
        (["-c", "texts.txt"], "candidate texts.txt holds texts and reference human.npy holds vectors: "
         "give both in one form"),
        (["-c", "holes.npy"], "candidate holes.npy row 1 (counting from 0) holds NaN"),
        (["-c", "-"], "standard input can be read only once: a plan is for files"),
        (["-c", "none.npy"], "none.npy cannot be read: No such file or directory"),
        (["-c", "cut.npy"], "cut.npy is cut off or damaged: its header promises 90 x 5 numbers, 3,600 bytes, "
         "but 3,000 follow"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_leaves_no_folder(planned, arguments, told, capsys):
    np.save("few.npy", np.ones((9, 3)))
    np.save("holes.npy", np.array([[1.0] * 5, [np.nan] * 5]))
    Path("texts.txt").write_text("a\nb\n")
    Path("cut.npy").write_bytes(Path("model.npy").read_bytes()[:-600])
    assert refused(["plan", "-r", "human.npy", *arguments, "-o", "new"], capsys) == told
    assert not Path("new").exists()


@pytest.mark.parametrize("share", ["0/2", "3/2", "2", "1/0", "-1/2", "a/b", "1/2/3", "", "١/٢"])
def test_shares_that_are_none(planned, share, capsys):
    assert "a share is written i/N" in refused(["run", "planned", "--", share], capsys)


def test_where_there_is_no_plan(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("run", "merge"):
        assert refused([command, "nowhere"], capsys) == "nowhere holds no plan: there is no plan.json"


# Commands


def test_merge_prints_what_score_prints(planned, capsys):
    assert run(["run", "planned", "2/2"]) == 0
    assert "3 parts made here, 0 of this share were there" in (said := capsys.readouterr().err)
    assert "counts need all radii, but radii-reference-0001, radii-reference-0003, radii-candidate-0002 are" in said
    assert run(["run", "planned"]) == 0
    assert "6 parts made here, 3 of this share were there" in capsys.readouterr().err
    for form in ("table", "json", "csv", "md", "latex"):
        assert run(["merge", "planned", "--format", form]) == 0
        merged = capsys.readouterr()
        score = ["score", "-r", "human.npy", "-c", "model.npy", "--no-ceiling", "--metrics", ",".join(METRICS)]
        assert run([*score, "--format", form]) == 0
        scored = capsys.readouterr()
        assert merged.out == scored.out
        hint = "recapture: what human texts score cannot be had from parts: recapture score with a --sample measures it"
        assert merged.err == f"{scored.err}{hint}\n"


@pytest.mark.parametrize("target", ["human.npy", "planned/plan.json", "planned/counts-0001.part", "linked.json"])
def test_merge_writes_over_nothing_that_a_plan_needs(planned, target, capsys):
    rc.run_plan("planned")
    Path("linked.json").symlink_to("model.npy")
    before = {path: path.read_bytes() for path in (*planned.iterdir(), Path("human.npy"), Path("model.npy"))}
    assert refused(["merge", "planned", "--format", "json", "-o", target], capsys) == (
        f"cannot write {target}: it is an input, which would be lost"
    )
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_a_shell_loop_drives_a_plan(planned, sets):
    recapture = f"{sys.executable} -m recapture"
    loop = f"""
        until {recapture} merge planned --arrays -o merged.json; do
            for i in 1 2; do {recapture} run planned $i/2 & done; wait
        done
    """
    ran = subprocess.run(["sh", "-c", loop], capture_output=True, text=True)
    assert ran.returncode == 0 and "Traceback" not in ran.stderr
    assert Path("merged.json").read_text() == everything(in_one_process(*sets))


def test_random_damage(planned):
    """Whatever happens to the bytes of parts, what is merged is right."""
    rng = random.Random(8)
    rc.run_plan("planned")
    expected = everything(rc.merge_plan("planned"))
    parts = sorted(planned.glob("*.part"))
    for _ in range(15):
        for path in rng.sample(parts, 2):
            content = bytearray(path.read_bytes())
            for _ in range(rng.choice([1, 3])):
                content[rng.randrange(len(content))] = rng.randrange(256)
            path.write_bytes(content[: rng.choice([len(content), len(content) - 1])])
        rc.run_plan("planned")
        assert everything(rc.merge_plan("planned")) == expected


# Devices


def test_parts_may_be_made_on_a_device_that_is_there(planned, sets, capsys, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    said = refused(["run", "planned", "--device", "cuda"], capsys)
    assert said == "device 'cuda' cannot be used here: PyTorch finds no CUDA device"
    assert not list(planned.glob("*.part"))
    with engine(accelerator="cpu"):  # the code of a GPU
        rc.run_plan("planned", 1, 2)
    rc.run_plan("planned", 2, 2)  # radii and counts of both go together
    rc.run_plan("planned", 1, 2, device="cpu")
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


def test_whoever_waits_says_so(planned, monkeypatch, capsys):
    """A line a minute in logs, which is no time at all here."""
    monkeypatch.setattr(progress, "MINUTE", 0.0)
    monkeypatch.setattr(progress, "_SHORT", 0.0)
    missing = rc.run_plan("planned", 1, 2).missing
    begun_elsewhere(planned, missing)
    capsys.readouterr()
    assert rc.run_plan("planned", 1, 2, wait=0.3).missing == missing
    assert f"parts of others: 0 of {len(missing)} parts" in capsys.readouterr().err


# Workers that help each other


def test_who_may_wait_does_what_nobody_is_at(planned, sets):
    """Nobody else comes."""
    did = rc.run_plan("planned", 2, 3, wait=60)
    assert sorted(did.made) == sorted(TilePlan.opened(planned).names) and did.missing == []
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))
    assert not list(planned.glob(".begun*"))


def test_workers_without_a_share_share_the_parts_if_they_may_wait(planned, sets, monkeypatch):
    """The same command on several machines: no part is made twice."""
    made, usual, all_here = [], PlannedParts.make, threading.Barrier(3)
    here = threading.local()

    def make(self, part):
        if not hasattr(here, "has_begun"):
            here.has_begun = True
            all_here.wait(60)  # nobody has ended a part before all have begun one
        made.append(part.name)
        usual(self, part)

    monkeypatch.setattr(PlannedParts, "make", make)
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: rc.run_plan("planned", wait=60), range(3)))
    assert sorted(made) == sorted(TilePlan.opened(planned).names)
    assert sorted(name for did in runs for name in did.made) == sorted(made)
    assert all(len(did.made) > 0 and did.missing == [] for did in runs)
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


def test_what_somebody_is_at_is_waited_for(planned, sets, monkeypatch):
    """All else is done meanwhile; a worker without leave to wait does its own part whatever marks say."""
    begun_elsewhere(planned, ["radii-reference-0002"])
    slept = []

    def sleep(_):
        slept.append(len(TilePlan.opened(planned).look()))
        rc.run_plan("planned", 2, 2)

    monkeypatch.setattr(shares, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    did = rc.run_plan("planned", 1, 2, wait=60)
    assert slept == [5] and did.missing == [] and "radii-reference-0002" not in did.made
    assert everything(rc.merge_plan("planned")) == everything(in_one_process(*sets))


def test_an_own_part_that_somebody_helps_with_comes_last(planned, monkeypatch):
    begun_elsewhere(planned, ["radii-reference-0001", "counts-0001"])
    monkeypatch.setattr(
        shares,
        "time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: [mark.unlink() for mark in planned.glob(".begun*")]),
    )
    did = rc.run_plan("planned", 1, 2, wait=60)
    assert did.made[:2] == ["radii-reference-0003", "radii-candidate-0002"]
    assert did.made.index("radii-reference-0001") == 5 and sorted(did.made[6:]) == [f"counts-000{i}" for i in (1, 2, 3)]


def test_an_own_part_that_somebody_else_has_made_is_found(planned, monkeypatch):
    begun_elsewhere(planned, ["radii-reference-0001"])
    plan = TilePlan.opened(planned)
    monkeypatch.setattr(
        shares,
        "time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: PlannedParts(plan).make(plan.parts[RADII[0]][0])),
    )
    did = rc.run_plan("planned", 1, 2, wait=60)
    assert did.found == ["radii-reference-0001"] and len(did.made) == 8 and did.missing == []


def test_an_own_part_that_its_helper_never_ends_is_missed(planned, capsys):
    rc.run_plan("planned")
    Path("planned/counts-0001.part").unlink()
    begun_elsewhere(planned, ["counts-0001"])
    assert run(["run", "planned", "2/2", "--wait", "1s"]) == 0  # not its own
    assert run(["run", "planned", "1/2", "--wait", "1s"]) == 2
    told = "this share has parts that another worker has begun, but counts-0001 is missing and the time to wait is over"
    assert told in capsys.readouterr().err


def test_a_mark_counts_while_its_process_lives(planned, monkeypatch):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here, passed = socket.gethostname(), [0.0]
    monkeypatch.setattr(marks, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    mark = planned / ".begun-counts-0001"
    cases = {f"{here} {os.getpid()} 7": None, f"elsewhere {ended.pid} 0": None, "": None, "-": None, "x" * 999: None}
    if os.name == "posix":
        cases[f"{here} {ended.pid} 0"] = "counts-0001"
    if Path("/proc/self/stat").exists():  # it has ended, but nobody has asked
        unasked = subprocess.Popen([sys.executable, "-c", ""])
        os.waitid(os.P_PID, unasked.pid, os.WEXITED | os.WNOWAIT)
        cases[f"{here} {unasked.pid} 0"] = "counts-0001"
    for said, free in cases.items():
        mark.write_text(said)
        seen = marks.Marks(planned)
        assert seen.first_free(["counts-0001"]) == free
        assert seen.first_free(["counts-0001", "counts-0002"]) == "counts-0002"  # it is taken now
        passed[0] += 119 if 0 < len(said) < 300 else 9  # who was killed before it could write has left nothing
        assert seen.first_free(["counts-0001"]) is None
        passed[0] += 2  # nobody has written it anew for two minutes
        assert seen.first_free(["counts-0001"]) == "counts-0001"
        for taken in ("counts-0001", "counts-0002"):
            with seen.at(taken):
                pass
        assert not list(planned.glob(".begun*"))
    if Path("/proc/self/stat").exists():
        unasked.wait()


def test_one_alone_begins_what_a_lost_worker_was_at(planned, monkeypatch):
    passed = [0.0]
    monkeypatch.setattr(marks, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    begun_elsewhere(planned, ["counts-0001"])
    waiting = [marks.Marks(planned) for _ in range(3)]
    for expected in (0, 1, 2, 3):
        monkeypatch.setattr(marks, "socket", SimpleNamespace(gethostname=lambda number=expected: f"host {number}"))
        began = [each for each in waiting if each.first_free(["counts-0001"])]
        assert len(began) == bool(expected)
        waiting = [each for each in waiting if each not in began]
        passed[0] += 121


@pytest.mark.parametrize("storage", ["here", "memory://slow"])
def test_a_part_that_takes_long_stays_its_worker_s(planned, storage, monkeypatch):
    """Far longer than a mark is trusted that stays the same; when it is not written anew, another worker begins."""
    if storage != "here":
        pytest.importorskip("fsspec", reason="fsspec is not installed")
    folder, passed = place_of(storage), [0.0]
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(marks, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    monkeypatch.setattr(marks, "_RENEWED", 0.001)
    own, other = marks.Marks(folder), marks.Marks(folder)
    mark = folder / ".begun-counts-0001"
    assert own.first_free(["counts-0001"]) == "counts-0001"
    with own.at("counts-0001"):
        for _ in range(5):
            assert other.first_free(["counts-0001"]) is None
            seen = other._seen["counts-0001"][0]
            passed[0] += 121
            # Behind a URL a mark may be seen before it is written, which says nothing of its worker.
            while mark.read_bytes() in (seen, b""):
                time.sleep(0.001)
        monkeypatch.setattr(marks, "_write", lambda *_: None)
        while not other.first_free(["counts-0001"]):  # a last one may be on its way
            passed[0] += 121
    assert list(folder.iterdir()) == []


def test_a_mark_is_not_written_through_a_link(planned, monkeypatch):
    monkeypatch.setattr(marks, "_RENEWED", 0.01)
    (planned / ".begun-counts-0001").symlink_to(planned / "plan.json")
    before = (planned / "plan.json").read_bytes()
    tried = threading.Event()
    usual = marks._write

    def write(*told):
        try:
            usual(*told)
        finally:
            tried.set()

    monkeypatch.setattr(marks, "_write", write)
    with marks.Marks(planned).at("counts-0001"):
        assert tried.wait(60)
    assert (planned / "plan.json").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing", "nobody may remove it"])
def test_what_is_no_mark_keeps_nobody_off(planned, kind, monkeypatch):
    mark = planned / ".begun-radii-reference-0002"
    if kind == "folder":
        mark.mkdir()
    elif kind == "pipe":
        os.mkfifo(mark)
    elif kind == "link to nothing":
        mark.symlink_to("nothing")
    else:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        mark.write_text(f"{socket.gethostname()} {ended.pid} 0")
        usual = Path.unlink

        def unlink(path, **options):
            if path.name == mark.name:
                raise PermissionError(1, "Operation not permitted")
            usual(path, **options)

        monkeypatch.setattr(Path, "unlink", unlink)
    monkeypatch.setattr(
        shares,
        "time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: pytest.fail("there is nobody to wait for")),
    )
    assert rc.run_plan("planned", 1, 2, wait=60).missing == []
    assert not Path("nothing").exists() and not (planned / "nothing").exists()


@pytest.mark.parametrize("storage", ["here", "memory://marked"])
def test_workers_at_once_do_every_part_once(planned, sets, storage, monkeypatch):
    """By threads, as processes would; one of them is slow."""
    if storage != "here":
        pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory").store.clear()
    rc.make_plan("human.npy", "model.npy", storage, parts=8)
    usual = PlannedParts.make

    def make(self, part):
        time.sleep(0.3 if threading.current_thread().name == "slow" else 0.01)
        usual(self, part)

    monkeypatch.setattr(PlannedParts, "make", make)
    did = {}
    workers = [
        threading.Thread(
            name="slow" if i == 2 else f"quick {i}",
            target=lambda i=i: did.update({i: rc.run_plan(storage, i, 3, wait=60)}),
        )
        for i in (1, 2, 3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    made = [name for run in did.values() for name in run.made]
    assert {*made} == {*rc.make_plan("human.npy", "model.npy", storage, parts=8)}
    if storage == "here":  # other storage cannot tell who came first
        assert len(made) == 24
    assert len(did[2].made) < 8 and not any(run.missing for run in did.values())
    assert everything(rc.merge_plan(storage)) == everything(in_one_process(*sets))
