"""InfoLM: information measures between what a masked language model expects of reference and of candidate.

Colombo, Clavel and Piantanida (2022), InfoLM: A New Metric to Evaluate Summarization & Data2Text Generation. Every
token of a text is masked in turn; the model's answers, distributions over its vocabulary at a temperature, are averaged
with idf weights (from the references, one table for both sides). The two averages are then compared by a measure of
`divergences.measures`. All measures are 0 for equal texts, and lower is better.

Everything is computed with logarithms in float64. So no probability becomes 0, and every measure is finite at any
temperature, except `alpha` outside (0, 1): its value may be too large for a float and is then infinite.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...checks import check_number, plain_value
from ...divergences.evaluation import evaluate_settings
from ...divergences.measures import Setting, check_parameter, settings
from ...errors import InputError, shown
from ...representations.kept import Kept
from ...similarity.scorer import Rule
from ..declaration import Output, PairMetric, TextPairScorer
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..idf import Idf, about_texts, by_pieces, idf_caption
from ..infolm_device import DEEPEST, Flight, launch

if TYPE_CHECKING:
    from ...representations.masked import Masked
    from ...representations.masked_model import MaskedModel
    from ...representations.vector_cache import VectorCache

_TOKENS_AT_ONCE = 32
"""Rows of the vocabulary held at once: enough to be worth reading the projection's weights."""
_KEPT_BYTES = 64 << 20
_HELD_BYTES = 1 << 30
"""Of distributions that will be asked for again; beyond, they are made again from the head's vectors."""
LOWEST, HIGHEST = 0.05, 10.0
"""Temperatures for which every measure is known to stay finite."""
COLDEST, HOTTEST = 1e-4, 1e4
"""Beyond these limits a float cannot tell a distribution from a single word, or from all words alike."""


@pair_function
def infolm(
    references: References,
    candidates: Candidates,
    measure: str | Sequence[str] = "fisher_rao",
    model: ModelName | None = None,
    temperature: float | Sequence[float] = 1.0,
    idf: bool = True,
    alpha: float | Sequence[float] | None = None,
    beta: float | Sequence[float] | None = None,
    *,
    over_references: Rule | None = None,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    cache: bool | ModelName | VectorCache = True,
) -> Answer:
    """InfoLM of every candidate against its own references, and the mean; 0 for equal texts, lower is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the nearest counts.
    {candidates}
    measure : str or list of str
        One or several of kl, jeffreys, alpha, renyi, ab, gamma, l1, l2, linf, fisher_rao; see `list_measures`.
    model : str or path, optional
        A masked language model by name or folder (default: recapture-minilm-head).
    temperature : float or list of float
        One or several; all of them come from one pass of the model.
    idf : bool
        Whether tokens that few references have weigh more. With a single reference, or equal ones, idf is 0 for every
        token they have: then all tokens count alike on both sides, and a warning says so.
    alpha, beta : float or list of float, optional
        Parameters of those measures that have them: one value, or several, which share one pass of the model, too. The
        measure ab is taken at every pair of an alpha and a beta.
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the nearest (default) or the mean.
    {loading}
    dtype : {"auto", "float32", "float16", "bfloat16"}, optional
        What the model computes in (default: float32 on a processor, float16 on CUDA). All that follows is float64.
    cache : bool or path
        Whether to keep the model's vectors on disk, or the folder to keep them in.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. One measure at one temperature is `.value` and
        `.scores`. Several are named `l2`, `l2@0.5`, ... in `.values`, and `.arrays["l2@0.5_scores"]` has the scores of
        single texts. Several values of a parameter are in the names: `renyi(alpha=0.5)`, `ab(alpha=0.5 beta=1)@2`.

    Examples
    --------
    >>> import recapture as rc
    >>> texts = ["It rained all day.", "The sun shone."]
    >>> rc.infolm(texts, texts).value
    0.0
    >>> sorted(rc.infolm(texts, texts, ["l1", "l2"], temperature=[0.5, 1]).values)
    ['l1@0.5', 'l1@1', 'l2@0.5', 'l2@1']
    >>> sorted(rc.infolm(texts, texts, ["l1", "renyi"], alpha=[0.5, 2]).values)
    ['l1', 'renyi(alpha=0.5)', 'renyi(alpha=2)']
    """
    parameters = {"measure": measure, "temperature": temperature, "idf": idf, "alpha": alpha, "beta": beta}
    options: dict[str, Any] = {"model": model, "device": device, "dtype": dtype, "batch_tokens": batch_tokens}
    options |= {"offline": offline, "cache": cache}
    return run_metric(METRIC, references, candidates, parameters, over_references, **options)


