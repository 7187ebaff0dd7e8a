"""The Python stacks of a program, each kept once: taking one costs a walk over its frames, and
turning it into text waits until somebody prints it. Frames of csan_torch itself, and of what PyTorch
calls it through, are left out."""

import dis
import itertools
import os
import sys
import traceback

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CALLERS = tuple(
    os.sep + os.path.join("torch", name)
    for name in ("_ops.py", "_compile.py", "_utils.py", os.path.join("_dynamo", "eval_frame.py"))
)


def _is_program(code):
    return not code.co_filename.startswith(_OWN) and not code.co_filename.endswith(_CALLERS)


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
            if not _is_program(code):
                continue
            lines.append((code.co_filename, _line(code, instruction), code.co_name, None))
        return traceback.StackSummary.from_list(lines)


class PythonFrames:
    """Numbers the places in the program's code from 1, equal ones alike. Takes no lock: it is called
    wherever the interpreter may be."""

    def __init__(self):
        self._numbers = {}
        self._places = {}
        self._next = itertools.count(1)

    def capture(self, frame, limit):
        """The numbers of the frame and those that called it, innermost first."""
        numbers = []
        while frame is not None and len(numbers) < limit:
            code = frame.f_code
            key = id(code), frame.f_lasti
            number = self._numbers.get(key)
            if number is None:
                number = self._keep(key, code)
            if number:
                numbers.append(number)
            frame = frame.f_back
        return numbers

    def _keep(self, key, code):
        number = next(self._next)
        self._places[number] = code, key[1]  # for ever, so that its identity stays its own
        return self._numbers.setdefault(key, number if _is_program(code) else 0)

    def find(self, number):
        """The file, line and function; None: there is no such place."""
        place = self._places.get(number)
        return place and (place[0].co_filename, _line(*place), place[0].co_name)
