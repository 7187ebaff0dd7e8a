"""Which of PyTorch's operators take indices, into what, and which values are right: what csan's
report of a kernel that fails says of them. One table for the native adapter, which gets it as text,
and for the dispatch mode, which derives the ranges here."""

from .detector import INDICES_DIMS, INDICES_OF_ALL, INDICES_OF_NUMBER, Indices

_ANY = -(1 << 63)  # the least index depends on PyTorch's version, and is not said

# Operators, the argument that holds indices, the one that they are indices into, in which dimension
# of it, the least that is right, and the argument that names one more.
#
# The dimension: the argument that says it, or
#   0        the first
#   all      the elements, as of one row
#   classes  the second, or the only one
#   each     of a list of indices each has its own; masks take as many as they have dimensions
#   number   the argument is itself the number of them
# The least: 0; size: negative ones count from the end; any: only the greatest is said.
_TABLE = """
gather                                                index    self         dim      0     -
scatter scatter_ scatter_add scatter_add_             index    self         dim      0     -
scatter_reduce scatter_reduce_                        index    self         dim      0     -
index_select                                          index    self         dim      any   -
index_add index_add_ index_reduce index_reduce_       index    self         dim      0     -
index_copy index_copy_                                index    self         dim      0     -
index_fill index_fill_                                index    self         dim      size  -
index index_put index_put_ _index_put_impl_           indices  self         each     size  -
_unsafe_index _unsafe_index_put                       indices  self         each     size  -
take                                                  index    self         all      size  -
put put_                                              index    self         all      size  -
embedding                                             indices  weight       0        any   -
embedding_renorm_                                     indices  self         0        any   -
embedding_dense_backward                              indices  num_weights  number   0     -
_embedding_bag _embedding_bag_forward_only            indices  weight       0        0     -
nll_loss_forward nll_loss_backward                    target   self         classes  0     ignore_index
nll_loss2d_forward nll_loss2d_backward                target   self         classes  0     ignore_index
multi_margin_loss multi_margin_loss_backward          target   self         classes  0     -
"""


def _rows():
    for line in _TABLE.split("\n"):
        *names, index, into, dimension, least, ignored = line.split() or [None] * 5
        for name in names:
            yield f"aten::{name}", index, into, dimension, least, ignored


def text():
    """The table with one operator a line: NAME INDEX INTO DIMENSION LEAST IGNORED."""
    return "".join(" ".join(row) + "\n" for row in _rows())


_ROWS = {row[0]: row[1:] for row in _rows()}


def _size(tensor, dimension):
    """Of a dimension; a tensor of none is like one of one element."""
    return tensor.size(dimension) if tensor.dim() else 1


class Rule:
    """Of one overload: what its indices are, by the places of its arguments."""

    def __init__(self, schema, row):
        arguments = list(schema.arguments)
        names = [argument.name for argument in arguments]
        index, into, dimension, self._least, ignored = row
        self._index, self._into = names.index(index), names.index(into)
        self._dimension = names.index(dimension) if dimension in names else dimension
        self._ignored = names.index(ignored) if ignored != "-" else None
        self._defaults = [argument.default_value for argument in arguments]

    def ranges(self, arguments):
        """(tensor of indices, number of the dimension, size, least, ignored or None) for each
        argument, of a list for each tensor. `arguments`: (place, value) of those given."""
        values = list(self._defaults)
        for place, value in arguments:
            values[place] = value
        ignored = None if self._ignored is None else values[self._ignored]
        for tensor, dimension, size in self._sizes(values):
            least = {"0": 0, "size": -size, "any": _ANY}[self._least]
            yield tensor, dimension, size, least, ignored

    def _sizes(self, values):
        """(tensor of indices, dimension, size)."""
        index, into = values[self._index], values[self._into]
        if self._dimension == "each":
            yield from self._each(index, into)
        elif self._dimension == "number":
            yield index, INDICES_OF_NUMBER, into
        elif self._dimension == "all":
            yield index, INDICES_OF_ALL, into.numel()
        else:
            dimension = self._dimension
            if dimension == "classes":
                dimension = min(into.dim() - 1, 1)
            elif dimension == "0":
                dimension = 0
            else:
                dimension = values[dimension]
                if not isinstance(dimension, int):  # a name
                    return
                dimension += into.dim() if dimension < 0 else 0
            yield index, max(dimension, 0), _size(into, dimension)

    @staticmethod
    def _each(indices, into):
        dimension = 0
        for tensor in indices:
            if tensor is not None and tensor.dtype.itemsize == 1:  # a mask
                dimension += tensor.dim()
                continue
            if tensor is not None:
                yield tensor, dimension, _size(into, dimension)
            dimension += 1

    def declared(self, arguments):
        """An array of Indices for csan, and how many. `arguments`: as above."""
        items = []
        for tensor, dimension, size, least, ignored in self.ranges(arguments):
            if tensor.element_size() not in (4, 8) or tensor.dtype.is_floating_point:
                continue
            item = Indices(count=tensor.numel(), low=least, high=size, dimension=dimension)
            item.argument, item.of = self._index, self._into
            item.element_bytes, item.on_host = tensor.element_size(), tensor.is_cpu
            item.dim_count = tensor.dim()
            item.sizes[: min(tensor.dim(), INDICES_DIMS)] = tensor.size()[:INDICES_DIMS]
            if tensor.is_contiguous() and (tensor.is_cpu or tensor.is_cuda):
                item.base = tensor.data_ptr()
            if ignored is not None:
                item.ignored, item.has_ignored = ignored, 1
            items.append(item)
        return (Indices * len(items))(*items), len(items)


def rule(schema):
    """None: the operator takes no indices that csan knows of."""
    row = _ROWS.get(schema.name)
    try:
        return row and Rule(schema, row)
    except ValueError:  # an overload that lacks the arguments
        return None
