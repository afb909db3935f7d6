"""A plan's parts on a cluster of Ray. Only names of parts travel: vectors and parts lie on storage that all nodes see.

Tiles are tasks, which Ray does again elsewhere when a node is lost. Encoders, and all that computes on GPUs, are
actors: Ray ends a task's process where it used a GPU, and with it a loaded model. Ray Data has such actors, too, but it
decides itself which rows make a block, and a part must hold the same lines in every run.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from ..errors import InputError, first_line, shown
from ..geometry.devices import check_kind, on_device
from ..geometry.parallel import engine, engine_options
from ..progress import Progress
from .local_copies import end_of, work_for
from .phases import ROWS, VECTORS, MissingPartsError, Part, ready
from .places import Place, place_of, whole
from .planned_parts import PlannedParts
from .shares import PlanRun
from .tile_plan import TilePlan

_TRIES = 10
"""How often a part is begun again after its node or its process was lost."""
_CONNECT = 5
_ANSWER = 30
"""Seconds for a connection to be made, and for a cluster to answer."""
_NODES = 120
"""Seconds for every node to start a process and look at the storage."""
_AHEAD = 4
"""Tasks handed out for each processor: to look for finished ones among thousands takes time."""
_OBJECTS = 100_000_000
"""Bytes of a cluster's own store, which holds names of parts alone."""
_LOCAL, _AUTO = "local", "auto"
_PORTS = {"ray://": 10001, "": 6379}
_PROBE = """
import sys, ray
try:
    ray.init(sys.argv[1], logging_level="ERROR", log_to_driver=False)
except Exception as error:
    print(next(iter(str(error).strip().splitlines()), type(error).__name__))
    sys.exit(3)
"""


def run_on_ray(
    plan: TilePlan, twin: TilePlan | None, device: str | None, offline: bool | None, address: str | None
) -> PlanRun:
    """Do all parts that are missing.

    twin: a plan that may have the same reference. address: of a cluster (None: this process's, RAY_ADDRESS, or one of
    its own).
    """
    if device is not None:
        check_kind(device)
    made: list[str] = []
    done = plan.done(_is_small)
    if not ready(plan.parts, done):  # nobody will use its vectors, so that nobody would see that they are damaged
        done = plan.done()
    if not ready(plan.parts, done):
        return PlanRun([], sorted(done), [])
    found, lost = set(done), Counter[str]()
    of_twin = None if twin is None else _whole(twin.folder)
    shared = _Shared(_whole(plan.folder), plan.digest, secrets.token_hex(8), offline, of_twin)
    how = _How(_threads(), device)
    with _cluster(address) as ray:
        _check_processors(ray, how.threads)
        _check_nodes(ray, shared, plan)
        while todo := ready(plan.parts, done):
            lacking = _lacking(_made(ray, shared, todo, how), todo, plan.folder.name, made, done)
            if lacking is not None:  # a node has read what was only looked at
                lost.update(lacking.names)
                if max(lost.values()) > _TRIES:
                    raise lacking
                plan = TilePlan.opened(plan.folder)  # vectors that are made anew may be others
                done = plan.done(_is_small) - {*lacking.names}
                found -= {*lacking.names}
        if plan.needs_copies:
            _delete_copies(ray, shared)
    return PlanRun(made, sorted(found), [])


def _lacking(
    names: Iterable[str], todo: list[Part], folder: str, made: list[str], done: set[str]
) -> MissingPartsError | None:
    """Note what is made; what somebody found missing, where the work ends with that."""
    try:
        with Progress(f"parts of {folder}", len(todo), "part") as progress:
            for name in names:
                made.append(name)
                done.add(name)
                progress.advance()
    except MissingPartsError as lacking:
        return lacking
    return None


def _is_small(part: Part) -> bool:
    """Whether the driver itself proves that a part is whole: vectors are read on nodes alone."""
    return part.stage not in (*VECTORS, *ROWS)


