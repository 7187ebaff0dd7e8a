"""Two processes and memory of one that they share by CUDA's handle; calls of torch.distributed with tensors of
the CPU come between what the one writes and what the other reads.

  gloo_order.py MODE [racy]    racy: the writer (rank 0) waits for its work behind the calls
"""

import os
import subprocess
import sys
import time

import torch
import torch.distributed as distributed

import store_order


def ones():
    return torch.ones(4)


def list_of_ones():
    return [ones() for _ in range(2)]


def object_broadcast(rank):
    distributed.broadcast_object_list([{"key": "value"} if rank == 0 else None], src=0)


def anysource(rank):
    if rank == 0:
        distributed.send(ones(), 1)
    else:
        distributed.recv(ones())


def requests(rank):
    """The second message is the one that counts."""
    if rank == 0:
        distributed.isend(ones(), 1).wait()
        distributed.isend(ones(), 1).wait()
        return
    works = [distributed.irecv(ones(), 0) for _ in range(2)]
    works[1].wait()
    works[0].wait()


def polled(rank):
    work = distributed.all_reduce(ones(), async_op=True)
    while not work.is_completed():
        time.sleep(0.01)


def subgroup(rank):
    distributed.all_reduce(ones(), group=GROUPS[1])


def ddp(rank):
    """PyTorch's C++ makes the calls."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    model(ones()).sum().backward()


def functional(rank):
    """The same, but for its name."""
    from torch.distributed import _functional_collectives

    _functional_collectives.all_reduce(ones(), "sum", GROUPS[0]).sum()


def late(rank):
    """Begun before the writer's work: the call says nothing of it."""
    WORKS[0].wait()


GROUPS, WORKS = [], []

MODES = {
    "all_reduce": lambda rank: distributed.all_reduce(ones()),
    "barrier": lambda rank: distributed.barrier(),
    "all_gather": lambda rank: distributed.all_gather(list_of_ones(), ones()),
    "broadcast": lambda rank: distributed.broadcast(ones(), 0),
    "object": object_broadcast,
    "scatter": lambda rank: distributed.scatter(ones(), list_of_ones() if rank == 0 else None, 0),
    "reduce": lambda rank: distributed.reduce(ones(), 1),
    "gather": lambda rank: distributed.gather(ones(), list_of_ones() if rank == 1 else None, 1),
    "send": lambda rank: distributed.send(ones(), 1, tag=7) if rank == 0 else distributed.recv(ones(), 0, tag=7),
    "anysource": anysource,
    "requests": requests,
    "polled": polled,
    "subgroup": subgroup,
    # What is not followed.
    "ddp": ddp,
    "functional": functional,
    # What orders nothing: the reader need not wait for the writer.
    "broadcast_of_reader": lambda rank: distributed.broadcast(ones(), 1),
    "reduce_to_writer": lambda rank: distributed.reduce(ones(), 0),
    "late": late,
}


def prepare(mode, rank, store):
    distributed.init_process_group("gloo", store=distributed.PrefixStore("groups", store), rank=rank, world_size=2)
    GROUPS.extend(distributed.new_group([0, 1]) for _ in range(2))
    distributed.all_reduce(ones(), group=GROUPS[0])
    if mode == "late":
        WORKS.append(distributed.all_reduce(ones(), async_op=True))


def main():
    mode, rank, racy = sys.argv[1], os.environ.get("RANK"), "racy" in sys.argv
    if rank is None:
        port = str(20000 + os.getpid() % 20000)
        ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(i), "PORT": port}) for i in range(2)]
        print("right" if [one.wait() for one in ranks] == [0, 0] else "wrong")
        return
    store = distributed.TCPStore("127.0.0.1", int(os.environ["PORT"]), 2, rank == "0", store_order.TIMEOUT)
    prepare(mode, int(rank), store)
    if rank == "0":
        store_order.write(store, lambda store, rank: MODES[mode](rank), racy)
    else:
        store_order.read(store, lambda store, rank: MODES[mode](rank))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
