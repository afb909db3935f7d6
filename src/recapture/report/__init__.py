"""What a metric returns (`result`), and how results of all kinds are written down (`report`)."""

from .report import Report, Reported, Table
from .result import Result, Results

__all__ = ["Report", "Reported", "Result", "Results", "Table"]
