import fcntl
import os

from nowiser.ledger.lock import locked


def test_a_child_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    """As when one thread asks while another starts a process: the child has a copy of the descriptor."""
    reading, writing = os.pipe()
    with locked(tmp_path):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # until the parent has looked
            os._exit(0)
    os.close(reading)
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where somebody still holds it
    finally:
        os.close(other)
        os.close(writing)
        os.waitpid(child, 0)
