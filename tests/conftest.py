"""Puts this folder on the import path: ``small_scenarios`` and ``tiny_coefficients`` serve the tests of all stages."""

import gc
import os

from hypothesis import settings

# As on the command line; processes of the suite would otherwise run threads of linear algebra against each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same cases every time: a run that fails can be repeated, and no run fails by the luck of the draw.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

# Files of this name are several; collected for doctests, one would stand for another when folders are named one by one.
collect_ignore_glob = ["*conftest.py"]


def pytest_collection_finish() -> None:
    """Leave what stands after collection out of the search for garbage: hundreds of thousands of objects that stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
