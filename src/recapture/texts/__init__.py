"""What a user brings: files of texts, or of ready embeddings, in the formats people keep them in.

A format is one module of this package that declares `FORMATS`; adding such a file is all it takes.
"""

from .reading import Samples, format_names, read, read_samples, read_together

__all__ = ["Samples", "format_names", "read", "read_samples", "read_together"]
