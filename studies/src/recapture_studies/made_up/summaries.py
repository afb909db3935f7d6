"""Summaries with pyramid recall, as the studies of InfoLM's figures read them."""

from __future__ import annotations

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
                texts = [" ".join(str(rng.choice(_WORDS)) if rng.random() < share else word for word in sent.split())
                         for sent in sents]  # fmt: skip
                kept = float(np.clip(1 - share + rng.normal(0, 0.1), 0, 1))
                stored = {"bert_f_score": kept + float(rng.normal(0, 0.1)), "rouge_2_f_score": 1 - share,
                          "mover_score": float(rng.random()), "js-2": 1 - share}  # fmt: skip
                stored["rouge_2_recall"] = 1 - share
                summaries.append({"doc_id": number, "type": kind, "system": name, "summary_sents": texts,
                             "litepyramid_recall": kept, "auto_scores": stored})  # fmt: skip
    write_records(root / "realsumm" / "documents.jsonl.gz", documents)
    write_records(root / "realsumm" / "summaries.jsonl.gz", summaries)
