# Programs of PyTorch whose kernels fail, or that run out of memory: each ends with PyTorch's own
# exception, and csan's report names the line marked below.
#   torch_errors.py CASE [TIMES]    TIMES: how often it runs first with what is right
import sys
import torch

case, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
device = "cuda"
right = True


def instead(wrong, of):
    return of if right else wrong


def scatter():
    x = torch.zeros(8, 16, device=device)
    index = torch.full((8, 4), 3, device=device)
    index[2, 1] = instead(16, of=15)
    x.scatter_(1, index, 1.0)  # fails


def embedding():
    layer = torch.nn.Embedding(10, 4, device=device)
    tokens = torch.tensor([1, 2, instead(10, of=9), 3], device=device)
    return layer(tokens)  # fails


def cross_entropy():
    logits = torch.randn(4, 5, device=device, requires_grad=True)
    labels = torch.tensor([0, 1, instead(7, of=4), 2], device=device)
    return torch.nn.functional.cross_entropy(logits, labels)  # fails


def backward():
    layer = torch.nn.Embedding(10, 4, device=device)
    x = torch.zeros(6, 4, device=device, requires_grad=True)
    index = torch.tensor([0, 5, 1], device=device)
    y = x.index_select(0, index)  # fails: of a backward kernel csan names the forward call
    index.data[1] = instead(60, of=2)
    y.sum().backward()


def gather():
    x = torch.zeros(8, 16, device=device)
    index = torch.tensor([[0, 15], [3, instead(16, of=1)]], device=device)
    index_of_a_copy = index.clone()  # made on the device: its values are not known
    x.gather(0, index_of_a_copy.clamp(max=7))
    return x.gather(1, index)  # fails


def advanced_index():
    x = torch.zeros(8, 16, device=device)
    return x[[0, -8, 7], torch.tensor([15, instead(-17, of=-16), 0])]  # fails


def ignored_label():
    logits = torch.randn(4, 5, device=device)
    labels = torch.tensor([0, -100, instead(7, of=4), 2]).pin_memory().to(device, non_blocking=True)
    logits = torch.nn.functional.layer_norm(logits, (5,))  # work between the copy and the loss
    return torch.nn.functional.cross_entropy(logits, labels)  # fails


def triton_kernel():
    import triton
    import triton.language as tl

    @triton.jit
    def fill(p, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(p + i * 100000000, i, mask=i < n)

    x = torch.zeros(256, device=device, dtype=torch.int32)
    fill[(1,)](x, 256, BLOCK=256)  # fails


def cpu_pointer():
    import cupy
    add = cupy.RawKernel(r'extern "C" __global__ void add(float *p) { p[threadIdx.x] += 1; }', "add")
    x = torch.zeros(64)
    add((1,), (64,), (x.data_ptr(),))  # fails


def out_of_memory():
    kept = [torch.empty(1 << 28, device=device) for _ in range(4)]
    more = torch.empty(instead(1 << 40, of=1 << 20), device=device)  # fails


for _ in range(times):
    globals()[case]()
torch.cuda.synchronize()
right = False
globals()[case]()
torch.cuda.synchronize()
