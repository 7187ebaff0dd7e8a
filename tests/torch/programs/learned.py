"""Kernels without PTX on two streams, after launches that they can be learned from; run with
CSAN_OPTIONS=access=learn:operators=0, so that csan knows what they touch from nothing else.

  learned.py halves      two halves of one tensor: no race
  learned.py overlap     the halves overlap by a quarter of the tensor
  learned.py gather      rows by indices that change: what is read of the table is bounded
  learned.py wait        a stream waits for a value that is written after other launches
  learned.py gemm        two products go to halves of one matrix: no race
  learned.py gemm_race   the halves overlap by 64 rows
  learned.py half_gemm, half_gemm_race
                         the same in bfloat16, whose kernels copy through tensor maps on sm_90
  learned.py conv_race   what a convolution in bfloat16 reads, through tensor maps, is written meanwhile
  learned.py stride, stride_race
                         what a convolution's gradient reads, through arrays of tensor maps, is read, or
                         written, meanwhile
  learned.py permuted, permuted_race
                         what a copy reads in another order of its dimensions is read, or written, meanwhile
  learned.py fft_race    what a transform reads is written meanwhile
  learned.py flash_race  the keys that flash attention reads are written meanwhile
  learned.py nccl        two GPUs add up what each has, again and again: no race, and no end of waiting
  learned.py graphs      a graph's launches between others of its kernels, which are looked at again
  learned.py graph_race  what a kernel writes that only a graph launches is written meanwhile
  learned.py triton_race two kernels of Triton write overlapping parts
"""

import ctypes
import sys
import time

import torch

N = 1 << 16
what = sys.argv[1]
side = torch.cuda.Stream(), torch.cuda.Stream()


def learn(function, *arguments):
    """As many launches as are learned from, each waited for, so that the next knows."""
    for _ in range(6):
        function(*arguments)
        torch.cuda.synchronize()


def double(part):
    part.mul_(2)


def both(first, second):
    learn(double, first)
    for stream, part in zip(side, (first, second)):
        with torch.cuda.stream(stream):
            double(part)


def side_by_side(*functions):
    """Each learned, then all at once."""
    for function in functions:
        learn(function)
    for stream, function in zip(side, functions):
        with torch.cuda.stream(stream):
            function()


def gemm(first_row, dtype=torch.float32):
    a = torch.randn(128, 256, device="cuda", dtype=dtype)
    b = torch.randn(256, 256, device="cuda", dtype=dtype)
    out = torch.zeros(256, 256, device="cuda", dtype=dtype)
    upper, lower = out[:128], out[first_row : first_row + 128]
    side_by_side(lambda: torch.mm(a, b, out=upper), lambda: torch.mm(a, b, out=lower))


def lasting(value):
    return value.cuda().bfloat16().to(memory_format=torch.channels_last)


def conv_race():
    pictures, layer = lasting(torch.randn(16, 64, 56, 56)), lasting(torch.nn.Conv2d(64, 64, 3, padding=1))
    with torch.no_grad():
        side_by_side(lambda: layer(pictures), lambda: pictures.mul_(2))


def stride(other):
    """With a stride, a kernel of cuDNN's computes parts of the gradient that have a map each."""
    pictures, weights = lasting(torch.randn(32, 64, 56, 56)), lasting(torch.randn(128, 64, 3, 3))
    gradient = lasting(torch.randn(32, 128, 28, 28))

    def back():
        torch.ops.aten.convolution_backward(
            gradient, pictures, weights, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True, False, False]
        )

    side_by_side(back, lambda: other(gradient))


def permuted(other):
    """The kernel has tensors' shapes as parameters, with room for more dimensions than there are, and
    what the stack had there behind them."""
    tensor, to = torch.ones(8, 64, 128, device="cuda"), torch.empty(128, 8, 64, device="cuda")
    side_by_side(lambda: to.copy_(tensor.permute(2, 0, 1)), lambda: other(tensor))


def fft_race():
    signal = torch.randn(64, 4096, device="cuda")
    side_by_side(lambda: torch.fft.rfft(signal), lambda: signal.mul_(2))


def flash_race():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query, key, value = (torch.randn(4, 8, 512, 64, device="cuda").half() for _ in range(3))

    def attend():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(query, key, value)

    side_by_side(attend, lambda: key.mul_(2))


