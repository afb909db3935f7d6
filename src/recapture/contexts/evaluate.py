"""Many contexts by many metrics: distances and vectors once, contexts of one shape together, finished ones kept."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_level, check_seed, plain_arguments
from ..declarations import installed_version
from ..errors import InputError, shown
from ..geometry.devices import on_device
from ..geometry.triangles import Ties
from ..journal import Journal
from ..labellings.plans import Pvalue
from ..pairs.evaluate import Shared
from ..pairs.to_similarity import PairSimilarity, ready
from ..progress import Progress
from ..report.result import content_digest
from ..similarity.scorer import Scorer, VectorScorer
from ..texts.context_files import Context, given_contexts
from ..versions import VERSION
from .declaration import METRICS, Batch, ContextMetric, Settings, check_ties, usual_metrics
from .distances import NO_SCORE
from .pairwise import PAIRWISE
from .table import ContextResults, totals_of, without_pvalues
from .uncertainty import (
    ANALYTIC,
    ENOUGH_ANALYTIC,
    INSTEAD,
    Analytic,
    Asked,
    ContextScores,
    check_analytic,
    pvalue_name,
    relabelled_name,
    rough,
    smallest_name,
    too_few_for_analytic,
)

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache

Record = dict[str, Any]
"""What a context's line of the journal, and of the file of contexts, says."""
_CHUNK = 16
"""Most contexts between two entries of the journal."""
_CELLS = 1 << 21
"""Most pairs of texts between them."""


