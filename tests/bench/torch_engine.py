"""csan's engine against PyTorch's EventHandler in one run, without operators and without a GPU:

    torch_engine.py PROGRAM

PROGRAM is torch_engine.c built; it says what a step is. Prints microseconds a step and ratios:
csan through its C interface, PyTorch's handler as it is, and without the Python stack it extracts
for each kernel, 13 frames deep (which csan leaves to the adapter); last, csan's handler of the same interface in
Python. Then csan's resident memory. Without torch: csan alone.
"""

import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "torch"))

# How deep in its program an operator of a Linear in a Sequential of a model is called.
DEPTH = 13
STREAMS, TENSORS, SPACING, STEPS, ROUNDS = 32, 1000, 512, 400, 50
OLD_EVENT = 99


class Workload:
    """The steps of torch_engine.c on an EventHandler."""

    def __init__(self, handler, setting):
        self.handler, self.setting, self.random, self.steps = handler, setting, 1, 0
        for i in range(TENSORS):
            handler._handle_memory_allocation(self.address(i))
        for i in range(1, STREAMS):
            handler._handle_stream_creation(i)
        for event in (*range(STREAMS), OLD_EVENT):
            handler._handle_event_creation(event)
        handler._handle_event_record(OLD_EVENT, 0)

    @staticmethod
    def address(tensor):
        return 0x7F0000000000 + tensor * SPACING

    def pick(self, stream, place):
        if self.setting == "same":
            return self.address(place * STREAMS + stream)
        self.random = (self.random * 6364136223846793005 + 1442695040888963407) % 2**64
        number = self.random >> 33
        own = number % (TENSORS // STREAMS) * STREAMS + stream
        return self.address(own if self.setting == "apart" else number % TENSORS)

    def calls(self):
        """The arguments of the next step's calls, made before the clock runs."""
        stream = self.steps % STREAMS
        self.steps += 1
        a, b, out = (self.pick(stream, place) for place in range(3))
        aliases = {a: ["self"], b: ["other"], out: ["out"]}
        event = stream if self.setting == "chain" else OLD_EVENT
        return stream, {a, b} - {out}, {out}, aliases, event, (stream + 1) % STREAMS

    def round(self, depth=DEPTH):
        """Nanoseconds a step, seen from `depth` frames."""
        if depth > sum(1 for _ in traceback.walk_stack(None)):
            return self.round(depth)
        handler, made = self.handler, [self.calls() for _ in range(STEPS)]
        start = time.perf_counter_ns()
        for stream, reads, writes, aliases, event, following in made:
            errors = handler._handle_kernel_launch(
                stream, reads, writes, writes, "aten::add.out", aliases
            )
            handler._handle_event_record(stream, stream)
            handler._handle_event_wait(event, following)
            if errors:
                raise SystemExit("torch_engine.py: a race where there is none")
        return (time.perf_counter_ns() - start) / STEPS


def measure(handler_class, setting):
    workload = Workload(handler_class(), setting)
    for _ in range(ROUNDS // 5):
        workload.round()
    return min(workload.round() for _ in range(ROUNDS))


class NoStack(list):
    """What StackSummary.extract returns when it does not look."""


def measure_without_stacks(handler_class, setting):
    extract = traceback.StackSummary.extract
    traceback.StackSummary.extract = staticmethod(lambda *_, **__: NoStack())
    try:
        return measure(handler_class, setting)
    finally:
        traceback.StackSummary.extract = extract


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.strip())
    output = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line.split() for line in output.splitlines()]
    speed = {name: float(number) for kind, name, number in lines if kind == "speed"}
    memory = [(int(count), int(size)) for kind, count, size in lines if kind == "memory"]
    rows = [("csan's engine", speed)]
    try:
        from torch.cuda._sanitizer import EventHandler
    except ImportError as error:
        print(f"PyTorch is not compared: {error}")
    else:
        for name, how in (
            ("PyTorch's EventHandler", measure),
            ("... without stack traces", measure_without_stacks),
        ):
            rows.append((name, {key: how(EventHandler, key) for key in speed}))
    try:
        import csan_torch
    except ImportError as error:
        print(f"csan_torch is not measured: {error}")
    else:
        handler = csan_torch.EventHandler
        rows.append(
            ("csan_torch.EventHandler", {key: measure(handler, key) for key in speed})
        )
    print(f"launch + record + wait, {STREAMS} streams, {TENSORS} tensors: microseconds a step")
    print(" " * 26 + "".join(f"{key:>10}{'ratio':>9}" for key in speed))
    for name, times in rows:
        cells = (f"{times[key] / 1e3:10.3f}{times[key] / speed[key]:8.1f}x" for key in speed)
        print(f"{name:26}" + "".join(cells))
    sizes = ", ".join(f"{size} KiB after {count:,} launches" for count, size in memory)
    print(f"csan's engine, resident: {sizes}")


if __name__ == "__main__":
    main()