class InfoLMScorer(TextPairScorer):
    """All measures at all temperatures of pairs of texts."""

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        shared: Shared,
        asked: WantedNumbers,
        idf: bool,
        model: Any,
    ) -> None:
        self._store = shared.masked(model)
        self._asked = asked
        self._temperatures = asked.temperatures
        self._weighing = [text for group in references for text in group if text.strip()] if idf else None
        self._known: Kept[str, np.ndarray] = Kept(lambda logs: logs.nbytes, _KEPT_BYTES, _HELD_BYTES)
        self.symmetric = asked.settings[0].is_symmetric()
        self._flights: list[tuple[Sequence[tuple[str, str]], Flight]] = []
        self._infinite: dict[float, set[tuple[str, str]]] = {}
        self.settings = {
            "measure": asked.measures,
            "temperature": asked.temperatures,
            "idf": "references" if idf else "none",
            "alpha": _one_or_all(asked.alphas),
            "beta": _one_or_all(asked.betas),
            "model": self._store.model.identity(),
        }

    @functools.cached_property
    def _idf(self) -> Idf:
        """Made at first use: a device works on the first texts while all references are cut."""
        if self._weighing is None:
            return Idf.none()
        return Idf(piece.own for piece in self._store.pieces(self._weighing))

    def ahead(self, pairs: Sequence[tuple[str, str]]) -> None:
        flight = self._store.compared_there(lambda: self._launched(pairs))
        if flight is not None:
            self._flights.append((pairs, flight))

    def _launched(self, pairs: Sequence[tuple[str, str]]) -> Flight:
        vectors = self._store.launch([text for pair in pairs for text in pair])
        return launch(self._store, vectors, pairs, self._idf, self._asked.settings, self._temperatures)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        table = self._landed(pairs)
        return self._one_by_one(pairs) if table is None else self._columns(pairs, table)

    def _landed(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray | None:
        """What the device has made of these pairs; None where there is none, its memory does not suffice, or numbers
        are too large or too small for its way.
        """
        if not any(listed is pairs for listed, _ in self._flights):
            self.ahead(pairs)
        for place, (listed, flight) in enumerate(self._flights):
            if listed is pairs:
                del self._flights[place]
                return flight.land()
        return None

    def _one_by_one(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        self._store.ensure([text for pair in pairs for text in pair])
        table = np.full((len(self._asked.settings), len(self._temperatures), len(pairs)), math.nan)
        for place, (reference, candidate) in enumerate(pairs):
            p, q = self._distributions(reference), self._distributions(candidate)
            if p.size and q.size:  # not so for a text without tokens
                table[:, :, place] = evaluate_settings(self._asked.settings, p, q)
        return self._columns(pairs, table)

    def _columns(self, pairs: Sequence[tuple[str, str]], table: np.ndarray) -> dict[str, np.ndarray]:
        """table: (settings, temperatures, pairs)"""
        for setting, rows in zip(self._asked.settings, table, strict=True):
            lost = np.flatnonzero(np.isinf(rows).any(axis=0)).tolist()
            if lost and setting.alpha is not None:
                self._infinite.setdefault(setting.alpha, set()).update(pairs[at] for at in lost)
        return dict(zip(self._asked.names, table.reshape(-1, len(pairs)), strict=True))

    def looks(self, texts: Sequence[str]) -> list[Hashable]:
        return by_pieces(self._store, texts)

    def hold(self, texts: Sequence[str]) -> None:
        self._store.hold(texts)
        self._known.hold(texts)

    def release(self, texts: Sequence[str]) -> None:
        self._store.release(texts)
        self._known.release(texts)

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        notes = [*self._idf.warnings()]
        notes += about_texts(self._store, texts)
        far = [temperature for temperature in self._temperatures if not LOWEST <= temperature <= HIGHEST]
        if far:
            notes.append(
                f"temperature {far[0]:g} is outside {LOWEST:g} to {HIGHEST:g}, where measures are known to hold"
            )
        for alpha, pairs in sorted(self._infinite.items()):
            lost = sum(reference in texts and candidate in texts for reference, candidate in pairs)
            if lost:
                notes.append(f"alpha = {alpha:g} is outside (0, 1): {lost} pairs have numbers too large for a float")
        return notes

    def _distributions(self, text: str) -> np.ndarray:
        """(temperatures, vocabulary) logarithms; empty for a text without tokens."""
        if not self._known.missing([text]):
            return self._known[text]
        masked = self._store[text]
        shares = self._idf.shares(masked.ids.tolist())
        logs = self._store.computed(lambda: log_distributions(self._store.model, masked, shares, self._temperatures))
        self._known.put(text, logs)
        self._known.make_room(2)
        return logs


def log_distributions(
    model: MaskedModel, masked: Masked, shares: np.ndarray, temperatures: Sequence[float]
) -> np.ndarray:
    """(temperatures, vocabulary): logarithm of the weighted mean of a text's token distributions.

    A few tokens are computed at a time: a text of any length needs the memory of some rows of the vocabulary.
    """
    import torch

    chosen = np.flatnonzero(shares)
    if not len(chosen):
        return np.empty((0, 0))
    totals: list[Any] = [None] * len(temperatures)
    for some in np.array_split(chosen, math.ceil(len(chosen) / _TOKENS_AT_ONCE)):
        logits = model.logits(masked.vectors[some])
        double = logits.double() if logits.device.type != "mps" else logits  # mps has no float64
        double -= double.amax(dim=1, keepdim=True)
        weights = torch.from_numpy(shares[some]).to(double)
        lowest = float(double.min())
        for at, temperature in enumerate(temperatures):
            part = _mixed(double / temperature, weights, lowest / temperature)
            totals[at] = part if totals[at] is None else torch.logaddexp(totals[at], part)
    logs: np.ndarray = torch.stack(totals).cpu().numpy().astype(np.float64)
    # Removes the rounding of a long sum: every row sums to 1.
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs


def _mixed(scaled: Any, weights: Any, lowest: float) -> Any:
    """Logarithm of the weighted sum of the rows' softmax; their largest number is 0, the least `lowest`. Overwrites."""
    import torch

    if lowest > (DEEPEST if scaled.dtype == torch.float64 else -60.0):
        powers = scaled.exp_()
        return torch.log((weights / powers.sum(dim=1)) @ powers)
    logs = torch.log_softmax(scaled, dim=1).add_(torch.log(weights)[:, None])
    return torch.logsumexp(logs, dim=0)


class WantedNumbers(NamedTuple):
    """What is to be computed of every pair: settings of measures, each at every temperature."""

    settings: list[Setting]
    temperatures: list[float]
    alphas: list[float]
    betas: list[float]

    @property
    def measures(self) -> list[str]:
        return list(dict.fromkeys(setting.measure.name for setting in self.settings))

    @property
    def names(self) -> list[str]:
        """One for each setting and temperature: what there is only one of is not named."""
        if len(self.settings) == len(self.temperatures) == 1:
            return ["value"]
        at = [f"@{temperature:g}" for temperature in self.temperatures] if len(self.temperatures) > 1 else [""]
        return [self._name(setting) + behind for setting in self.settings for behind in at]

    def _name(self, setting: Setting) -> str:
        named = {
            name: value
            for name, value, all_values in (("alpha", setting.alpha, self.alphas), ("beta", setting.beta, self.betas))
            if value is not None and len(all_values) > 1
        }
        inside = " ".join(f"{name}={value:g}" for name, value in named.items())
        return f"{setting.measure.name}({inside})" if inside else setting.measure.name


def _one_or_all(values: Sequence[float]) -> float | list[float] | None:
    return None if not values else values[0] if len(values) == 1 else list(values)


def _checked(parameters: Mapping[str, Any]) -> WantedNumbers:
    names = parameters["measure"]
    if isinstance(names, str):
        names = [name for name in names.split(",") if name.strip()]
    elif not isinstance(names, Sequence) or not all(isinstance(value, str) for value in names):
        raise InputError(f"measure must be a name or a list of names, not {shown(names)}")
    alphas, betas = (_values(name, parameters[name]) for name in ("alpha", "beta"))
    asked = settings(names, alphas or [None], betas or [None])
    temperatures = _listed(parameters["temperature"])
    if not temperatures:
        raise InputError("no temperature was given")
    for value in temperatures:
        check_number("a temperature", value, what="a number above 0")
        if value <= 0:
            raise InputError(f"a temperature must be above 0, not {value:g}")
        if not COLDEST <= value <= HOTTEST:
            raise InputError(f"a temperature must be from {COLDEST:g} to {HOTTEST:g}, not {value:g}")
    _check_distinct("temperatures", temperatures)
    return WantedNumbers(asked, [float(value) for value in temperatures], alphas, betas)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


def _values(name: str, given: Any) -> list[float]:
    """The values of a parameter of measures; none: it was not given."""
    if given is None:
        return []
    values = [plain_value(value, name) for value in _listed(given)]
    if not values:
        raise InputError(f"no {name} was given: the list is empty")
    for value in values:
        check_parameter(name, value)
    _check_distinct(f"values of {name}", values)
    return values


def _check_distinct(what: str, values: Sequence[float]) -> None:
    """Names show six digits."""
    if len({f"{value:g}" for value in values}) < len(values):
        raise InputError(f"two {what} are the same")


def _outputs(parameters: Mapping[str, Any]) -> tuple[Output, ...]:
    asked = _checked(parameters)
    each = [setting for setting in asked.settings for _ in asked.temperatures]
    titles = [setting.measure.title for setting in each]
    return tuple(map(Output, asked.names, titles, [setting.range() for setting in each]))


def _prepare(
    references: Sequence[Sequence[str]],
    shared: Shared,
    measure: Any,
    temperature: Any,
    idf: Any,
    alpha: Any,
    beta: Any,
    model: Any,
) -> InfoLMScorer:
    asked = _checked({"measure": measure, "temperature": temperature, "alpha": alpha, "beta": beta})
    if not isinstance(idf, bool):
        raise InputError(f"idf must be true or false, not {shown(idf)}")
    return InfoLMScorer(references, shared, asked, idf, model)


def _caption(signature: Mapping[str, Any]) -> str:
    parameters = {name: signature[name] for name in ("alpha", "beta") if signature.get(name) is not None}
    parts = [
        ", ".join(signature["measure"]),
        "temperature " + ", ".join(f"{temperature:g}" for temperature in signature["temperature"]),
        *(f"{name} {', '.join(f'{value:g}' for value in _listed(values))}" for name, values in parameters.items()),
        idf_caption(signature),
    ]
    return "; ".join(parts)


METRIC = PairMetric(
    name="infolm",
    title="InfoLM",
    outputs=_outputs,
    direction="lower",
    prepare=_prepare,
    defaults={
        "measure": "fisher_rao",
        "temperature": 1.0,
        "idf": True,
        "alpha": None,
        "beta": None,
        "model": None,
    },
    between_texts="value",
    order=10,
    libraries=("numpy", "torch", "transformers"),
    caption=_caption,
    citation="Colombo, Clavel and Piantanida 2022, InfoLM, AAAI",
)
