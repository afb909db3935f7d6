"""Plans on a cluster of Ray: three nodes on this machine, of which one is lost; a driver that is killed; bad storage.

Nothing but time may differ from one process, whose numbers are the expected ones (tests/geometry holds those to an
oracle).
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError
from recapture.plans import ray_engine, tile_plan
from recapture.plans.places import place_of
from recapture.plans.tile_plan import TilePlan

pytest.importorskip("ray", reason="ray is not installed: pip install 'recapture[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.traced]

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]
SECONDS = 90


@pytest.fixture(scope="module")
def own_copies(tmp_path_factory):
    """Copies of what lies elsewhere are not left behind; Ray's own files stay where paths are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", tempfile.gettempdir())
        folder = str(tmp_path_factory.mktemp("copies"))
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@pytest.fixture(scope="module")
def cluster(own_copies):
    """Three nodes of one processor each; this process is connected to them."""
    import ray
    from ray.cluster_utils import Cluster

    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 300, "health_check_failure_threshold": 10}
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": soon}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(num_cpus=1)
    ray.init(made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """Large enough that 36 parts are not done before anybody looks; with rows that repeat across parts."""
    monkeypatch.chdir(tmp_path)
    reference, candidate = np.random.default_rng(4).standard_normal((2, 9_000, 96)).astype(np.float32)
    reference[8_000:8_050], candidate[:40] = reference[3], reference[100:140]
    np.save("human.npy", reference)
    np.save("model.npy", candidate)
    return reference, candidate


def in_one_process(reference, candidate):
    results = rc.evaluate(
        reference, {"model.npy": candidate}, metrics=METRICS, ceiling=False, reference_name="human.npy"
    )
    return results.to_json(arrays=True)


def when_some_parts_are_whole(folder, fewest, alive):
    """Or when whoever makes them has ended. Behind a URL a file has its name before it has its content."""
    plan = TilePlan.opened(folder)
    end = time.monotonic() + SECONDS
    while len(plan.done()) < fewest and alive():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_node_that_is_lost_costs_only_time(cluster, sets, tmp_path):
    for attempt in range(5):
        folder = tmp_path / f"planned {attempt}"
        rc.make_plan("human.npy", "model.npy", folder, parts=12)
        did = []
        worker = threading.Thread(
            target=lambda did=did, folder=folder: did.append(rc.run_plan(folder, engine="ray")), daemon=True
        )
        worker.start()
        when_some_parts_are_whole(folder, 3, worker.is_alive)
        if in_the_midst := len(TilePlan.opened(folder).look()) < 36:
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
        worker.join(SECONDS)
        assert len(did[0].made) == 36 and did[0].missing == []
        if in_the_midst:
            break
    else:
        pytest.fail("all was done before anybody looked, five times")
    assert rc.merge_plan(folder).to_json(arrays=True) == in_one_process(*sets)
    assert not list(folder.glob(".seen*")), "a token was left"
    cluster.add_node(num_cpus=1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9")
def test_a_driver_that_is_killed_is_resumed(cluster, sets, tmp_path):
    """On storage behind a URL: the vectors are copied there, and every process fetches them from there."""
    for attempt in range(5):
        folder = tmp_path / f"planned-{attempt}"
        url = f"local://{folder}"
        rc.make_plan("human.npy", "model.npy", url, parts=12)
        for name in ("human.npy", "model.npy"):
            Path(name).rename(f"moved-{name}")  # the copies are enough
        driver = subprocess.Popen(
            [sys.executable, "-m", "recapture", "run", url, "--engine", "ray", "--address", cluster.address],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        when_some_parts_are_whole(folder, 3, lambda driver=driver: driver.poll() is None)
        in_the_midst = driver.poll() is None
        os.kill(driver.pid, signal.SIGKILL)
        said = driver.communicate()[0]
        plan = TilePlan.opened(folder)
        there = len(plan.done())
        assert there >= 3, "a part that was whole is gone"
        if in_the_midst and len(plan.look()) < 36:
            break
        for name in ("human.npy", "model.npy"):
            Path(f"moved-{name}").rename(name)
    else:
        pytest.fail("all was done before anybody looked, five times")
    assert said == ""
    did = rc.run_plan(url, engine="ray")
    assert len(did.found) >= there and len(did.found) + len(did.made) == 36
    # All nodes are on this machine; what they copied is not left to whoever comes next.
    assert not list(Path(tempfile.gettempdir()).glob(f"recapture-*/{plan.reference.copy.digest}*"))
    assert rc.merge_plan(url).to_json(arrays=True) == in_one_process(*sets)


def test_an_actor_that_is_lost_with_its_node_begins_elsewhere(cluster, sets):
    """As on GPUs, and where texts are encoded. All places are taken: it waits until another actor has nothing to do."""
    import ray

    rc.make_plan("human.npy", "model.npy", "planned", parts=6)
    plan = TilePlan.opened(Path("planned").absolute())
    shared = ray_engine._Shared(str(plan.folder), plan.digest, "run", None, None)
    parts = [*plan.parts["radii-reference"], *plan.parts["radii-candidate"]]
    made = ray_engine._by_actors(ray, shared, parts, 3, {"num_cpus": 1}, ray_engine._How(1, None))
    names = [next(made)]
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    names += made
    assert sorted(names) == sorted(part.name for part in parts)
    assert rc.run_plan("planned").found == [part.name for part in parts]
    assert rc.merge_plan("planned").to_json(arrays=True) == in_one_process(*sets)
    cluster.add_node(num_cpus=1)


def test_texts_are_encoded_on_the_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["a", "cat", "dog", "boat", "net", "map", "rain", "ran", "sat", "sold", "saw", "home"]
    rng = np.random.default_rng(3)
    Path("words.txt").write_text(
        "".join(" ".join([word, *map(str, rng.standard_normal(6).round(3))]) + "\n" for word in words)
    )
    human, model, other = [[" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(100)] for _ in range(3)]
    for name, texts in (("human", human), ("model", model), ("other", other)):
        Path(f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    files = {"model": "model.txt", "other": "other.txt"}
    kept = f"local://{tmp_path}/kept"
    results = rc.evaluate_files("human.txt", files, kept, engine="ray", encoder="words.txt", parts=3)
    models = {"model": model, "other": other}
    expected = rc.evaluate(human, models, METRICS, "words.txt", ceiling=False, cache=False)
    for name in files:
        for metric in METRICS:
            assert results[name][metric].values == expected[name][metric].values
        assert results[name]["mark-evaluate"].counts == expected[name]["mark-evaluate"].counts


@pytest.mark.parametrize(("device", "gpus", "asked"), [(None, 2, 2), ("cuda", 2, 2), ("cpu", 2, None), (None, 0, None)])
def test_gpus_of_the_cluster_are_used_unless_told_otherwise(cluster, sets, device, gpus, asked, monkeypatch):
    """One actor for each; what the actors would do is done here, as no GPU is."""
    import ray

    calls = []

    def by_actors(_, shared, parts, count, needs, how):
        calls.append((count, needs, how.device))
        for part in parts:
            assert ray_engine.make_part(shared, part.name, ray_engine._How(1, None)) is None
            yield part.name

    monkeypatch.setattr(ray_engine, "_by_actors", by_actors)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 3.0, "GPU": float(gpus)})
    rc.make_plan("human.npy", "model.npy", "planned", "precision-recall", parts=2)
    assert len(rc.run_plan("planned", engine="ray", device=device).made) == 6
    assert calls == ([] if asked is None else [(asked, {"num_gpus": 1}, device)] * 2)  # radii, counts


# Bad input: one sentence, before any work


def refused(arguments, capsys):
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("recapture: ") and printed.err.count("\n") == 1
    return printed.err.removeprefix("recapture: ").rstrip("\n")


def test_storage_that_nodes_do_not_share(cluster, sets, capsys):
    """Memory of this process is such a storage."""
    rc.make_plan("human.npy", "model.npy", "memory://unshared", parts=2)
    told = refused(["run", "memory://unshared", "--engine", "ray"], capsys)
    assert told.startswith("the node ")
    assert told.endswith(" does not see memory://unshared: a plan needs storage that all nodes share")
    assert TilePlan.opened(place_of("memory://unshared")).done() == set()


def test_nodes_with_another_version(cluster, sets, monkeypatch):
    monkeypatch.setattr(tile_plan, "VERSION", "99.1")
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    with pytest.raises(InputError, match=rf"cannot use the plan: .*made by recapture 99.1, this is {rc.__version__}"):
        rc.run_plan("planned", engine="ray")


def test_what_no_node_has(cluster, sets, monkeypatch):
    """Ray itself would wait for it without an end."""
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    with pytest.raises(InputError, match="device 'cuda' cannot be used: no node of the cluster has a GPU"):
        rc.run_plan("planned", engine="ray", device="cuda")
    monkeypatch.setenv("RECAPTURE_THREADS", "7")
    with pytest.raises(
        InputError, match=r"a part asks for 7 processors \(RECAPTURE_THREADS\), but no node has more than 1"
    ):
        rc.run_plan("planned", engine="ray")


def test_a_process_is_connected_to_one_cluster(cluster, sets):
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    told = f"this process is connected to the cluster of Ray at {cluster.address} already: name no other"
    with pytest.raises(InputError, match=told):
        rc.run_plan("planned", engine="ray", address="ray://elsewhere:10001")
    assert rc.run_plan("planned", engine="ray", address=cluster.address).missing == []


def test_where_no_cluster_runs_nobody_is_asked_for_a_token():
    told = ray_engine._unanswered("auto", "Could not find any running Ray instance.")
    assert told.message == "no cluster of Ray was found on this machine: start one, or name its address"


def test_a_cluster_that_does_not_answer(sets, capsys, monkeypatch):
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    command = ["run", "planned", "--engine", "ray", "--address"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setattr(ray_engine, "_ANSWER", 3)
        monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
        begun = time.monotonic()
        assert refused([*command, f"127.0.0.1:{port}"], capsys) == (
            f"something is at 127.0.0.1:{port}, but no cluster of Ray lets us in: no answer in 3 seconds; "
            "newer ones ask for a token: RAY_AUTH_MODE=token"
        )
        assert time.monotonic() - begun < 20
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        assert refused([*command, address], capsys) == f"no cluster of Ray answers at {address}: Connection refused"
    assert refused([*command, "host:99999"], capsys) == (
        "an address is written host:port or ray://host:port, or is auto, not 'host:99999'"
    )
