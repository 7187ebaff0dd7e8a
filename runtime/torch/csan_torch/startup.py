"""Switches csan on when the program imports torch, and does what else waits for an import. Imported
at the interpreter's start, by `csan run` or by the installed package, where CSAN is set; costs a
program without torch a few milliseconds: it imports no more of the library than that."""

import _thread
import os
import sys


class _Loader:
    """A module's own loader, and the finder's action after it."""

    def __init__(self, loader, finder):
        self._loader = loader
        self._finder = finder

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._finder.leave()
        _do(module.__name__, self._finder.action)


class _Finder:
    """Takes part in finding one module until it has been imported; who only asks where it is gets
    the answer, and no import."""

    def __init__(self, name, action):
        self._name = name
        self._asking = set()  # threads, whose search for the module is not to come back here
        self.action = action

    def find_spec(self, name, path=None, target=None):
        thread = _thread.get_ident()
        if name != self._name or thread in self._asking:
            return None
        from importlib import util

        self._asking.add(thread)
        try:
            spec = util.find_spec(name)
        finally:
            self._asking.discard(thread)
        if spec and spec.loader:
            spec.loader = _Loader(spec.loader, self)
        return spec

    def leave(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)


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


def _follow_pools():
    try:
        import csan_pools
    except ImportError:  # csan_torch was copied alone
        return
    csan_pools.install(when_imported)


def install():
    if os.environ.get("CSAN", "").strip().lower() not in ("", "0", "no", "off", "false"):
        when_imported("torch", _enable)
        _follow_pools()
