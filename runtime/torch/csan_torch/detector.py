"""csan's detector (include/csan/detector.h) from Python, through libcsan.so.0.

The library is the one that CSAN_LIBRARY names, else the one in this package's own lib directory,
else that of the installation or the source tree it is in, else what the loader finds.
"""

import ctypes
import os
import weakref
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_uint8, c_uint16, c_uint32
from ctypes import c_int16, c_int64, c_uint64, c_void_p
from pathlib import Path

HOST = 0
READ, WRITE = 1, 2
RACE_REUSE = 5
BOUND_SHAPE = 6
NO_ARGUMENT = 0xFFFF
MAX_DIMS = 6

INDICES_DIMS = 4
INDICES_OF_ALL, INDICES_OF_NUMBER = -1, -2

_FILE = "libcsan.so.0"
_LEVEL_ANNOTATED = 0


class Dim(Structure):
    """struct csan_dim."""

    _fields_ = [("stride", c_int64), ("count", c_uint64)]


class Access(Structure):
    """struct csan_access."""

    _fields_ = [
        ("base", c_uint64),
        ("bytes", c_uint64),
        ("dims", c_void_p),
        ("dim_count", c_uint8),
        ("kind", c_uint8),
        ("bound", c_uint8),
        ("element_bytes", c_uint8),
        ("argument", c_uint16),
        ("order", c_uint8),
    ]


class Indices(Structure):
    """struct csan_indices."""

    _fields_ = [
        ("base", c_uint64),
        ("count", c_uint64),
        ("low", c_int64),
        ("high", c_int64),
        ("ignored", c_int64),
        ("has_ignored", c_uint8),
        ("on_host", c_uint8),
        ("element_bytes", c_uint16),
        ("dim_count", c_uint16),
        ("argument", c_uint16),
        ("of", c_uint16),
        ("dimension", c_int16),
        ("sizes", c_uint64 * INDICES_DIMS),
    ]


_Frames = POINTER(c_void_p)


class _RaceAccess(Structure):
    """struct csan_race_access: the library writes it, so every member is here."""

    _fields_ = [
        ("stream", c_uint64),
        ("lane_kind", c_int),
        ("host", c_int),
        ("at_call", c_int),
        ("lane", c_char_p),
        ("name", c_char_p),
        ("arguments", c_char_p),
        ("ranges", c_char_p),
        ("kind", c_int),
        ("bound", c_int),
        ("site", c_uint32),
        ("level", c_int),
        ("sequence", c_uint64),
        ("frames", _Frames),
        ("frame_count", c_size_t),
        ("created_frames", _Frames),
        ("created_frame_count", c_size_t),
        ("launch_frames", _Frames),
        ("launch_frame_count", c_size_t),
        ("defined", c_char_p),
        ("detail", c_char_p),
    ]


class _Race(Structure):
    """struct csan_race, as _RaceAccess."""

    _fields_ = [
        ("kind", c_int),
        ("possible", c_int),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("allocation", c_uint64),
        ("allocation_bytes", c_uint64),
        ("pointer", c_uint64),
        ("current", _RaceAccess),
        ("previous", _RaceAccess),
        ("allocation_frames", _Frames),
        ("allocation_frame_count", c_size_t),
        ("number", c_uint64),
        ("unpromised", c_char_p),
        ("order", c_void_p),
        ("in_graph", c_int),
        ("group", c_uint64),
        ("also", c_void_p),
        ("also_count", c_size_t),
        ("also_total", c_size_t),
        ("time", c_uint64),
        ("group_previous", c_uint64),
        ("group_current", c_uint64),
        ("framework", c_int),
        ("variable", c_char_p),
        ("variable_module", c_char_p),
        ("error", c_void_p),
        ("object", c_char_p),
    ]


