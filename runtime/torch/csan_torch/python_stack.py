"""The Python stacks of a program, each kept once: taking one costs a walk over its frames, and
turning it into text waits until somebody prints it."""

import dis
import sys
import traceback


def _line(code, instruction):
    """The source line of a byte offset into a code object."""
    line = code.co_firstlineno
    for start, number in dis.findlinestarts(code):
        if start > instruction:
            break
        line = number if number is not None else line
    return line


class PythonStacks:
    """Numbers stacks from 1, equal ones alike. A code object is kept once it is in a stack, so that
    its identity stays its own."""

    def __init__(self):
        self._numbers = {}
        self._stacks = [()]
        self._codes = {}

    def capture(self, skip):
        """The caller's stack without its `skip` innermost frames."""
        frame = sys._getframe(skip + 1)
        places = []
        while frame is not None:
            places.append((id(frame.f_code), frame.f_lasti))
            frame = frame.f_back
        key = tuple(places)
        number = self._numbers.get(key)
        return self._keep(key, sys._getframe(skip + 1)) if number is None else number

    def _keep(self, key, frame):
        while frame is not None:
            self._codes[id(frame.f_code)] = frame.f_code
            frame = frame.f_back
        self._stacks.append(key)
        return self._numbers.setdefault(key, len(self._stacks) - 1)

    def summary(self, number):
        """As the traceback module writes it, outermost frame first."""
        lines = []
        for identity, instruction in reversed(self._stacks[number]):
            code = self._codes[identity]
            lines.append((code.co_filename, _line(code, instruction), code.co_name, None))
        return traceback.StackSummary.from_list(lines)
