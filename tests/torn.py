"""Interrupts, the calls that they may tear, and all that a model holds."""

import json
import os
import signal

import numpy as np

from atomstream.files.codec import Encoder

INTERRUPTS = int(os.environ.get("ATOMSTREAM_INTERRUPTS", "400"))
ROWS = np.random.default_rng(0).random((60, 12))
PIECES = [ROWS[:20], ROWS[20:40], ROWS[40:]]


def steps(model, pieces=PIECES):
    """One call, after each piece of which the model may stand."""
    model.fit_stream(pieces)


def state(model):
    """All that a file would hold of a model, sources of randomness included."""
    encoder = Encoder()
    content = encoder.model(model)
    return json.dumps([content, encoder.states]), *(part.tobytes() for part in encoder.arrays)


class Alarm:
    """Raises KeyboardInterrupt once, after so many seconds, wherever Python then is."""

    def __init__(self, seconds):
        self.seconds, self.rang = seconds, False

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def ring(self, *_):
        self.rang = True
        raise KeyboardInterrupt

    def __exit__(self, kind, *_):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        return kind is KeyboardInterrupt


def interrupted(call, seconds):
    """Whether the call was interrupted."""
    try:
        with Alarm(max(seconds, 1e-6)) as alarm:
            call()
    except KeyboardInterrupt:  # it came while the alarm was set or put away
        return True
    except Exception:  # NumPy turns an interrupt inside of a comparison into another error
        if not alarm.rang:
            raise
    return alarm.rang
