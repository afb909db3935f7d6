"""Plans for files of texts: the numbers of one process, whatever the format, the parts and the order."""

import errno
import gzip
import importlib
import json
import lzma
import os
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.geometry.distinct import fold_codes, fold_rows
from recapture.plans import part_files, places, planned_texts, ray_engine, shares, tile_plan, vector_files
from recapture.plans.phases import ROWS, VECTORS
from recapture.plans.planned_parts import PlannedParts
from recapture.plans.planned_texts import PlannedEncoding
from recapture.plans.tile_plan import TilePlan
from recapture.plans.vector_files import content_of
from recapture.texts.reading import Source, streamed_texts
from recapture.texts.text_index import first_equal

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]
WORDS = ["a", "the", "cat", "dog", "boat", "net", "map", "rain", "ran", "sat", "sold", "saw", "home", "we", "ate"]


def drawn(seed, count):
    """Short texts, so that many are equal; some are empty or run over several lines where a format allows it."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(count)]
    texts[7] = ""
    return texts


HUMAN, MODEL = drawn(1, 120), [*drawn(2, 80), *drawn(1, 120)[20:40]]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(3)
    rows = (" ".join([word, *map(str, rng.standard_normal(6).round(3))]) for word in WORDS)
    Path("words.txt").write_text("".join(f"{row}\n" for row in rows))
    for name, texts in (("human", HUMAN), ("model", MODEL)):
        Path(f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    return tmp_path


def numbers(results):
    """All that is counted or computed, without what texts are called."""
    (candidate,) = results.values()
    return {name: (result.values, getattr(result, "counts", None)) for name, result in candidate.items()}


def scored(human=HUMAN, model=MODEL, encoder="words.txt"):
    return rc.evaluate(human, {"model": model}, METRICS, encoder, ceiling=False, cache=False)


def done(reference, candidate, folder="planned", encoder="words.txt", **options):
    rc.make_plan(reference, candidate, folder, encoder=encoder, **options)
    assert rc.run_plan(folder).missing == []
    return rc.merge_plan(folder)


@pytest.mark.parametrize("parts", [1, 4, pytest.param(500, marks=pytest.mark.slow)])
def test_merged_is_evaluate(here, parts):
    merged = done("human.txt", "model.txt", parts=parts)
    expected = scored()
    assert numbers(merged) == numbers(expected)
    identities = [{**next(iter(each.values()))["mark-evaluate"].signature["encoder"]} for each in (merged, expected)]
    assert identities[0].pop("encoder").endswith(identities[1].pop("encoder")) and identities[0] == identities[1]
    assert merged.reference_content == expected.reference_content


def test_merged_results_are_compared_with_those_of_one_process(here, capsys):
    Path("merged.json").write_text(done("human.txt", "model.txt").to_json())
    Path("scored.json").write_text(scored(model=MODEL[:90]).to_json())
    assert run(["compare", "merged.json", "scored.json"]) == 0
    Path("scored.json").write_text(scored(human=HUMAN[::-1], model=MODEL[:90]).to_json())
    assert run(["compare", "merged.json", "scored.json"]) == 2
    assert "are of different human texts" in capsys.readouterr().err


def test_every_text_is_encoded_once(here, monkeypatch):
    """Equal texts have equal vectors even where an encoder's last digits depend on what is encoded beside."""
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=5)
    seen = []

    def noisy(self, encoder, texts):
        seen.extend(texts)
        own = np.random.default_rng(len(seen)).normal(0, 1e-7, (len(texts), 6))
        return (np.array([[len(text), *map(text.count, "aeiou")] for text in texts]).reshape(-1, 6) + own).astype("f4")

    monkeypatch.setattr(planned_texts.PlannedEncoding, "vectors", noisy)
    rc.run_plan("planned")
    assert sorted(seen) == sorted({*HUMAN, *MODEL})
    human, model = np.load("planned/reference.npy"), np.load("planned/candidate.npy")
    vectors = {}
    for text, vector in zip([*HUMAN, *MODEL], [*human, *model], strict=True):
        np.testing.assert_array_equal(vector, vectors.setdefault(text, vector))
    merged = numbers(rc.merge_plan("planned"))
    assert merged == numbers(rc.evaluate(human, {"model": model}, METRICS, ceiling=False))


