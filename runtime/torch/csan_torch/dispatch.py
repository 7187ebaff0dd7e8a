"""Operators followed by a TorchDispatchMode, which stays entered as long as the program runs: where
the native adapter cannot be built, and where libcsan is not in the process. Costs some tens of
microseconds for each operator, and torch.compile'd code without hooks runs uncompiled."""

import atexit
import os
import re
import sys
import time

from torch.cuda import _gpu_trace as gpu_trace
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
import torch

from . import errors
from .detector import WRITE
from .operators import Operators, tensors_in

_GRACE_SECONDS = 0.02


class _Mode(TorchDispatchMode):
    """Sees each operator below autograd, on threads that PyTorch takes it to: autograd's, too."""

    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self._operators = Operators()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if types:  # tensors that are wrappers: their own operators come here later
            return NotImplemented
        operator = None if sys.is_finalizing() else self._operators.find(func)
        return self.call(operator, func, args, kwargs) if operator else func(*args, **kwargs)

    def call(self, operator, func, args, kwargs):
        raise NotImplementedError

    def close(self):
        """The interpreter is about to shut down."""


class _HookedMode(_Mode):
    """Reports to libcsan's hooks; they know the order, and find the races."""

    def __init__(self, hooks):
        super().__init__()
        self._hooks = hooks

    @classmethod
    def ignore_compile_internals(cls):
        """The kernels that torch.compile makes are known by their own access sets."""
        return True

    def call(self, operator, func, args, kwargs):
        return self._hooks.run(operator, func, args, kwargs)

    def close(self):
        self._hooks.close()


class _Touched:
    """What one operator does to the tensors of the GPU, by data pointer: the arguments of
    EventHandler._handle_kernel_launch."""

    def __init__(self):
        self.read, self.written, self.outputs, self.aliases = set(), set(), set(), {}

    def _add(self, value, uses):
        """The data pointers of its tensors; `uses`: a set that they join, or None."""
        for tensor in tensors_in(value):
            if not tensor.is_cuda:
                continue
            pointer = tensor.data_ptr() or id(tensor)  # empty tensors have nothing in common
            self.aliases.setdefault(pointer, [])
            if uses is not None:
                uses.add(pointer)
            yield pointer

    def add_argument(self, value, name, use):
        uses = use and (self.written if use == WRITE else self.read)
        for pointer in self._add(value, uses):
            self.aliases[pointer].append(name)

    def add_result(self, value, written):
        for pointer in self._add(value, self.written if written else None):
            self.outputs.add(pointer)


class _TracedMode(_Mode):
    """Drives an EventHandler: order and memory come from PyTorch's GPU trace."""

    def __init__(self):
        super().__init__()
        from .event_handler import EventHandler

        # The trace does not report an event that is only queried, although memory's reuse may depend on it.
        self._handler = EventHandler(reuse=False)
        self._halts = "halt_on_error=0" not in re.split("[: ,]", os.environ.get("CSAN_OPTIONS", ""))
        torch._C._activate_gpu_trace()
        for name in (
            "event_creation event_deletion event_record event_wait memory_allocation "
            "memory_deallocation stream_creation device_synchronization stream_synchronization "
            "event_synchronization"
        ).split():
            register = getattr(gpu_trace, f"register_callback_for_{name}")
            register(getattr(self._handler, f"_handle_{name}"))

    def call(self, operator, func, args, kwargs):
        touched = _Touched()
        for place, value in operator.arguments(args, kwargs):
            touched.add_argument(value, operator.names[place], operator.uses[place])
        results = func(*args, **kwargs)
        for written, value in operator.results(results):
            touched.add_result(value, written)
        if touched.aliases:
            self._launched(operator, touched)
        return results

    def _launched(self, operator, touched):
        found = self._handler._handle_kernel_launch(
            torch.cuda.current_stream().cuda_stream,
            touched.read - touched.written,
            touched.written,
            touched.outputs,
            operator.text,
            touched.aliases,
        )
        for error in found:
            print(error, file=sys.stderr)
        if found and self._halts:
            raise errors.exception_class()(found)


def _leave(mode):
    """Before the interpreter shuts down. The mode stays if the program left another one entered."""
    if _get_current_dispatch_mode() is mode:
        mode.__exit__(None, None, None)
    # Autograd's threads may still free tensors, which PyTorch reports to Python: a thread that does so
    # while the interpreter shuts down takes the process with it.
    time.sleep(_GRACE_SECONDS)
    mode.close()


def enable(hooks):
    """`hooks`: whether libcsan's hooks are in this process, and on."""
    if hooks:
        from .hooks import Hooks

        mode = _HookedMode(Hooks())
    else:
        mode = _TracedMode()
    mode.__enter__()
    atexit.register(_leave, mode)
