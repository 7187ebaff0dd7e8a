"""A process for each of two GPUs: NCCL's collectives, point to point, staging through pinned memory, and a training
step with DistributedDataParallel and a loader. Prints what a right program prints, from the first process."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

COUNT = 1 << 18


def collectives(rank, device):
    values = torch.full((COUNT,), rank + 1.0, device=device)
    dist.all_reduce(values)
    gathered = [torch.empty(COUNT, device=device) for _ in range(2)]
    dist.all_gather(gathered, values * (rank + 1))
    part = torch.empty(COUNT // 2, device=device)
    dist.reduce_scatter_tensor(part, gathered[1])
    dist.broadcast(part, 1)
    work = dist.all_reduce(values, async_op=True)
    work.wait()
    return [float(values[0]), float(gathered[0][1]), float(gathered[1][2]), float(part[3])]


def point_to_point(rank, device):
    values = torch.full((COUNT,), 7.0 + rank, device=device)
    if rank == 0:
        dist.send(values, 1)
        dist.recv(values, 1)
    else:
        received = torch.empty_like(values)
        dist.recv(received, 0)
        dist.send(received * 2, 0)
    return float(values[11])


def staged(rank, device):
    """Results come to pinned memory, batches go from it, and the host waits before it touches either."""
    sums = 0.0
    batch, result = (torch.empty(COUNT, pin_memory=True) for _ in range(2))
    for step in range(8):
        batch.fill_(step + rank)
        values = batch.to(device, non_blocking=True)
        dist.all_reduce(values)
        result.copy_(values, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        sums += float(result[step])
    return sums


def training(rank, device):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)).to(device)
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    samples = TensorDataset(torch.linspace(0, 1, 256 * 64).view(256, 64))
    sampler = DistributedSampler(samples, 2, rank, shuffle=False)
    for (batch,) in DataLoader(samples, 16, sampler=sampler, pin_memory=True):
        optimizer.zero_grad()
        loss = model(batch.to(device, non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
    return round(float(loss), 5)


def main(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29739")
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=device)
    said = [each(rank, device) for each in (collectives, point_to_point, staged, training)]
    torch.cuda.synchronize()
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print(*said)


if __name__ == "__main__":
    if torch.cuda.device_count() < 2:
        sys.exit("two GPUs are needed")
    multiprocessing.spawn(main, nprocs=2)
