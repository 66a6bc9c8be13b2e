"""Gives the tasks of a round out, and gathers one result for each, whatever happens to workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from typing import Any

from atomstream.cluster.engines import Pool
from atomstream.cluster.rounds import RoundsReport
from atomstream.cluster.worker import Payload
from atomstream.exceptions import EngineError

__all__ = ["gathered"]

Task = Callable[[bytes, Any], Payload]  # pure: of what was sent, and of what is asked of a slot
Found = dict[tuple[int, int], Payload]


def gathered(
    pool: Pool,
    task: Task,
    sent: bytes,
    slots: Sequence[Any],
    timeout: float | None,
    report: RoundsReport,
) -> Found:
    """Return what the task returns for each slot, by their keys.

    A payload that comes twice is the same twice, so only the first is kept. Tasks whose worker died
    are given out anew, where the engine can be started anew: first all together, then one by one,
    so that the one that kills its worker is known.

    Raises
    ------
    EngineError
        Where workers were lost, or silent for twice ``timeout`` seconds.
    """
    found: Found = {}
    for attempt in range(2):
        missing = [slot for slot in slots if slot.key not in found]
        report.n_repeated += len(missing) * attempt
        try:
            _wait_for(pool, task, sent, missing, timeout, found, report)
            return found
        except (BrokenExecutor, CancelledError):
            _renew(pool, missing)
    for slot in [slot for slot in slots if slot.key not in found]:
        report.n_repeated += 1
        try:
            _wait_for(pool, task, sent, [slot], timeout, found, report)
        except (BrokenExecutor, CancelledError):
            _renew(pool, [slot])
            raise _killed(slot) from None
    return found


def _wait_for(
    pool: Pool,
    task: Task,
    sent: bytes,
    slots: Sequence[Any],
    timeout: float | None,
    found: Found,
    report: RoundsReport,
) -> None:
    """Give tasks out and put their payloads into ``found``."""
    shared = _shared(pool, sent, slots)
    pending: dict[Future, Any] = {}
    for slot in slots:
        pending[pool.submit(task, shared, slot)] = slot
    given_out_again = False
    try:
        while any(slot.key not in found for slot in slots):
            done, _ = wait(pending, timeout, FIRST_COMPLETED)
            for future in done:
                slot = pending.pop(future)
                payload = _result(future, slot)
                found.setdefault(payload.key, payload)
            if done:
                continue
            late = [slot for slot in slots if slot.key not in found]
            if given_out_again:
                raise EngineError(
                    f"No result came for {timeout:g} seconds, twice; missing are those of "
                    f"{'; '.join(slot.shards for slot in late):.500}."
                )
            given_out_again = True
            report.n_repeated += len(late)
            for slot in late:
                pending[pool.submit(task, shared, slot)] = slot
    finally:
        for future in pending:
            future.cancel()


def _shared(pool: Pool, sent: bytes, slots: Sequence[Any]) -> Any:
    try:
        return pool.share(sent)
    except (OSError, RuntimeError) as error:  # Dask's own are of these kinds
        raise EngineError(
            f"The engine is gone ({type(error).__name__}), next were "
            f"{'; '.join(slot.shards for slot in slots):.500}; the model is as it was after the "
            "last round."
        ) from error


def _result(future: Future, slot: Any) -> Payload:
    try:
        payload: Payload = future.result()
    except BrokenExecutor:
        raise
    except Exception as error:
        # Dask's word for a task whose workers died several times; it is not imported for that.
        if type(error).__name__ == "KilledWorker":
            raise _killed(slot) from error
        raise
    return payload


def _renew(pool: Pool, missing: Sequence[Any]) -> None:
    if not pool.renew():
        raise EngineError(
            f"The engine is gone, or broken by the death of a worker, while it worked on "
            f"{'; '.join(slot.shards for slot in missing):.500}; the model is as it was after the "
            "last round. An engine given by its name, as 'processes', would be started anew."
        ) from None


def _killed(slot: Any) -> EngineError:
    n_rows = sum(span.n_rows for span in slot.hand)
    return EngineError(
        f"Workers die while they work on {slot.shards:.500} ({n_rows:,} rows): their memory may "
        "be too small. Take fewer rows a round, or smaller shards."
    )
