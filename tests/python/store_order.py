"""Two processes and memory of one that they share by CUDA's handle; a store of torch.distributed comes
between what the one writes and what the other reads.

  store_order.py MODE [racy]    racy: the writer waits for its work behind the store's call
"""

import ctypes
import datetime
import os
import subprocess
import sys
import tempfile
import time

import torch.distributed as distributed
from torch.distributed import distributed_c10d

cuda = ctypes.CDLL("libcuda.so.1")
BYTES = 4096
TIMEOUT = datetime.timedelta(seconds=60)


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        raise RuntimeError(f"{name}: {code}")


def made(name, kind, *arguments):
    result = kind()
    call(name, ctypes.byref(result), *arguments)
    return result


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def begin():
    call("cuInit", 0)
    call("cuCtxSetCurrent", made("cuDevicePrimaryCtxRetain", ctypes.c_void_p, 0))
    return made("cuStreamCreate", ctypes.c_void_p, 1)


def memory():
    return made("cuMemAlloc_v2", ctypes.c_uint64, ctypes.c_size_t(BYTES))


# ---- What the writer does behind its work, and the reader before its own


def counted(store, rank):
    if rank == 0:
        store.add("count", 1)
    while rank and store.add("count", 0) < 1:
        time.sleep(0.01)


def chained(store, rank):
    """Each adds once; who makes it 2 knows of who made it 1."""
    while rank and not store.check(["chain"]):
        time.sleep(0.01)
    store.add("chain", 1)


def swapped(store, rank):
    if rank == 0:
        store.compare_set("swap", "", "first")
    while rank and store.compare_set("swap", "nothing", "second") != b"first":
        time.sleep(0.01)


def several(store, rank):
    if rank == 0:
        store.multi_set(["one", "two"], ["1", "2"])
    else:
        store.multi_get(["two", "one"])


def queued(store, rank):
    if rank == 0:
        store.queue_push("queue", b"item")
    else:
        store.queue_pop("queue")


def barrier(store, rank):
    distributed_c10d._store_based_barrier(rank, store, "all", 2, TIMEOUT)


MODES = {
    "set": lambda store, rank: store.get("key") if rank else store.set("key", "value"),
    "bytes": lambda store, rank: store.get("key") if rank else store.set("key", b"value"),
    "wait": lambda store, rank: store.wait(["key"]) if rank else store.set("key", "value"),
    "prefix": lambda store, rank: MODES["set"](distributed.PrefixStore("a", distributed.PrefixStore("b", store)), rank),
    "named": lambda store, rank: MODES["set"](distributed.PrefixStore(prefix="a", store=store), rank),
    "file": lambda store, rank: MODES["set"](store, rank),
    "count": counted,
    "chain": chained,
    "swap": swapped,
    "several": several,
    "queue": queued,
    "barrier": barrier,
    # What orders nothing: another key, and the same one below another prefix, set before (write).
    "other": lambda store, rank: store.get("handle") if rank else store.set("key", "value"),
    "unlike": lambda store, rank: MODES["set"](distributed.PrefixStore("reader" if rank else "writer", store), rank),
    # What csan does not follow.
    "append": lambda store, rank: store.append("text", "more") if rank == 0 else store.get("text"),
}


def store_of(mode, rank, port):
    if mode == "file":
        return distributed.FileStore(os.path.join(tempfile.gettempdir(), f"csan-store-{port}"), 2)
    return distributed.TCPStore("127.0.0.1", port, 2, rank == 0, TIMEOUT)


def write(store, order, racy):
    stream, block, handle = begin(), memory(), Handle()
    call("cuIpcGetMemHandle", ctypes.byref(handle), block)
    store.set("handle", bytes(handle))
    distributed.PrefixStore("reader", store).set("key", "value")
    store.get("opened")
    call("cuMemsetD8Async", block, 1, ctypes.c_size_t(BYTES), stream)
    if not racy:
        call("cuStreamSynchronize", stream)
    order(store, 0)
    call("cuStreamSynchronize", stream)
    store.get("done")


def read(store, order):
    stream, block, shared = begin(), memory(), ctypes.c_uint64()
    handle = Handle.from_buffer_copy(store.get("handle"))
    call("cuIpcOpenMemHandle_v2", ctypes.byref(shared), handle, 1)
    store.set("opened", "yes")
    order(store, 1)
    call("cuMemcpyDtoDAsync_v2", block, shared, ctypes.c_size_t(BYTES), stream)
    call("cuStreamSynchronize", stream)
    store.set("done", "yes")


def main():
    mode, rank, racy = sys.argv[1], os.environ.get("RANK"), "racy" in sys.argv
    if rank is None:
        port = str(20000 + os.getpid() % 20000)
        ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(i), "PORT": port}) for i in range(2)]
        print("right" if [one.wait() for one in ranks] == [0, 0] else "wrong")
        return
    store = store_of(mode, int(rank), int(os.environ["PORT"]))
    if rank == "0":
        write(store, MODES[mode], racy)
    else:
        read(store, MODES[mode])


if __name__ == "__main__":
    main()
