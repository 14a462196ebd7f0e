import importlib.util
import sys
from pathlib import Path

# the entropy doubles of this folder, importable by its tests (tests are not a package)
_spec = importlib.util.spec_from_file_location("scripted", Path(__file__).with_name("scripted.py"))
assert _spec is not None
assert _spec.loader is not None
scripted = importlib.util.module_from_spec(_spec)
sys.modules["scripted"] = scripted
_spec.loader.exec_module(scripted)
