"""Runs a program under PyTorch's sanitizer and records its handler:

    python record_live.py RECORDING PROGRAM [ARGUMENT...]

Without a GPU: CSAN_MACHINE_CODE=skip csan run --device=embedded env CSAN=0 python record_live.py ...

As always, the sanitizer ends the program at its first race; the recording then ends there. Put it
into tests/torch/recordings to have it replayed by make test.
"""

import os
import runpy
import sys

from torch.cuda import _sanitizer

from recorder import RecordingHandler


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__.strip())
    recording, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    RecordingHandler.begin(recording, os.path.basename(program))
    _sanitizer.EventHandler = RecordingHandler
    # The module made its sanitizer, with a handler of its own, when it was imported.
    _sanitizer.cuda_sanitizer = _sanitizer.CUDASanitizer()
    _sanitizer.enable_cuda_sanitizer()
    try:
        runpy.run_path(program, run_name="__main__")
    except _sanitizer.CUDASanitizerErrors as errors:
        print(f"{program}: {errors}", file=sys.stderr)
    finally:
        RecordingHandler.end()


if __name__ == "__main__":
    main()
