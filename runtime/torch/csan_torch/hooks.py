"""PyTorch's operators, memory and stacks, told to libcsan's hooks from Python: what the native
adapter does at a fraction of the cost. csan's callbacks wait for the interpreter's lock."""

import ctypes
import sys

from . import api, errors, ranges
from .allocator import Allocator
from .operators import tensors_in
from .python_stack import PythonFrames

_FRAME = 1 << 63  # in every frame of a language, as csan wants it
_ENGINE = _FRAME  # the heading in place of a stack, for PyTorch's own threads


class _Stacks:
    """The source of Python's stacks."""

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


class _Races:
    """Reports that csan has printed, raised when the operator ends. One of a race outside of any
    operator is raised by the next one; without a next one csan ends the program with its exit code.
    """

    def __init__(self, operator_code):
        self._operator_code = operator_code  # of the function that runs operators
        self._reports = []
        self.handler = api.RACE_HANDLER(self._found)

    def _found(self, user, race, report):
        try:
            self._reports.append(report.decode("utf-8", "replace"))
            return int(self._in_operator())
        except Exception:
            return 0

    def _in_operator(self):
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code is self._operator_code:
                return True
            frame = frame.f_back
        return False

    def raise_found(self):
        if self._reports:
            reports, self._reports[:] = self._reports[:], []
            raise errors.exception_of_reports(reports)


class _Call:
    """One call of an operator, as csan reads it until its end."""

    def __init__(self, operator, args, kwargs):
        self._keep = []
        device, host = [], []
        for place, value in operator.arguments(args, kwargs):
            kind = operator.uses[place]
            for tensor in tensors_in(value) if kind else ():
                if tensor.is_cuda:
                    ranges.add(device, self._keep, tensor, kind, place)
                elif tensor.is_cpu:
                    ranges.add(host, self._keep, tensor, kind, place)
        self.told = api.OperatorCall(
            (ranges.Access * len(device))(*device),
            len(device),
            (ranges.Access * len(host))(*host),
            len(host),
        )


class Hooks:
    """The hooks, told from here on until `close`."""

    def __init__(self):
        self._api = api.find()
        self._told = {}  # by Operator
        self._stacks = _Stacks()
        self._races = _Races(Hooks.run.__code__)
        self._api.stack_source(self._stacks.source)
        self._api.on_race(self._races.handler, None)
        self._allocator = Allocator(self._api)

    def run(self, operator, function, args, kwargs):
        """function(*args, **kwargs), which is a call of the operator."""
        what = self._told.get(operator)
        if what is None:
            what = api.operator(operator.text, operator.names, operator.returned)
            what = self._told.setdefault(operator, what)
        call = _Call(operator, args, kwargs)
        self._api.operator_begin(what, call.told)
        try:
            return function(*args, **kwargs)
        finally:
            self._api.operator_end()
            self._races.raise_found()

    def close(self):
        """csan decides what the program has finished; from here on it calls Python no more."""
        self._api.race_mark()
        self._api.on_race(api.RACE_HANDLER(), None)
        self._api.stack_source(None)
