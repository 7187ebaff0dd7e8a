"""Times one model's training steps in this process; prints "times", the median of the last half in
milliseconds, and what the others took more than that, in seconds. Usage: warm_up.py MODEL STEPS"""

import statistics
import sys
import time

import torch
from models import training_step


def main():
    name, steps = sys.argv[1], int(sys.argv[2])
    step = training_step(name)
    times = []
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    usual = statistics.median(times[steps // 2 :])
    # The first step loads PyTorch's own kernels, with csan or without.
    warm = sum(times[1 : steps // 2]) - usual * (steps // 2 - 1)
    print(f"times {usual * 1e3:.4f} {warm:.3f}")


main()
