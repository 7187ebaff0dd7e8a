"""What a library computes is read on another stream before it is there: library_race.py WHAT [fixed].

blas    PyTorch, torch.mm by cuBLAS: named by PyTorch's operator
fft     PyTorch, torch.fft by cuFFT
nccl    PyTorch, an all-reduce of one rank by NCCL
cupy    CuPy, a product by cuBLAS: named by cuBLAS's function
"""

import sys

what, fixed = sys.argv[1], "fixed" in sys.argv


def with_torch(work):
    import torch

    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    source = torch.ones(256, 256, device="cuda")
    out, copy = torch.empty_like(source), torch.empty_like(source)
    torch.cuda.synchronize()  # the source is made on the default stream
    with torch.cuda.stream(first):
        work(torch, source, out)  # makes handles and plans
    torch.cuda.synchronize()
    with torch.cuda.stream(first):
        work(torch, source, out)
    if fixed:
        second.wait_stream(first)
    with torch.cuda.stream(second):
        copy.copy_(out)
    torch.cuda.synchronize()


def blas(torch, source, out):
    torch.mm(source, source, out=out)


def fft(torch, source, out):
    torch.fft.irfft(torch.fft.rfft(source), out=out)


def nccl(torch, source, out):
    torch.cuda.nccl.all_reduce([source], [out])


def with_cupy():
    import cupy

    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    source = cupy.ones((256, 256), dtype=cupy.float32)
    out = cupy.empty_like(source)
    cupy.cuda.Device().synchronize()
    with first:
        cupy.matmul(source, source, out=out)
    cupy.cuda.Device().synchronize()
    with first:
        cupy.matmul(source, source, out=out)
        done = first.record()
    if fixed:
        second.wait_event(done)
    with second:
        out.fill(0)
    cupy.cuda.Device().synchronize()


if what == "cupy":
    with_cupy()
else:
    with_torch({"blas": blas, "fft": fft, "nccl": nccl}[what])
print("done")
