"""Times one model's training step in this process and prints milliseconds a step: the median.
Usage: step.py MODEL STEPS"""

import statistics
import sys
import time

import torch
from models import training_step


def main():
    name, steps = sys.argv[1], int(sys.argv[2])
    step = training_step(name)
    for _ in range(10):
        step()
    times = []
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    print(f"{statistics.median(times) * 1e3:.4f}")


main()
