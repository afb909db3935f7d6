"""The models that studies use unless others are named."""

from __future__ import annotations

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
MASKED_MODELS = ("recapture-minilm-head", "recapture-minilm-mlm")
"""InfoLM's: the encoder's body with a trained head, and one trained as a whole."""
RECURRENT = "recurrent-lstm"
"""A folder that training/recurrent.py makes: no package carries it, and no hub."""
