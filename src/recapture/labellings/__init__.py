"""How sure: p-values by relabelling, intervals by half-samples, and many p-values combined."""
