"""Python's stacks for libcsan's hooks: as libcsan reads them, or asked of an interpreter that it does
not know."""

import ctypes
import sys

from . import api
from .python_stack import PythonFrames

_FRAME = 1 << 63  # in every frame of a language, as csan wants it
_ENGINE = _FRAME  # the heading in place of a stack, for PyTorch's own threads


class _Asked:
    """A source of Python's stacks that asks the interpreter, for whose lock it waits."""

    def __init__(self):
        self._frames = PythonFrames()
        self._texts = {}
        self.source = api.StackSource(
            ctypes.sizeof(api.StackSource),
            api.CAPTURE(self._capture),
            api.DESCRIBE(self._describe),
            1,  # for the interpreter's lock
        )

    def _capture(self, frames, capacity, _locked):
        try:
            caller = sys._getframe().f_back
            numbers = self._frames.capture(caller, capacity)
            for place, number in enumerate(numbers):
                frames[place] = _FRAME | number
            if not numbers and caller is not None and capacity:
                frames[0] = _ENGINE
                return 1
            return len(numbers)
        except Exception:
            return 0

    def _describe(self, frame, line):
        try:
            place = self._frames.find(frame & ~_FRAME)
            if frame == _ENGINE:
                line[0].file = None
                line[0].function = b"  (in a thread of PyTorch's own, which runs no Python)"
            elif place is None:
                return 0
            else:
                line[0].file = self._text(place[0])
                line[0].function = self._text(place[2])
            line[0].line = place[1] if place else 0
            return 1
        except Exception:
            return 0

    def _text(self, string):
        """As C has it, alive for ever."""
        return self._texts.setdefault(string, string.encode("utf-8", "replace"))


_asked = []  # as long as the process lives


def install(table, ask):
    """From here on Python's frames alone are the stacks of what Python calls. `ask`: an interpreter
    that libcsan cannot read, too."""
    interpreter = ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p)
    known = table.python(interpreter) if table.has("python") else None
    if known:
        table.stack_source(known.contents.source)
    elif ask:
        _asked.append(_Asked())
        table.stack_source(_asked[-1].source)
