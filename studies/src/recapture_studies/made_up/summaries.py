"""Summaries with people's ratings, as REALSumm and TAC 2009 lay them out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .writing import write_records

_WORDS = [
    *("the", "old", "cat", "sat", "on", "a", "red", "mat", "near", "our", "river", "and"),
    *("then", "one", "small", "dog", "ran", "to", "that", "tree", "by", "my", "door"),
]
_SHARES = {"good": 0.1, "fair": 0.35, "poor": 0.6, "bad": 0.9}


def build(root: Path) -> None:
    """Summaries that keep fewer and fewer of the reference's words; pyramid recall is about the share they keep."""
    rng = np.random.default_rng(11)
    documents, summaries = [], []
    for number in range(4):
        sents = [" ".join(rng.permutation(_WORDS)[:12]) + " ." for _ in range(2)]
        documents.append({"doc_id": number, "source": "-", "reference_sents": sents})
        for kind in ("abs", "ext"):
            for name, share in _SHARES.items():
                texts = [_other(sent, share, rng) for sent in sents]
                kept = float(np.clip(1 - share + rng.normal(0, 0.1), 0, 1))
                stored = {"bert_f_score": kept + float(rng.normal(0, 0.1)), "rouge_2_f_score": 1 - share,
                          "mover_score": float(rng.random()), "js-2": 1 - share}  # fmt: skip
                stored["rouge_2_recall"] = 1 - share
                summaries.append({"doc_id": number, "type": kind, "system": name, "summary_sents": texts,
                             "litepyramid_recall": kept, "auto_scores": stored})  # fmt: skip
    write_records(root / "realsumm" / "documents.jsonl.gz", documents)
    write_records(root / "realsumm" / "summaries.jsonl.gz", summaries)


def build_topics(root: Path) -> None:
    """Topics with four references, summaries of five systems and those of the people who wrote the first two
    references; one summary is empty."""
    rng = np.random.default_rng(12)
    content = {}
    for number in range(1, 5):
        told = [" ".join(rng.permutation(_WORDS)[:12]) + " ." for _ in range(3)]
        references = [[_other(sent, 0.15, rng) for sent in told] for _ in range(4)]
        annotations = []
        for name, share in enumerate((*_SHARES.values(), 1.0), 1):
            kept = float(np.clip(1 - share + rng.normal(0, 0.05), 0, 1))
            text = [] if (number, name) == (1, 5) else [_other(sent, share, rng) for sent in told]
            annotations.append({"summ_id": str(name), "topic_id": f"D09{number:02}-A", "text": text,
                                "responsiveness": float(round(1 + 9 * kept)), "pyr_score": round(kept, 3),
                                "pyr_mod_score": round(kept, 3)})  # fmt: skip
        for letter, text in zip("AB", references, strict=False):
            annotations.append({"summ_id": letter, "text": text, "responsiveness": 9.0, "pyr_score": 0.9})
        held = [{"id": f"D09{number:02}-A.M.100.A.{name}", "text": text}
                for name, text in zip("ABCD", references, strict=True)]  # fmt: skip
        content[f"D09{number:02}"] = {"references": held, "annotations": annotations}
    folder = root / "tac2009"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tac.09.mds.gen.resp-pyr").write_text(json.dumps(content), encoding="utf-8")


def _other(sent: str, share: float, rng: np.random.Generator) -> str:
    return " ".join(str(rng.choice(_WORDS)) if rng.random() < share else word for word in sent.split())