def write(path, texts):
    suffix = path.removesuffix(".gz").removesuffix(".xz").rpartition(".")[2]
    if suffix in ("parquet", "arrow", "feather"):
        pa = pytest.importorskip("pyarrow")
        pq, feather = importlib.import_module("pyarrow.parquet"), importlib.import_module("pyarrow.feather")

        table = pa.table({"id": range(len(texts)), "text": texts})
        if suffix == "parquet":
            pq.write_table(table, path, row_group_size=17)
        elif suffix == "feather":
            feather.write_feather(table, path, chunksize=11)
        else:  # a stream, as the datasets library keeps it
            with pa.ipc.new_stream(path, table.schema) as sink:
                sink.write_table(table, 13)
        return
    if suffix == "jsonl":
        content = "\n".join(json.dumps({"text": text}) + "\n" for text in texts)  # empty lines between them
    elif suffix == "csv":
        content = "id,text\r\n" + "".join(f'{number},"{text}"\r\n' for number, text in enumerate(texts))
    elif suffix == "tsv":
        content = "\ufeffid\ttext\n" + "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    else:
        content = "".join(f"{text}\n" for text in texts)
    opened = {"gz": gzip.open, "xz": lzma.open}.get(path.rpartition(".")[2], open)
    with opened(path, "wb") as stream:
        stream.write(content.encode())


FORMATS = ["txt", "txt.gz", "txt.xz", "jsonl", "jsonl.gz", "csv", "tsv", "parquet", "feather", "arrow"]
LONG = {"jsonl", "jsonl.gz", "csv", "parquet", "feather", "arrow"}
"""Formats in which a text may have several lines."""


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_can_be_read_from_any_text_on(here, suffix):
    texts = [text + ("\nand é more" if place % 5 == 0 and suffix in LONG else "") for place, text in enumerate(HUMAN)]
    write(f"human.{suffix}", texts)
    source, form = (
        Source(f"human.{suffix}"),
        {"txt": "lines", "feather": "arrow"}.get(suffix.partition(".")[0], suffix.partition(".")[0]),
    )
    found = list(streamed_texts(source, form, None))
    assert [text for _, text in found] == texts == rc.read(f"human.{suffix}")
    for place, (mark, _) in enumerate(found):
        assert list(streamed_texts(source, form, None, mark))[:3] == found[place : place + 3]
    write(f"model.{suffix}", MODEL)
    assert numbers(done(f"human.{suffix}", f"model.{suffix}", parts=4)) == numbers(scored(human=texts))


def test_parts_are_made_in_any_order_and_only_as_needed(here):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    first = rc.run_plan("planned", 2, 2)
    assert first.made == ["vectors-reference-0002", "vectors-candidate-0001", "vectors-candidate-0003"]
    assert first.missing == ["vectors-reference-0001", "vectors-reference-0003", "vectors-candidate-0002"]
    for worker in (1, 2, 1, 2, 1, 2):
        rc.run_plan("planned", worker, 2)
    merged = rc.merge_plan("planned")
    assert numbers(merged) == numbers(scored())
    plan = TilePlan.opened(Path("planned"))
    for stage in VECTORS:  # joined, so that nobody needs them any more
        for part in plan.parts[stage]:
            plan.path(part).unlink()
    Path("human.txt").unlink()
    plan.path(plan.parts["counts"][0]).unlink()
    assert rc.run_plan("planned").made == ["counts-0001"]
    assert rc.merge_plan("planned").to_json() == merged.to_json()


def test_a_worker_that_waits_goes_on(here):
    """Two at once, each with one round."""
    import threading

    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=4)
    runs = {}
    other = threading.Thread(target=lambda: runs.update(two=rc.run_plan("planned", 2, 2, wait=30)))
    other.start()
    runs["one"] = rc.run_plan("planned", 1, 2, wait=30)
    other.join()
    assert all(run.missing == [] for run in runs.values())
    assert numbers(rc.merge_plan("planned")) == numbers(scored())
    rc.make_plan("human.txt", "model.txt", "alone", encoder="words.txt", parts=4)
    assert rc.run_plan("alone", 1, 2, wait=0.3).missing == []  # nobody comes
    assert numbers(rc.merge_plan("alone")) == numbers(scored())


@pytest.mark.parametrize("damaged", [False, True])
def test_own_rows_that_somebody_helps_with_are_used(here, damaged, monkeypatch):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=2)
    rc.run_plan("planned", 1, 2)
    rc.run_plan("planned", 2, 2)
    rc.run_plan("planned", 1, 2)
    assert Path("planned/rows-reference-0001.part").exists()
    if damaged:
        flip(Path("planned/reference.npy"))
    else:
        Path("planned/rows-reference-0001.part").unlink()
    mark = Path("planned/.begun-rows-reference-0001")
    mark.write_text("elsewhere 1")

    def helps(_):
        mark.unlink()
        assert rc.run_plan("planned", 1, 2).made[0] == "rows-reference-0001"

    monkeypatch.setattr(shares, "time", SimpleNamespace(monotonic=time.monotonic, sleep=helps))
    did = rc.run_plan("planned", 1, 2, wait=60)
    assert did.missing == [] and "rows-reference-0001" not in did.made and not mark.exists()
    assert numbers(rc.merge_plan("planned")) == numbers(scored())


