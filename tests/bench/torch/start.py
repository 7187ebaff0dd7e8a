"""A process that makes two steps of a model, and says when each of its phases ended: in seconds since the process
began, and in seconds of processor time. Run by bench_start.py.
The file for that and a number of further steps are in the environment: by their arguments a model's processes are one
program. Usage: START_MARKS=FILE [START_STEPS=N] start.py MODEL"""

import json
import os
import sys
import time
from pathlib import Path

marks = []


def age():
    """Seconds since this process began (proc(5), /proc/pid/stat, field 22)."""
    ticks = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(ticks) / os.sysconf("SC_CLK_TCK")


def mark(phase):
    marks.append((phase, age(), time.process_time()))


mark("interpreter")
import torch  # noqa: E402

mark("import torch")
import models  # noqa: E402

if torch.cuda.is_available():
    torch.cuda.init()
    torch.cuda.current_stream().synchronize()
mark("context")
step = models.training_step(sys.argv[1])
models.synchronize()
mark("model")
for phase in ("first step", "second step"):
    step()
    models.synchronize()
    mark(phase)
for _ in range(int(os.environ.get("START_STEPS", "0"))):
    step()
    models.synchronize()
Path(os.environ["START_MARKS"]).write_text(json.dumps(marks))
