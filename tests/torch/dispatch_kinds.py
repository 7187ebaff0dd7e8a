"""Calls of many kinds through a dispatch mode, none of which races: it prints "done"."""

import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE = "cuda"


class Wrapper(torch.Tensor):
    """A tensor whose operators are another tensor's."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass
        return made(cls, inner.size(), dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        inner = [a.inner if isinstance(a, Wrapper) else a for a in args]
        return Wrapper(func(*inner, **(kwargs or {})))


class Other(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@torch.library.custom_op("csan_test::increment", mutates_args=("tensor",))
def increment(tensor: torch.Tensor) -> None:
    tensor.add_(1)


def allocate():
    with torch.cuda.stream(torch.cuda.Stream()):
        for count in range(100):
            torch.zeros(1000 + 999 * count, device=DEVICE).add_(1)


table = torch.zeros(8, 8, device=DEVICE)
rows = [torch.zeros(3, device=DEVICE) for _ in range(3)]
torch._foreach_add_(rows, 1.0)
torch.add(torch.cat(rows), 1, out=torch.empty(9, device=DEVICE))
torch.empty(0, device=DEVICE).add_(1)
table.t().mul_(2)
table[:, ::2].add_(1)
table.permute(1, 0)[1:3, 2:5].zero_()
torch.zeros(2, 3, 2, 3, 2, 3, 2, 3, device=DEVICE).permute(6, 1, 4, 3, 2, 5, 0, 7)[..., ::2].add_(1)
table.resize_(4, 4).t_()
torch.topk(table.sum(1), 2)
weight = torch.zeros(8, 8, device=DEVICE, requires_grad=True)
(torch.zeros(2, 8, device=DEVICE) * weight.sum()).sum().backward()
_ = Wrapper(torch.zeros(2, device=DEVICE)) + 1
with torch.inference_mode(), Other():
    (torch.zeros(4, 4, device=DEVICE).reshape(16) + 1).sum()
torch.zeros(3, 3).to_sparse()
torch.zeros(3, device="meta").add_(1)
torch.cond(torch.tensor(True), lambda a: a + 1, lambda a: a - 1, (torch.zeros(3),))
increment(torch.zeros(3, device=DEVICE))
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
allocate()
for thread in threads:
    thread.join()
torch.cuda.synchronize()
Other().__enter__()  # and the program ends in it
print("done")
