"""Custom operators whose kernels are Python's (torch.library.custom_op) go through PyTorch's dispatcher.

Newer versions of PyTorch call such a kernel past it (torch/_ops.py, "PyObject Dispatcher"), to spare conversions. Then
at::RecordFunction does not see the operator: its launches would have the name of operators within it, or none."""


def install():
    from torch import _ops

    enable = getattr(_ops.OpOverload, "_enable_pyobj_dispatch", None)
    if not enable:
        return
    from torch._library import custom_ops

    for operator in list(custom_ops.OPDEFS.values()):
        enable(operator._opoverload, False)
    _ops.OpOverload._enable_pyobj_dispatch = lambda self, enabled=True: None
