"""What torch.distributed's calls with tensors of the CPU order between processes, for recordings (csan merge
--order). Gloo moves these. NCCL's calls, which move tensors of the GPU, csan follows by itself.

Data make order: who gets data of a process comes after what that one did before its call. So a broadcast
orders its root before the others, and a reduction the others before its root. A call is over when Work.wait
returns, or Work.is_completed says yes.

A group is known by its name and the job's address and port, a collective call by its number in the group. A
message is known by its group, ranks and tag. Messages of equal ones come in the order of sends.

Calls that PyTorch's C++ makes are not seen here, such as those of DistributedDataParallel. But Gloo numbers the
collective calls of a group. Numbers that no call of Python's took are said to be not followed: at the next call, at
the end of the group and of the process.

Nothing that goes wrong here reaches the program: csan then says that something is not followed.
"""

import atexit
import ctypes
import functools
import hashlib
import os
import weakref

from . import api

_ALL = ("allreduce", "allreduce_coalesced", "allgather", "_allgather_base", "allgather_coalesced",
        "allgather_into_tensor_coalesced", "reduce_scatter", "_reduce_scatter_base",
        "reduce_scatter_tensor_coalesced", "alltoall", "alltoall_base", "barrier", "monitored_barrier")
_FROM_ROOT, _TO_ROOT = ("broadcast", "scatter"), ("reduce", "gather")
_JOB = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")


def _number(*parts):
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        text = str(part).encode()
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    return int.from_bytes(digest.digest(), "little") or 1


def _tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif hasattr(value, "is_cuda"):
            yield value


class _Links:
    def __init__(self, table, cpu):
        self._table = table
        self._cpu = cpu  # torch.device
        self._job = [os.environ.get(name, "") for name in _JOB]
        self._calls = weakref.WeakKeyDictionary()  # by group: how many collective calls
        self._ends = weakref.WeakKeyDictionary()  # by work: what is to be done when it is over
        self._open = {}  # receives that are not over, by their number: group, source or None, tag
        self._receives = 0
        self._numbers = weakref.WeakKeyDictionary()  # by group: Gloo's number of the newest call that was seen
        self._lacks = False

    def make(self, kind, key, number=0, peers=0):
        self._table.link(ctypes.byref(api.Link(kind=kind, key=key, number=number, peers=peers)))

    def lack(self, what=api.LACK_COMMUNICATOR):
        """Something that is not followed; said once."""
        if not self._lacks:
            self._lacks = True
            self.make(api.LINK_LACK, what)

    def is_gloo(self, group, values):
        """Calls of other backends than Gloo and NCCL are said to be not followed, as are Gloo's of a GPU's tensors."""
        devices = {tensor.device for tensor in _tensors(values)}
        devices |= {value.device for value in values if hasattr(getattr(value, "device", None), "type")}  # of a barrier
        for device in devices or self._devices_of(group):
            name = type(group._get_backend(device)).__name__
            if device.type == "cpu" and "Gloo" in name:
                return True
            if "NCCL" not in name:
                self.lack()
        return False

    def _number_of(self, group):
        """Of Gloo's newest call in the group; None: it has none."""
        try:
            backend = group._get_backend(self._cpu)
            return backend._get_sequence_number_for_group() if "Gloo" in type(backend).__name__ else None
        except RuntimeError:
            return None

    def check_number(self, group):
        """Whether each of Gloo's calls so far was seen."""
        number = self._number_of(group)
        if number is not None and number != self._numbers.get(group, 0):
            self.lack(api.LACK_UNFOLLOWED)

    def note_number(self, group):
        number = self._number_of(group)
        if number is not None:
            self._numbers[group] = number

    def _devices_of(self, group):
        """Of a call without tensors, such as a barrier: the device that the group would take."""
        types = {device.type for device in group._device_types}
        return [self._cpu] if "cpu" in types or not types else [next(iter(group._device_types))]

    def _key(self, group, *parts):
        return _number("gloo", *self._job, group.group_name, group.size(), *parts)

    def end_of(self, work, end):
        if work is None:
            self.safely(end, work)
        else:
            self._ends[work] = end

    def over(self, work):
        end = self._ends.pop(work, None)
        if end:
            self.safely(end, work)

    def safely(self, step, *arguments):
        """A step of csan's own; None, too, if it failed."""
        try:
            return step(*arguments)
        except Exception:
            self.lack()
            return None

    # ---- Calls: what is to be done before one, and a function for its end

    def collective(self, group, gives, takes, givers, takers):
        calls = self._calls[group] = self._calls.get(group, 0) + 1
        key = self._key(group, "call", calls)
        if gives:
            self.make(api.LINK_ENTER, key, 0, takers)
        return lambda work: self.make(api.LINK_LEAVE, key, givers, takers) if takes else None

    def of_all(self, group):
        return self.collective(group, True, True, group.size(), group.size())

    def from_root(self, group, root):
        is_root = root == group.rank()
        return self.collective(group, is_root, not is_root, 1, group.size() - 1)

    def to_root(self, group, root):
        is_root = root == group.rank()
        return self.collective(group, not is_root, is_root, group.size() - 1, 1)

    def send(self, group, to, tag):
        self.make(api.LINK_NEXT, self._key(group, "message", group.rank(), to, tag))
        return lambda work: None

    def receive(self, group, source, tag):
        self._receives += 1
        number = self._receives
        self._open[number] = (group.group_name, source, tag)

        def end(work):
            of = work._source_rank() if source is None else source
            del self._open[number]
            like = ((group.group_name, of, tag), (group.group_name, None, tag))
            earlier = sum(1 for other, what in self._open.items() if other < number and what in like)
            self.make(api.LINK_TAKE, self._key(group, "message", of, group.rank(), tag), number, earlier)

        return end