_PROTOTYPES = {  # name: result, arguments after the context
    "csan_context_destroy": (None, []),
    "csan_site_intern": (
        c_uint32,
        [c_char_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p), c_size_t],
    ),
    "csan_lane_create": (c_uint32, [c_uint64, c_char_p]),
    "csan_lane_waits": (None, [c_uint32, c_uint32]),
    "csan_snapshot_take_all": (c_void_p, []),
    "csan_snapshot_join": (None, [c_uint32, c_void_p]),
    "csan_snapshot_release": (None, [c_void_p]),
    "csan_event_create": (c_void_p, []),
    "csan_event_destroy": (None, [c_void_p]),
    "csan_event_record": (None, [c_void_p, c_uint32]),
    "csan_event_wait": (None, [c_void_p, c_uint32]),
    "csan_memory_pool_alloc": (c_int, [c_uint64, c_uint64, c_uint32, c_uint32]),
    "csan_memory_pool_free": (c_int, [c_uint64, c_uint32, c_uint32]),
    "csan_op": (None, [c_uint32, c_uint32, c_int, POINTER(Access), c_size_t]),
    "csan_context_race_mark": (c_uint64, []),
    "csan_context_races_since": (c_size_t, [c_uint64, POINTER(_Race), c_size_t]),
}


def _candidates():
    named = os.environ.get("CSAN_LIBRARY")
    if named:
        return [named]
    here = Path(__file__).resolve().parent
    in_wheel = here.parent / "csan" / "tree" / "lib"
    places = [here / "lib", in_wheel, here.parents[2], here.parents[2] / "build" / "lib"]
    places = [place / _FILE for place in places]
    return [str(place) for place in places if place.exists()] + [_FILE]


def _load():
    failures = []
    for path in _candidates():
        try:
            # With the interpreter's lock kept: PyTorch reports a new stream while it holds a lock
            # for which other threads wait without giving up the interpreter's.
            library = ctypes.PyDLL(path)
            break
        except OSError as error:
            failures.append(str(error))
    else:
        raise ImportError(
            f"csan_torch cannot load csan's library ({'; '.join(failures)}). "
            f"Build it with make, or set CSAN_LIBRARY to the path of {_FILE}."
        )
    try:
        create = library.csan_context_create
        create.restype = c_void_p
        create.argtypes = [c_char_p, c_void_p, c_void_p, c_char_p, c_size_t]
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = [c_void_p, *arguments]
    except AttributeError as error:
        raise ImportError(
            f"csan_torch: {path} is not csan's library or not of this version ({error}). "
            f"Set CSAN_LIBRARY to the path of the {_FILE} that this package came with."
        ) from None
    return library


def _release(library, context, events):
    for event in events:
        library.csan_event_destroy(context, event)
    library.csan_context_destroy(context)


class Detector:
    """One context of the detector, which reports every pair of accesses that race."""

    _library = None

    def __init__(self):
        if Detector._library is None:
            Detector._library = _load()
        library = Detector._library
        message = ctypes.create_string_buffer(256)
        context = library.csan_context_create(b"dedup=0", None, None, message, len(message))
        if not context:
            raise MemoryError(message.value.decode() or "csan_torch: no memory for the detector")
        self._library = library
        self._context = context
        self._mark = 0
        self._races = (_Race * 16)()
        self._events = set()
        weakref.finalize(self, _release, library, context, self._events)

    def __getattr__(self, name):
        """detector.lane_waits(...) is csan_lane_waits(context, ...)."""
        function = getattr(self._library, "csan_" + name)
        context = self._context

        def call(*arguments):
            return function(context, *arguments)

        self.__dict__[name] = call
        return call

    def create_event(self):
        event = self.event_create()
        if not event:
            raise MemoryError("csan_torch: no memory for an event")
        self._events.add(event)
        return event

    def destroy_event(self, event):
        self._events.discard(event)
        self.event_destroy(event)

    def intern(self, name, argument_count, frame):
        """A site whose arguments are called "0", "1", ... and whose stack is one number."""
        names = (c_char_p * argument_count)(*(b"%d" % i for i in range(argument_count)))
        frames = (c_void_p * 1)(frame)
        return self.site_intern(name.encode(), names, argument_count, frames, 1)

    def op(self, lane, site, touched):
        """An op that touches the byte at each (address, kind), as the site's first, second, ...
        argument. Returns the races found; they are valid until the next op."""
        count = len(touched)
        accesses = (Access * count)()
        for i, (address, kind) in enumerate(touched):
            access = accesses[i]
            access.base = address
            access.bytes = 1
            access.kind = kind
            access.argument = min(i, NO_ARGUMENT)
        self._library.csan_op(self._context, lane, site, _LEVEL_ANNOTATED, accesses, count)
        found = self.context_races_since(self._mark, self._races, len(self._races))
        if found > len(self._races):
            self._races = (_Race * found)()
            self.context_races_since(self._mark, self._races, found)
        self._mark += found
        return self._races[:found]
