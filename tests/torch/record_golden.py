"""Records PyTorch's verdicts for the parity tests; needs torch and `make build/tests/torch/libparity.so`,
no GPU:

    python tests/torch/record_golden.py [SEQUENCES]

writes verdicts.zst (SEQUENCES random sequences, 100,000 unless said) and the recordings of the
hand-written cases, recordings/case_*.txt.
"""

import sys

from torch.cuda import _sanitizer

import parity
from recorder import RecordingHandler

# Name, what it is about, steps: "STREAM: r1 w2" is a launch, the others are the handler's calls.
CASES = [
    (
        "write_before_reads",
        "a write that raced with a read, then a write ordered after that read alone",
        "1: w1; 2: r1; event_record 9 2; event_wait 9 3; 3: w1",
    ),
    (
        "before_racing_write",
        "a read that a write raced with, then a write ordered after that write alone",
        "1: r1; 2: w1; event_record 9 2; event_wait 9 3; 3: w1",
    ),
    (
        "reuse",
        "a tensor freed while stream 1 may still write it, and its memory given out again",
        "memory_allocation 1; 1: w1; memory_deallocation 1; memory_allocation 1; 2: w1",
    ),
    (
        "read_stands_for_read",
        "two reads in order, and a write that is ordered after neither",
        "1: r1; event_record 9 1; event_wait 9 2; 2: r1; 3: w1",
    ),
    (
        "side_stream",
        "a step on the default stream that a side stream helps with, first in order, then not",
        "stream_creation 7; event_creation 9; event_creation 10;"
        "memory_allocation 512; memory_allocation 1024; memory_allocation 1536;"
        "0: w512; 0: r512 w1024; event_record 9 0; event_wait 9 7; 7: r1024 w1536;"
        "event_record 10 7; event_wait 10 0; 0: r1536 w512; stream_synchronization 0;"
        "0: w1024; 7: r1024 w1536; device_synchronization; 0: w1536;"
        "event_deletion 9; event_deletion 10; memory_deallocation 512",
    ),
]


def play(handler, step):
    word, *rest = step.split()
    if not word.endswith(":"):
        return getattr(handler, "_handle_" + word)(*map(int, rest))
    reads = [int(touch[1:]) for touch in rest if touch[0] == "r"]
    writes = [int(touch[1:]) for touch in rest if touch[0] == "w"]
    aliases = {data_ptr: [] for data_ptr in reads + writes}
    return handler._handle_kernel_launch(int(word[:-1]), reads, writes, {}, "", aliases)


def record_cases():
    for name, title, steps in CASES:
        path = parity.HERE / "recordings" / f"case_{name}.txt"
        path.parent.mkdir(exist_ok=True)
        RecordingHandler.begin(path, title)
        handler = RecordingHandler()
        for step in steps.split(";"):
            play(handler, step)
        RecordingHandler.end()


def verdict(call, errors):
    """One byte for each touch of the launch: the streams it races with."""
    kinds = {_sanitizer.AccessType.READ: parity.READ, _sanitizer.AccessType.WRITE: parity.WRITE}
    masks = dict.fromkeys(call.touched(), 0)
    for error in errors:
        touch = error.data_ptr, kinds[error.current_access.type]
        masks[touch] |= parity.stream_bit(error.previous_access.stream)
    return bytes(masks.values())


def record_sequences(count):
    streams = bytearray()
    for number in range(count):
        sequence = parity.make_sequence(number)
        handler = _sanitizer.EventHandler()
        for call in sequence.calls[: sequence.count]:
            errors = call.make(handler)
            if call.is_launch():
                streams += verdict(call, errors)
    parity.save_verdicts(count, streams)
    size = parity.VERDICTS.stat().st_size
    print(f"{count} sequences, {len(streams)} touches, {size} bytes: {parity.VERDICTS}")


if __name__ == "__main__":
    record_cases()
    record_sequences(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)
