"""Chan et al. 2022, Distribution Aware Metrics for Conditional Natural Language Generation."""