def test_who_comes_late_changes_nothing_that_others_use(here, monkeypatch):
    """A slow worker whose part somebody else has made meanwhile, perhaps on another device."""
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=2)
    plan = TilePlan.opened(Path("planned"))
    quick, slow = PlannedParts(plan), PlannedParts(TilePlan.opened(Path("planned")))
    for part in (part for stage in (*VECTORS, *ROWS) for part in plan.parts[stage]):
        quick.make(part)
    first, second = plan.parts["radii-reference"]
    quick.make(first)
    usual = PlannedEncoding.vectors
    monkeypatch.setattr(PlannedEncoding, "vectors", lambda *told: usual(*told) * np.float32(1 + 1e-6))
    for part in (part for stage in (*VECTORS, *ROWS) for part in plan.parts[stage]):
        slow.make(part)
    quick.make(second)
    rc.run_plan("planned")
    assert numbers(rc.merge_plan("planned")) == numbers(scored())


# What is read


@pytest.fixture
def reads(monkeypatch):
    """Names of parts and files of vectors that are read for their content, one for each time; all files are new."""
    names = []
    monkeypatch.setattr(places, "_COARSE", 10**15)

    def told(module, name):
        usual = getattr(module, name)
        monkeypatch.setattr(module, name, lambda path, *given: names.append(Path(path).stem) or usual(path, *given))

    told(tile_plan, "read_part")
    told(tile_plan, "part_arrays")
    told(vector_files, "content_of")
    return names


def parted(stems):
    """Without parts of rows, which are a hundred bytes."""
    return [stem for stem in stems if not stem.startswith(("rows", "lines", "human", "model"))]


def test_a_worker_reads_no_parts_of_others(here, reads, monkeypatch):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=6)
    rc.run_plan("planned", 1, 3)
    rc.run_plan("planned", 2, 3)
    looks = []
    clock = SimpleNamespace(sleep=lambda _: looks.append(len(reads)), monotonic=lambda: len(looks))
    monkeypatch.setattr(shares, "time", clock)
    for name in (f"vectors-{side}-000{number}" for side in ("reference", "candidate") for number in (3, 6)):
        Path(f"planned/.begun-{name}").write_text("elsewhere 1")
    reads.clear()
    assert len(rc.run_plan("planned", 1, 3, wait=9).missing) == 4
    own = [f"vectors-{side}-000{number}" for side in ("reference", "candidate") for number in (1, 4)]
    assert len(looks) == 9 and parted(reads[: looks[0]]) == own == parted(reads)


def test_a_share_that_is_done_reads_its_own_parts_alone(here, reads):
    done("human.txt", "model.txt", parts=6)
    reads.clear()
    assert rc.run_plan("planned", 3, 3).made == []
    assert parted(reads) == ["counts-0003", "counts-0006"]
    reads.clear()
    assert rc.run_plan("planned", 1, 3).made == []
    assert parted(reads) == ["reference", "counts-0001", "counts-0004"]


def test_a_merge_reads_everything_once(here, reads):
    done("human.txt", "model.txt", parts=4)
    reads.clear()
    rc.merge_plan("planned")
    assert parted(reads) == ["reference", "candidate", *(f"counts-000{number}" for number in range(1, 5))]


