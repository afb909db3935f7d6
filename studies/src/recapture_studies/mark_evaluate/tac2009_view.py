"""What the studies of Table 3 show: agreement with people topic by topic, beside the paper's numbers, and claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

import recapture as rc

from ..agreement import Coefficient
from ..cells import Rows, estimate, keyed, mean_and_half, number
from ..paper import paper_numbers
from ..rated import shown
from ..spread import spread
from ..study import Claim
from ..verdicts import Verdict, above, absent, near, together

COEFFICIENTS: tuple[Coefficient, ...] = ("kendall", "pearson", "spearman")
"""In the paper's order."""
CRITERIA = ("responsiveness", "pyramid")
COLUMNS = tuple(f"{criterion}, {coefficient}" for criterion in CRITERIA for coefficient in COEFFICIENTS)
PAPER: dict[str, list[float | None]] = paper_numbers(__package__, "tac2009")
EARLIER: dict[str, list[float | None]] = paper_numbers(__package__, "tac2009-elsewhere")
NOT_HERE = "TAC 2009 is not here"
OWN = ("me-words quality", "me-words petersen", "me-words capture")
RIVALS = ("bertscore f1", "moverscore", "prd-words f1_8", "pr-words precision", "pr-words-k3 precision")
_LEVEL = "mark-evaluate/table-3/capture-level"
_ABOVE = "mark-evaluate/table-3/words-above-others"
_PEARSON = "mark-evaluate/table-3/pearson-above-prd-impar"
_WHY = "another encoder: BERT-base trained on MNLI there, and the best K of each method; here k = 1"

Found = Mapping[str, Mapping[str, np.ndarray]]
"""By metric and column: the correlation in each topic, NaN where people or the metric do not tell summaries apart."""


