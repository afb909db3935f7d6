"""Several references against several candidates per context: triangle ranks, kernels, and pairwise scores averaged."""
