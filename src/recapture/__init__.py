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
    from .agreement.compare import compare_metrics
    from .agreement.correlate import correlate, metric_correlations
    from .agreement.distributions import score_distributions
    from .agreement.matrix import ScoreMatrix
    from .agreement.reading import read_scores
    from .agreement.sweeps import sweep
    from .agreement.williams import williams_test
    from .contexts.aggregate import aggregate
    from .contexts.dispersion import dispersion
    from .contexts.evaluation import evaluate_contexts
    from .contexts.triangle_rank import triangle_rank
    from .diversity import distinct_n, self_bleu
    from .errors import InputError
    from .evaluation import evaluate
    from .inference.combine import benjamini_hochberg, fisher, harmonic_mean_p, holm
    from .inference.permutation import permutation_test
    from .information.measures import list_measures
    from .lexical.ngrams import DocumentFrequencies
    from .metrics.density_coverage import density_coverage
    from .metrics.frechet import frechet
    from .metrics.mark_evaluate import mark_evaluate, mark_evaluate_sweep
    from .metrics.mauve import mauve
    from .metrics.metric import list_metrics
    from .metrics.mmd import mmd
    from .metrics.prd import prd
    from .metrics.precision_recall import precision_recall
    from .pairs.base import list_pair_metrics
    from .pairs.bertscore import bertscore
    from .pairs.bleu import bleu
    from .pairs.chrf import chrf
    from .pairs.cider import cider
    from .pairs.cross_entropy import cross_entropy
    from .pairs.infolm import infolm
    from .pairs.mark_evaluate_words import mark_evaluate_words
    from .pairs.meteor import meteor
    from .pairs.moverscore import moverscore
    from .pairs.prd_words import prd_words
    from .pairs.precision_recall_words import precision_recall_words
    from .pairs.rouge import rouge
    from .pairs.run import evaluate_pairs
    from .pairs.ter import ter
    from .pairwise.base import list_pairwise
    from .representations.encode import encode
    from .results import Result, Results
    from .texts import read
    from .texts.contexts import read_contexts

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
    "Result": "results",
    "Results": "results",
    "ScoreMatrix": "agreement.matrix",
    "read_scores": "agreement.reading",
    "correlate": "agreement.correlate",
    "metric_correlations": "agreement.correlate",
    "score_distributions": "agreement.distributions",
    "sweep": "agreement.sweeps",
    "compare_metrics": "agreement.compare",
    "williams_test": "agreement.williams",
    "pairwise_accuracy": "agreement.accuracy",
    "soft_pairwise_accuracy": "agreement.accuracy",
    "encode": "representations.encode",
    "evaluate": "evaluation",
    "list_metrics": "metrics.metric",
    "mark_evaluate_sweep": "metrics.mark_evaluate",
    "read": "texts",
    "read_contexts": "texts.contexts",
    "aggregate": "contexts.aggregate",
    "dispersion": "contexts.dispersion",
    "evaluate_contexts": "contexts.evaluation",
    "triangle_rank": "contexts.triangle_rank",
    "distinct_n": "diversity",
    "self_bleu": "diversity",
    "permutation_test": "inference.permutation",
    "DocumentFrequencies": "lexical.ngrams",
    "list_pairwise": "pairwise.base",
    "list_measures": "information.measures",
    "list_pair_metrics": "pairs.base",
    "evaluate_pairs": "pairs.run",
    **{name: f"pairs.{name}" for name in _PAIRS},
    **dict.fromkeys(("benjamini_hochberg", "fisher", "harmonic_mean_p", "holm"), "inference.combine"),
}
__all__ = [
    "DocumentFrequencies",
    "InputError",
    "Result",
    "Results",
    "ScoreMatrix",
    "aggregate",
    "benjamini_hochberg",
    "bertscore",
    "bleu",
    "chrf",
    "cider",
    "compare_metrics",
    "correlate",
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
    "moverscore",
    "pairwise_accuracy",
    "permutation_test",
    "prd",
    "prd_words",
    "precision_recall",
    "precision_recall_words",
    "read",
    "read_contexts",
    "read_scores",
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
        module = importlib.import_module(f"{__name__}.{_HOME.get(name, f'metrics.{name}')}")
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith(__name__):
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    found = getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
