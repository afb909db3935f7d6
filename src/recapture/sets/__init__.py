"""One metric, one file. Each file declares its metric as `METRIC`; nothing else is edited to add one."""

from .declaration import Measurement, Metric, Output, find_metric, list_metrics

__all__ = ["Measurement", "Metric", "Output", "find_metric", "list_metrics"]