class _Shared(NamedTuple):
    """All that a worker has to be told beside the name of a part."""

    folder: str
    digest: str
    """Of the plan: the folder of this name could be another one elsewhere."""
    run: str
    """This one: what nodes copy for it is deleted when it is done."""
    offline: bool | None
    """Whether nodes leave the Hugging Face hub alone (None: as their surroundings say)."""
    twin: str | None
    """The folder of a plan that may have the same reference."""


class _How(NamedTuple):
    """How a part is computed: nothing that its result depends on."""

    threads: int
    device: str | None


def _whole(folder: Place) -> str:
    return os.path.abspath(folder) if isinstance(folder, Path) else str(folder)  # noqa: PTH100 - links stay


# On the nodes


@lru_cache(maxsize=1)
def _work(shared: _Shared) -> PlannedParts:
    """One for all parts that a process does: it has looked through the files, and holds the model."""
    plan = TilePlan.opened(place_of(shared.folder))
    if plan.digest != shared.digest:
        raise InputError(f"{shared.folder} holds another plan there")
    return PlannedParts(plan, shared.offline, None if shared.twin is None else TilePlan.opened(place_of(shared.twin)))


class _Problem(NamedTuple):
    """What stands against a part."""

    told: str
    missing: list[str]
    """Parts that it needs; none where it cannot be done anywhere."""


def make_part(shared: _Shared, name: str, how: _How) -> _Problem | None:
    """Do one part, or say what stands against it."""

    @on_device
    def make(*, device: str | None) -> None:
        work_for(shared.run)
        work = _work(shared)
        (part,) = work.plan.named([name])
        if not work.plan.is_whole(part):  # a node that was lost may have finished it
            work.make(part)

    try:
        with engine(threads=how.threads):
            make(device=how.device)
    except MissingPartsError as lacking:
        _work.cache_clear()  # what it knows of them is of no use any more
        return _Problem(str(lacking), lacking.names)
    except InputError as error:
        return _Problem(str(error), [])
    return None


class Worker:
    """The same as an actor."""

    def make(self, shared: _Shared, name: str, how: _How) -> _Problem | None:
        return make_part(shared, name, how)


def unseen(told: tuple[Any, ...], token: str) -> str | None:
    """What a node does not see of a plan, and what to do about it; None where it sees all. told: a `_Shared`"""
    shared = _Shared(*told)
    place, lacking = place_of(shared.folder), shared.folder
    with suppress(OSError):
        if (place / _token_name(token)).read_bytes() == token.encode():
            plan = _work(shared).plan
            files = plan.reference, plan.candidate
            lacking = next((file.path for file in files if not file.is_there(place)), "")
    return f"{lacking}: a plan needs storage that all nodes share" if lacking else None


