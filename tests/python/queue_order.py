"""A process and one that multiprocessing starts, and memory of the first that they share by CUDA's handle;
a queue comes between what the one writes and what the other reads.

  queue_order.py put [racy]     the child reads what the parent wrote before it put a message
  queue_order.py answer [racy]  the parent writes again when the child says that it has read
  queue_order.py pipe [racy]         as put, by a Pipe that goes both ways
  queue_order.py pipe_answer [racy]  as answer

racy: the work is waited for behind the message.
"""

import ctypes
import multiprocessing
import sys

import torch  # csan follows queues in programs of PyTorch

from store_order import BYTES, Handle, begin, call, memory


class End:
    """Of a Pipe, as if it were a queue."""

    def __init__(self, connection):
        self.put, self.get = connection.send, connection.recv
        self._connection = connection

    def __reduce__(self):
        return End, (self._connection,)


def queues(context, mode):
    """Messages and answers, here and there."""
    if "pipe" in mode:
        here, there = context.Pipe()
        return (End(here), End(here)), (End(there), End(there))
    both = context.Queue(), context.SimpleQueue()  # which sends at once
    return both, both


def read(handle, messages, answers, answers_early):
    stream, block, shared = begin(), memory(), ctypes.c_uint64()
    call("cuIpcOpenMemHandle_v2", ctypes.byref(shared), Handle.from_buffer_copy(handle), 1)
    answers.put("opened")
    messages.get()
    call("cuMemcpyDtoDAsync_v2", block, shared, ctypes.c_size_t(BYTES), stream)
    if not answers_early:
        call("cuStreamSynchronize", stream)
    answers.put("read")
    call("cuStreamSynchronize", stream)


def write(mode, racy):
    stream, block, handle = begin(), memory(), Handle()
    call("cuIpcGetMemHandle", ctypes.byref(handle), block)
    context = multiprocessing.get_context("spawn")
    (messages, answers), there = queues(context, mode)
    answered = mode.endswith("answer")
    child = context.Process(target=read, args=(bytes(handle), *there, racy and answered))
    child.start()
    answers.get()
    call("cuMemsetD8Async", block, 1, ctypes.c_size_t(BYTES), stream)
    if not racy or answered:
        call("cuStreamSynchronize", stream)
    messages.put("written")
    answers.get()
    if answered:
        call("cuMemsetD8Async", block, 2, ctypes.c_size_t(BYTES), stream)
    call("cuStreamSynchronize", stream)
    child.join()
    print("right" if child.exitcode == 0 else "wrong")


if __name__ == "__main__":
    write(sys.argv[1], "racy" in sys.argv)
