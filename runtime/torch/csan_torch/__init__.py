"""csan for PyTorch: `EventHandler` has the methods of torch.cuda._sanitizer.EventHandler and csan's
detector underneath. Importing this package needs neither torch nor a GPU."""

from .errors import (
    Access,
    AccessType,
    CUDASanitizerErrors,
    MemoryReuseError,
    SynchronizationError,
    UnsynchronizedAccessError,
)
from .event_handler import EventHandler

__all__ = [
    "Access",
    "AccessType",
    "CUDASanitizerErrors",
    "EventHandler",
    "MemoryReuseError",
    "SynchronizationError",
    "UnsynchronizedAccessError",
]
