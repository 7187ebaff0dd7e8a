"""Ranks of torchrun, each with two streams that write one tensor.

  torchrun ... torchrun_streams.py [racy | dies]    racy: the second does not wait for the first
"""

import os
import signal
import sys
import time

import torch
import torch.distributed as distributed


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    distributed.init_process_group("gloo")
    tensor, stream = torch.zeros(256, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    tensor.fill_(1)
    if mode != "racy":
        stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        tensor.fill_(2)
    torch.cuda.synchronize()
    if mode == "dies" and distributed.get_rank() == 1:
        time.sleep(1)  # csan writes each 0.1 s
        os.kill(os.getpid(), signal.SIGKILL)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
