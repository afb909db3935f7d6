"""Measurements, ours and the peers', on the same data in one process: `python -m benchmarks [name ...]`."""
