"""What a race looks like to a PyTorch user: the classes of torch.cuda._sanitizer, with its words.

`MemoryReuseError` is csan's own: PyTorch's sanitizer forgets a tensor when it is freed.
"""

import enum
import sys
from dataclasses import dataclass
from traceback import StackSummary
from typing import Any, List, Optional


class AccessType(enum.Enum):
    READ = enum.auto()
    WRITE = enum.auto()

    def __str__(self) -> str:
        return {"READ": "reading from", "WRITE": "writing to"}[self.name]


@dataclass
class Access:
    """One access to a tensor by a kernel.

    `seq_num` counts kernels from 1; `operator` is whatever names the launch (a schema);
    `aliases` are the operator's arguments that hold the tensor.
    """

    type: AccessType
    seq_num: int
    stream: int
    operator: Any
    aliases: List[str]
    is_output: bool
    stack_trace: StackSummary

    def describe(self) -> str:
        """The operator, what it did to the tensor, and where the program called it."""
        places = []
        if self.aliases:
            places.append("argument(s) " + ", ".join(self.aliases))
        if self.is_output:
            places.append("to the output" if self.aliases else "the output")
        touched = " ".join([str(self.type), ", and ".join(places)]) if places else str(self.type)
        trace = "".join(self.stack_trace.format())
        return f"{self.operator}\n{touched}\nWith stack trace:\n{trace}\n"


class SynchronizationError(Exception):
    """Any error that the sanitizer finds."""


class _TwoAccessesError(SynchronizationError):
    """Two accesses to the memory at one data pointer that nothing orders."""

    def __init__(
        self,
        data_ptr: int,
        allocation_stack_trace: Optional[StackSummary],
        current_access: Access,
        previous_access: Access,
    ):
        super().__init__(data_ptr, current_access.seq_num, previous_access.seq_num)
        self.data_ptr = data_ptr
        self.allocation_stack_trace = allocation_stack_trace
        self.current_access = current_access
        self.previous_access = previous_access

    def _allocation(self) -> str:
        if not self.allocation_stack_trace:
            return "Trace for tensor allocation not found."
        trace = "".join(self.allocation_stack_trace.format())
        return "Tensor was allocated with stack trace:\n" + trace


class UnsynchronizedAccessError(_TwoAccessesError):
    """Two unordered accesses to one tensor, at least one of them a write."""

    def __str__(self) -> str:
        return (
            "============================\n"
            "CSAN detected a possible data race on tensor with data pointer "
            f"{self.data_ptr}\n"
            f"Access by stream {self.current_access.stream} during kernel:\n"
            f"{self.current_access.describe()}"
            f"Previous access by stream {self.previous_access.stream} during kernel:\n"
            f"{self.previous_access.describe()}"
            f"{self._allocation()}"
        )


class MemoryReuseError(_TwoAccessesError):
    """The memory of a freed tensor went to a new one while a stream still used the old one."""

    def __str__(self) -> str:
        former = self.previous_access.stream
        return (
            "============================\n"
            f"CSAN detected memory reused while stream {former} still uses it, at data pointer "
            f"{self.data_ptr}\n"
            f"Access to the new tensor by stream {self.current_access.stream} during kernel:\n"
            f"{self.current_access.describe()}"
            f"Access to the freed tensor by stream {former} during kernel:\n"
            f"{self.previous_access.describe()}"
            f"Call record_stream on the freed tensor with stream {former} before it is freed, or "
            "let its stream wait for that one.\n"
            f"{self._allocation()}"
        )


class ReportedError(SynchronizationError):
    """A race that csan has printed, as the text of its report."""


class CUDASanitizerErrors(Exception):
    """All errors of one kernel launch."""

    def __init__(self, errors: List[SynchronizationError]):
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return f"detected {len(self.errors)} errors"


def exception_class():
    """PyTorch's own class where it is loaded: who catches its exception has it."""
    sanitizer = sys.modules.get("torch.cuda._sanitizer")
    return getattr(sanitizer, "CUDASanitizerErrors", CUDASanitizerErrors)


def exception_of_reports(reports):
    """For races that csan has printed."""
    return exception_class()([ReportedError(report) for report in reports])
