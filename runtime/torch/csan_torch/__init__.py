"""csan for PyTorch.

`enable()` checks this process: what `csan run python ...` does by itself. `EventHandler` has the
methods of torch.cuda._sanitizer.EventHandler and csan's detector underneath. Importing this package
needs neither torch nor a GPU. What it has is imported when it is first asked for: the package is part
of each interpreter that starts under `csan run`, with torch or without.
"""

import importlib

_FROM = {
    "Access": "errors",
    "AccessType": "errors",
    "CUDASanitizerErrors": "errors",
    "EventHandler": "event_handler",
    "MemoryReuseError": "errors",
    "ReportedError": "errors",
    "SynchronizationError": "errors",
    "UnsynchronizedAccessError": "errors",
    "enable": "session",
}

__all__ = list(_FROM)


def __getattr__(name):
    if name in _FROM:
        value = getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _FROM.values():
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