@on_device
@plain_arguments
def evaluate_contexts(
    contexts: Iterable[Context | Mapping[str, Any]],
    metrics: str | Iterable[str] | None = None,
    *,
    pvalue: Pvalue = False,
    interval: float | None = None,
    ties: Ties = "split",
    directed: bool = False,
    encoder: EncoderLike | None = None,
    model: str | os.PathLike[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    resume: bool = True,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
) -> ContextResults:
    """Scores of every context and their totals, by many metrics.

    Contexts without candidates, with fewer than two references, or too small for a metric are left out of it, counted
    and named.

    Parameters
    ----------
    contexts : iterable of Context or mapping
        Mappings have `references`, `candidates` and (if not, the position is its name) `id`.
    metrics : str or iterable of str, optional
        Names, as a list or separated by commas: trm-NAME, dispersion-NAME, NAME, NAME-best and NAME-mean for every
        pairwise metric (see `list_pairwise`); every metric of two sets (see `list_metrics`); self-bleu, distinct-1,
        distinct-2. Default: triangle ranks over METEOR, CIDEr-D and embeddings, MMD, Fréchet, MAUVE, METEOR, CIDEr-D,
        without those that need an encoder where none can run.
    pvalue : bool, int, "exact", "sampled" or "analytic", default False
        As for `triangle_rank`; "analytic" goes with triangle ranks alone.
    interval : float, optional
        A level such as 0.95, for intervals of the means over contexts.
    ties, directed
        As for `triangle_rank`.
    encoder : str, path, callable or Encoder, optional
        What turns texts into vectors; see `encode`. For BERTScore and MoverScore a transformer by name or folder.
    model : str or path, optional
        The masked language model of InfoLM, by name or folder (default: recapture-minilm-head).
    options : mapping of str to mapping, optional
        A pairwise metric's own, or those of a metric of two sets, by its name: {"meteor": {"wordnet": folder},
        "infolm": {"measure": "l2"}, "mmd": {"form": "printed"}}. CIDEr-D takes its document frequencies from all
        references given here unless options say otherwise, and so do BERTScore, MoverScore and InfoLM with idf
        (`idf_from` has other texts).
    seed : int, default 0
        For all that is drawn at random.
    resume : bool, default True
        Keep finished contexts on disk until the run is complete; the same call, repeated, goes on from there.
    batch_tokens : int, optional
        How many tokens go at once through the models of BERTScore, MoverScore and InfoLM.
    pooling, device, batch_size, offline, truncate, cache
        For `encode`; on `device` triangles are ranked, too, where it is a GPU and there are many of them.

    Returns
    -------
    ContextResults
        `.contexts` (one dict each), `.totals`, `.left_out`, `.warnings`, `.signature`. Printed: a table of totals.

    Examples
    --------
    >>> import recapture as rc
    >>> context = rc.Context("1", ("a cat sat", "a dog ran"), ("a cat sat", "a dog ran"))
    >>> results = rc.evaluate_contexts([context], "rouge-l", resume=False)
    >>> results.totals[0].mean  # every candidate is a reference
    1.0
    """
    check_ties(ties)
    level = check_level(interval)
    if metrics is None:
        chosen, left_out = usual_metrics(encoder, offline)
        if left_out:
            warnings.warn(left_out, stacklevel=4)  # the caller's line: two frames are the decorators'
    else:
        chosen = METRICS.choose(metrics)
    loading = {"pooling": pooling, "device": device, "offline": offline, "truncate": truncate or None}
    of_words = {"model": model, "batch_tokens": batch_tokens}
    encoding = {"batch_size": batch_size, "cache": cache}
    given = given_contexts(contexts)
    run = _Run(
        given,
        chosen,
        Settings(ties, directed, check_seed(seed)),
        Asked(pvalue, seed, nulls=False),
        encoder,
        {} if options is None else options,
        {name: value for name, value in loading.items() if value is not None},
        {name: value for name, value in encoding.items() if value is not None},
        {name: value for name, value in of_words.items() if value is not None},
    )
    records = run.score(resume)
    run.check_some_fit(records)
    totals = totals_of(run.metrics, records, level)
    people = content_digest([context.references for context in given])
    return ContextResults(records, totals, {**run.signature(), "interval": level}, run.warnings(), people)


class _Run:
    def __init__(
        self,
        contexts: list[Context],
        metrics: list[ContextMetric],
        settings: Settings,
        asked: Asked,
        encoder: Any,
        options: Mapping[str, Mapping[str, Any]],
        loading: Mapping[str, Any],
        encoding: Mapping[str, Any],
        of_words: Mapping[str, Any],
    ) -> None:
        self.contexts = contexts
        self._settings = settings
        self._asked = asked
        self._learnt = ""
        self._encoding = encoding
        wanted = list(dict.fromkeys(metric.similarity for metric in metrics if metric.similarity))
        if not isinstance(options, Mapping) or not all(isinstance(own, Mapping) for own in options.values()):
            raise InputError(f"options are a mapping from metrics to their parameters, not {shown(options)}")
        options = {str(name).replace("_", "-"): own for name, own in options.items()}
        tunable = [metric.name for metric in metrics if metric.tuned]
        self._tuned = {name: dict(own) for name, own in options.items() if name in tunable}
        self.metrics = metrics = [
            metric.tuned(self._tuned[metric.name]) if metric.tuned and metric.name in self._tuned else metric
            for metric in metrics
        ]
        for name in options:
            if name not in wanted and name not in tunable:
                raise InputError(f"options for {name!r}, but no metric is built on it")
        if asked.wanted and not any(metric.tested for metric in metrics):
            raise InputError("; ".join(without_pvalues({metric.name: metric.no_pvalue for metric in metrics})))
        if not any(metric.ranks_triangles for metric in metrics) and (settings.directed or settings.ties != "split"):
            raise InputError(
                f"{'directed' if settings.directed else 'ties'} is about triangle ranks: name a trm- metric"
            )
        self._check_partitions()
        declared = {name: PAIRWISE.find(name) for name in wanted}
        on_vectors = [name for name in wanted if declared[name].on_vectors]
        needed = bool(on_vectors) or any(metric.vectors for metric in metrics)
        on_pairs = [each for each in declared.values() if isinstance(each, PairSimilarity)]
        self._shared = self._models(on_pairs, options, encoder, {**loading, **of_words}, needed)
        # Texts are encoded once for all metrics of vectors, unless one has an encoder of its own.
        self._sharing = {name for name in on_vectors if "encoder" not in options.get(name, {})}
        self._encoder = self._fitted(encoder, loading) if needed else None
        self._scorers = {name: self._scorer(name, dict(options.get(name, {}))) for name in wanted}
        # What a caller's function depends on is not known, so earlier results may be out of date.
        made_up = self._encoder is not None and self._encoder.identity().get("kind") == "function"
        self._repeatable = not made_up and not any(
            callable(value) for own in options.values() for value in own.values()
        )

    def _check_partitions(self) -> None:
        """Refuse p-values that some context cannot have before the first one is scored."""
        tested = [metric for metric in self.metrics if metric.tested]
        analytic = self._asked.analytic and all(metric.ranks_triangles for metric in tested)
        if not analytic:
            self._asked.plan(1, 1, symmetric=False)
        if analytic:
            check_analytic(self._settings.ties)
            return  # contexts that have none are left out
        seen: set[tuple[int, int]] = set()
        for context in self.contexts:
            sizes = len(context.references), len(context.candidates)
            if sizes in seen or all(metric.too_small(*sizes) for metric in tested):
                continue
            seen.add(sizes)
            try:
                self._asked.plan(*sizes, symmetric=False)
            except InputError as error:
                raise InputError(f"context {context.id}: {error}") from None

    def check_some_fit(self, records: Sequence[Record]) -> None:
        """Refuse an analytic p-value that no context has."""
        if not self._asked.analytic:
            return
        tested = [metric.name for metric in self.metrics if metric.tested]
        if any(name in record["scores"] for record in records for name in tested):
            return
        for record in records:
            for name in tested:
                if ANALYTIC in (reason := record["left_out"].get(name, "")):
                    what = f"context {record['id']}: {reason}"
                    others = f"; the other {len(records) - 1:,} have none, either" if len(records) > 1 else ""
                    raise InputError(f"{what}{others}: {INSTEAD}")

    def _models(
        self,
        metrics: Sequence[PairSimilarity],
        options: Mapping[str, Mapping[str, Any]],
        encoder: Any,
        given: Mapping[str, Any],
        vectors: bool,
    ) -> Shared | None:
        """What the metrics that were made for aligned texts share; an argument that nothing would use is refused.

        vectors: whether some metric needs vectors of whole texts.
        """
        words = [
            each.name for each in metrics if each.model == "encoder" and "encoder" not in options.get(each.name, {})
        ]
        masked = any(each.model == "model" and "model" not in options.get(each.name, {}) for each in metrics)
        there = vectors or metrics or any(each.ranks_triangles for each in self.metrics)
        used = {"encoder": vectors or words, "device": there, "model": masked, "batch_tokens": metrics}
        asked = {"encoder": encoder, **given, **self._encoding}
        for name in ("encoder", "pooling", "device", "truncate", "batch_size", "model", "batch_tokens"):
            if asked.get(name) is not None and not used.get(name, vectors):
                what = {"encoder": "an encoder", "model": "a masked language model"}.get(name, name)
                lacks = "has one" if name == "model" else "has vectors of whole texts" if metrics else "needs vectors"
                raise InputError(f"{what} was named, but no metric {lacks}")
        if not metrics:
            return None
        if words and encoder is not None and not isinstance(encoder, (str, PathLike)):
            raise InputError(
                f"{words[0]} needs vectors of word pieces, which {shown(encoder)} does not have: "
                "name a transformer for it, in its own options"
            )
        names = ("device", "offline", "model", "batch_tokens")
        loading = {name: asked[name] for name in names if asked.get(name) is not None}
        return Shared(encoder if words else None, **loading, cache=self._encoding.get("cache", True))

    def _fitted(self, encoder: Any, loading: Mapping[str, Any]) -> Any:
        """The encoder, which has learnt from all references if it learns; from all texts where sides are tested, since
        a space made from one side sets it apart from the other.
        """
        from ..representations.encoder import resolve_encoder

        resolved = resolve_encoder(encoder, **loading)
        blind = self._asked.wanted
        sides = [context.references + (context.candidates if blind else ()) for context in self.contexts]
        fitted = resolved.fit([text for texts in sides for text in texts])
        if fitted is not resolved:
            self._learnt = "all texts, blind to sides" if blind else "the references"
        return fitted

    def _scorer(self, name: str, options: dict[str, Any]) -> Scorer:
        similarity = PAIRWISE.find(name)
        own: Mapping[str, Any] = options
        if similarity.corpus_options is not None:
            own = similarity.corpus_options([context.references for context in self.contexts], own)
        if similarity.on_vectors:
            own = {"encoder": self._encoder, **self._encoding, **own}
        if isinstance(similarity, PairSimilarity):
            return ready(similarity, own, self._shared)
        return similarity.scorer(**own)

    def signature(self) -> dict[str, Any]:
        """Everything the numbers depend on, apart from the texts."""
        libraries = sorted({library for metric in self.metrics for library in metric.libraries})
        return {
            "metrics": [metric.name for metric in self.metrics],
            "pvalue": self._asked.pvalue,
            **asdict(self._settings),
            "pairwise": {name: dict(scorer.settings) for name, scorer in self._scorers.items()},
            **({"options": self._tuned} if self._tuned else {}),
            "encoder": self._identity(),
            "versions": {"recapture": VERSION, **{name: installed_version(name) for name in libraries}},
        }

    def _identity(self) -> dict[str, Any] | None:
        if self._encoder is None:
            return None
        return {**self._encoder.identity(), **({"learnt from": self._learnt} if self._learnt else {})}

    def warnings(self) -> list[str]:
        """What makes numbers say less than they seem to."""
        texts = [text for context in self.contexts for text in (*context.references, *context.candidates)]
        empty = sum(not text.strip() for text in texts)
        warnings = [f"{empty:,} of {len(texts):,} texts are empty; they were kept"] if empty else []
        if self._encoder is not None:
            from ..representations.facts import notes_on

            warnings += notes_on(self._encoder, texts, "the contexts")
        alone = [metric.name for metric in self.metrics if metric.varies_with_size]
        uneven = sum(0 < len(context.candidates) != len(context.references) for context in self.contexts)
        if alone and uneven:
            warnings.append(
                f"{', '.join(alone)}: sides differ in size in {uneven:,} contexts, and more texts look less varied; "
                "compare dispersion instead"
            )
        if self._asked.analytic:
            sizes = [(len(context.references), len(context.candidates)) for context in self.contexts]
            few = sum(rough(*each) for each in sizes if not too_few_for_analytic(*each))
            if few:
                what = f"fewer than {ENOUGH_ANALYTIC} texts a side"
                warnings.append(f"analytic p-values are rough in {few:,} contexts with {what}")
        return [*warnings, *(warning for scorer in self._scorers.values() for warning in scorer.warnings(texts))]

    def score(self, resume: bool) -> list[Record]:
        texts = json.dumps([asdict(context) for context in self.contexts], ensure_ascii=False)
        digest = hashlib.blake2b(texts.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        keep = resume and self._repeatable
        journal = Journal.of({**self.signature(), "contexts": digest}, "contexts") if keep else Journal(None)
        finished: dict[str, Record] = journal.finished()
        waiting = [context for context in self.contexts if context.id not in finished]
        for name, scorer in self._scorers.items():
            scorer.expect(
                [*context.references, *context.candidates] for context in waiting if self._asks(name, context)
            )
        try:
            with Progress("contexts", len(self.contexts), "context") as progress:
                progress.advance(len(finished))
                for chunk in _chunks(waiting):
                    records = self._chunk(chunk)
                    by_id = {record["id"]: record for record in records}
                    journal.add(by_id)
                    finished |= by_id
                    progress.advance(len(chunk))
        except KeyboardInterrupt:
            kept = f"{len(finished):,} of {len(self.contexts):,} contexts are kept"
            raise KeyboardInterrupt(
                f"{kept}: the same command goes on from there" if finished and keep else ""
            ) from None
        journal.close()
        return [finished[context.id] for context in self.contexts]

    def _chunk(self, chunk: Sequence[Context]) -> list[Record]:
        records: dict[str, Record] = {
            context.id: {
                "id": context.id,
                "references": len(context.references),
                "candidates": len(context.candidates),
                "scores": {},
                "left_out": {},
            }
            for context in chunk
        }
        shapes: dict[tuple[int, int], list[Context]] = defaultdict(list)
        for context in chunk:
            shapes[len(context.references), len(context.candidates)].append(context)
        vectors = self._vectors([context for context in chunk if self._any_fits(context)])
        for (references, candidates), group in shapes.items():
            reasons = {metric.name: metric.too_small(references, candidates) for metric in self.metrics}
            able = [metric for metric in self.metrics if reasons[metric.name] is None]
            for context in group:
                records[context.id]["left_out"] = {name: reason for name, reason in reasons.items() if reason}
            if not able:
                continue
            texts = [[*context.references, *context.candidates] for context in group]
            needed = dict.fromkeys(metric.similarity for metric in able if metric.similarity)
            own = [vectors[context.id] for context in group if context.id in vectors]
            squares = {name: np.stack(self._squares(name, texts, own)) for name in needed}
            batch = Batch(references, candidates, texts, squares, own)
            for metric in able:
                part, scorable = batch, list(range(len(group)))
                if metric.similarity:
                    part, scorable = _comparable(batch, metric.similarity)
                    for at in set(range(len(group))).difference(scorable):
                        records[group[at].id]["left_out"][metric.name] = NO_SCORE
                scored_contexts = metric.score(part, self._settings, self._asked) if scorable else []
                for context, scored in zip((group[at] for at in scorable), scored_contexts, strict=True):
                    nothing = [output for output, value in scored.values.items() if value is None]
                    if scored.unfit:
                        records[context.id]["left_out"][metric.name] = scored.unfit
                    elif nothing:
                        records[context.id]["left_out"][metric.name] = f"nothing to measure in {nothing[0]} texts"
                    else:
                        records[context.id]["scores"][metric.name] = _flat(scored)
        return list(records.values())

    def _squares(self, name: str, texts: Sequence[Sequence[str]], vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        scorer = self._scorers[name]
        if name in self._sharing and isinstance(scorer, VectorScorer):
            return scorer.squares_of(texts, vectors)
        return scorer.squares(texts)

    def _asks(self, similarity: str, context: Context) -> bool:
        """Whether some metric needs the scores of this context's texts by this metric between two texts."""
        sizes = len(context.references), len(context.candidates)
        return any(metric.similarity == similarity and metric.too_small(*sizes) is None for metric in self.metrics)

    def _any_fits(self, context: Context) -> bool:
        sizes = len(context.references), len(context.candidates)
        encoded = [metric for metric in self.metrics if metric.vectors or metric.similarity in self._sharing]
        return any(metric.too_small(*sizes) is None for metric in encoded)

    def _vectors(self, chunk: Sequence[Context]) -> dict[str, np.ndarray]:
        if not chunk:
            return {}
        from ..representations.encode import encode

        texts = [text for context in chunk for text in (*context.references, *context.candidates)]
        vectors = encode(texts, self._encoder, **self._encoding)
        ends = np.cumsum([len(context.references) + len(context.candidates) for context in chunk])
        return dict(zip((context.id for context in chunk), np.split(vectors, ends[:-1]), strict=True))


def _comparable(batch: Batch, similarity: str) -> tuple[Batch, list[int]]:
    """The part of a batch all of whose texts have scores by one metric between two texts, and its places."""
    square = batch.squares[similarity]
    places = np.flatnonzero(~np.isnan(square).any(axis=(1, 2))).tolist()
    if len(places) == len(square):
        return batch, places
    part = replace(
        batch,
        texts=[batch.texts[at] for at in places],
        squares={similarity: square[places]},
    )
    return part, places


def _chunks(contexts: Sequence[Context]) -> Iterator[list[Context]]:
    """Few enough contexts that all distances among their texts fit into memory."""
    chunk: list[Context] = []
    cells = 0
    for context in contexts:
        size = (len(context.references) + len(context.candidates)) ** 2
        if chunk and (len(chunk) == _CHUNK or cells + size > _CELLS):
            yield chunk
            chunk, cells = [], 0
        chunk.append(context)
        cells += size
    if chunk:
        yield chunk


def _flat(scored: ContextScores) -> dict[str, Any]:
    """One level, as it stands in the file of contexts."""
    flat: dict[str, Any] = dict(scored.values)
    for output, test in scored.tests.items():
        flat[pvalue_name(output)] = test.pvalue
        flat[smallest_name(output)] = test.smallest
        flat[relabelled_name(output)] = scored.relabelled[output]
    if scored.tests:
        test = next(iter(scored.tests.values()))
        flat |= {"exact": test.exact, "labellings": test.labellings, "tied": test.equal}
        flat |= {"projected": test.projected} if isinstance(test, Analytic) else {}
    return {**flat, **scored.details}
