# allreduce_no_wait.py, with the wait before the use.
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    gradient = torch.ones(1 << 20, device="cuda")
    dist.all_reduce(gradient)
    torch.cuda.synchronize()
    work = dist.all_reduce(gradient, async_op=True)
    work.wait()
    gradient.div_(2)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    multiprocessing.spawn(worker, (port,), nprocs=2)
