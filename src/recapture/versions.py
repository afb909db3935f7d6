"""The version of this package: packaging and `recapture.__version__` read it here, and it stands nowhere else."""

VERSION = "0.1.0"
