"""Gives the tasks of a round out, and gathers one result for each, whatever happens to workers."""

import logging
import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from atomstream.cluster.engines import Engine, Pool, check_alike, facts, opened
from atomstream.cluster.rounds import Job, RoundsReport
from atomstream.cluster.worker import Payload, Reading, Slot
from atomstream.exceptions import EngineError

log = logging.getLogger(__name__)
Task = Callable[[bytes, Any], Payload]  # pure: of what was sent, and of a job
AT_ONCE = 256  # jobs given out together
# Seconds without any result: a slot has 65,536 rows at most, other tasks may go over all shards.
ROUND_LIMIT, JOB_LIMIT = 3600.0, 86_400.0
PREPARE_LIMIT = 600.0  # seconds in which workers compile what they need, about a minute's work
MAX_LOST = 2  # losses in a row, without a result between, that say nothing of a task


class _KilledTaskError(Exception):
    """A scheduler gave up a task because workers died again and again when they had it."""


def done(engine: Any, task: Task, sent: bytes, jobs: Sequence[Job]) -> Iterator[Payload]:
    """Yield what the task returns for each job, in their order.

    Parameters
    ----------
    engine : None, str, Executor, dask.distributed.Client or Engine
    task : callable
        ``(sent, job) -> Payload``.
    sent : bytes
        What all jobs need.
    jobs : sequence of Job

    Raises
    ------
    EngineError
        Where workers are lost, silent, or of other kinds.
    """
    engine = Engine.of(engine)
    limit = engine.round_timeout or JOB_LIMIT
    with opened(engine.engine) as pool:
        for first in range(0, len(jobs), AT_ONCE):
            some = list(jobs[first : first + AT_ONCE])
            gathering = Gathering(pool, task, sent, some, limit, RoundsReport())
            for payload in gathering.payloads():
                check_alike(payload.facts, engine)
                yield payload


@dataclass
class Gathering:
    """Payloads of a round by their keys, until their turn comes.

    Attributes
    ----------
    pool : Pool
    task : callable
        What workers do with what was sent and with a job.
    sent : bytes
    turns : list of Job
        Those whose payloads have not been handed on.
    timeout : float
        Seconds without any result after which tasks are given out once more.
    report : RoundsReport
    """

    pool: Pool
    task: Task
    sent: bytes
    turns: list[Job]
    timeout: float
    report: RoundsReport
    _found: dict[tuple[int, int], Payload] = field(default_factory=dict, init=False)

    def payloads(self) -> Generator[Payload, None, None]:
        """Yield what the task returns for each slot, in their order, as soon as it has come.

        A payload that comes twice is the same twice, so only the first is kept. Tasks whose worker
        died are given out anew, where the engine can be started anew: all together, and after two
        losses in a row one by one. What a worker took with it when it died says nothing of a task
        as long as results come; a task that is alone when a third loss in a row comes has lost it.

        Raises
        ------
        EngineError
            Where the engine is gone, a task loses all workers that are at it, or workers were
            silent for twice ``timeout`` seconds.
        """
        at_once = n_missing = len(self.turns)
        n_lost = 0  # losses since the last result
        while slots := self._missing[:at_once]:
            try:
                yield from self._payloads_of(slots)
            except (BrokenExecutor, CancelledError, _KilledTaskError) as error:
                found, n_missing = n_missing - len(self._missing), len(self._missing)
                n_lost = 1 + n_lost * (not found) + MAX_LOST * isinstance(error, _KilledTaskError)
                if n_lost > MAX_LOST and len(slots) == 1:
                    raise _killed(slots[0]) from None
                at_once = 1 if n_lost >= MAX_LOST else at_once
                _renew(self.pool, self._missing[:at_once])
                log.info("Workers died; %d tasks are given out once more.", n_missing)
            self.report.n_repeated += len(self._missing[:at_once])
        yield from self._next_payloads()

    @property
    def _missing(self) -> list[Job]:
        """The slots whose payloads have not come."""
        return [slot for slot in self.turns if slot.key not in self._found]

    def _next_payloads(self) -> Iterator[Payload]:
        """Yield the payloads whose turn it is."""
        while self.turns and self.turns[0].key in self._found:
            yield self._found.pop(self.turns.pop(0).key)

    def _payloads_of(self, slots: Sequence[Job]) -> Iterator[Payload]:
        """Give tasks out, and yield payloads of all slots in their turn."""
        shared, waiting = _shared(self.pool, self.sent, slots, self.timeout), list(slots)
        pending: dict[Future, Job] = {}
        keys, given_out_again = {slot.key for slot in slots}, False
        try:
            while waiting or any(slot.key in keys for slot in self._missing):
                while waiting and len(pending) < self.pool.most_at_once:
                    # In the order of the slots, which is the order in which their results are
                    # merged.
                    slot = waiting.pop(0)
                    pending[self.pool.submit(self.task, shared, slot)] = slot
                done, _ = wait(pending, self.timeout, FIRST_COMPLETED)
                for future in sorted(done, key=_has_failed):  # results before what ends the attempt
                    payload = _result(future, pending.pop(future))
                    if payload.key in {slot.key for slot in self.turns}:
                        self._found.setdefault(payload.key, payload)  # the first that came
                yield from self._next_payloads()
                # Any result starts the clock of silence anew.
                if done:
                    continue
                late = self._missing
                if given_out_again:
                    raise EngineError(
                        f"No result came for {self.timeout:g} seconds, twice; missing are those "
                        f"of {'; '.join(slot.shards for slot in late):.500}. If they need longer, "
                        "set a longer round_timeout."
                    )
                given_out_again = True
                self.report.n_repeated += len(late)
                for slot in late:
                    pending[self.pool.submit(self.task, shared, slot)] = slot
        finally:
            for future in pending:
                future.cancel()


