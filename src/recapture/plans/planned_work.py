"""Make a plan, do a share of its parts, put the parts together: one call each."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import check_count, is_one_of, path_of, plain_arguments, seconds_of
from ..errors import InputError, shown
from ..geometry.distinct import Folding
from ..geometry.overlap import Overlap, Side
from ..sets.declaration import METRICS
from ..sets.pair import Pair, check_k, refuse_tiny
from ..texts.reading import Source
from ..texts.text_index import indexed, texts_from
from .phases import COUNTS, SIDES, MissingPartsError, wanted
from .places import Place, content_up_to, place_of, seen_from, whole
from .planned_parts import PlannedParts, missing_parts, opened_vectors
from .planned_texts import LINES, PlannedEncoding
from .shares import PlanRun, run_share
from .tile_plan import FILE, LARGEST, TilePlan, cut, cuts_of
from .vector_files import AskedFile, Content, FetchedFile, PlannedFile, content_of

if TYPE_CHECKING:
    from ..sets.table import SetResults

RAY = "ray"
ENGINES = ("local", RAY)
_LONGEST_WAIT = 30 * 86_400


@plain_arguments
def make_plan(
    reference: str | os.PathLike[str],
    candidate: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    metrics: str | Iterable[str] | None = None,
    k: int | None = None,
    *,
    parts: int | None = None,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - as in `read`
    encoder: str | os.PathLike[str] | None = None,
    pooling: str | None = None,
    truncate: bool = False,
    batch_size: int | None = None,
    dtype: str | None = None,
    offline: bool | None = None,
    reference_name: str | None = None,
    candidate_name: str | None = None,
) -> list[str]:
    """Cut the work of metrics of neighbourhoods on two files of vectors, or of texts, into parts.

    Parameters
    ----------
    reference, candidate : str or path
        Files of vectors, or of texts. A .npy file and a tensor of a .safetensors file are read row by row where they
        lie; what `read` turns into vectors otherwise is copied into the folder as .npy, some rows at a time. Texts are
        read once, to see where parts begin and which texts are equal, and encoded in parts of their own.
    folder : str or path
        Where the plan and its parts are kept; it is made. The same plan again changes nothing but mends what is
        damaged; another plan in the same folder is refused.
    metrics : str or iterable of str, optional
        Metrics of neighbourhoods (default: all of them).
    k : int, optional
        One neighbourhood size for all of them (None: each its own default).
    parts : int, optional
        Parts of each kind: radii of the reference, radii of the candidate, counts; of texts also vectors of either
        (None: one for every 10,000 rows; below 100,000 rows up to 16, of 500 rows at least).
    field, format
        For `read`.
    encoder, pooling, truncate, batch_size, dtype
        Of texts, as for `encode`; the encoder is one that can be named and learns nothing from texts.
    offline : bool, optional
        Whether to leave the Hugging Face hub alone now, as for `encode`; `run_plan` is told for itself.
    reference_name, candidate_name : str, optional
        What results call the two (None: the reference's path, the candidate's file name).

    Returns
    -------
    list of str
        Names of all parts.

    See Also
    --------
    run_plan : does them.
    merge_plan : puts them together.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> human, model = np.random.default_rng(0).standard_normal((2, 300, 8))
    >>> np.save("human.npy", human)
    >>> np.save("model.npy", model)
    >>> names = rc.make_plan("human.npy", "model.npy", "planned", parts=2)
    >>> rc.run_plan("planned").missing
    []
    >>> merged = rc.merge_plan("planned")["model.npy"]
    >>> merged["precision-recall"].values == rc.precision_recall(human, model).values
    True
    """
    paths = path_of(reference, "the reference"), path_of(candidate, "the candidate")
    chosen = planned_metrics(metrics)
    asked = AskedFile.both(paths, field, format)
    parts = None if parts is None else check_count("parts", parts, 1)
    encoding, lines, people = None, None, None
    names = [file.name for file in asked]
    with _folder(folder) as place, ExitStack() as stack:
        before = _before(place)
        fetched = [FetchedFile.of(file) for file in asked]
        if _hold_texts(fetched):
            named = None if encoder is None else path_of(encoder, "the encoder")
            first = texts_from(fetched[0].texts, (0, 1), 1)
            encoding = PlannedEncoding.of(
                named, place, first[0] if first else "", pooling, truncate, batch_size, dtype, offline
            )
            files, cuts, lines, people = _planned_texts(fetched, place, parts, encoding.dimensions, stack)
        else:
            if truncate or any(each is not None for each in (encoder, pooling, batch_size, dtype)):
                raise InputError("an encoder was named, but the sets are vectors already")
            known = (before.reference, before.candidate) if before else (None, None)
            files = [PlannedFile.of(*each, stack) for each in zip(fetched, (place, place), known, strict=True)]
            _check_together(files, names)
            cuts = cuts_of(max(file.different for file in files), parts)
        plan = TilePlan(
            place,
            tuple(chosen),
            k,
            _ks(chosen, k, [(name, file.rows) for name, file in zip(names, files, strict=True)]),
            cuts,
            files[0],
            files[1],
            Source(paths[0]).name if reference_name is None else reference_name,
            Path(paths[1]).name if candidate_name is None else candidate_name,
            encoding,
            lines,
            people,
        )
        # Its parts would be lost, one by one.
        if before is not None and before.digest != plan.digest:
            raise InputError(f"{place} holds a plan for other files or settings: name another folder or storage")
    plan.write()
    return plan.names


def _hold_texts(files: list[FetchedFile]) -> bool:
    texts = [file.vectors() is None for file in files]
    if any(texts) and not all(texts):
        one, other = files[texts.index(True)].asked, files[texts.index(False)].asked
        raise InputError(f"{one.name} holds texts and {other.name} holds vectors: give both in one form")
    return all(texts)


def _planned_texts(
    files: list[FetchedFile],
    folder: Place,
    parts: int | None,
    dimensions: int,
    stack: ExitStack,
) -> tuple[list[PlannedFile], int, Content, str]:
    """Read both files once: where parts begin and which texts are equal, which goes into the folder."""
    with indexed([file.texts for file in files]) as index:
        for note in index.notes:
            warnings.warn(note, stacklevel=3)
        cuts = cuts_of(max(index.sizes), parts)
        planned = []
        for side, file in enumerate(files):
            marks = index.marks(side, [part.start for part in cut(index.sizes[side], cuts)])
            there = np.zeros(sum(index.sizes), bool)
            there[index.own(side)] = True
            different = int(there.sum())
            planned.append(PlannedFile.of_texts(file, folder, index.sizes[side], different, marks, dimensions))
        temporary = stack.enter_context(whole(folder / LINES))
        with temporary.open("wb") as stream:
            np.save(stream, index.first_equal, allow_pickle=False)
    return planned, cuts, content_of(temporary), index.digests[0]


def _before(place: Place) -> TilePlan | None:
    """The plan that a folder has; None where it is damaged, or of another version, whose parts nobody can use."""
    try:
        return TilePlan.opened(place)
    except InputError:
        return None


def _check_together(files: list[PlannedFile], names: list[str]) -> None:
    one, other = files
    if one.dimensions != other.dimensions:
        raise InputError(
            f"{names[0]} has {one.dimensions} dimensions and {names[1]} has {other.dimensions}: "
            "both must come from the same encoder"
        )
    refuse_tiny(max(one.reach, other.reach), *names)


def planned_metrics(metrics: str | Iterable[str] | None) -> list[str]:
    """Their names; others than those of neighbourhoods are refused."""
    able = [metric for metric in METRICS.all().values() if metric.uses_neighbours]
    chosen = able if metrics is None else METRICS.choose(metrics)
    for metric in chosen:
        if not metric.uses_neighbours:
            named = ", ".join(each.name for each in able)
            raise InputError(f"plans are for metrics of neighbourhoods ({named}), not for {metric.name}")
    return [metric.name for metric in chosen]


def _ks(names: list[str], k: int | None, sides: list[tuple[str, int]]) -> tuple[int, ...]:
    """All that are needed; a metric whose own k is too large for a set has no result, as in `evaluate`."""
    if k is not None:
        return (check_k(k, *sides),)
    own = sorted({METRICS.find(name).defaults["k"] for name in names})
    return tuple(each for each in own if each < min(size for _, size in sides)) or (check_k(own[0], *sides),)


@contextmanager
def _folder(path: str | os.PathLike[str]) -> Iterator[Place]:
    """The plan's folder."""
    place = place_of(path_of(path, "the plan's folder"))
    with made_folder(place):
        try:
            there = [each.name for each in place.iterdir() if not each.name.startswith(".")]
        except (OSError, ValueError) as error:
            raise _not_written(place, error) from None
        own = (FILE, LINES, *(f"{side}.npy" for side in SIDES))
        others = sorted(name for name in there if not name.endswith(".part") and name not in own)
        if others and not (FILE in there and _is_of_ours(place / FILE)):
            raise InputError(f"{place} holds other things than a plan, such as {others[0]}: name a folder of its own")
        yield place


