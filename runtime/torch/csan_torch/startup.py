"""Switches csan on when the program imports torch. Imported at the interpreter's start, by
`csan run` or by the installed package, where CSAN is set; costs a program without torch nothing."""

import importlib.abc
import os
import sys


class _Loader(importlib.abc.Loader):
    """torch's own loader, and csan after it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            from .session import enable

            enable()
        except Exception as error:  # the program goes on without csan
            print(f"csan: PyTorch's operators are not checked ({error!r})", file=sys.stderr)


class _Finder(importlib.abc.MetaPathFinder):
    """Takes part in the first import of torch only."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = getattr(finder, "find_spec", lambda *_: None)(name, path, target)
            if spec:
                if spec.loader:
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def install():
    if os.environ.get("CSAN", "0") in ("", "0"):
        return
    if "torch" in sys.modules:
        from .session import enable

        enable()
    else:
        sys.meta_path.insert(0, _Finder())