def _shared(pool: Pool, sent: bytes, slots: Sequence[Job], limit: float) -> Any:
    return _answered(lambda: pool.share(sent, limit), slots)


def _answered(ask: Callable[[], Any], slots: Sequence[Job]) -> Any:
    try:
        return ask()
    # Dask's own, and of a client or scheduler that is closed.
    except (OSError, RuntimeError, AttributeError, CancelledError) as error:
        raise EngineError(
            f"The engine is gone or has no workers ({type(error).__name__}), next were "
            f"{'; '.join(slot.shards for slot in slots):.500}; the model is as it was after the "
            "last round."
        ) from error


def _has_failed(future: Future) -> bool:
    return future.cancelled() or future.exception() is not None


def _result(future: Future, slot: Job) -> Payload:
    try:
        payload: Payload = future.result()
    except MemoryError as error:
        raise _killed(slot, "run out of memory") from error
    except Exception as error:
        # Dask's word for a task with which several workers died, though others may have been on
        # these too; it is not imported for that.
        if type(error).__name__ == "KilledWorker":
            raise _KilledTaskError from error
        raise
    return payload


def _renew(pool: Pool, missing: Sequence[Job]) -> None:
    if not pool.renew():
        raise EngineError(
            f"The engine is gone, or broken by the death of a worker, while it worked on "
            f"{'; '.join(slot.shards for slot in missing):.500}; the model is as it was after the "
            "last round. An engine given by its name, as 'processes', would be started anew."
        ) from None


def prepare(pool: Pool, engine: Engine, sent: bytes, job: Slot) -> None:
    """Let every worker that can be reached say what it is, and compile what it will need.

    Together they have as much time for it as for a result of a round, ten minutes at most; what
    fails, or is not done by then, is told in the first round.

    Raises
    ------
    EngineError
        For workers of other kinds, and where there are none.
    """
    limit = min(engine.round_timeout or ROUND_LIMIT, PREPARE_LIMIT)
    shared = _shared(pool, sent, [job], limit)
    workers = _answered(lambda: pool.workers(limit), [job])
    futures = wait(pool.everywhere(workers, _ready, shared, job), limit)
    for future in futures.done:
        if not future.cancelled() and future.exception() is None:
            check_alike(future.result(), engine)
    for future in futures.not_done:
        future.cancel()


def _ready(sent: bytes, job: Slot) -> dict[str, str]:
    """Learn from rows and forget it, so that kernels are compiled; return facts of the worker."""
    # Bad rows and too little memory are told by the round itself, which names the shard.
    with suppress(ValueError, MemoryError):
        learner = pickle.loads(sent)
        alone = learner.learn_alone(iter(Reading(job.hand, job.batch)), horizon=job.horizon)
        if learner.rows_seen()[1]:
            learner.model.transform(alone.latest[:1])  # later steps code as accurately as this
            if job.how is not None:  # rows with weights may have kernels of their own
                again = iter(Reading(job.hand, job.batch))
                learner.learn_apart(again, horizon=job.horizon, **job.how)
    return facts()


def _killed(slot: Job, how: str = "die, perhaps of too little memory,") -> EngineError:
    return EngineError(
        f"Workers {how} while they work on {slot.shards:.500} ({slot.n_rows:,} rows). Take fewer "
        "rows a round, or smaller shards."
    )
