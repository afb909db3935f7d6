"""Make a plan, do a share of its parts, put the parts together: one call each."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import check_count, check_number, is_one_of, path_of, plain_arguments
from ..errors import InputError, shown
from ..geometry.devices import on_device
from ..geometry.distinct import Folding
from ..geometry.overlap import Overlap, Side
from ..geometry.streamed import StreamedRows, memberships, squared_radii
from ..progress import Progress
from ..sets.declaration import METRICS
from ..sets.pair import Pair, check_k, refuse_tiny
from ..texts.array_files import new_npy
from ..texts.reading import Source
from ..texts.text_index import indexed, texts_from
from .phases import COUNTS, RADII, ROWS, SIDES, VECTORS, MissingPartsError, Part, rounds, wanted
from .places import Place, place_of, seen_from, whole
from .planned_texts import LINES, PlannedEncoding
from .tile_plan import FILE, TilePlan, cut, cuts_of
from .vector_files import AskedFile, Content, FetchedFile, OpenTexts, OpenVectors, PlannedFile, content_of

if TYPE_CHECKING:
    from ..representations.encoder import Encoder
    from ..sets.table import SetResults

RAY = "ray"
ENGINES = ("local", RAY)
_LONGEST_WAIT = 30 * 86_400
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 15
"""Seconds between two looks for parts of others."""
_NAMED = 5
"""Missing parts that a message names."""


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
        Parts of each kind: radii of the reference, radii of the candidate, counts (None: one for every 10,000 rows);
        of texts also vectors of either.
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
    encoding, lines = None, None
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
            files, cuts, lines = _planned_texts(fetched, place, parts, encoding.dimensions, stack)
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
        )
        # Its parts would be lost, one by one.
        if before is not None and before.digest != plan.digest:
            raise InputError(f"{place} holds a plan for other files or settings: name another folder")
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
) -> tuple[list[PlannedFile], int, Content]:
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
    return planned, cuts, content_of(temporary)


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
        if others:
            raise InputError(f"{place} holds other things than a plan, such as {others[0]}: name a folder of its own")
        yield place


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
    return InputError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}")


class PlanRun(NamedTuple):
    """What a worker did."""

    made: list[str]
    """Names of parts that were made now."""
    found: list[str]
    """Those of its share that were there, and whole."""
    missing: list[str]
    """Parts of others that have to be there before it can go on; none where its share is complete."""


@plain_arguments
def run_plan(
    folder: str | os.PathLike[str],
    worker: int = 1,
    workers: int = 1,
    *,
    device: str | None = None,
    offline: bool | None = None,
    wait: float = 0,
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
    wait : float, default 0
        Seconds to wait at most for parts of others that are needed before it can go on, each time that some are.
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
    plan = TilePlan.opened(place_of(path_of(folder, "the plan's folder")))
    if engine == RAY:
        return run_whole(plan, None, device, offline, engine, address)
    return _run_share(PlannedParts(plan, offline), worker, workers, check_wait(wait), device=device)


def run_whole(
    plan: TilePlan, twin: TilePlan | None, device: str | None, offline: bool | None, engine: str, address: str | None
) -> PlanRun:
    """All parts. twin: a plan that may have the same reference."""
    if engine == RAY:
        from .ray_engine import run_on_ray

        return run_on_ray(plan, twin, device, offline, address)
    return _run_share(PlannedParts(plan, offline, twin), 1, 1, 0, device=device)


@on_device
def _run_share(work: PlannedParts, worker: int, workers: int, wait: float, *, device: str | None) -> PlanRun:
    plan = work.plan
    made: list[str] = []
    found: list[str] = []
    in_order = rounds(plan.parts)
    own = {part.name for together in in_order for part in together[worker - 1 :: workers]}
    done = plan.done(lambda part: part.name in own, discard=True)
    needed = wanted(plan.parts, done)

    def do(parts: list[Part]) -> None:
        with Progress(f"parts of {plan.folder.name}", len(parts), "part") as progress:
            for part in parts:
                # Somebody else may have made it meanwhile.
                if part.name in done or plan.is_whole(part):
                    found.append(part.name)
                else:
                    work.make(part)
                    made.append(part.name)
                done.add(part.name)
                progress.advance()

    missing: list[str] = []
    for together in in_order:
        if missing:  # of an earlier round
            break
        mine = [part for part in together[worker - 1 :: workers] if part.stage in needed]
        try:
            do(mine)
        except MissingPartsError as lacking:  # they were damaged since they were made
            for part in plan.named(lacking.names):
                plan.discard(part)
            missing = _missing_after(plan, lacking.names, 0 if own & {*lacking.names} else wait)
            if not missing:
                do([part for part in mine if part.name not in (*made, *found)])
        if together[-1].stage != COUNTS and not missing:
            others = [part.name for part in together if part.stage in needed and part.name not in done]
            missing = _missing_after(plan, others, wait)
    return PlanRun(made, found, missing)


def _missing_after(plan: TilePlan, names: list[str], wait: float) -> list[str]:
    """Those of some parts that are not there, after waiting for them. Whoever uses them proves that they are whole."""
    begun = time.monotonic()
    with Progress("waiting for parts of others", len(names), "part") as progress:
        while names:
            there, before = plan.look(), len(names)
            names = [name for name in names if name not in there]
            progress.advance(before - len(names))
            waited = time.monotonic() - begun
            if not names or waited >= wait:
                break
            # At most a tenth of a wait, or of a second, is for nothing.
            time.sleep(min(max(_SHORTEST_PAUSE, waited / 10), _LONGEST_PAUSE, wait - waited))
    return names


def check_wait(seconds: float) -> float:
    return check_number("wait", seconds, 0, _LONGEST_WAIT)


def check_engine(engine: str, address: str | None, workers: int = 1) -> None:
    if not is_one_of(engine, ENGINES):
        raise InputError(f"no engine {shown(engine)}; there are {' and '.join(ENGINES)}")
    if address is not None and engine != RAY:
        raise InputError("only the engine ray has an address", options=["engine"])
    if workers != 1 and engine == RAY:
        raise InputError("the engine ray shares the parts out itself: name no share")


class PlannedParts:
    """The parts of a plan as work: for whoever hands them out one by one."""

    def __init__(self, plan: TilePlan, offline: bool | None = None, twin: TilePlan | None = None) -> None:
        self.plan, self._offline, self._twin = plan, offline, twin
        self._radii: dict[str, np.ndarray] = {}

    def make(self, part: Part) -> None:
        """Do one part and keep what it found, once all that its phase needs is there."""
        if self._twin is not None and (found := self.plan.found_by(self._twin, part)) is not None:
            self.plan.keep(part, found)
            return
        if part.stage in VECTORS:
            self.plan.keep(part, {"vectors": self._encoded(part)})
            return
        if part.stage in ROWS:
            self.plan.keep(part, self._joined(part))
            return
        if part.stage == COUNTS:
            found = self._counts(part)
        else:
            rows = self._rows[RADII.index(part.stage)]
            found = {"radii": squared_radii(rows, part.rows, self.plan.ks)}
        for vectors in self._vectors:
            vectors.check_unchanged()
        self.plan.keep(part, found)

    def _encoded(self, part: Part) -> np.ndarray:
        """Vectors of the texts of a part that stand nowhere before."""
        encoding = self.plan.encoding
        assert encoding is not None
        read = self._texts[VECTORS.index(part.stage)].part(part.number, part.rows.stop - part.rows.start)
        return encoding.vectors(self._encoder, [read[place] for place in self.plan.own_texts(part).tolist()])

    @cached_property
    def _texts(self) -> list[OpenTexts]:
        files = self.plan.reference, self.plan.candidate
        return [OpenTexts(file, Path(str(file.proved(self.plan.folder)))) for file in files]

    @cached_property
    def _encoder(self) -> Encoder:
        assert self.plan.encoding is not None
        return self.plan.encoding.resolved(self.plan.folder, self._offline)

    def _joined(self, part: Part) -> dict[str, np.ndarray]:
        """All vectors of one side in one file: a text that stands somewhere before has the vector from there."""
        plan, side = self.plan, ROWS.index(part.stage)
        file = (plan.reference, plan.candidate)[side]
        first = plan.first_equal
        rank = np.cumsum(first == np.arange(len(first))) - 1  # of a text that stands nowhere before, among these
        start = plan.reference.rows * side
        wanted_rank = rank[first[start : start + file.rows]]
        order = np.argsort(wanted_rank, kind="stable")
        with whole(file.joined(plan.folder), checked=True) as temporary:
            written = new_npy(temporary, np.float32, (file.rows, file.dimensions))
            before = 0
            for shard in (shard for stage in VECTORS for shard in plan.parts[stage]):
                many = len(plan.own_texts(shard))
                lines = order[slice(*np.searchsorted(wanted_rank, [before, before + many], sorter=order))]
                if len(lines):
                    found = plan.read(shard)
                    if found is None:
                        shards = [shard for stage in VECTORS for shard in plan.parts[stage]]
                        missing = [each.name for each in shards if not plan.is_whole(each)] or [shard.name]
                        raise MissingPartsError(
                            f"{part.name} needs all vectors, but {listed(missing)} missing", missing
                        )
                    written[lines] = found["vectors"][wanted_rank[lines] - before]
                before += many
            written.flush()
            content = content_of(temporary)
        return {"bytes": np.array([content.bytes]), "digest": np.frombuffer(bytes.fromhex(content.digest), np.uint8)}

    def missing_radii(self) -> list[str]:
        """Names of the radii parts that are not there, or not whole."""
        missing: list[str] = []
        radii: dict[str, list[np.ndarray]] = {stage: [] for stage in RADII}
        for part in (part for stage in RADII for part in self.plan.parts[stage]):
            found = self.plan.read(part)
            if found is None:
                missing.append(part.name)
            else:
                radii[part.stage].append(found["radii"])
        self._radii = {} if missing else {stage: np.concatenate(of_stage) for stage, of_stage in radii.items()}
        return missing

    @cached_property
    def _vectors(self) -> list[OpenVectors]:
        return opened_vectors(self.plan)

    @cached_property
    def _rows(self) -> list[StreamedRows]:
        values = [vectors.values for vectors in self._vectors]
        return [StreamedRows(*side) for side in zip(values, self.plan.foldings(values), strict=True)]

    def _counts(self, part: Part) -> dict[str, np.ndarray]:
        if not self._radii and (missing := self.missing_radii()):
            raise MissingPartsError(f"{part.name} needs all radii, but {listed(missing)} missing", missing)
        reference, candidate = self._rows
        of_reference, of_candidate = (self._radii[stage] for stage in RADII)
        return memberships(
            reference, candidate, part.rows, self.plan.ks, of_reference[part.rows], of_candidate
        )._asdict()


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
        done = plan.done()
        names = [part.name for stage in wanted(plan.parts, done) for part in plan.parts[stage] if part.name not in done]
        raise _missing(plan, names or lacking.names) from None
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
    results = evaluate_prepared(prepared, pairs={plan.candidate_name: pair})
    for each in vectors:
        each.check_unchanged()
    return results


def opened_vectors(plan: TilePlan) -> list[OpenVectors]:
    """Of both sides; of texts, once they are all made."""
    files = plan.reference, plan.candidate
    if plan.encoding is None:
        return [file.opened(plan.folder) for file in files]
    rows = [part.name for stage in ROWS for part in plan.parts[stage]]
    if (joined := plan.joined()) is None:
        raise _missing(plan, [name for name in rows if name not in plan.look()] or rows)
    opened = [file.opened_joined(plan.folder, content) for file, content in zip(files, joined, strict=True)]
    if missing := [name for name, vectors in zip(rows, opened, strict=True) if vectors is None]:
        raise _missing(plan, missing)
    return [vectors for vectors in opened if vectors is not None]


def planned_files(folder: str | os.PathLike[str]) -> list[str]:
    """Wherever the files that a plan is for may lie: nothing is written there."""
    plan = TilePlan.opened(place_of(path_of(folder, "the plan's folder")))
    return [
        place
        for file in (plan.reference, plan.candidate)
        for place in (file.path, str(seen_from(plan.folder, file.beside)))
    ]


def _missing(plan: TilePlan, names: list[str]) -> MissingPartsError:
    return MissingPartsError(f"of {plan.folder} {listed(names)} missing or damaged: run the plan again", names)


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
            raise _missing(plan, [part.name])
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


def listed(names: list[str]) -> str:
    """Some names of many, and the verb."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} {'is' if len(names) == 1 else 'are'}"