# On the driver


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Ray, connected: to what this process is connected to already, or for the length of the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_task_oom_retries", str(_TRIES))  # of what its memory monitor ends; else without an end
    try:
        import ray
    except ImportError:
        raise InputError('the engine ray needs the package ray: pip install "recapture[ray]"') from None
    if ray.is_initialized():
        there = ray.get_runtime_context().gcs_address
        if address not in (None, _AUTO, there):  # a process has but one
            raise InputError(
                f"this process is connected to the cluster of Ray at {there} already: name no other address"
            )
        yield ray
        return
    wanted = address or os.environ.get("RAY_ADDRESS") or _LOCAL
    settings: dict[str, Any] = {"address": wanted, "log_to_driver": False, "logging_level": "ERROR"}
    if wanted == _LOCAL:
        settings |= {
            "num_cpus": engine_options().thread_count(),
            "include_dashboard": False,
            "object_store_memory": _OBJECTS,
        }
    else:
        _check_reachable(wanted)
    out, err = (cast(Any, stream and _WithoutRay(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            ray.init(ignore_reinit_error=True, **settings)
        except Exception as error:  # of many kinds, none of them declared
            raise _no_cluster(wanted, first_line(error)) from None
        try:
            yield ray
        finally:
            ray.shutdown()


class _WithoutRay:
    """A stream as before, but for what threads of Ray print there about nodes and actors that come and go: whoever
    reads results does not expect anything else, and what failed in the end is told in our own words."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        own = not threading.current_thread().name.startswith("ray_")
        return int(self._stream.write(text)) if own else len(text)


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes, and cannot be stopped in this process."""
    kind = "ray://" if address.startswith("ray://") else ""
    if address != _AUTO:
        host, _, port = address.removeprefix(kind).rpartition(":")
        if not host:
            host, port = port, str(_PORTS[kind])
        if not port.isdecimal() or int(port) >= 1 << 16:
            raise InputError(f"an address is written host:port or ray://host:port, or is auto, not {shown(address)}")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT).close()
        except (OSError, UnicodeError) as error:
            raise _no_cluster(address, getattr(error, "strerror", None) or first_line(error)) from None
    try:
        asked = subprocess.run([sys.executable, "-c", _PROBE, address], capture_output=True, text=True, timeout=_ANSWER)
    except subprocess.TimeoutExpired:
        raise _unanswered(address, f"no answer in {_ANSWER} seconds") from None
    if asked.returncode:
        raise _unanswered(address, asked.stdout.strip() or "its process ended")


def _no_cluster(address: str, why: str) -> InputError:
    if address == _AUTO:
        return InputError("no cluster of Ray was found on this machine: start one, or name its address")
    where = "could be started here" if address == _LOCAL else f"answers at {address}"
    return InputError(f"no cluster of Ray {where}: {why.rstrip('.')}")


def _unanswered(address: str, why: str) -> InputError:
    """Somebody is there, unless Ray was to look for a cluster itself. It does not say that a token was asked for."""
    if address == _AUTO:
        return _no_cluster(address, why)
    hint = "" if os.environ.get("RAY_AUTH_MODE") else "; newer ones ask for a token: RAY_AUTH_MODE=token"
    return InputError(f"something is at {address}, but no cluster of Ray lets us in: {why.rstrip('.')}{hint}")


def _check_nodes(ray: Any, shared: _Shared, plan: TilePlan) -> None:
    """Before any work: every node that computes has recapture, sees the plan, and sees the files."""

    def look(module: str, *told: Any) -> tuple[str, str | None]:  # sent as code: a node may lack recapture
        from importlib import import_module

        try:
            return "does not see", import_module(module).unseen(*told)
        except ImportError as error:
            return "lacks what is used here:", str(error)
        except ValueError as error:
            return "cannot use the plan:", str(error)

    token = secrets.token_hex(16)
    mark = plan.folder / _token_name(token)
    with whole(mark) as temporary:
        temporary.write_text(token)
    try:
        asked: dict[Any, dict[str, Any]] = {}
        for node in _nodes(ray):
            asked[_there(ray, look, node).remote(__name__, tuple(shared), token)] = node
        answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=_NODES)
        for task in [*answered, *silent]:
            where = f"the node {asked[task]['NodeManagerAddress']}"
            try:
                what, problem = ray.get(task, timeout=0)
            except ray.exceptions.GetTimeoutError:
                raise InputError(f"{where} of the cluster did not answer in {_NODES} seconds") from None
            except ray.exceptions.RayTaskError as error:
                raise InputError(f"{where} of the cluster cannot work: {first_line(error.cause or error)}") from None
            except ray.exceptions.RayError:  # the node was lost meanwhile: others do its work
                continue
            if problem is not None:
                raise InputError(f"{where} of the cluster {what} {problem}")
    finally:
        with suppress(OSError):
            mark.unlink()


def _there(ray: Any, function: Callable[..., Any], node: dict[str, Any]) -> Any:
    """A function that takes no time, as a task of one node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    return ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=there)


def _delete_copies(ray: Any, shared: _Shared) -> None:
    """On every node. Where that cannot be done the next process there does it."""
    asked = [_there(ray, end_of, node).remote(shared.run) for node in _nodes(ray)]
    ray.wait(asked, num_returns=len(asked), timeout=_ANSWER)


def _check_processors(ray: Any, threads: int) -> None:
    """Ray would wait for ever for a node that has as many as a part asks for."""
    most = max((int(node["Resources"]["CPU"]) for node in _nodes(ray)), default=threads)
    if threads > most:
        raise InputError(f"a part asks for {threads} processors (RECAPTURE_THREADS), but no node has more than {most}")


def _token_name(token: str) -> str:
    return f".seen-{token[:8]}"


def _nodes(ray: Any) -> list[dict[str, Any]]:
    """Those that compute."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def _made(ray: Any, shared: _Shared, parts: list[Part], how: _How) -> Iterator[str]:
    """Names of parts, as they are done."""
    gpus = 0 if how.device == "cpu" else int(ray.cluster_resources().get("GPU", 0))
    if how.device not in (None, "auto", "cpu") and not gpus:
        raise InputError(f"device {shown(how.device)} cannot be used: no node of the cluster has a GPU")
    if gpus or parts[0].stage in VECTORS:
        cpus = sum(int(node["Resources"]["CPU"]) // how.threads for node in _nodes(ray))
        needs = {"num_gpus": 1} if gpus else {"num_cpus": how.threads}
        yield from _by_actors(ray, shared, parts, min(len(parts), gpus or max(1, cpus)), needs, how)
        return
    make = ray.remote(make_part).options(num_cpus=how.threads, max_retries=_TRIES, scheduling_strategy="SPREAD")
    waiting: dict[Any, Part] = {}
    todo = parts[::-1]
    most = _AHEAD * max(_AHEAD, int(ray.cluster_resources().get("CPU", 0)))
    with _none_left(ray, waiting):
        while todo or waiting:
            while todo and len(waiting) < most:
                part = todo.pop()
                waiting[make.remote(shared, part.name, how)] = part
            (first,), _ = ray.wait(list(waiting), num_returns=1)
            yield _answer(ray, first, waiting.pop(first))


def _by_actors(
    ray: Any, shared: _Shared, parts: list[Part], count: int, needs: dict[str, int], how: _How
) -> Iterator[str]:
    """One part at a time for each: whoever is free gets the next."""
    lasting = ray.remote(Worker).options(max_restarts=-1, max_task_retries=_TRIES, **needs)
    actors = [lasting.remote() for _ in range(count)]
    waiting: dict[Any, Part] = {}
    busy: dict[Any, Any] = {}
    todo = parts[::-1]

    def next_for(actor: Any) -> None:
        part = todo.pop()
        task = actor.make.remote(shared, part.name, how)
        waiting[task], busy[task] = part, actor

    try:
        for actor in actors:
            next_for(actor)
        while waiting:
            (first,), _ = ray.wait(list(waiting), num_returns=1)
            part, actor = waiting.pop(first), busy.pop(first)
            name = _answer(ray, first, part)
            if todo:
                next_for(actor)
            else:  # one that was lost may wait for its place
                actors.remove(actor)
                ray.kill(actor)
            yield name
    finally:
        for actor in actors:
            ray.kill(actor)


@contextmanager
def _none_left(ray: Any, waiting: Iterable[Any]) -> Iterator[None]:
    """A cluster that was there before is not left with work that nobody waits for."""
    try:
        yield
    except BaseException:
        for task in list(waiting):
            with suppress(Exception):
                ray.cancel(task)
        raise


def _answer(ray: Any, task: Any, part: Part) -> str:
    try:
        problem = ray.get(task)
    except ray.exceptions.RayTaskError:  # a fault of the program
        raise
    except ray.exceptions.RayError as error:  # lost more often than it was tried again; out of memory
        raise InputError(
            f"{part.name} could not be made on the cluster: {first_line(error).rstrip('.')}; finished parts are kept, "
            "run the plan again"
        ) from None
    if problem is not None:
        raise MissingPartsError(*problem) if problem.missing else InputError(problem.told)
    return part.name


def _threads() -> int:
    """Processors of one part: one, unless the caller said otherwise, as many parts at once are the better use."""
    said = engine_options().threads is not None or os.environ.get("RECAPTURE_THREADS")
    return engine_options().thread_count() if said else 1
