"""The methods of torch.cuda._sanitizer.EventHandler on csan's detector.

Fed with what a program does (kernels, events, synchronization, memory), it returns the races of
each kernel. A data pointer is a tensor, as in PyTorch: two views with different pointers have
nothing to do with one another. To the detector a tensor is a declared block of one byte at its pointer,
and each life of it, from allocation (or first sight) to deallocation, an owner of that block.

What it finds more than PyTorch's handler, and what it says once where that says it often, is listed
with the tests (tests/torch/test_parity.c).
"""

import logging
import threading

from . import detector as csan
from .errors import Access, AccessType, MemoryReuseError, UnsynchronizedAccessError
from .python_stack import PythonStacks

DEFAULT_STREAM_ID = 0

# PyTorch's own: whoever listens to its handler, as its unit tests do, hears this one.
logger = logging.getLogger("torch.cuda._sanitizer")

_LATE = "Perhaps the sanitizer was enabled after some torch operations?"
_TYPES = {csan.READ: AccessType.READ, csan.WRITE: AccessType.WRITE}


class _Tensors:
    """The tensors that live, by data pointer, each with the number of its allocation's stack."""

    def __init__(self, detector, stacks):
        self._detector = detector
        self._stacks = stacks
        self._allocations = {}

    def ensure_tensor_exists(self, data_ptr):
        if data_ptr not in self._allocations:
            logger.info(
                "Found tensor with pointer: %s, but no matching tensor allocation in the trace. "
                "Backfilling the trace now. " + _LATE,
                data_ptr,
            )
            self.create_tensor(data_ptr, 0)

    def ensure_tensor_does_not_exist(self, data_ptr):
        if data_ptr in self._allocations:
            logger.info(
                "Found duplicate tensor allocation in the trace for tensor with pointer: %s. "
                "Assuming the trace for tensor deallocation wasn't caught and backfilling it now. "
                + _LATE,
                data_ptr,
            )
            self.delete_tensor(data_ptr)

    def create_tensor(self, data_ptr, stack):
        self._allocations[data_ptr] = stack
        self._detector.memory_pool_alloc(data_ptr, 1, csan.HOST, 0)

    def delete_tensor(self, data_ptr):
        del self._allocations[data_ptr]
        self._detector.memory_pool_free(data_ptr, csan.HOST, 0)

    def get_allocation_stack_trace(self, data_ptr):
        stack = self._allocations[data_ptr]
        return self._stacks.summary(stack) if stack else None


class _Synchronizations:
    """Streams and events, by the program's numbers, and the order they make."""

    def __init__(self, detector):
        self._detector = detector
        self._lanes = {}
        self._events = {}
        self.create_stream(DEFAULT_STREAM_ID)

    def lane(self, stream):
        """The detector's lane for a stream, which is created where its creation was not seen."""
        if stream not in self._lanes:
            logger.info(
                "Found Stream with id: %s, but no matching stream creation in the trace. "
                "Backfilling the trace now. " + _LATE,
                stream,
            )
            self.create_stream(stream)
        return self._lanes[stream]

    def event(self, event):
        """The detector's event, which is created where its creation was not seen."""
        if event not in self._events:
            logger.info(
                "Found Event with id: %s, but no matching event creation in the trace. "
                "Backfilling the trace now. " + _LATE,
                event,
            )
            self.create_event(event)
        return self._events[event]

    def create_stream(self, stream):
        if stream in self._lanes:
            logger.info(
                "Found duplicate Stream creation in the trace for Stream with id: %s. PyTorch "
                "Streams are only created once, so this trace entry is ignored.",
                stream,
            )
        else:
            label = f"stream {stream}".encode()
            self._lanes[stream] = self._detector.lane_create(stream, label)

    def create_event(self, event):
        if event in self._events:
            logger.info(
                "Found duplicate event creation in the trace for event with id: %s. Assuming the "
                "trace for event deletion wasn't caught and backfilling it now. " + _LATE,
                event,
            )
            self.delete_event(event)
        self._events[event] = self._detector.create_event()

    def delete_event(self, event):
        self._detector.destroy_event(self.event(event))
        del self._events[event]

    def record_state(self, event, stream):
        self._detector.event_record(self.event(event), self.lane(stream))

    def stream_wait_for_event(self, stream, event):
        lane = self.lane(stream)
        self._detector.event_wait(self.event(event), lane)

    def all_streams_wait_for_event(self, event):
        self._detector.event_wait(self.event(event), csan.HOST)

    def all_streams_wait_for_stream(self, stream):
        self._detector.lane_waits(csan.HOST, self.lane(stream))

    def sync_all_streams(self):
        everything = self._detector.snapshot_take_all()
        self._detector.snapshot_join(csan.HOST, everything)
        self._detector.snapshot_release(everything)


