"""An operator that is made of Python's functions: each launch shows the line that made it, and not one
of those before, nor the operator's caller alone."""

import torch


def leave_alone(mine, other):
    mine.add_(1)  # in order


def change(mine, other):
    other.add_(1)  # the write


@torch.library.custom_op("csan_test::both", mutates_args=("mine", "other"))
def both(mine: torch.Tensor, other: torch.Tensor) -> None:
    for function in (leave_alone, change):
        function(mine, other)


other = torch.zeros(1000, device="cuda")  # previous
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    mine = torch.zeros(1000, device="cuda")
    both(mine, other)