def by_topic(scores: np.ndarray, human: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By criterion and coefficient, the correlations across summaries; all (summaries, topics), higher is better."""
    return {
        f"{criterion}, {coefficient}": np.asarray(rc.correlation(ratings.T, scores.T, coefficient))
        for criterion, ratings in human.items()
        for coefficient in COEFFICIENTS
    }


def kept(values: np.ndarray) -> np.ndarray:
    chosen: np.ndarray = values[~np.isnan(values)]
    return chosen


def average(values: np.ndarray) -> float:
    return float(kept(values).mean()) if len(kept(values)) else math.nan


def level_table(found: Found, columns: Sequence[str], what: str) -> rc.Table:
    """Means over topics with half of their 95 % intervals."""
    lines = [[name, *(mean_and_half(kept(by[column])) for column in columns)] for name, by in found.items()]
    return rc.Table(["metric", *columns], lines, [f"{what} {dropped(found, columns)}"])


def dropped(found: Found, columns: Sequence[str]) -> str:
    counts = [int(np.isnan(by[column]).sum()) for by in found.values() for column in columns]
    size = max(len(by[column]) for by in found.values() for column in columns)
    return (
        f"Mean over topics ± half of its 95 % interval; of {size} topics at most {max(counts)} are left out, where "
        "people or a metric give all summaries the same."
    )


def difference_table(found: Found, columns: Sequence[str], what: str) -> rc.Table:
    """Every estimator less every other metric, topic by topic."""
    lines = [
        [own, rival, *(mean_and_half(kept(found[own][column] - found[rival][column])) for column in columns)]
        for own in OWN
        for rival in RIVALS
        if own in found and rival in found
    ]
    caption = f"{what} Correlation of the first less that of the second, mean over topics ± half of its 95 % interval."
    return rc.Table(["metric", "less", *columns], lines, [caption], left=2)


def who_table(by_form: Mapping[str, Found]) -> rc.Table:
    lines = [
        [name, form, *(shown(average(by[column])) for column in COLUMNS)]
        for name in next(iter(by_form.values()))
        for form, found in by_form.items()
        for by in [found[name]]
    ]
    caption = (
        "All: every annotation of the file, as its authors' programs take it. People's own summaries are references, "
        "too, so each meets itself. MoverScore's program leaves out texts of at most one sentence."
    )
    return rc.Table(["metric", "counted", *COLUMNS], lines, [caption], left=2)


def encoder_table(by_encoder: Mapping[str, Found]) -> rc.Table:
    lines = [
        [name, encoder, *(shown(average(by[column])) for column in COLUMNS)]
        for encoder, found in by_encoder.items()
        for name, by in found.items()
    ]
    return rc.Table(["metric", "encoder", *COLUMNS], lines, ["All summaries, k = 1."], left=2)


def beside_table(found: Found) -> rc.Table:
    """Ours beside the paper's; where there are none of ours, those that were measured earlier."""
    lines = []
    for name, paper in PAPER.items():
        for ours, source in ((name, "here"), (f"{name.split()[0]}-k3 {name.split()[-1]}", "here, k = 3")):
            if ours in found:
                lines.append([name, source, *(shown(average(found[ours][column])) for column in COLUMNS)])
        lines.append([name, "paper", *(shown(math.nan if each is None else each) for each in paper)])
        if name == "me-words capture" and not found:
            lines += [
                [name, f"measured earlier, {how}", *(shown(math.nan if each is None else each) for each in row)]
                for how, row in EARLIER.items()
            ]
    caption = [
        "Text level: mean over topics of the correlation across summaries, each scored against every reference by "
        "itself. Paper: Mark-Evaluate, Table 3, word vectors of BERT-base trained on MNLI, best K; its BERTScore is "
        "Zhao et al.'s and has no Kendall.",
    ]
    if not found:
        caption.append(
            "Measured earlier: by a separate program on the paper's own data, with all-MiniLM-L6-v2, k = 1; nobody can "
            "check it without the data, so no verdict stands on it."
        )
    return rc.Table(["metric", "source", *COLUMNS], lines, caption, left=2)


def level_claim(level: Rows, encoders: Rows, own: bool) -> Claim:
    """How near CAPTURE lies to the paper's six numbers. own: whether these are the paper's own data."""
    printed = dict(zip(COLUMNS, PAPER["me-words capture"], strict=True))
    row = next((row for row in level if row["metric"] == "me-words capture"), None)
    if row is None:
        verdict = absent("TAC 2009")
        return Claim(_LEVEL, verdict, f"cannot be told: {NOT_HERE}", "TAC 2009", "the data are not here", own=True)
    ours = {column: number(row[column]) for column in COLUMNS}
    verdict = together(near(estimate(row[column]), each) for column, each in printed.items() if each is not None)
    told = "; ".join(
        f"{criterion} " + " ".join(shown(ours[f"{criterion}, {each}"]) for each in COEFFICIENTS)
        for criterion in CRITERIA
    )
    by_encoder = {each["encoder"]: each for each in encoders if each["metric"] == "me-words capture"}
    for column, each in printed.items():
        words = spread({name: number(cells[column]) for name, cells in by_encoder.items()}, each or math.nan)
        told += f"; {column}: {words}" if words else ""
    return Claim(_LEVEL, verdict, told, f"{data_name(own)}, all-MiniLM-L6-v2", _WHY, own=own)


def data_name(own: bool) -> str:
    return "TAC 2009" if own else "other summaries in the form of TAC 2009"


def order_claims(differences: Rows, columns: Mapping[Coefficient, Sequence[str]], data: str, own: bool) -> list[Claim]:
    """The paper's two sentences on Table 3: by Kendall and Spearman against BERTScore and MoverScore, by Pearson
    against PRD and IMPAR. columns: by coefficient."""
    cells = keyed(differences, "metric", "less")
    why = _WHY if own else f"{data.partition(',')[0]} in the place of TAC: one reference, fewer systems, other encoder"
    claims = []
    if not data.startswith("REALSumm"):
        parts = _parts(cells, OWN, RIVALS[:2], [*columns["kendall"], *columns["spearman"]])
        if parts:
            claims.append(
                Claim(
                    _ABOVE,
                    together(parts),
                    _told(cells, RIVALS[:2], [*columns["kendall"], *columns["spearman"]]),
                    data,
                    why,
                    own=own,
                )
            )
    # At its authors' k = 3 where it was scored so.
    impar = [name for name in RIVALS[:2:-1] if ("me-words capture", name) in cells]
    parts = _parts(cells, OWN, RIVALS[2:3], columns["pearson"])
    parts += _parts(cells, OWN[2:], impar[:1], columns["pearson"])
    if parts and impar:
        claims.append(
            Claim(
                _PEARSON, together(parts), _told(cells, [RIVALS[2], impar[0]], columns["pearson"]), data, why, own=own
            )
        )
    return claims


def _parts(
    cells: Mapping[tuple[str, ...], Mapping[str, str]],
    own: Sequence[str],
    rivals: Sequence[str],
    columns: Sequence[str],
) -> list[Verdict]:
    return [
        above(estimate(cells[one, other][column]))
        for one in own
        for other in rivals
        if (one, other) in cells
        for column in columns
    ]


def _told(cells: Mapping[tuple[str, ...], Mapping[str, str]], rivals: Sequence[str], columns: Sequence[str]) -> str:
    """Each estimator's lead, from the column where it is least to the one where it is most."""
    pieces = []
    for (one, other), row in cells.items():
        if other in rivals:
            leads = [number(row[column]) for column in columns]
            known = [lead for lead in leads if not math.isnan(lead)]
            if known:
                pieces.append(f"{one} less {other}: {min(known):+.3f} to {max(known):+.3f}")
    return ", ".join(pieces)
