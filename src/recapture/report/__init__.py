"""What a metric returns (`result`), several of them together (`results`), and how they are written down (`render`)."""

from .result import Result
from .results import Results

__all__ = ["Result", "Results"]