def _is_of_ours(path: Place) -> bool:
    """Whether a file is a plan, be it damaged or of another version: what else lies beside it is the user's affair."""
    try:
        return b'"recapture"' in (content_up_to(path, LARGEST) or b"")
    except OSError:
        return False


@contextmanager
def made_folder(place: Place) -> Iterator[None]:
    """A folder is made where it is not there, and removed again where nothing comes of it."""
    new = isinstance(place, Path) and not os.path.lexists(place)
    try:
        place.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        raise _not_written(place, error) from None
    try:
        yield
    except BaseException:
        if new and isinstance(place, Path):
            with suppress(OSError):
                place.rmdir()
        raise


def _not_written(place: Place, error: Exception) -> InputError:
    if isinstance(error, InputError):  # which names the place itself
        return error
    return InputError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}")


@plain_arguments
def run_plan(
    folder: str | os.PathLike[str],
    worker: int = 1,
    workers: int = 1,
    *,
    device: str | None = None,
    offline: bool | None = None,
    wait: float | str = 0,
    engine: str = "local",
    address: str | None = None,
) -> PlanRun:
    """Do a share of a plan's parts. What is there and whole is not done again; what is damaged is.

    Parameters
    ----------
    folder : str or path
        That of `make_plan`.
    worker, workers : int, default 1
        Which of how many shares, counting from 1. Workers may run in any order or at once, on any machine that sees
        the folder and the files; their number need not be that of the parts.
    device : str, optional
        Where the parts are computed, such as "cpu" or "cuda" (None: a GPU where there is one and parts are large).
        Results do not depend on it; vectors of texts do in their last digits, as `encode` says.
    offline : bool, optional
        Whether to leave the Hugging Face hub alone, as for `encode`; on a cluster all nodes do.
    wait : float or str, default 0
        Seconds, or a time such as "10min", to wait at most for parts that others are at and that are needed
        before it can go on, each time that some are. Who may wait also does parts of others that nobody is at, so that
        several workers that name no share divide the parts. The part of one that was lost on another machine counts as
        left alone after two minutes.
    engine : {"local", "ray"}, default "local"
        Whether this process does them, or a cluster of Ray, which does all and shares them out itself.
    address : str, optional
        Of the cluster: "host:port", "ray://host:port", or "auto" for the one that runs here. None: the one that this
        process is connected to, else that of RAY_ADDRESS, else one of its own on this machine.

    Returns
    -------
    PlanRun
        `.made` and `.found`, names of parts; `.missing`, those of other workers that are not there yet: counts need all
        radii, so that a worker who finds some missing has to be called again, unless it waits.

    Raises
    ------
    InputError
        Where the plan is for other files or of another version; where Ray is missing, does not answer, or has nodes
        that do not see the folder or the files.

    See Also
    --------
    merge_plan : puts the parts together.

    Examples
    --------
    The first of two workers finds the second one's radii missing, and is called again.

    >>> import numpy as np
    >>> import recapture as rc
    >>> np.save("human.npy", np.eye(9))
    >>> np.save("model.npy", np.eye(9) + 1)
    >>> len(rc.make_plan("human.npy", "model.npy", "planned", parts=2))
    6
    >>> rc.run_plan("planned", 1, 2).missing
    ['radii-reference-0002', 'radii-candidate-0002']
    >>> rc.run_plan("planned", 2, 2).made
    ['radii-reference-0002', 'radii-candidate-0002', 'counts-0002']
    >>> rc.run_plan("planned", 1, 2).made
    ['counts-0001']
    """
    workers = check_count("workers", workers, 1)
    worker = check_count("worker", worker, 1, workers)
    check_engine(engine, address, workers)
    wait = check_wait(wait)
    if wait and engine == RAY:
        raise InputError("the engine ray waits for all parts itself: name no wait")
    plan = TilePlan.opened(place_of(path_of(folder, "the plan's folder")))
    if engine == RAY:
        return run_whole(plan, None, device, offline, engine, address)
    if plan.cuts < min(workers, plan.reference.different):
        better = cuts_of(plan.reference.different, 4 * workers)
        warnings.warn(
            f"{workers} workers share {plan.cuts} part{'s' * (plan.cuts != 1)} of each kind, so some will have no "
            f"counts to do: a plan wants several for every worker, here {better}",
            stacklevel=3,
        )
    return run_share(PlannedParts(plan, offline), worker, workers, wait, device=device)


