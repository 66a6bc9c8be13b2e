"""Tasks that callbacks are told of by a factorization of tensors."""

import zoo
from followed import Bars, Recorder

from atomstream import online_parafac

X = zoo.rows()


def test_tasks_of_a_factorization():
    recorder, bars = Recorder(), Bars()
    online_parafac(X.reshape(60, 2, 4), 2, n_epochs=2, random_state=0, callbacks=[recorder, bars])
    assert recorder.check() == [(5, 5)] * 2
    bars.check()
