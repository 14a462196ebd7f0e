"""The documented path of `load`."""

from nowiser.microdata.table.read import load

__all__ = ["load"]
