"""Runs a sample's fixed twin so often that csan knows its launches, then the sample itself so often that
csan may wait for a race to come again: what csan says must not depend on whether operators are followed.

Usage: repeated.py SAMPLE.py [--times=N] [--racy=N] [--fixed]

A sample of two ranks has a function worker(rank, port), which is repeated in two processes that join their group once.
Prints "begins" when the sample begins; of ranks, each does."""

import argparse
import contextlib
import io
import socket
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("sample", type=Path)
    parser.add_argument("--times", type=int, default=1500)
    parser.add_argument("--racy", type=int, default=20)
    parser.add_argument("--fixed", action="store_true")
    return parser.parse_args()


def code_of(path):
    return compile(path.read_text(), str(path), "exec")


def repeat(options, play):
    """`play` is called with the code of the twin, then with that of the sample."""
    # Which of several threads would first touch what is not there yet is chance.
    torch.set_num_threads(1)
    fixed = code_of(options.sample.with_name(options.sample.stem + "_fixed.py"))
    sample = fixed if options.fixed else code_of(options.sample)
    for code, times in ((fixed, options.times), (sample, options.racy)):
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(times):
                play(code)
                torch.cuda.synchronize()
        print("begins" if code is fixed and times == options.times else "done", flush=True)


def play(code):
    exec(code, {"__name__": "__main__"})


def rank_main(rank, port, options):
    """The group is made once: to make it takes a second."""
    worker, made = {}, []

    def play_worker(code):
        if code not in worker:
            names = {"__name__": "sample"}
            exec(code, names)
            worker[code] = names["worker"]
        worker[code](rank, port)

    init, destroy = dist.init_process_group, dist.destroy_process_group
    dist.init_process_group = lambda *given, **named: made or made.append(init(*given, **named))
    dist.destroy_process_group = lambda: None
    repeat(options, play_worker)
    destroy()


def main():
    options = arguments()
    if "def worker(rank, port)" not in options.sample.read_text():
        repeat(options, play)
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    multiprocessing.spawn(rank_main, (port, options), nprocs=2)


if __name__ == "__main__":
    main()