def _root(arguments, named):
    for value in (*arguments, *named.values()):
        if hasattr(value, "rootRank"):
            return value.rootRank
    root = named.get("root", arguments[-1] if arguments else None)
    return root if isinstance(root, int) else None


def _argument(arguments, named, index, name):
    return arguments[index] if len(arguments) > index else named.get(name)


def _describe(links, name, group, arguments, named):
    """What the call's end is to do; None: it is not followed."""
    if name in _ALL:
        return links.of_all(group)
    if name in _FROM_ROOT or name in _TO_ROOT:
        root = _root(arguments, named)
        if root is None:
            return None
        return links.from_root(group, root) if name in _FROM_ROOT else links.to_root(group, root)
    if name == "recv_anysource":
        tag = _argument(arguments, named, 1, "tag")
        return None if tag is None else links.receive(group, None, tag)
    other = _argument(arguments, named, 1, "dstRank" if name == "send" else "srcRank")
    tag = _argument(arguments, named, 2, "tag")
    if other is None or tag is None:
        return None
    return links.send(group, other, tag) if name == "send" else links.receive(group, other, tag)


def _wrapped(links, name, method):
    def begin(group, arguments, named):
        if not links.is_gloo(group, [*arguments, *named.values()]):
            return None
        end = _describe(links, name, group, arguments, named)
        if end is None:
            links.lack()
        return end

    @functools.wraps(method)
    def follows(group, *arguments, **named):
        links.safely(links.check_number, group)
        end = links.safely(begin, group, arguments, named)
        work = method(group, *arguments, **named)
        links.safely(links.note_number, group)
        if end:
            links.safely(links.end_of, work, end)
        return work

    return follows


def _follow_work(links, kind):
    wait, completed, future = kind.wait, kind.is_completed, kind.get_future

    @functools.wraps(wait)
    def waits(work, *arguments, **named):
        result = wait(work, *arguments, **named)
        links.over(work)
        return result

    @functools.wraps(completed)
    def is_completed(work):
        result = completed(work)
        if result:
            links.over(work)
        return result

    @functools.wraps(future)
    def get_future(work):
        if links.safely(links._ends.__contains__, work):
            links.lack()  # who waits for the future is not seen
        return future(work)

    kind.wait, kind.is_completed, kind.get_future = waits, is_completed, get_future


def _check_all(links, distributed):
    for group in list(distributed.distributed_c10d._world.pg_map):
        if hasattr(group, "_get_backend"):
            links.check_number(group)


def _follow_ends(links, distributed):
    """The last moments in which Gloo's numbers can be asked for."""
    destroy = distributed.destroy_process_group

    @functools.wraps(destroy)
    def destroys(*arguments, **named):
        links.safely(_check_all, links, distributed)
        return destroy(*arguments, **named)

    distributed.destroy_process_group = distributed.distributed_c10d.destroy_process_group = destroys
    atexit.register(links.safely, _check_all, links, distributed)


def _follow_reducer(links, kind, group_kind):
    """Of DistributedDataParallel, whose calls are all of C++: said at its begin, since a process may end
    without a word."""
    initialize = kind.__init__

    def note(values):
        for value in values:
            if isinstance(value, group_kind) and links.is_gloo(value, values):
                links.lack(api.LACK_UNFOLLOWED)

    @functools.wraps(initialize)
    def initializes(reducer, *arguments, **named):
        links.safely(note, [*arguments, *named.values()])
        return initialize(reducer, *arguments, **named)

    kind.__init__ = initializes


def _follow(table):
    import torch
    import torch.distributed as distributed

    if not distributed.is_available() or not distributed.is_gloo_available():
        return
    from torch.distributed import ProcessGroup

    links = _Links(table, torch.device("cpu"))
    for name in (*_ALL, *_FROM_ROOT, *_TO_ROOT, "send", "recv", "recv_anysource"):
        method = getattr(ProcessGroup, name, None)
        if method:
            setattr(ProcessGroup, name, _wrapped(links, name, method))
    _follow_work(links, distributed.Work)
    links.safely(_follow_ends, links, distributed)
    links.safely(_follow_reducer, links, distributed.Reducer, ProcessGroup)


def install():
    """Follow process groups once torch.distributed is imported, where links go into a recording."""
    from .startup import when_imported

    table = api.find()
    if table and table.has("links") and table.links():
        when_imported("torch.distributed", lambda: _follow(table))
