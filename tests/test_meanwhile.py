import os
import threading

import pytest

from nowiser.meanwhile import meanwhile


def test_it_begins_at_once_and_is_waited_for():
    begun, go = threading.Event(), threading.Event()

    def work():
        begun.set()
        go.wait()
        return threading.get_ident()

    found = meanwhile(work)
    begun.wait()
    assert not found.done()
    go.set()
    assert found.result() != threading.get_ident()


def test_what_it_raises_is_raised_where_it_is_waited_for():
    found = meanwhile(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        found.result()


def test_a_forked_child_can_use_it_too():
    meanwhile(int).result()
    child = os.fork()
    if child == 0:
        os._exit(meanwhile(lambda: 7).result())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
