"""A CUDA tensor that one process makes and another one reads, by torch.multiprocessing.

  ranks_torch.py tensor       right: PyTorch orders the two by an event
  ranks_torch.py rewritten    the first process writes the tensor again, while the other one may read it
  ranks_torch.py collectives  right: two processes of torch.distributed, a GPU each
  ranks_torch.py ddp          right: the same train a model by DistributedDataParallel
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

COUNT = 1 << 16


def read(tensors, answers):
    tensor = tensors.get()
    copy = tensor.clone()
    torch.cuda.synchronize()
    answers.put(float(copy[COUNT // 2]) > 0)
    del tensor
    torch.cuda.ipc_collect()


def share(rewritten):
    context = multiprocessing.get_context("spawn")
    # What is put into such a queue is made ready at once, with the event; a Queue's thread does that later.
    tensors, answers = context.SimpleQueue(), context.Queue()
    child = context.Process(target=read, args=(tensors, answers))
    child.start()
    tensor = torch.ones(COUNT, device="cuda")
    tensor.mul_(3)
    tensors.put(tensor)
    if rewritten:
        tensor.mul_(2)
    right = answers.get()
    child.join()
    torch.cuda.synchronize()
    return right


def join(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")


def collect(rank, port):
    join(rank, port)
    values = torch.full((COUNT,), rank + 1.0, device="cuda")
    dist.all_reduce(values)
    dist.broadcast(values, 1)
    (dist.send if rank else dist.recv)(values, 1 - rank)
    torch.cuda.synchronize()
    right = float(values[5]) == 3.0
    dist.destroy_process_group()
    if not right:
        sys.exit(1)


def train(rank, port):
    join(rank, port)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.full((32, 256), rank + 1.0, device="cuda")).square().mean().backward()
        optimizer.step()
    total = sum(parameter.sum() for parameter in model.parameters()).detach()
    both = [torch.empty_like(total) for _ in range(2)]
    dist.all_gather(both, total)
    right = both[0].item() == both[1].item()
    dist.destroy_process_group()
    if not right:
        sys.exit(1)


if __name__ == "__main__":
    ranks = {"collectives": collect, "ddp": train}.get(sys.argv[1])
    if ranks:
        multiprocessing.spawn(ranks, (str(20000 + os.getpid() % 20000),), nprocs=2)
        print("right")
    else:
        print("right" if share(sys.argv[1] == "rewritten") else "wrong")
