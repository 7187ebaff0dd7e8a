"""Steps of one of the models of tests/bench/torch; what a process keeps belongs to its program, which is a file.
The host waits at each twentieth, as loops do that print their loss.

Usage: steps.py MODEL COUNT

Prints "COUNT steps SECONDS s" in the end."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "torch"))
import models  # noqa: E402

step, count = models.training_step(sys.argv[1]), int(sys.argv[2])
start = time.monotonic()
for i in range(count):
    step()
    if i % 20 == 0:
        models.synchronize()
    if i == 0:
        print(f"first step {time.monotonic() - start:.2f} s")
models.synchronize()
print(f"{count} steps {time.monotonic() - start:.2f} s")
