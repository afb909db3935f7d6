"""How close is a set of generated texts to a set of human ones?

    import recapture as rc
    rc.evaluate(human_texts, {"model a": texts_a, "model b": texts_b})

Reference first, candidate second, everywhere. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .agreement.accuracy import pairwise_accuracy, soft_pairwise_accuracy
    from .agreement.coefficients import correlation
    from .agreement.compare import compare_metrics
    from .agreement.correlate import correlate, metric_correlations
    from .agreement.distributions import score_distributions
    from .agreement.matrix import ScoreMatrix
    from .agreement.reading import read_scores
    from .agreement.sweeps import sweep
    from .agreement.williams import williams_test
    from .contexts.evaluate import evaluate_contexts
    from .contexts.metrics.aggregate import aggregate
    from .contexts.metrics.dispersion import dispersion
    from .contexts.metrics.triangle_rank import triangle_rank
    from .divergences.measures import list_measures
    from .errors import InputError
    from .journal import Journal
    from .labellings.combine import benjamini_hochberg, fisher, harmonic_mean_p, holm
    from .labellings.permutation import permutation_test
    from .lexical.ngrams import DocumentFrequencies
    from .lexical.tokens import caption_tokens
    from .pairs.declaration import list_pair_metrics
    from .pairs.evaluate import evaluate_pairs
    from .pairs.metrics.bertscore import bertscore
    from .pairs.metrics.bleu import bleu
    from .pairs.metrics.chrf import chrf
    from .pairs.metrics.cider import cider
    from .pairs.metrics.cross_entropy import cross_entropy
    from .pairs.metrics.infolm import infolm
    from .pairs.metrics.mark_evaluate_words import mark_evaluate_words
    from .pairs.metrics.meteor import meteor
    from .pairs.metrics.moverscore import moverscore
    from .pairs.metrics.prd_words import prd_words
    from .pairs.metrics.precision_recall_words import precision_recall_words
    from .pairs.metrics.rouge import rouge
    from .pairs.metrics.ter import ter
    from .report import Result, Results
    from .report.grid import Table
    from .representations.encode import encode
    from .representations.encoder import resolve_encoder
    from .representations.model_info import model_info
    from .representations.vector_cache import cache_folder
    from .sets.declaration import list_metrics
    from .sets.evaluate import evaluate
    from .sets.metrics.density_coverage import density_coverage
    from .sets.metrics.frechet import frechet
    from .sets.metrics.mark_evaluate import mark_evaluate, mark_evaluate_sweep
    from .sets.metrics.mauve import mauve
    from .sets.metrics.mmd import mmd
    from .sets.metrics.prd import prd
    from .sets.metrics.precision_recall import precision_recall
    from .similarity.diversity import distinct_n, self_bleu
    from .similarity.pairwise_scores import pairwise_scores
    from .similarity.scorer import list_pairwise
    from .texts import read
    from .texts.context_files import Context, read_contexts

_PAIRS = (
    "bertscore",
    "bleu",
    "chrf",
    "cider",
    "cross_entropy",
    "infolm",
    "mark_evaluate_words",
    "meteor",
    "moverscore",
    "prd_words",
    "precision_recall_words",
    "rouge",
    "ter",
)
_HOME = {
    "InputError": "errors",
    "Result": "report",
    "Results": "report",
    "ScoreMatrix": "agreement.matrix",
    "read_scores": "agreement.reading",
    "correlation": "agreement.coefficients",
    "correlate": "agreement.correlate",
    "metric_correlations": "agreement.correlate",
    "score_distributions": "agreement.distributions",
    "sweep": "agreement.sweeps",
    "compare_metrics": "agreement.compare",
    "williams_test": "agreement.williams",
    "pairwise_accuracy": "agreement.accuracy",
    "soft_pairwise_accuracy": "agreement.accuracy",
    "encode": "representations.encode",
    "resolve_encoder": "representations.encoder",
    "model_info": "representations.model_info",
    "cache_folder": "representations.vector_cache",
    "Journal": "journal",
    "Table": "report.grid",
    "Context": "texts.context_files",
    "pairwise_scores": "similarity.pairwise_scores",
    "evaluate": "sets.evaluate",
    "list_metrics": "sets.declaration",
    "mark_evaluate_sweep": "sets.metrics.mark_evaluate",
    "read": "texts",
    "read_contexts": "texts.context_files",
    "aggregate": "contexts.metrics.aggregate",
    "dispersion": "contexts.metrics.dispersion",
    "evaluate_contexts": "contexts.evaluate",
    "triangle_rank": "contexts.metrics.triangle_rank",
    "distinct_n": "similarity.diversity",
    "self_bleu": "similarity.diversity",
    "permutation_test": "labellings.permutation",
    "DocumentFrequencies": "lexical.ngrams",
    "caption_tokens": "lexical.tokens",
    "list_pairwise": "similarity.scorer",
    "list_measures": "divergences.measures",
    "list_pair_metrics": "pairs.declaration",
    "evaluate_pairs": "pairs.evaluate",
    **{name: f"pairs.metrics.{name}" for name in _PAIRS},
    **dict.fromkeys(("benjamini_hochberg", "fisher", "harmonic_mean_p", "holm"), "labellings.combine"),
}
__all__ = [
    "Context",
    "DocumentFrequencies",
    "InputError",
    "Journal",
    "Result",
    "Results",
    "ScoreMatrix",
    "Table",
    "aggregate",
    "benjamini_hochberg",
    "bertscore",
    "bleu",
    "cache_folder",
    "caption_tokens",
    "chrf",
    "cider",
    "compare_metrics",
    "correlate",
    "correlation",
    "cross_entropy",
    "density_coverage",
    "dispersion",
    "distinct_n",
    "encode",
    "evaluate",
    "evaluate_contexts",
    "evaluate_pairs",
    "fisher",
    "frechet",
    "harmonic_mean_p",
    "holm",
    "infolm",
    "list_measures",
    "list_metrics",
    "list_pair_metrics",
    "list_pairwise",
    "mark_evaluate",
    "mark_evaluate_sweep",
    "mark_evaluate_words",
    "mauve",
    "meteor",
    "metric_correlations",
    "mmd",
    "model_info",
    "moverscore",
    "pairwise_accuracy",
    "pairwise_scores",
    "permutation_test",
    "prd",
    "prd_words",
    "precision_recall",
    "precision_recall_words",
    "read",
    "read_contexts",
    "read_scores",
    "resolve_encoder",
    "rouge",
    "score_distributions",
    "self_bleu",
    "soft_pairwise_accuracy",
    "sweep",
    "ter",
    "triangle_rank",
    "williams_test",
]


def __getattr__(name: str) -> Any:
    # A metric's function carries the name of its file, so a new metric file needs no line here.
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_HOME.get(name, f'sets.metrics.{name}')}")
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith(__name__):
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    found = getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
