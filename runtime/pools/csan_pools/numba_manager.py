"""Numba's memory managers (External Memory Management plug-ins), as far as they are not Numba's own.

Numba's own manager gives no memory out again: it collects what the program dropped, and frees it by
cuMemFree, which csan sees. A plug-in may keep a pool. Its blocks are declared where Numba asks it for
memory, and where Numba calls the finalizer that it got with it. RMM's plug-in has its memory from
RMM, which declares it (rmm_pool).
"""

import functools
import weakref

from numba.cuda.cudadrv import driver


def _free_first(memory, blocks):
    """Declares the memory free before the plug-in's finalizer runs."""
    finalizer = getattr(memory, "_finalizer", None)
    parts = finalizer.detach() if finalizer is not None else None
    if not parts:
        return  # the plug-in frees it otherwise; the next owner's block ends this one
    memory, function, args, kwargs = parts  # itself, where it was a proxy
    address = int(memory.device_pointer)

    def free():
        blocks.taken_back(address)
        function(*args, **(kwargs or {}))

    memory._finalizer = weakref.finalize(memory, free)


def _target(memory):
    """The MemoryPointer behind an OwnedPointer, or the memory itself."""
    owner = getattr(memory, "_mem", None)
    return memory if owner is None else owner


def _is_followed(manager):
    own = isinstance(manager, driver.NumbaCUDAMemoryManager)
    return not own and type(manager).__module__.split(".")[0] != "rmm"


def follow(blocks):
    memalloc = driver.Context.memalloc

    @functools.wraps(memalloc)
    def memalloc_and_declare(context, bytesize):
        memory = memalloc(context, bytesize)
        if _is_followed(context.memory_manager):
            pointer = _target(memory)
            blocks.given_out(int(pointer.device_pointer), int(pointer.size))
            _free_first(pointer, blocks)
        return memory

    driver.Context.memalloc = memalloc_and_declare
