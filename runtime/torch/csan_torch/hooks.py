"""PyTorch's operators, memory and stacks, declared to libcsan's hooks from Python: what the native
adapter does at a fraction of the cost."""

import ctypes
import sys

from . import api, errors, ranges, stack_source
from .allocator import Allocator
from .operators import tensors_in


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
        self.declared = api.OperatorCall(
            (ranges.Access * len(device))(*device),
            len(device),
            (ranges.Access * len(host))(*host),
            len(host),
        )


class Hooks:
    """The hooks, called from here on until `close`."""

    def __init__(self):
        self._api = api.find()
        self._declared = {}  # by Operator
        self._races = _Races(Hooks.run.__code__)
        stack_source.install(self._api, ask=True)
        self._api.on_race(self._races.handler, None)
        self._allocator = Allocator(self._api)

    def run(self, operator, function, args, kwargs):
        """function(*args, **kwargs), which is a call of the operator."""
        what = self._declared.get(operator)
        if what is None:
            what = api.operator(operator.text, operator.names, operator.returned)
            what = self._declared.setdefault(operator, what)
        call = _Call(operator, args, kwargs)
        self._api.operator_begin(what, call.declared)
        try:
            if operator.indices:
                self._declare_indices(operator, args, kwargs)
            return function(*args, **kwargs)
        finally:
            self._api.operator_end()
            self._races.raise_found()

    def _declare_indices(self, operator, args, kwargs):
        try:
            indices = operator.indices.declared(operator.arguments(args, kwargs))
        except Exception:  # of arguments that PyTorch refuses
            return
        if indices[1]:
            self._api.operator_indices(*indices)

    def close(self):
        """csan decides what the program has finished; from here on it calls Python no more."""
        self._api.race_mark()
        self._api.on_race(api.RACE_HANDLER(), None)
        self._api.stack_source(None)
