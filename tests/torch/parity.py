"""The C half of the parity tests from Python: random sequences of handler calls (sequence.h), the
judge of verdicts (history.h) and the file of PyTorch's verdicts (verdicts.h).

CSAN_PARITY names the library that make builds of them, else it is that of the build directory.
"""

import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_size_t, c_uint32, c_uint64
from ctypes import c_uint8, c_void_p
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERDICTS = HERE / "verdicts.zst"
READ, WRITE = 1, 2
STREAMS, CALLS, TOUCHES, DIFFERENCES = 8, 48, 4, 4

# By number (enum call_kind): the handler's method and which numbers it takes.
METHODS = [
    ("_handle_kernel_launch", ("stream",)),
    ("_handle_event_creation", ("event",)),
    ("_handle_event_deletion", ("event",)),
    ("_handle_event_record", ("event", "stream")),
    ("_handle_event_wait", ("event", "stream")),
    ("_handle_memory_allocation", ("data_ptr",)),
    ("_handle_memory_deallocation", ("data_ptr",)),
    ("_handle_stream_creation", ("stream",)),
    ("_handle_device_synchronization", ()),
    ("_handle_stream_synchronization", ("stream",)),
    ("_handle_event_synchronization", ("event",)),
]


class Touch(Structure):
    _fields_ = [("data_ptr", c_uint64), ("kind", c_uint32)]


class Call(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("touch_count", c_uint32),
        ("stream", c_uint64),
        ("event", c_uint64),
        ("data_ptr", c_uint64),
        ("touches", POINTER(Touch)),
    ]

    def is_launch(self):
        return self.kind == 0

    def touched(self):
        return [(touch.data_ptr, touch.kind) for touch in self.touches[: self.touch_count]]

    def make(self, handler):
        """Make it on a handler; of a launch, its list of errors."""
        method, arguments = METHODS[self.kind]
        numbers = [getattr(self, argument) for argument in arguments]
        if not self.is_launch():
            return getattr(handler, method)(*numbers)
        touched = self.touched()
        reads = [data_ptr for data_ptr, kind in touched if kind == READ]
        writes = [data_ptr for data_ptr, kind in touched if kind == WRITE]
        aliases = {data_ptr: [] for data_ptr, _ in touched}
        return getattr(handler, method)(*numbers, reads, writes, {}, "kernel", aliases)


class Sequence(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("calls", Call * CALLS),
        ("touches", Touch * TOUCHES * CALLS),
    ]


class Named(Structure):
    _fields_ = [("touch", c_uint32), ("stream", c_uint64)]


class Reported(Structure):
    _fields_ = [
        ("touch", c_uint32),
        ("launch", c_uint32),
        ("kind", c_uint32),
        ("reuse", c_uint32),
    ]


class Tally(Structure):
    _fields_ = [
        ("launches", c_uint64),
        ("touches", c_uint64),
        ("racing", c_uint64),
        ("more", c_uint64),
        ("why", c_uint64 * DIFFERENCES),
    ]


def _load():
    path = os.environ.get("CSAN_PARITY") or HERE.parents[1] / "build/tests/torch/libparity.so"
    library = ctypes.CDLL(str(path))
    library.sequence_make.argtypes = [POINTER(Sequence), c_uint64]
    library.sequence_make.restype = None
    library.verdicts_save.argtypes = [c_char_p, c_void_p]
    library.verdicts_load.argtypes = [c_char_p]
    library.verdicts_load.restype = c_void_p
    library.history_create.restype = c_void_p
    library.history_destroy.argtypes = [c_void_p]
    library.history_destroy.restype = None
    library.history_call.argtypes = [c_void_p, POINTER(Call)]
    library.history_call.restype = None
    library.history_check.restype = c_bool
    library.history_check.argtypes = [
        c_void_p,
        POINTER(Call),
        POINTER(Named),
        c_size_t,
        POINTER(Reported),
        c_size_t,
        POINTER(Tally),
        c_char_p,
        c_size_t,
    ]
    return library


library = _load()


def make_sequence(number):
    """A sequence; its calls are valid as long as it is kept."""
    sequence = Sequence()
    library.sequence_make(byref(sequence), number)
    return sequence


def stream_bit(stream):
    return 1 << (stream - 1000 if stream else 0)


def bit_stream(bit):
    return 1000 + bit if bit else 0


def load_verdicts():
    """The number of sequences, and the bytes of PyTorch's verdicts."""
    address = library.verdicts_load(str(VERDICTS).encode())
    if not address:
        raise SystemExit(1)
    sequences, count = (c_uint64 * 2).from_address(address)
    return sequences, bytes((c_uint8 * count).from_address(address + 16))


def save_verdicts(sequences, streams):
    content = ctypes.create_string_buffer(16 + len(streams))
    (c_uint64 * 2).from_buffer(content)[:] = [sequences, len(streams)]
    content[16:] = bytes(streams)
    if library.verdicts_save(str(VERDICTS).encode(), content) != 0:
        raise SystemExit(1)
