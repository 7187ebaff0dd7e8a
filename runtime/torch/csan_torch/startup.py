"""Switches csan on when the program imports torch, and does what else waits for an import. Imported
at the interpreter's start, by `csan run` or by the installed package, where CSAN is set; costs a
program without torch nothing."""

import importlib.abc
import os
import sys


class _Loader(importlib.abc.Loader):
    """A module's own loader, and an action after it."""

    def __init__(self, loader, action):
        self._loader = loader
        self._action = action

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _do(module.__name__, self._action)


class _Finder(importlib.abc.MetaPathFinder):
    """Takes part in the first import of one module only."""

    def __init__(self, name, action):
        self._name = name
        self._action = action

    def find_spec(self, name, path=None, target=None):
        if name != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = getattr(finder, "find_spec", lambda *_: None)(name, path, target)
            if spec:
                if spec.loader:
                    spec.loader = _Loader(spec.loader, self._action)
                return spec
        return None


def _do(name, action):
    try:
        action()
    except Exception as error:  # the program goes on without csan
        print(f"csan: what {name} does is not followed ({error!r})", file=sys.stderr)


def when_imported(name, action):
    """Calls `action` once the module has been imported: now, if it has been."""
    if name in sys.modules:
        _do(name, action)
    else:
        sys.meta_path.insert(0, _Finder(name, action))


def _enable():
    from .session import enable

    enable()


def install():
    if os.environ.get("CSAN", "0") not in ("", "0"):
        when_imported("torch", _enable)
