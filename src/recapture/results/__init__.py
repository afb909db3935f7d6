"""What a metric returns (`result`) and how results are written down (`render`)."""

from .result import Result

__all__ = ["Result"]
