"""The papers' own models by short names, for machines that reach a hub or hold them in a folder."""

from __future__ import annotations

from dataclasses import dataclass

import recapture as rc

from .words import nearest_names


@dataclass(frozen=True)
class Preset:
    used: str
    """Where, in which paper."""
    encoder: str | None = None
    pooling: str | None = None
    model: str | None = None
    """A masked language model."""


PRESETS = {
    "sbert-large": Preset(
        "Mark-Evaluate, Tables 1 and 4 (SBERT)", encoder="sentence-transformers/bert-large-nli-mean-tokens"
    ),
    "sbert-base": Preset(
        "Mark-Evaluate, Figures 2 to 4, Table 4 (sSBERT)", encoder="sentence-transformers/bert-base-nli-mean-tokens"
    ),
    "sbert-max": Preset("Mark-Evaluate, Table 5", encoder="sentence-transformers/bert-base-nli-max-tokens"),
    "bert-mnli": Preset(
        "Mark-Evaluate, Tables 2, 3 and 6: BERT-base trained on MNLI (the authors took MoverScore's file; this is "
        "another training of the same kind)",
        encoder="textattack/bert-base-uncased-MNLI",
    ),
    "bert-base": Preset("InfoLM, all tables and figures", encoder="bert-base-uncased", model="bert-base-uncased"),
    "minilm-cls": Preset(
        "Distribution-aware metrics, A.6: all-MiniLM-L6-v2 by its first token",
        encoder="sentence-transformers/all-MiniLM-L6-v2",
        pooling="cls",
    ),
    "clip": Preset("Distribution-aware metrics, Figure 7", encoder="sentence-transformers/clip-ViT-B-32"),
}


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise rc.InputError(f"unknown preset {name!r}: {nearest_names(name, PRESETS)}")
    return PRESETS[name]
