"""libcsan's hooks in this process (include/csan/csan.h) from Python: struct csan_api, and the
structures that an adapter of a framework hands to it."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint16, c_uint32
from ctypes import c_uint64, c_void_p

from .detector import NO_ARGUMENT, Access, Indices

RETURNED = "\1"  # CSAN_ARGUMENT_RETURNED


class Operator(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("arguments", POINTER(c_char_p)),
        ("argument_count", c_size_t),
        ("output", c_uint16),
    ]


class OperatorCall(Structure):
    _fields_ = [
        ("accesses", POINTER(Access)),
        ("count", c_size_t),
        ("host_accesses", POINTER(Access)),
        ("host_count", c_size_t),
        ("composite", c_int),
    ]


class SourceLine(Structure):
    _fields_ = [("file", c_char_p), ("function", c_char_p), ("line", c_uint32)]


CAPTURE = CFUNCTYPE(c_size_t, POINTER(c_uint64), c_size_t, c_int)
DESCRIBE = CFUNCTYPE(c_int, c_uint64, POINTER(SourceLine))
RACE_HANDLER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p)


class StackSource(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("capture", CAPTURE),
        ("describe", DESCRIBE),
        ("waits", c_int),
    ]


class Python(Structure):
    _fields_ = [("size", c_uint32), ("top", c_void_p), ("source", POINTER(StackSource))]


class Link(Structure):
    """struct csan_link: what joins this process to others."""

    _fields_ = [
        ("kind", c_int),
        ("key", c_uint64),
        ("number", c_uint64),
        ("peers", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("time", c_uint64),
    ]


LINK_ENTER, LINK_LEAVE, LINK_NEXT, LINK_TAKE = 3, 4, 10, 11
LINK_LACK, LINK_PUBLISH, LINK_LEARN = 13, 15, 16
LACK_COMMUNICATOR, LACK_STORE, LACK_UNFOLLOWED = 1, 8, 9


class Api(Structure):
    """struct csan_api. Its functions release the interpreter's lock while they run. A handle of a
    stream, the address of a block: plain numbers."""

    _fields_ = [
        ("size", c_uint32),
        ("pool_alloc", CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)),
        ("pool_free", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("launch_touches", c_void_p),
        ("host_touches", c_void_p),
        ("happens_before", c_void_p),
        ("happens_after", c_void_p),
        ("race_mark", CFUNCTYPE(c_uint64)),
        ("races_since", c_void_p),
        ("races_clear", c_void_p),
        ("operator_begin", CFUNCTYPE(None, POINTER(Operator), POINTER(OperatorCall))),
        ("operator_end", CFUNCTYPE(None)),
        ("stack_source", CFUNCTYPE(None, POINTER(StackSource))),
        ("on_race", CFUNCTYPE(None, RACE_HANDLER, c_void_p)),
        ("kernel_ptx", CFUNCTYPE(None, c_void_p, c_char_p, c_size_t)),
        ("ignore", c_void_p),
        ("benign_range", c_void_p),
        ("host_happens", c_void_p),
        ("python", CFUNCTYPE(POINTER(Python), c_void_p)),
        ("races_copy", c_void_p),
        ("name_stream", c_void_p),
        ("findings_copy", c_void_p),
        ("failure_text", CFUNCTYPE(c_char_p, c_int)),
        ("operator_indices", CFUNCTYPE(None, POINTER(Indices), c_size_t)),
        ("call_touches", c_void_p),
        ("request_start", c_void_p),
        ("request_end", c_void_p),
        ("library", c_void_p),
        ("activity", CFUNCTYPE(c_void_p)),
        ("host_view", c_void_p),
        ("call_counts", c_void_p),
        ("operator_source", c_void_p),
        ("link", CFUNCTYPE(None, POINTER(Link))),
        ("token", c_void_p),
        ("barrier", c_void_p),
        ("links", CFUNCTYPE(c_int)),
    ]

    def has(self, member):
        """False: the library is older than the member."""
        return self.size > getattr(Api, member).offset


def find():
    """The table; None when libcsan is not in this process, or off."""
    try:
        function = ctypes.CDLL(None).csan_api
    except AttributeError:
        return None
    function.restype = POINTER(Api)
    api = function()
    return api.contents if api else None


def operator(name, arguments, returned):
    """A struct csan_operator, alive as long as the result is. `returned`: of each argument, whether
    it is returned. Memory that it makes is its output, the argument after the last."""
    names = [name + RETURNED * back for name, back in zip(arguments, returned)] + [RETURNED]
    array = (c_char_p * len(names))(*(name.encode() for name in names))
    output = min(len(arguments), NO_ARGUMENT)
    return Operator(name.encode(), array, len(names), output)