def test_what_was_proved_and_is_unchanged_is_not_read_again(here, reads, monkeypatch):
    """Not even where a change keeps the size and the date; the clock of a file system may need a moment."""
    monkeypatch.setattr(places, "_COARSE", 20_000_000)
    merged = done("human.txt", "model.txt", parts=3)
    time.sleep(0.05)
    rc.run_plan("planned")
    reads.clear()
    assert rc.run_plan("planned").made == []
    assert parted(reads) == []
    for name, made in (("counts-0002.part", ["counts-0002"]), ("candidate.npy", ["rows-candidate-0001"])):
        path = Path("planned", name)
        before = path.stat()
        flip(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(InputError, match=f"^of planned {made[0]}.* missing or damaged"):
            rc.merge_plan("planned")
        assert rc.run_plan("planned").made == made
        time.sleep(0.05)
        assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_a_file_that_was_written_a_moment_ago_is_read_again(here, reads):
    """It might change without another date."""
    done("human.txt", "model.txt", parts=3)
    for _ in range(2):
        reads.clear()
        rc.run_plan("planned")
        assert parted(reads) == ["reference", "candidate", "counts-0001", "counts-0002", "counts-0003"]


@pytest.mark.parametrize("cut", [False, True])
def test_damage_to_parts_of_others_is_found_by_whoever_uses_them(here, cut):
    merged = done("human.txt", "model.txt", parts=3)
    for stale in (*Path("planned").glob("rows*"), *Path("planned").glob("counts*")):
        stale.unlink()
    shard = Path("planned/vectors-reference-0002.part")
    if cut:
        shard.write_bytes(shard.read_bytes()[:-5])
    else:
        flip(shard)
    did = rc.run_plan("planned", 1, 2)
    assert (did.made, did.missing) == ([], ["vectors-reference-0002"])
    with pytest.raises(InputError, match="vectors-reference-0002"):
        rc.merge_plan("planned")
    assert "vectors-reference-0002" in rc.run_plan("planned", 2, 2).made  # whose share it is
    for worker in (1, 2, 1, 2):
        rc.run_plan("planned", worker, 2)
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


@pytest.mark.parametrize(
    ("damaged", "lacks", "then"),
    [
        (["counts-0001.part", "radii-candidate-0003.part"], "radii-candidate-0003", "counts-0001"),
        (["reference.npy", "vectors-reference-0002.part"], "vectors-reference-0002", "rows-reference-0001"),
    ],
    ids=["counts and radii", "joined and a shard"],
)
def test_who_could_mend_a_part_sees_that_somebody_needs_it(here, damaged, lacks, then):
    """Nobody else knows that what was made of it is damaged, too."""
    merged = done("human.txt", "model.txt", parts=3)
    for name in damaged:
        flip(Path("planned", name))
    assert rc.run_plan("planned", 1, 2).missing == [lacks]
    assert rc.run_plan("planned", 2, 2).made == [lacks]
    assert rc.run_plan("planned", 1, 2).made == [then]
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_damage_that_somebody_has_mended_meanwhile_is_none(here, monkeypatch):
    done("human.txt", "model.txt", parts=3)
    Path("planned/counts-0001.part").unlink()
    flip(Path("planned/radii-candidate-0003.part"))
    usual = TilePlan.named

    def named(self, names):  # called by who has just seen it
        monkeypatch.setattr(TilePlan, "named", usual)
        assert rc.run_plan("planned", 2, 2).made == ["radii-candidate-0003"]
        return usual(self, names)

    monkeypatch.setattr(TilePlan, "named", named)
    did = rc.run_plan("planned", 1, 2)
    assert (did.made, did.missing) == (["counts-0001"], [])


@pytest.mark.parametrize("stage", ["radii-candidate-0001", "rows-reference-0001"])
def test_who_waits_mends_what_is_damaged_meanwhile(here, stage, monkeypatch):
    """Its own, which it has proved when it began: nobody is waited for."""
    merged = done("human.txt", "model.txt", parts=2)
    Path("planned/counts-0001.part").unlink()
    usual = shares._Share.run

    def run(self):
        flip(Path("planned/reference.npy" if stage.startswith("rows") else f"planned/{stage}.part"))
        return usual(self)

    monkeypatch.setattr(shares._Share, "run", run)
    monkeypatch.setattr(
        shares,
        "time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: pytest.fail("there is nobody to wait for")),
    )
    did = rc.run_plan("planned", 1, 2, wait=60)
    assert (did.made, did.missing) == ([stage, "counts-0001"], [])
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


@pytest.mark.parametrize("begun", [True, False], ids=["somebody is at it", "nobody is at it"])
def test_who_finds_damage_and_waits_goes_on_when_it_is_mended(here, begun, monkeypatch):
    merged = done("human.txt", "model.txt", parts=3)
    Path("planned/counts-0001.part").unlink()
    flip(Path("planned/radii-candidate-0003.part"))
    slept = []
    monkeypatch.setattr(
        shares,
        "time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: slept.append(rc.run_plan("planned", 2, 2).made)),
    )
    if begun:
        Path("planned/.begun-radii-candidate-0003").write_text("elsewhere 1")
    did = rc.run_plan("planned", 1, 2, wait=60)
    damaged = ["radii-candidate-0003"]
    assert (did.made, did.missing, slept) == (
        (["counts-0001"], [], [damaged]) if begun else ([*damaged, "counts-0001"], [], [])
    )
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_damage_to_joined_vectors_is_found_by_whoever_uses_them(here):
    merged = done("human.txt", "model.txt", parts=6)
    Path("planned/counts-0003.part").unlink()
    flip(Path("planned/reference.npy"))
    assert rc.run_plan("planned", 3, 3).missing == ["rows-reference-0001"]
    assert not Path("planned/counts-0003.part").exists()
    assert rc.run_plan("planned", 1, 3).made == ["rows-reference-0001"]
    assert rc.run_plan("planned", 3, 3).made == ["counts-0003"]
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


@pytest.mark.parametrize("lost", ["reference", "candidate"])
def test_every_share_sees_that_joined_vectors_are_gone(here, lost):
    """Though all parts are there: share 1 joins those of the reference, share 2 the others; who has none says so."""
    merged = done("human.txt", "model.txt", parts=2)
    kept = Path(f"planned/{lost}.npy").read_bytes()
    owner, name = {"reference": 1, "candidate": 2}[lost], f"rows-{lost}-0001"
    for worker in (3, 2, 1):  # some with counts of their own, some with nothing at all
        for damage in (Path.unlink, lambda path: path.write_bytes(kept[:-4])):
            damage(Path(f"planned/{lost}.npy"))
            did = rc.run_plan("planned", worker, 3)
            assert (did.made, did.missing) == (([name], []) if worker == owner else ([], [name]))
            Path(f"planned/{lost}.npy").write_bytes(kept)
    assert rc.run_plan("planned", 3, 3).missing == []
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_vectors_that_are_made_anew_are_those_of_all_that_follows(here, monkeypatch):
    """In one call, though all radii and counts of the former ones are there."""
    done("human.txt", "model.txt", parts=3)
    for lost in Path("planned").glob("vectors-*"):
        lost.unlink()
    flip(Path("planned/candidate.npy"))
    usual = PlannedEncoding.vectors
    monkeypatch.setattr(PlannedEncoding, "vectors", lambda *given: usual(*given)[::-1] ** 3)
    rc.run_plan("planned")
    sides = [np.load(f"planned/{side}.npy") for side in ("reference", "candidate")]
    expected = rc.evaluate(sides[0], {"model": sides[1]}, METRICS, ceiling=False)
    assert numbers(rc.merge_plan("planned")) == numbers(expected)


@pytest.fixture
def in_place_of_ray(monkeypatch):
    """A cluster of one node, this process, which forgets nothing between parts."""
    ray = SimpleNamespace(get=lambda problem: problem)

    def made(_, shared, parts, how):
        for part in parts:
            yield ray_engine._answer(ray, ray_engine.make_part(shared, part.name, how), part)

    monkeypatch.setattr(ray_engine, "_cluster", lambda _: nullcontext(ray))
    monkeypatch.setattr(ray_engine, "_made", made)
    for check in ("_check_processors", "_check_nodes"):
        monkeypatch.setattr(ray_engine, check, lambda *_: None)
    ray_engine._work.cache_clear()


RAY_DAMAGE = {
    "a shard": (["rows-reference-0001.part"], ["vectors-reference-0002.part"]),
    "two shards": (["rows-candidate-0001.part"], ["vectors-candidate-0002.part", "vectors-reference-0001.part"]),
    "joined, and some counts are missing": (["counts-0002.part"], ["reference.npy"]),
    "joined": ([], ["candidate.npy"]),
    "joined, without its shards": (["vectors-reference-0001.part", "counts-0001.part"], ["reference.npy"]),
    "counts": ([], ["counts-0003.part"]),
}


@pytest.mark.parametrize(("lost", "damaged"), RAY_DAMAGE.values(), ids=RAY_DAMAGE)
def test_damage_that_a_driver_does_not_see_is_mended_on_nodes(here, in_place_of_ray, lost, damaged, reads):
    """Of vectors the driver looks at names and sizes alone, as long as there is anything to do."""
    merged = done("human.txt", "model.txt", parts=3)
    for name in lost:
        Path("planned", name).unlink()
    for name in damaged:
        flip(Path("planned", name))
    did = rc.run_plan("planned", engine="ray")
    assert {Path(name).stem for name in damaged if name.endswith(".part")} <= {*did.made}
    assert not {*did.made} & {*did.found}
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_the_driver_of_a_cluster_reads_no_vectors(here, reads, monkeypatch, in_place_of_ray):
    done("human.txt", "model.txt", parts=3)
    Path("planned/counts-0002.part").unlink()
    monkeypatch.setattr(ray_engine, "make_part", lambda *_: None)
    reads.clear()
    assert rc.run_plan("planned", engine="ray").made == ["counts-0002"]
    assert {stem.partition("-")[0] for stem in parted(reads)} == {"radii", "counts"}


# Faults


def flip(path, place=-9):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


DAMAGE = {
    "a bit of a shard": lambda folder: flip(folder / "vectors-candidate-0002.part"),
    "a shard cut off": lambda folder: (folder / "vectors-reference-0001.part").write_bytes(b"recapture part "),
    "shards swapped": lambda folder: (folder / "vectors-reference-0001.part").write_bytes(
        (folder / "vectors-candidate-0001.part").read_bytes()
    ),
    "no shard": lambda folder: (folder / "vectors-reference-0002.part").unlink(),
    "a bit of the vectors": lambda folder: flip(folder / "reference.npy"),
    "no vectors": lambda folder: (folder / "candidate.npy").unlink(),
    "vectors of the other side": lambda folder: (folder / "candidate.npy").write_bytes(
        (folder / "reference.npy").read_bytes()
    ),
    "a bit of what says where they are": lambda folder: flip(folder / "rows-reference-0001.part"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("joined", [False, True])
def test_damaged_shards_are_done_again(here, damage, joined):
    merged = done("human.txt", "model.txt", parts=3)
    whole = {path.name: path.read_bytes() for path in Path("planned").iterdir()}
    if not joined:
        for name in ("rows-reference-0001.part", "rows-candidate-0001.part", "counts-0001.part"):
            Path("planned", name).unlink(missing_ok=True)
    before = {path.name for path in Path("planned").iterdir()}
    if damage is DAMAGE["a bit of what says where they are"] and not joined:
        return
    damage(Path("planned"))
    rc.run_plan("planned")
    if not joined or "counts-0001.part" not in before:
        assert {path.name: path.read_bytes() for path in Path("planned").iterdir()} == whole
    assert rc.merge_plan("planned").to_json(arrays=True) == merged.to_json(arrays=True)


def test_counts_of_other_vectors_are_never_merged(here, monkeypatch):
    """Another device may make vectors with other digits; here they are far more different. Vectors that were joined may
    be deleted, and what they were joined to may be lost."""
    done("human.txt", "model.txt", parts=3)
    for lost in (*Path("planned").glob("vectors-*"), Path("planned/candidate.npy")):
        lost.unlink()
    usual = PlannedEncoding.vectors
    monkeypatch.setattr(PlannedEncoding, "vectors", lambda *given: usual(*given)[::-1] ** 3)
    with pytest.raises(InputError, match="missing or damaged"):
        rc.merge_plan("planned")
    assert rc.run_plan("planned").missing == []
    sides = [np.load(f"planned/{side}.npy") for side in ("reference", "candidate")]
    expected = rc.evaluate(sides[0], {"model": sides[1]}, METRICS, ceiling=False)
    assert numbers(rc.merge_plan("planned")) == numbers(expected)


def test_a_list_of_equal_texts_that_points_elsewhere(here):
    """With all digests right: the folder may come from somebody else."""
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    right = np.load("planned/lines.npy")
    for wrong in (right + 1, right - 1, right[:-1], right.astype(float), np.where(right == 5, 10**9, right)):
        np.save("planned/lines.npy", wrong)
        said = json.loads(Path("planned/plan.json").read_text())
        said["texts"]["lines"] = asdict(content_of(Path("planned/lines.npy")))
        said.pop("check")
        Path("planned/plan.json").write_text(json.dumps({"check": tile_plan._digest(said), **said}))
        with pytest.raises(InputError, match=r"lines.npy is missing or damaged: make the plan again"):
            rc.run_plan("planned")


def test_a_damaged_list_of_equal_texts_is_told_and_made_again(here, capsys):
    merged = done("human.txt", "model.txt", parts=3)
    flip(Path("planned/lines.npy"))
    assert run(["run", "planned"]) == 2
    assert capsys.readouterr().err == "recapture: planned/lines.npy is missing or damaged: make the plan again\n"
    again = done("human.txt", "model.txt", parts=3)
    assert again.to_json(arrays=True) == merged.to_json(arrays=True)


@pytest.mark.parametrize("what", ["part", "joined"])
def test_rows_that_cannot_be_read_for_a_while_stay(what, here, monkeypatch):
    """Nobody removes them, or encodes texts anew, whose vector parts may have been deleted. Whichever look fails."""
    merged = numbers(done("human.txt", "model.txt", parts=2))
    for path in Path("planned").glob("vectors*"):
        path.unlink()
    stayed, ended = [], []
    usual_read, usual_stat, usual_discard = part_files.content_up_to, Path.stat, TilePlan.discard

    def discard(self, part):
        usual_discard(self, part)
        stayed.append(self.path(part).is_file())

    def failing_at(time, name, usual, looks):
        def call(path, *args, **kwargs):
            if path.name == name:
                looks.append(path)
                if len(looks) == time:
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            return usual(path, *args, **kwargs)

        return call

    monkeypatch.setattr(TilePlan, "discard", discard)
    for time_of_it in range(1, 6):
        Path("planned/counts-0002.part").unlink()
        looks = []
        with monkeypatch.context() as patch:
            if what == "part":
                name = "rows-reference-0001.part"
                patch.setattr(part_files, "content_up_to", failing_at(time_of_it, name, usual_read, looks))
            else:
                patch.setattr(Path, "stat", failing_at(time_of_it, "reference.npy", usual_stat, looks))
            try:
                assert set(rc.run_plan("planned").made) <= {"counts-0002"}
            except InputError as error:
                ended.append(str(error))
        assert len(looks) >= time_of_it or time_of_it > 2
        assert set(rc.run_plan("planned").made) <= {"counts-0002"}
        assert numbers(rc.merge_plan("planned")) == merged
    assert all(stayed) and ended and all("cannot be read: Too many open files" in each for each in ended)


def test_vectors_that_cannot_be_read_for_a_while_are_not_made_anew(here, monkeypatch):
    """Neither for the worker that has them, nor for the one that joins them."""
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=2)
    rc.run_plan("planned", 1, 2)
    usual, made = part_files.content_up_to, PlannedParts.make
    encoded = []

    def make(self, part):
        encoded.append(part.name)
        made(self, part)

    def content_up_to(place, most):
        if place.name == "vectors-reference-0001.part":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return usual(place, most)

    monkeypatch.setattr(PlannedParts, "make", make)
    with monkeypatch.context() as patch:
        patch.setattr(part_files, "content_up_to", content_up_to)
        for worker in (1, 2):
            with pytest.raises(InputError, match=r"vectors-reference-0001\.part cannot be read: Input/output error"):
                rc.run_plan("planned", worker, 2, wait=1)
    assert "vectors-reference-0001" not in encoded
    rc.run_plan("planned")
    assert "vectors-reference-0001" not in encoded
    merged = numbers(rc.merge_plan("planned"))
    assert merged == numbers(done("human.txt", "model.txt", "undisturbed", parts=2))


def test_other_texts_are_refused(here, capsys):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    Path("model.txt").write_text("other\n" * 100)
    assert run(["run", "planned"]) == 2
    said = capsys.readouterr().err
    assert "model.txt is not the file that the plan was made for" in said and said.count("\n") == 1


def test_what_was_merged_is_of_the_texts_that_are_there(here, capsys):
    merged = done("human.txt", "model.txt")
    texts = Path("human.txt").read_bytes()
    Path("human.txt").unlink()  # texts that are gone are still those of the plan
    assert numbers(rc.merge_plan("planned")) == numbers(merged)
    Path("human.txt").write_bytes(texts + b"one more\n")
    assert run(["merge", "planned"]) == 2
    assert "human.txt is not the file that the plan was made for" in capsys.readouterr().err
    Path("human.txt").write_bytes(texts)
    assert run(["run", "planned"]) == 0
    assert "nothing is left to do here" in capsys.readouterr().err


def test_texts_that_change_while_parts_are_made(here):
    """As many as before, after the file was proved to be the plan's."""
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    plan = TilePlan.opened(Path("planned"))
    work = PlannedParts(plan)
    parts = plan.parts[VECTORS[1]]
    work.make(parts[0])
    Path("model.txt").write_text("a cat\n" * len(MODEL))
    with pytest.raises(InputError, match=r"the candidate .*model.txt was changed while it was read: nothing was kept"):
        work.make(parts[1])
    assert not plan.path(parts[1]).exists()


def test_another_encoder_in_the_same_place_is_refused(here, capsys):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    Path("words.txt").write_text(Path("words.txt").read_text().replace("cat 0", "cat 1").replace("cat -0", "cat -1"))
    assert run(["run", "planned"]) == 2
    assert "is not the one that the plan was made with: its revision is" in capsys.readouterr().err
    with pytest.raises(InputError, match="holds a plan for other files or settings"):
        rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--encoder", "bag-of-words"], "bag-of-words learns from texts, which parts of a plan cannot: encode both "
         "files first, and make the plan for their vectors"),
        (["-c", "vectors.npy"], "reference human.txt holds texts and candidate vectors.npy holds vectors: give both in "
         "one form"),
        (["-c", "texts.json"], "texts.json: json has to be read whole; write one record a line (jsonl) instead"),
        (["-c", "empty.txt"], "empty.txt holds no texts"),
        (["-c", "spaced.txt"], "every second line of spaced.txt is empty, and an empty line is an empty text here: "
         "leave the 9 empty lines out"),
        (["-c", "bad.txt"], "bad.txt line 2: byte 1 of the line (0xff) is not UTF-8: save the file as UTF-8"),
        (["--k", "100"], "k = 100 needs at least 101 samples a side, but candidate model.txt has 100"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_leaves_no_folder(here, arguments, told, capsys):
    np.save("vectors.npy", np.eye(5))
    Path("texts.json").write_text('["a cat", "a dog"]')
    Path("empty.txt").write_text("")
    Path("spaced.txt").write_text("a cat\n\n" * 9)
    Path("bad.txt").write_bytes(b"a cat\n\xff\n")
    usual = ["plan", "-r", "human.txt", "--encoder", "words.txt", "-o", "new"]
    candidate = [] if "-c" in arguments else ["-c", "model.txt"]
    assert run([*usual, *candidate, *arguments]) == 2
    assert capsys.readouterr().err == f"recapture: {told}\n"
    assert not Path("new").exists()


def test_notes_on_texts_are_said(here, capsys):
    Path("model.txt").write_text("\n" * 20 + "a cat\n" * 30)
    assert run(["plan", "-r", "human.txt", "-c", "model.txt", "--encoder", "words.txt", "-o", "planned"]) == 0
    assert "model.txt: 20 of 50 lines are empty, and each is an empty text here" in capsys.readouterr().err


def test_equal_texts_are_found_whatever_their_digests(monkeypatch):
    """Against a dictionary, with digests that share their first half."""
    rng = np.random.default_rng(5)
    high = rng.integers(0, 3, 500).astype(np.uint64) * np.uint64(2**62)
    low = rng.integers(0, 20, 500).astype(np.uint64)
    first = {}
    expected = [
        first.setdefault(pair, place) for place, pair in enumerate(zip(high.tolist(), low.tolist(), strict=True))
    ]
    assert first_equal(high, low).tolist() == expected


def test_codes_are_folded_like_rows():
    rng = np.random.default_rng(6)
    for many in (1, 5, 200):
        codes = rng.integers(0, many, 90)
        expected = fold_rows(codes[:, None])
        for found, wanted in zip(fold_codes(codes), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
def test_merged_is_evaluate_with_a_model(here):
    """The model that is there without a network: its last digits depend on the batch, its counts do not."""
    pytest.importorskip("recapture_weights")
    pytest.importorskip("sentence_transformers")
    merged = done("human.txt", "model.txt", encoder=None, parts=3)
    assert numbers(merged) == numbers(scored(encoder=None))


def test_a_driver_may_make_rows_only_when_all_vectors_are_there(here):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=3)
    plan = TilePlan.opened(Path("planned"))
    with pytest.raises(
        InputError,
        match=r"rows-reference-0001 needs all vectors, but vectors-reference-0001, .* are missing",
    ):
        PlannedParts(plan).make(plan.parts[ROWS[0]][0])
    assert not Path("planned/reference.npy").exists()


def test_texts_and_plan_behind_a_url(here):
    pytest.importorskip("fsspec")
    import fsspec

    for name in ("human.txt", "model.txt"):
        with fsspec.open(f"memory://texts/{name}", "wb") as stream:
            stream.write(Path(name).read_bytes())
        Path(name).unlink()
    done("memory://texts/human.txt", "memory://texts/model.txt", "memory://texts-planned", parts=3)
    merged = rc.merge_plan("memory://texts-planned")
    assert numbers(merged) == numbers(scored())
    damaged = fsspec.filesystem("memory")
    damaged.pipe_file("/texts-planned/vectors-reference-0002.part", b"recapture part ")
    damaged.pipe_file("/texts-planned/candidate.npy", b"")
    assert rc.run_plan("memory://texts-planned").made == ["vectors-reference-0002", "rows-candidate-0001"]
    assert rc.merge_plan("memory://texts-planned").to_json() == merged.to_json()


@pytest.fixture
def asked(here, monkeypatch):
    """What encoders are found with, one after the other."""
    found, resolve = [], planned_texts.resolve_encoder

    def noted(name, *, offline, **options):
        found.append(offline)
        return resolve(name, offline=offline, **options)

    monkeypatch.setattr(planned_texts, "resolve_encoder", noted)
    return found


PLAN = ["plan", "-r", "human.txt", "-c", "model.txt", "-o", "planned", "--encoder", "words.txt"]
SCORE = ["score", "-r", "human.txt", "-c", "model.txt", "--storage", "kept", "--encoder", "words.txt"]


@pytest.mark.parametrize("commands", [[PLAN, ["run", "planned"]], [SCORE]], ids=["plan and run", "score"])
@pytest.mark.parametrize(("flag", "expected"), [([], None), (["--offline"], True)])
def test_offline_holds_for_plans_and_their_parts(commands, flag, expected, asked, capsys):
    """Where nothing is said surroundings decide, on each machine."""
    for command in commands:
        assert run([*command, *flag]) == 0
    assert asked == [expected, expected]


def test_offline_holds_on_nodes_of_a_cluster(asked):
    rc.make_plan("human.txt", "model.txt", "planned", encoder="words.txt", parts=1, offline=False)
    plan = TilePlan.opened(Path("planned"))
    shared = ray_engine._Shared("planned", plan.digest, "run", True, None)
    assert ray_engine.make_part(shared, plan.parts[VECTORS[0]][0].name, ray_engine._How(1, None)) is None
    assert asked == [False, True]


@pytest.mark.parametrize("command", [PLAN, [*PLAN, "--dry-run"], SCORE], ids=["plan", "dry run", "score"])
def test_offline_asks_no_hub(command, here, capsys):
    assert run([*("nobody/has-this" if word == "words.txt" else word for word in command), "--offline"]) == 2
    assert "the Hugging Face hub was not asked (offline)" in capsys.readouterr().err
    assert not Path("planned").exists() and not Path("kept").exists()
