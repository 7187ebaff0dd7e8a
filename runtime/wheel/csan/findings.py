"""What csan found in this process: its reports, for a test framework.

It reads libcsan's table of functions (struct csan_api in csan/csan.h) and imports nothing of CUDA or PyTorch.
"""

import ctypes
import os

# The members of struct csan_api behind its size, in their order; each is a pointer.
MEMBERS = (
    "pool_alloc pool_free launch_touches host_touches happens_before happens_after race_mark races_since "
    "races_clear operator_begin operator_end stack_source on_race kernel_ptx ignore benign_range host_happens "
    "python races_copy name_stream findings_copy failure_text operator_indices call_touches request_start "
    "request_end library activity host_view call_counts operator_source link token barrier links report_since "
    "unmodelled on_synchronize off_synchronize library_flag exposed"
).split()

_WORD = ctypes.sizeof(ctypes.c_void_p)


def _table():
    """The table's address; None where csan is not in this process, or off."""
    try:
        function = ctypes.CDLL(None).csan_api
    except AttributeError:
        return None
    function.restype = ctypes.c_void_p
    return function()


def _function(table, name, result, *arguments):
    offset = _WORD * (1 + MEMBERS.index(name))
    if offset >= ctypes.c_uint32.from_address(table).value:
        raise RuntimeError(f"libcsan in this process is older than the package csan: it has no {name}")
    address = ctypes.c_void_p.from_address(table + offset).value
    return ctypes.CFUNCTYPE(result, *arguments)(address)


class Finding:
    """A race or another finding: whether it is a possible race only, and the report as csan prints it."""

    def __init__(self, possible, report):
        self.possible = possible
        self.report = report

    @property
    def headline(self):
        lines = [line for line in self.report.splitlines() if line.startswith("CSAN: ")]
        return lines[0] if lines else self.report.split("\n", 1)[0]


class _Beginning(ctypes.Structure):
    """The beginning of struct csan_race: findings_copy copies as much as is asked for."""

    _fields_ = [("kind", ctypes.c_int), ("possible", ctypes.c_int)]


class Checker:
    """csan in this process. `active` is False where it is not there or off; then nothing is ever found."""

    def __init__(self):
        table = _table()
        self.active = table is not None
        if not self.active:
            return
        uint64, size, text = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_char_p
        self._mark = _function(table, "race_mark", uint64)
        self._clear = _function(table, "races_clear", None)
        self._copy = _function(table, "findings_copy", size, uint64, ctypes.c_void_p, size, size)
        self._report = _function(table, "report_since", size, uint64, size, text, size)

    def mark(self):
        return self._mark() if self.active else 0

    def clear(self):
        """Forgets what was found: it does not count for the exit code, and is reported again if it comes again."""
        if self.active:
            self._clear()

    def since(self, mark):
        """The distinct findings since the mark. Waits until csan has decided what the program enqueued."""
        if not self.active:
            return []
        count = self._copy(mark, None, 0, 0)
        found = (_Beginning * count)()
        count = min(count, self._copy(mark, ctypes.byref(found), count, ctypes.sizeof(_Beginning)))
        return [Finding(bool(found[i].possible), self._text(mark, i)) for i in range(count)]

    def _text(self, mark, index):
        length = self._report(mark, index, None, 0)
        text = ctypes.create_string_buffer(length + 1)
        self._report(mark, index, text, length + 1)
        return text.value.decode(errors="replace").lstrip("=\n")  # without the line before it


def command():
    """The command that starts a program under csan: CSAN_COMMAND, or that of this package."""
    from csan import get_command

    return os.environ.get("CSAN_COMMAND") or get_command()
