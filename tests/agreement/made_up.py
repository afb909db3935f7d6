"""Scores that any program can make again: no random numbers."""

import numpy as np


def scores() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """People, a good metric, a weaker one and one that has nothing to do with people; 6 systems, 40 inputs."""
    cell = np.arange(240).reshape(6, 40)
    system = np.arange(6)[:, None]
    human = np.sin(cell * 1.7) + 0.06 * system
    good, weak = human + 1.2 * np.cos(cell * 2.3), human + 2.6 * np.sin(cell * 3.1 + 1)
    return human, good, weak, np.cos(cell * 0.9) - 0.03 * system