def triton_race():
    from learned_triton import add_one

    out = torch.zeros(N, device="cuda")
    side_by_side(lambda: add_one(out[: N // 2]), lambda: add_one(out[N // 4 : 3 * N // 4]))


def captured(function):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def graphs():
    out = torch.zeros(N, device="cuda")

    def step():
        torch.add(x, 1, out=out)
        out.mul_(2)

    learn(step)
    graph = captured(step)
    for _ in range(40):
        step()
        graph.replay()
        torch.cuda.synchronize()
        time.sleep(0.01)  # what it touched is reported before the next is launched
    assert out.eq(4).all()


def graph_race():
    out = torch.zeros(N, device="cuda")
    learn(double, out[: N // 2])
    graph = captured(lambda: torch.sqrt(x, out=out))
    for _ in range(6):
        graph.replay()
        torch.cuda.synchronize()
        time.sleep(0.1)
    with torch.cuda.stream(side[0]):
        graph.replay()
    with torch.cuda.stream(side[1]):
        double(out[: N // 2])


def gather():
    table = torch.zeros(64, 1024, device="cuda")
    out = torch.zeros(8, 1024, device="cuda")
    rows = [torch.tensor(row, device="cuda") for row in (range(8), range(8, 16), range(0, 64, 8))]
    torch.cuda.synchronize()
    index = rows[0].clone()
    for turn in range(40):
        index.copy_(rows[max(0, turn - 8) % 3])
        torch.index_select(table, 0, index, out=out)
        torch.cuda.synchronize()
        time.sleep(0.01)  # what it touched is reported before the next is launched
    # A launch that is traced again is known to the byte, and does not race. The kernel takes tensors
    # by value, with words behind their dimensions that PyTorch never sets: what Python's stack and
    # heap leave there makes the first launches of these new ones, until it was seen not to matter.
    for _ in range(20):
        with torch.cuda.stream(side[0]):
            torch.index_select(table, 0, index, out=out)
        with torch.cuda.stream(side[1]):
            table[40].mul_(2)
        torch.cuda.synchronize()
        time.sleep(0.01)


def wait():
    x = torch.zeros(N, device="cuda")
    word = torch.zeros(2, dtype=torch.int32, device="cuda")
    driver = ctypes.CDLL("libcuda.so.1")
    learn(x.add_, 1)
    x.mul_(3)
    torch.cuda.synchronize()
    address = ctypes.c_uint64(word.data_ptr())
    with torch.cuda.stream(side[0]):
        assert driver.cuStreamWaitValue32_v2(ctypes.c_void_p(side[0].cuda_stream), address, 1, 0) == 0
        x.sub_(1)  # new: it is asked for while the stream waits
    with torch.cuda.stream(side[1]):
        y = torch.zeros(N, device="cuda").add_(1)
        assert driver.cuStreamWriteValue32_v2(ctypes.c_void_p(side[1].cuda_stream), address, 1, 0) == 0
    torch.cuda.synchronize()
    return y


def nccl():
    from torch.cuda import nccl as library

    parts = [torch.ones(N, device=f"cuda:{i}") for i in range(2)]
    for _ in range(12):  # kernels between those that wait for each other are learned
        library.all_reduce(parts, parts)
        for part in parts:
            part.mul_(0.5)
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
    assert all(part.eq(1).all() for part in parts)


x = torch.ones(N, device="cuda")
torch.cuda.synchronize()
if what == "halves":
    both(x[: N // 2], x[N // 2 :])
elif what == "overlap":
    both(x[: N // 2], x[N // 4 : 3 * N // 4])
elif what == "gather":
    gather()
elif what == "wait":
    wait()
elif what == "gemm":
    gemm(128)
elif what == "gemm_race":
    gemm(64)
elif what == "half_gemm":
    gemm(128, torch.bfloat16)
elif what == "half_gemm_race":
    gemm(64, torch.bfloat16)
else:
    {
        "conv_race": conv_race,
        "fft_race": fft_race,
        "flash_race": flash_race,
        "graphs": graphs,
        "graph_race": graph_race,
        "nccl": nccl,
        "stride": lambda: stride(lambda gradient: gradient * 2),
        "permuted": lambda: permuted(lambda tensor: tensor * 2),
        "permuted_race": lambda: permuted(lambda tensor: tensor.mul_(2)),
        "stride_race": lambda: stride(lambda gradient: gradient.mul_(2)),
        "triton_race": triton_race,
    }[what]()
torch.cuda.synchronize()
print("done")
