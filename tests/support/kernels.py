"""A real Jupyter kernel, as a notebook uses it."""

import re
from contextlib import contextmanager


class Notebook:
    """Cells run one after the other in one kernel; each gives what it shows, by kind."""

    def __init__(self, client):
        self.client = client

    def __call__(self, cell):
        shown = {}

        def keep(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                shown[content["name"]] = shown.get(content["name"], "") + content["text"]
            elif kind in ("execute_result", "display_data"):
                shown.update(content["data"])
            elif kind == "error":
                shown["error"] = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(content["traceback"]))

        self.client.execute_interactive(cell, timeout=120, output_hook=keep)
        return shown


@contextmanager
def notebook_in(folder):
    """A kernel in a folder, until the end of the block."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
