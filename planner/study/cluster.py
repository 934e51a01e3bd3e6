"""Workers of a Dask cluster: any number of machines behind one scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import Fault, InputError
from planner.study.executors import Function, WorkerLost

CONNECT_SECONDS = 15.0
"""How long a scheduler may take to answer."""


@dataclass(frozen=True)
class ClusterProcesses:
    """The workers of a running Dask scheduler; each needs this package in the same version.

    Attributes
    ----------
    address
        Of the scheduler, as ``tcp://host:8786``.
    """

    address: str

    def _client(self) -> Any:
        try:
            from distributed import Client
        except ImportError as error:
            message = "needs Dask: pip install 'token-fleet-planner[cluster]'"
            raise InputError([Fault("--cluster", message, value=self.address)]) from error
        try:
            return Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            message = f"no Dask scheduler answers there within {CONNECT_SECONDS:.0f} s"
            raise InputError([Fault("--cluster", message, value=self.address)]) from error

    @property
    def workers(self) -> int:
        """Return the threads of all workers: each works on one item."""
        with self._client() as client:
            return sum(client.nthreads().values())

    def run(self, function: Function, shared: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item and its result.

        Raises
        ------
        InputError
            Dask is not installed, or no scheduler answers.
        """
        with self._client() as client:
            from distributed import as_completed

            everywhere = client.scatter([shared], broadcast=True, hash=False)[0]
            futures = {
                client.submit(function, everywhere, item, pure=False): place
                for place, item in enumerate(items)
            }
            try:
                for future in as_completed(list(futures), loop=client.loop):
                    error = future.exception()
                    lost = f"the worker that solved it ended: {error}"
                    yield futures[future], WorkerLost(lost) if error else future.result()
            finally:
                client.cancel([future for future in futures if not future.done()])
