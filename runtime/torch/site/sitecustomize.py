"""`csan run` puts this in front of the interpreter's path: it prepares csan for PyTorch, and goes on
with the sitecustomize that would have been imported without it."""

import importlib.machinery
import os
import sys


def _go_on():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec and spec.loader:
        from importlib import util

        module = util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    from csan_torch import startup

    startup.install()
except Exception as error:  # the program goes on without csan
    print(f"csan: PyTorch is not checked ({error!r})", file=sys.stderr)
_go_on()
