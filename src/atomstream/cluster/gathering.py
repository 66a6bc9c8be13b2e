"""Gives the tasks of a round out, and gathers one result for each, whatever happens to workers."""

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

Task = Callable[[bytes, Any], Payload]  # pure: of what was sent, and of a job
AT_ONCE = 256  # jobs given out together
# Seconds without any result: a slot has 65,536 rows at most, other tasks may go over all shards.
ROUND_LIMIT, JOB_LIMIT = 3600.0, 86_400.0
PREPARE_LIMIT = 300.0  # seconds in which workers compile what they need, about a minute's work


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
        died are given out anew, where the engine can be started anew: first all together, then one
        by one, so that the one that kills its worker is known.

        Raises
        ------
        EngineError
            Where workers were lost, or silent for twice ``timeout`` seconds.
        """
        for attempt in range(2):
            self.report.n_repeated += len(self._missing) * attempt
            try:
                yield from self._payloads_of(self._missing)
                return
            except (BrokenExecutor, CancelledError):
                _renew(self.pool, self._missing)
        for slot in self._missing:
            self.report.n_repeated += 1
            try:
                yield from self._payloads_of([slot])
            except (BrokenExecutor, CancelledError):
                _renew(self.pool, [slot])
                raise _killed(slot) from None

    @property
    def _missing(self) -> list[Job]:
        """The slots whose payloads have not come."""
        return [slot for slot in self.turns if slot.key not in self._found]

    def _payloads_of(self, slots: Sequence[Job]) -> Iterator[Payload]:
        """Give tasks out, and yield all payloads whose turn it is."""
        # Sent anew with every attempt: what was shared dies with the workers that held it.
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
                for future in done:
                    payload = _result(future, pending.pop(future))
                    if payload.key in {slot.key for slot in self.turns}:
                        self._found.setdefault(payload.key, payload)  # the first that came
                while self.turns and self.turns[0].key in self._found:
                    yield self._found.pop(self.turns.pop(0).key)
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
    def share() -> Any:
        """Share, and once more where a worker has died meanwhile."""
        try:
            return pool.share(sent, limit)
        except TimeoutError:
            raise
        except OSError:  # one of the workers has died while it was sent to: the others are there
            return pool.share(sent, limit)

    return _answered(share, slots)


def _answered(ask: Callable[[], Any], slots: Sequence[Job]) -> Any:
    try:
        return ask()
    except (OSError, RuntimeError, AttributeError) as error:  # Dask's own, and of a closed client
        raise EngineError(
            f"The engine is gone or has no workers ({type(error).__name__}), next were "
            f"{'; '.join(slot.shards for slot in slots):.500}; the model is as it was after the "
            "last round."
        ) from error


def _result(future: Future, slot: Job) -> Payload:
    try:
        payload: Payload = future.result()
    except MemoryError as error:
        raise _killed(slot, "run out of memory") from error
    except Exception as error:
        # Dask's word for a task whose workers died several times; it is not imported for that.
        if type(error).__name__ == "KilledWorker":
            raise _killed(slot) from error
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

    Together they have as much time for it as for a result of a round, five minutes at most; what
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
