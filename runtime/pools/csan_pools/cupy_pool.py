"""CuPy's memory pools (cupy.cuda.MemoryPool), by its memory hooks.

A hook belongs to one thread. Threads that allocate enter it at their first allocation: CuPy asks one
function of all threads for memory, and csan's stands in front of that. A block that another thread
frees without having allocated is not seen to be free. Its next owner's block ends it, too.

cupy.cuda.MemoryAsyncPool needs no hook. It has its memory from cuMemAllocAsync, which csan sees.
"""

import functools
import threading

import cupy


class _Hook(cupy.cuda.MemoryHook):
    name = "csan"

    def __init__(self, blocks):
        self._blocks = blocks

    def malloc_postprocess(self, **call):
        self._blocks.given_out(call["mem_ptr"], call["mem_size"])

    def free_preprocess(self, **call):
        self._blocks.taken_back(call["mem_ptr"])


class _Threads:
    """The hook, entered once in each thread that asks."""

    def __init__(self, blocks):
        self._blocks = blocks
        self._entered = threading.local()

    def enter(self):
        if not getattr(self._entered, "hook", None):
            self._entered.hook = _Hook(self._blocks)  # as long as its thread
            self._entered.hook.__enter__()


def _stand_before(threads, allocator):
    """The allocator, for CuPy to call."""

    def allocate(size):
        threads.enter()
        return allocator(size)

    return functools.update_wrapper(allocate, allocator, updated=())


def follow(blocks):
    threads = _Threads(blocks)
    threads.enter()
    cupy.cuda.set_allocator(_stand_before(threads, cupy.cuda.get_allocator()))
