"""From texts to vectors.

`encode` is the whole stage in one call. `encoder` holds what an encoder must offer and finds one by name, `encoders`
has one file per kind, `locate` and `folder` find model weights and read what they say about themselves, `cache` keeps
vectors on disk.
"""

from .cache import VectorCache
from .encode import encode
from .encoder import DEFAULT_ENCODER, Encoder, EncoderKind, list_encoders, resolve_encoder

__all__ = ["DEFAULT_ENCODER", "Encoder", "EncoderKind", "VectorCache", "encode", "list_encoders", "resolve_encoder"]
