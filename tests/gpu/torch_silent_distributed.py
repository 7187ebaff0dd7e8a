# Programs of PyTorch on several GPUs that are right: csan must find nothing in any of them.
#   torch_silent_distributed.py RANKS [NAME...]    rank 0 prints each name, and a number that it computed
# With one rank the program runs in this process, with more in processes that it spawns; under torchrun in torchrun's.
# BACKEND=gloo takes another backend than NCCL, STEPS=N trains for so many steps instead of three.
import os
import sys
import tempfile
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

kind = "cuda" if torch.cuda.is_available() else "cpu"
steps = int(os.environ.get("STEPS", 3))
backend = os.environ.get("BACKEND", "nccl" if kind == "cuda" else "gloo")


class Block(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def network(device, blocks=3):
    """The same weights on every rank."""
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(blocks))).to(device)


def batches(device, count=steps):
    """Other data on each rank, made on the host and copied."""
    maker = torch.Generator().manual_seed(1 + dist.get_rank())
    for _ in range(count):
        yield torch.randn(8, 48, generator=maker).pin_memory().to(device, non_blocking=True) \
            if kind == "cuda" else torch.randn(8, 48, generator=maker)


def train(model, optimizer, device, clip=False):
    for x in batches(device):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    loss = loss.detach().clone()
    dist.all_reduce(loss)
    return loss.item()


def collectives(device):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = torch.full((1000,), float(rank + 1), device=device)
    dist.broadcast(x, 0)
    work = dist.all_reduce(x, async_op=True)
    y = torch.arange(ranks * 7, device=device, dtype=torch.float)
    work.wait()
    gathered = torch.empty(ranks * 1000, device=device)
    dist.all_gather_into_tensor(gathered, x)
    part = torch.empty(1000, device=device)
    if backend == "nccl":
        dist.reduce_scatter_tensor(part, gathered)
        exchanged = torch.empty_like(y)
        dist.all_to_all_single(exchanged, y)
    dist.barrier()
    return gathered.sum().item()


def ddp(device):
    model = nn.parallel.DistributedDataParallel(network(device), bucket_cap_mb=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with model.no_sync():
        model(next(batches(device))).sum().backward()
    return train(model, optimizer, device)


def zero(device):
    from torch.distributed.optim import ZeroRedundancyOptimizer
    model = nn.parallel.DistributedDataParallel(network(device), gradient_as_bucket_view=True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-2)
    return train(model, optimizer, device)


def fsdp(device):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    model, mesh = network(device), init_device_mesh(kind, (dist.get_world_size(),))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-2), device, clip=True)


def tensor_parallel(device):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    model, mesh = network(device), init_device_mesh(kind, (dist.get_world_size(),))
    for block in model:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
    torch.manual_seed(5)  # each rank has the same batch
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 48).to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def pipeline(device):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
    rank, ranks = dist.get_rank(), dist.get_world_size()
    last, value = rank == ranks - 1, 0.0
    for schedule in (ScheduleGPipe, Schedule1F1B):
        blocks = network(device, 2 * ranks)[2 * rank:2 * rank + 2]
        optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
        stages = schedule(PipelineStage(blocks, rank, ranks, device), n_microbatches=4, loss_fn=F.mse_loss)
        torch.manual_seed(5)  # the first rank's input and the last one's target are of one batch
        for _ in range(steps):
            x, target, losses = torch.randn(8, 48).to(device), torch.zeros(8, 48, device=device), []
            optimizer.zero_grad()
            stages.step(*([x] if rank == 0 else []), **({"target": target, "losses": losses} if last else {}))
            optimizer.step()
            if last:
                value = sum(loss.item() for loss in losses)
    total = torch.full((), value, device=device)
    dist.all_reduce(total)
    return total.item()


every = [collectives, ddp, zero, fsdp, tensor_parallel, pipeline]


def play(rank, ranks, meeting, names):
    device = torch.device(kind, rank)
    if kind == "cuda":
        torch.cuda.set_device(device)
    where = {} if meeting == "env://" else {"rank": rank, "world_size": ranks}
    bound = {"device_id": device} if backend == "nccl" else {}
    dist.init_process_group(backend, init_method=meeting, **where, **bound)
    for program in every:
        if program.__name__ in (names or [one.__name__ for one in every]):
            value = program(device)
            if kind == "cuda":
                torch.cuda.synchronize()
            dist.barrier()
            if rank == 0:
                print(program.__name__, f"{value:.2f}", flush=True)
    dist.destroy_process_group()


def main():
    ranks, names = int(sys.argv[1]), sys.argv[2:]
    if "LOCAL_RANK" in os.environ:
        play(int(os.environ["LOCAL_RANK"]), ranks, "env://", names)
        return
    with tempfile.TemporaryDirectory() as directory:
        meeting = f"file://{directory}/meeting"
        if ranks == 1:
            play(0, 1, meeting, names)
        else:
            torch.multiprocessing.spawn(play, (ranks, meeting, names), nprocs=ranks)


if __name__ == "__main__":
    main()
