"""An operator whose kernel fails, on the embedded device, which runs none of PyTorch's kernels: the
operator's kernel is one made up here, which traps. csan's report has the range of its indices.

    index_report.py OPERATOR
"""

import ctypes
import sys

import torch

_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry fails() { trap; ret; }
"""
_cuda = ctypes.CDLL("libcuda.so.1")


def launch():
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert _cuda.cuModuleLoadData(ctypes.byref(module), _PTX) == 0
    assert _cuda.cuModuleGetFunction(ctypes.byref(function), module, b"fails") == 0
    assert _cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0


_library = torch.library.Library("aten", "IMPL")


def replace(name, results):
    def implementation(*arguments, **named):
        launch()
        return results(*arguments)

    _library.impl(name, implementation, "CUDA")


def gather():
    replace("gather", lambda x, dim, index: x)
    x, index = torch.zeros(3, 5).cuda(), torch.tensor([[0, 4], [1, 5]]).cuda()
    x.gather(1, index)  # here


def index():
    replace("index.Tensor", lambda x, indices: x)
    x = torch.zeros(3, 5).cuda()
    x[[0, 1, -3], torch.tensor([0, 7, -6])]  # here: indices on the host


def index_put():
    replace("_index_put_impl_", lambda x, indices, values, *flags: x)
    x, at = torch.zeros(3, 5).cuda(), torch.tensor([0, 7]).cuda()
    x[:, at] = torch.ones(2).cuda()  # here


def cross_entropy():
    replace("nll_loss_forward", lambda x, *rest: (x.sum(), x.sum()))
    x, target = torch.zeros(4, 9).cuda(), torch.tensor([8, -100, 9, 0]).pin_memory()
    torch.nn.functional.cross_entropy(x, target.to("cuda", non_blocking=True))  # here


def embedding():
    replace("index_select", lambda x, dim, index: x[: len(index)])
    layer = torch.nn.Embedding(10, 4).cuda()
    layer(torch.tensor([1, 10, 3]).cuda())  # here


def written():
    replace("gather", lambda x, dim, index: x)
    x, index = torch.zeros(3, 5).cuda(), torch.tensor([[0, 4], [1, 5]]).cuda()
    index.clamp_(max=4)
    x.gather(1, index)  # here


globals()[sys.argv[1]]()
torch.cuda.synchronize()
