"""Small matrices, many times: threads of the linear algebra then wait for one another longer than they work."""

from contextlib import AbstractContextManager, nullcontext


def one_thread() -> AbstractContextManager[object]:
    """One thread for matrix products within; as it was, where threadpoolctl (which scikit-learn brings) is missing."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    found: AbstractContextManager[object] = threadpool_limits(1)
    return found