def run_whole(
    plan: TilePlan, twin: TilePlan | None, device: str | None, offline: bool | None, engine: str, address: str | None
) -> PlanRun:
    """All parts. twin: a plan that may have the same reference."""
    if engine == RAY:
        from .ray_engine import run_on_ray

        return run_on_ray(plan, twin, device, offline, address)
    return run_share(PlannedParts(plan, offline, twin), 1, 1, 0, device=device)


def check_wait(wait: float | str) -> float:
    seconds = seconds_of(wait, "wait", may_be_0=True)
    if seconds > _LONGEST_WAIT:
        raise InputError("nobody waits for longer than 30 days (wait)")
    return seconds


def check_engine(engine: str, address: str | None, workers: int = 1) -> None:
    if not is_one_of(engine, ENGINES):
        raise InputError(f"no engine {shown(engine)}; there are {' and '.join(ENGINES)}")
    if address is not None and engine != RAY:
        raise InputError("only the engine ray has an address", options=["engine"])
    if workers != 1 and engine == RAY:
        raise InputError("the engine ray shares the parts out itself: name no share")


@plain_arguments
def merge_plan(folder: str | os.PathLike[str]) -> SetResults:
    """Put the parts of a plan together: the results that `evaluate` has for the same files, without its ceiling.

    Parameters
    ----------
    folder : str or path
        That of `make_plan`; all parts have been done.

    Returns
    -------
    SetResults
        As from `evaluate`, to the last digit.

    Raises
    ------
    InputError
        Where parts are missing or damaged, and where the plan is for other files or of another version.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> np.save("human.npy", [[0], [1], [2]])
    >>> np.save("model.npy", [[0.5], [9], [10]])
    >>> _ = rc.make_plan("human.npy", "model.npy", "planned", "precision-recall", k=1)
    >>> _ = rc.run_plan("planned")
    >>> rc.merge_plan("planned")["model.npy"]["precision-recall"].recall
    1.0
    """
    from ..sets.evaluate import evaluate_prepared, prepare_sets  # workers start the sooner without

    plan = TilePlan.opened(place_of(path_of(folder, "the plan's folder")))
    try:
        vectors = opened_vectors(plan)
        counted = _counted(plan)
    except MissingPartsError as lacking:
        if plan.encoding is not None:
            for file in (plan.reference, plan.candidate):
                there = file.places(plan.folder)
                if there and isinstance(there[0], Path):  # parts that are missing because of other texts will stay so
                    file.proved(plan.folder)
        done = plan.done()
        names = [part.name for stage in wanted(plan.parts, done) for part in plan.parts[stage] if part.name not in done]
        raise missing_parts(plan, names or lacking.names) from None
    prepared = prepare_sets(
        vectors[0].values,
        {plan.candidate_name: vectors[1].values},
        list(plan.metrics),
        None,
        plan.k,
        blind=False,
        reference_name=plan.reference_name,
    )
    if plan.encoding is not None:
        prepared = replace(prepared, identity=plan.encoding.identity)
    pair = Pair(prepared.reference, prepared.candidates[plan.candidate_name])
    same = [pair.reference.folding, pair.candidate.folding]  # of equal texts where there are any
    pair.know(_together(plan, counted, same if plan.encoding is None else plan.foldings([])))
    results = evaluate_prepared(prepared, pairs={plan.candidate_name: pair}, reference_content=plan.people)
    for each in vectors:
        each.check_unchanged()
    return results


