"""The bytes that a tensor's elements lie in, as csan's accesses describe them (struct csan_access in
include/csan/csan.h)."""

import ctypes

from .detector import BOUND_SHAPE, MAX_DIMS, Access, Dim


def shape(sizes, strides, item_bytes):
    """(bytes of a piece, [(stride in bytes, count), ...], whether that is all that is touched)."""
    piece, dims = item_bytes, []
    order = sorted((stride * item_bytes, size) for stride, size in zip(strides, sizes))
    for stride, count in order:
        if count == 1 or stride == 0:
            continue
        if not dims and stride == piece:
            piece *= count
        elif dims and stride == dims[-1][0] * dims[-1][1]:
            dims[-1] = dims[-1][0], dims[-1][1] * count
        else:
            dims.append((stride, count))
    if len(dims) <= MAX_DIMS:
        return piece, dims, True
    return piece + sum(stride * (count - 1) for stride, count in dims), [], False


def add(accesses, keep, tensor, kind, argument):
    """Appends the access to the tensor's memory, if it has any; what the access points to is appended
    to `keep`."""
    try:
        base = tensor.data_ptr()
    except RuntimeError:  # a tensor of a kind that has no data to speak of
        return
    if not base or not tensor.numel():
        return
    item_bytes = tensor.element_size()
    if tensor.is_contiguous():
        piece, dims, exact = item_bytes * tensor.numel(), [], True
    else:
        piece, dims, exact = shape(tensor.size(), tensor.stride(), item_bytes)
    access = Access(base=base, bytes=piece, kind=kind, argument=argument)
    if dims:
        array = (Dim * len(dims))(*dims)
        keep.append(array)
        access.dims = ctypes.addressof(array)
        access.dim_count = len(dims)
    if not exact:
        access.bound = BOUND_SHAPE
    accesses.append(access)
