"""How close is a set of generated texts to a set of human ones?

    import recapture as rc
    rc.evaluate(human_texts, {"model a": texts_a, "model b": texts_b})

Reference first, candidate second, everywhere. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
import os

from .versions import VERSION

__version__ = VERSION

TYPE_CHECKING = False  # as in typing, whose import would take longer than all the rest of this file
# For type checkers and editors alone: a metric that is missing here works all the same.
if TYPE_CHECKING:
    from typing import Any

    from .agreement.data.read_scores import read_scores as read_scores
    from .agreement.data.score_matrix import ScoreMatrix as ScoreMatrix
    from .agreement.statistics.accuracy import pairwise_accuracy as pairwise_accuracy
    from .agreement.statistics.accuracy import soft_pairwise_accuracy as soft_pairwise_accuracy
    from .agreement.statistics.coefficients import correlation as correlation
    from .agreement.statistics.correlation_values import metric_correlations as metric_correlations
    from .agreement.statistics.distributions import score_distributions as score_distributions
    from .agreement.statistics.kendall import kendall_tau as kendall_tau
    from .agreement.statistics.paired_bootstrap import paired_bootstrap as paired_bootstrap
    from .agreement.statistics.swapping import swapping_test as swapping_test
    from .agreement.statistics.sweeps import sweep as sweep
    from .agreement.statistics.tie_calibration import tie_calibration as tie_calibration
    from .agreement.statistics.williams import williams_test as williams_test
    from .agreement.with_people import compare_metrics as compare_metrics
    from .agreement.with_people import correlate as correlate
    from .blame.diagnose import diagnose as diagnose
    from .blame.diagnosis import Diagnosis as Diagnosis
    from .contexts.evaluate import evaluate_contexts as evaluate_contexts
    from .contexts.metrics.aggregate import aggregate as aggregate
    from .contexts.metrics.dispersion import dispersion as dispersion
    from .contexts.metrics.triangle_rank import triangle_rank as triangle_rank
    from .contexts.pairwise import list_pairwise as list_pairwise
    from .contexts.pairwise_scores import pairwise_scores as pairwise_scores
    from .divergences.measures import list_measures as list_measures
    from .errors import InputError as InputError
    from .errors import OptionError as OptionError
    from .files import cache_folder as cache_folder
    from .journal import Journal as Journal
    from .labellings.combine import benjamini_hochberg as benjamini_hochberg
    from .labellings.combine import fisher as fisher
    from .labellings.combine import harmonic_mean_p as harmonic_mean_p
    from .labellings.combine import holm as holm
    from .labellings.permutation import permutation_test as permutation_test
    from .lexical.ngrams import DocumentFrequencies as DocumentFrequencies
    from .lexical.tokens import caption_tokens as caption_tokens
    from .page import Page as Page
    from .pairs.declaration import list_pair_metrics as list_pair_metrics
    from .pairs.evaluate import evaluate_pairs as evaluate_pairs
    from .pairs.metrics.bertscore import bertscore as bertscore
    from .pairs.metrics.bleu import bleu as bleu
    from .pairs.metrics.chrf import chrf as chrf
    from .pairs.metrics.cider import cider as cider
    from .pairs.metrics.cross_entropy import cross_entropy as cross_entropy
    from .pairs.metrics.infolm import infolm as infolm
    from .pairs.metrics.mark_evaluate_words import mark_evaluate_words as mark_evaluate_words
    from .pairs.metrics.meteor import meteor as meteor
    from .pairs.metrics.moverscore import moverscore as moverscore
    from .pairs.metrics.prd_words import prd_words as prd_words
    from .pairs.metrics.precision_recall_words import precision_recall_words as precision_recall_words
    from .pairs.metrics.rouge import rouge as rouge
    from .pairs.metrics.ter import ter as ter
    from .plans.evaluate_files import evaluate_files as evaluate_files
    from .plans.planned_work import make_plan as make_plan
    from .plans.planned_work import merge_plan as merge_plan
    from .plans.planned_work import run_plan as run_plan
    from .report import Result as Result
    from .report import Results as Results
    from .report import Table as Table
    from .representations.encode import encode as encode
    from .representations.encoder import resolve_encoder as resolve_encoder
    from .representations.model_info import model_info as model_info
    from .sets.declaration import list_metrics as list_metrics
    from .sets.evaluate import evaluate as evaluate
    from .sets.metrics.density_coverage import density_coverage as density_coverage
    from .sets.metrics.frechet import frechet as frechet
    from .sets.metrics.mark_evaluate import mark_evaluate as mark_evaluate
    from .sets.metrics.mark_evaluate import mark_evaluate_sweep as mark_evaluate_sweep
    from .sets.metrics.mauve import mauve as mauve
    from .sets.metrics.mmd import mmd as mmd
    from .sets.metrics.prd import prd as prd
    from .sets.metrics.precision_recall import precision_recall as precision_recall
    from .similarity.diversity import distinct_n as distinct_n
    from .similarity.diversity import self_bleu as self_bleu
    from .systems.answer import compare as compare
    from .systems.comparison import Comparison as Comparison
    from .systems.gate import Gate as Gate
    from .systems.of_contexts import compare_contexts as compare_contexts
    from .systems.of_pairs import compare_pairs as compare_pairs
    from .systems.saved_results import compare_saved as compare_saved
    from .systems.stored_baseline import save_baseline as save_baseline
    from .texts import read as read
    from .texts.context_files import Context as Context
    from .texts.context_files import read_contexts as read_contexts

_HOME = {
    "InputError": "errors",
    "OptionError": "errors",
    "Page": "page",
    "Result": "report",
    "Results": "report",
    "Table": "report",
    "read_scores": "agreement.data.read_scores",
    "ScoreMatrix": "agreement.data.score_matrix",
    "pairwise_accuracy": "agreement.statistics.accuracy",
    "soft_pairwise_accuracy": "agreement.statistics.accuracy",
    "metric_correlations": "agreement.statistics.correlation_values",
    "score_distributions": "agreement.statistics.distributions",
    "kendall_tau": "agreement.statistics.kendall",
    "paired_bootstrap": "agreement.statistics.paired_bootstrap",
    "swapping_test": "agreement.statistics.swapping",
    "sweep": "agreement.statistics.sweeps",
    "tie_calibration": "agreement.statistics.tie_calibration",
    "williams_test": "agreement.statistics.williams",
    "correlation": "agreement.statistics.coefficients",
    "compare_metrics": "agreement.with_people",
    "correlate": "agreement.with_people",
    "diagnose": "blame.diagnose",
    "Diagnosis": "blame.diagnosis",
    "encode": "representations.encode",
    "resolve_encoder": "representations.encoder",
    "model_info": "representations.model_info",
    "cache_folder": "files",
    "Journal": "journal",
    "Context": "texts.context_files",
    "pairwise_scores": "contexts.pairwise_scores",
    "evaluate": "sets.evaluate",
    "list_metrics": "sets.declaration",
    "mark_evaluate_sweep": "sets.metrics.mark_evaluate",
    "compare": "systems.answer",
    "Comparison": "systems.comparison",
    "Gate": "systems.gate",
    "compare_contexts": "systems.of_contexts",
    "compare_pairs": "systems.of_pairs",
    "compare_saved": "systems.saved_results",
    "save_baseline": "systems.stored_baseline",
    "read": "texts",
    "read_contexts": "texts.context_files",
    "aggregate": "contexts.metrics.aggregate",
    "dispersion": "contexts.metrics.dispersion",
    "evaluate_contexts": "contexts.evaluate",
    "triangle_rank": "contexts.metrics.triangle_rank",
    "distinct_n": "similarity.diversity",
    "self_bleu": "similarity.diversity",
    "evaluate_files": "plans.evaluate_files",
    **dict.fromkeys(("make_plan", "merge_plan", "run_plan"), "plans.planned_work"),
    "permutation_test": "labellings.permutation",
    "DocumentFrequencies": "lexical.ngrams",
    "caption_tokens": "lexical.tokens",
    "list_pairwise": "contexts.pairwise",
    "list_measures": "divergences.measures",
    "list_pair_metrics": "pairs.declaration",
    "evaluate_pairs": "pairs.evaluate",
    **dict.fromkeys(("benjamini_hochberg", "fisher", "harmonic_mean_p", "holm"), "labellings.combine"),
}
"""Where each public name lives."""
_METRICS = ("sets.metrics", "pairs.metrics")
"""Folders whose files have a public function of their own name, so that a new metric needs no line here."""

_FOLDERS = [f"{__path__[0]}/{folder.replace('.', '/')}" for folder in _METRICS]
_FILES = [name.partition(".") for folder in _FOLDERS for name in os.listdir(folder)]  # noqa: PTH208 - fast
__all__ = sorted({*_HOME, *(stem for stem, _, ending in _FILES if ending == "py" and stem != "__init__")})


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for home in [_HOME[name]] if name in _HOME else [f"{folder}.{name}" for folder in _METRICS]:
            try:
                module = importlib.import_module(f"{__name__}.{home}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{home}":
                    raise
                continue
            value = getattr(module, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
