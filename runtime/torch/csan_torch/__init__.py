"""csan for PyTorch.

`enable()` checks this process: what `csan run python ...` does by itself. `EventHandler` has the
methods of torch.cuda._sanitizer.EventHandler and csan's detector underneath. Importing this package
needs neither torch nor a GPU.
"""

from .errors import (
    Access,
    AccessType,
    CUDASanitizerErrors,
    MemoryReuseError,
    ReportedError,
    SynchronizationError,
    UnsynchronizedAccessError,
)
from .event_handler import EventHandler
from .session import enable

__all__ = [
    "Access",
    "AccessType",
    "CUDASanitizerErrors",
    "EventHandler",
    "MemoryReuseError",
    "ReportedError",
    "SynchronizationError",
    "UnsynchronizedAccessError",
    "enable",
]