def planned_files(folder: str | os.PathLike[str]) -> list[str]:
    """Wherever the files that a plan is for may lie: nothing is written there."""
    plan = TilePlan.opened(place_of(path_of(folder, "the plan's folder")))
    return [
        place
        for file in (plan.reference, plan.candidate)
        for place in (file.path, str(seen_from(plan.folder, file.beside)))
    ]


class _Counted(NamedTuple):
    """All counts of a plan."""

    pairs: dict[str, np.ndarray]
    theirs: dict[str, np.ndarray]
    mine: dict[str, np.ndarray]


def _counted(plan: TilePlan) -> _Counted:
    """One part after the other."""
    nobody = plan.candidate.different, len(plan.ks)
    pairs = {name: np.zeros(len(plan.ks), np.int64) for name in ("candidate_pairs", "reference_pairs")}
    theirs = {name: np.full(*nobody) for name in ("candidate_first", "covering_first")}
    mine = {name: np.full(plan.reference.different, len(plan.ks)) for name in ("covered_first", "reference_first")}
    for part in plan.parts[COUNTS]:
        found = plan.read(part)
        if found is None:
            raise missing_parts(plan, [part.name])
        for name, counted in pairs.items():
            counted += found[name]
        for name, first in theirs.items():
            np.minimum(first, found[name], out=first)
        for name, first in mine.items():
            first[part.rows] = found[name]
    return _Counted(pairs, theirs, mine)


def _together(plan: TilePlan, counted: _Counted, foldings: list[Folding]) -> Overlap:
    pairs, theirs, mine = counted
    of_reference, of_candidate = (folding.inverse for folding in foldings)
    return Overlap(
        plan.ks,
        Side(
            np.cumsum(pairs["candidate_pairs"]),
            theirs["candidate_first"][of_candidate],
            mine["covered_first"][of_reference],
        ),
        Side(
            np.cumsum(pairs["reference_pairs"]),
            mine["reference_first"][of_reference],
            theirs["covering_first"][of_candidate],
        ),
    )
