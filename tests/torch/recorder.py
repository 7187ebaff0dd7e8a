"""Records what torch.cuda._sanitizer.EventHandler receives and what it answers, in the form that
recording.h describes. Needs torch, no GPU."""

import torch
from torch.cuda import _sanitizer

_CALLS = (
    "event_creation",
    "event_deletion",
    "event_record",
    "event_wait",
    "memory_allocation",
    "memory_deallocation",
    "stream_creation",
    "device_synchronization",
    "stream_synchronization",
    "event_synchronization",
)
_KINDS = {_sanitizer.AccessType.READ: "read", _sanitizer.AccessType.WRITE: "write"}


class RecordingHandler(_sanitizer.EventHandler):
    """PyTorch's handler, which writes every call and verdict to the class's `file`."""

    file = None

    @classmethod
    def begin(cls, path, title):
        cls.file = open(path, "w")
        print("# Calls of torch.cuda._sanitizer.EventHandler and its verdicts", file=cls.file)
        print(f"# (PyTorch {torch.__version__}): {title}", file=cls.file)

    @classmethod
    def end(cls):
        cls.file.close()
        cls.file = None

    def _write(self, *words):
        if self.file:
            print(*words, file=self.file)

    def _handle_kernel_launch(self, stream, read_only, read_write, outputs, operator, aliases):
        read_only, read_write = list(read_only), list(read_write)
        words = ["launch", stream]
        words += ["read", *read_only] if read_only else []
        words += ["write", *read_write] if read_write else []
        name = str(operator).split("(")[0]
        self._write(*words, *(["#", name] if name else []))
        errors = super()._handle_kernel_launch(
            stream, read_only, read_write, outputs, operator, aliases
        )
        races = {
            (_KINDS[error.current_access.type], error.data_ptr, error.previous_access.stream)
            for error in errors
        }
        for kind, data_ptr, other in sorted(races):
            self._write("  race", kind, data_ptr, "stream", other)
        return errors


def _recorded(name):
    original = getattr(_sanitizer.EventHandler, "_handle_" + name)

    def call(self, *numbers):
        self._write(name, *numbers)
        return original(self, *numbers)

    return call


for _name in _CALLS:
    setattr(RecordingHandler, "_handle_" + _name, _recorded(_name))