class _Launches:
    """The descriptions of launches, kept once for equal ones, by the detector's site."""

    def __init__(self, detector):
        self._detector = detector
        self._sites = {}
        self._launches = {}

    def site(self, operator, labels, stack):
        """`labels`: (aliases, is_output) of each tensor touched, in the op's order."""
        key = (str(operator), labels, stack)
        site = self._sites.get(key)
        if site is None:
            count = min(len(labels), csan.NO_ARGUMENT)
            site = self._detector.intern(f"{len(self._sites)} {operator}", count, stack)
            self._sites[key] = site
            self._launches[site] = (operator, labels, stack)
        return site

    def find(self, race_access):
        """The operator, the tensor's label and the stack number of one side of a race."""
        operator, labels, stack = self._launches[race_access.site]
        argument = race_access.arguments
        label = labels[int(argument)] if argument else ((), False)
        return operator, label, stack


class EventHandler:
    """Finds the races of a program whose calls it receives, like PyTorch's class of that name.

    With `reuse=False` what a freed tensor's memory was used for is forgotten, as PyTorch does: for
    callers that do not report every order (an event that was only queried).
    """

    def __init__(self, reuse=True):
        detector = csan.Detector()
        self.seq_num = 0
        self._reuse = reuse
        self._detector = detector
        self._stacks = PythonStacks()
        self._launches = _Launches(detector)
        self.tensors_accessed = _Tensors(detector, self._stacks)
        self.syncs = _Synchronizations(detector)
        self._unordered = set()  # (write, later read) that raced, by their numbers
        self._lock = threading.RLock()

    def _handle_kernel_launch(
        self, stream, read_only, read_write, outputs, operator, tensor_aliases
    ):
        with self._lock:
            self.seq_num += 1
            lane = self.syncs.lane(stream)
            touched = [(data_ptr, csan.READ) for data_ptr in read_only]
            touched += [(data_ptr, csan.WRITE) for data_ptr in read_write]
            for data_ptr, _ in touched:
                self.tensors_accessed.ensure_tensor_exists(data_ptr)
            labelled = [
                (kind, tuple(tensor_aliases[data_ptr]), data_ptr in outputs, place)
                for place, (data_ptr, kind) in enumerate(touched)
            ]
            # Sets have no order: one site however they list the tensors. Reads stay before writes.
            labelled.sort()
            labels = tuple((aliases, is_output) for _, aliases, is_output, _ in labelled)
            places = [place for _, _, _, place in labelled]
            site = self._launches.site(operator, labels, self._stacks.capture(skip=1))
            races = self._detector.op(lane, site, [touched[place] for place in places])
            if not races:
                return []
            order = {touched[place]: place for place in reversed(places)}
            races.sort(
                key=lambda race: (order[race.pointer, race.current.kind], race.previous.sequence)
            )
            return [self._error(race) for race in self._reportable(races)]

    def _reportable(self, races):
        """Without a write that is ordered before a read of the list: ordering the kernel after the
        read does all that is needed, and PyTorch names only the read."""
        for race in races:
            if race.current.kind == csan.READ and race.previous.kind == csan.WRITE:
                self._unordered.add((race.previous.sequence, race.current.sequence))
        reads = {}
        for race in races:
            if race.previous.kind == csan.READ:
                reads.setdefault(race.pointer, []).append(race.previous.sequence)
        return [
            race
            for race in races
            if (self._reuse or race.kind != csan.RACE_REUSE)
            and not (
                race.current.kind == race.previous.kind == csan.WRITE
                and any(
                    read > race.previous.sequence
                    and (race.previous.sequence, read) not in self._unordered
                    for read in reads.get(race.pointer, ())
                )
            )
        ]

    def _error(self, race):
        error = MemoryReuseError if race.kind == csan.RACE_REUSE else UnsynchronizedAccessError
        trace = self.tensors_accessed.get_allocation_stack_trace(race.pointer)
        return error(race.pointer, trace, self._access(race.current), self._access(race.previous))

    def _access(self, side):
        operator, (aliases, is_output), stack = self._launches.find(side)
        return Access(
            type=_TYPES[side.kind],
            seq_num=side.sequence,
            stream=side.stream,
            operator=operator,
            aliases=list(aliases),
            is_output=is_output,
            stack_trace=self._stacks.summary(stack),
        )

    def _handle_event_creation(self, event):
        with self._lock:
            self.syncs.create_event(event)

    def _handle_event_deletion(self, event):
        with self._lock:
            self.syncs.delete_event(event)

    def _handle_event_record(self, event, stream):
        with self._lock:
            self.syncs.record_state(event, stream)

    def _handle_event_wait(self, event, stream):
        with self._lock:
            self.syncs.stream_wait_for_event(stream, event)

    def _handle_memory_allocation(self, data_ptr):
        with self._lock:
            self.tensors_accessed.ensure_tensor_does_not_exist(data_ptr)
            self.tensors_accessed.create_tensor(data_ptr, self._stacks.capture(skip=1))

    def _handle_memory_deallocation(self, data_ptr):
        with self._lock:
            self.tensors_accessed.ensure_tensor_exists(data_ptr)
            self.tensors_accessed.delete_tensor(data_ptr)

    def _handle_stream_creation(self, stream):
        with self._lock:
            self.syncs.create_stream(stream)

    def _handle_device_synchronization(self):
        with self._lock:
            self.syncs.sync_all_streams()

    def _handle_stream_synchronization(self, stream):
        with self._lock:
            self.syncs.all_streams_wait_for_stream(stream)

    def _handle_event_synchronization(self, event):
        with self._lock:
            self.syncs.all_streams_wait_for_event(event)
