"""Gives the tasks of a round out, and gathers one result for each, whatever happens to workers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from atomstream.cluster.engines import Pool
from atomstream.cluster.rounds import RoundsReport
from atomstream.cluster.worker import Payload, Slot, learn_slot
from atomstream.exceptions import EngineError

__all__ = ["gathered"]

Found = dict[tuple[int, int], Payload]


def gathered(
    pool: Pool,
    sent: bytes,
    slots: Sequence[Slot],
    timeout: float | None,
    report: RoundsReport,
) -> Found:
    """Return the payloads of all slots by their keys.

    A payload that comes twice is the same twice, so only the first is kept. Tasks whose worker died
    are given out anew, where the engine can be started anew: first all together, then one by one,
    so that the one that kills its worker is known.

    Raises
    ------
    EngineError
        Where workers were lost, or silent for twice ``timeout`` seconds.
    """
    found: Found = {}
    try:
        for attempt in range(2):
            missing = [slot for slot in slots if slot.key not in found]
            if attempt:
                report.n_repeated += len(missing)
            try:
                _wait_for(pool, sent, missing, timeout, found, report)
                return found
            except BrokenExecutor:
                _renew(pool, missing)
        for slot in [slot for slot in slots if slot.key not in found]:
            report.n_repeated += 1
            try:
                _wait_for(pool, sent, [slot], timeout, found, report)
            except BrokenExecutor:
                raise _killed(slot) from None
    except CancelledError:
        raise EngineError(
            "The engine cancelled its tasks, or is gone; the model is as it was after the last "
            "round."
        ) from None
    return found


def _wait_for(
    pool: Pool,
    sent: bytes,
    slots: Sequence[Slot],
    timeout: float | None,
    found: Found,
    report: RoundsReport,
) -> None:
    """Give tasks out and put their payloads into ``found``."""
    shared = pool.share(sent)
    pending: dict[Future, Slot] = {}
    for slot in slots:
        pending[pool.submit(learn_slot, shared, slot)] = slot
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
                pending[pool.submit(learn_slot, shared, slot)] = slot
    finally:
        for future in pending:
            future.cancel()


def _result(future: Future, slot: Slot) -> Payload:
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


def _renew(pool: Pool, missing: Sequence[Slot]) -> None:
    if not pool.renew():
        raise EngineError(
            f"A worker of the engine died, and the engine with it, while learning from "
            f"{'; '.join(slot.shards for slot in missing):.500}; the model is as it was after the "
            "last round. Give the engine by its name, as 'processes', to have it started anew."
        ) from None


def _killed(slot: Slot) -> EngineError:
    n_rows = sum(span.n_rows for span in slot.hand)
    return EngineError(
        f"Workers die while learning from {slot.shards:.500} ({n_rows:,} rows): their memory may "
        "be too small. Take fewer rows a round, or smaller shards."
    )

