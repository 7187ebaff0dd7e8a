"""csan_torch.index_operators with schemas and tensors made up here: which ranges are declared to csan.
index_ranges.py compares them with what PyTorch does."""

import math
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime" / "torch"))

from csan_torch import index_operators  # noqa: E402
from csan_torch.detector import INDICES_OF_ALL, INDICES_OF_NUMBER  # noqa: E402


class Tensor:
    def __init__(self, *shape, bytes=8, is_cuda=True, is_contiguous=True, floats=False):
        self.shape, self.is_cuda, self.is_cpu = shape, is_cuda, not is_cuda
        self.dtype = types.SimpleNamespace(itemsize=bytes, is_floating_point=floats)
        self.is_contiguous = lambda: is_contiguous

    def size(self, dimension=None):
        return self.shape if dimension is None else self.shape[dimension]

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return 0x1000


def schema(name, *arguments):
    """`arguments`: names, or (name, default)."""
    pairs = [argument if isinstance(argument, tuple) else (argument, None) for argument in arguments]
    return types.SimpleNamespace(
        name=f"aten::{name}",
        arguments=[types.SimpleNamespace(name=n, default_value=d) for n, d in pairs],
    )


def declared(rule, *values):
    items, count = rule.declared(iter(enumerate(values)))
    return [
        (item.argument, item.of, item.dimension, item.low, item.high, list(item.sizes[: item.dim_count]))
        for item in items[:count]
    ]


class IndexOperators(unittest.TestCase):
    def test_a_dimension_that_an_argument_names(self):
        rule = index_operators.rule(schema("gather", "self", "dim", "index"))
        x = Tensor(3, 5, 7, bytes=4)
        self.assertEqual(declared(rule, x, 1, Tensor(3, 2, 7)), [(2, 0, 1, 0, 5, [3, 2, 7])])
        self.assertEqual(declared(rule, x, -1, Tensor(1)), [(2, 0, 2, 0, 7, [1])])
        self.assertEqual(declared(rule, Tensor(), 0, Tensor(1)), [(2, 0, 0, 0, 1, [1])])
        self.assertEqual(declared(rule, x, "rows", Tensor(1)), [])

    def test_negative_ones(self):
        rule = index_operators.rule(schema("take", "self", "index"))
        self.assertEqual(declared(rule, Tensor(3, 5), Tensor(4)), [(1, 0, INDICES_OF_ALL, -15, 15, [4])])
        rule = index_operators.rule(schema("index_select", "self", "dim", "index"))
        self.assertEqual(declared(rule, Tensor(3, 5), 0, Tensor(4)), [(2, 0, 0, -(1 << 63), 3, [4])])

    def test_a_list_of_indices(self):
        rule = index_operators.rule(schema("index", "self", "indices"))
        x = Tensor(3, 5, 7, 9)
        self.assertEqual(
            declared(rule, x, [None, Tensor(2), Tensor(7, bytes=1), Tensor(2)]),
            [(1, 0, 1, -5, 5, [2]), (1, 0, 3, -9, 9, [2])],
        )
        self.assertEqual(declared(rule, x, [Tensor(3, 5, bytes=1), Tensor(2)]), [(1, 0, 2, -7, 7, [2])])

    def test_classes_and_those_ignored(self):
        rule = index_operators.rule(
            schema("nll_loss_forward", "self", "target", "weight", "reduction", ("ignore_index", -100))
        )
        items, count = rule.declared(iter(enumerate([Tensor(4, 9), Tensor(4), None, 1])))
        self.assertEqual((count, items[0].high, items[0].has_ignored, items[0].ignored), (1, 9, 1, -100))
        items, count = rule.declared(iter(enumerate([Tensor(9), Tensor(), None, 1, 255])))
        self.assertEqual((count, items[0].high, items[0].dimension, items[0].ignored), (1, 9, 0, 255))

    def test_a_number_of_them(self):
        rule = index_operators.rule(
            schema("embedding_dense_backward", "grad_output", "indices", "num_weights")
        )
        self.assertEqual(
            declared(rule, Tensor(4, 2), Tensor(4), 11), [(1, 2, INDICES_OF_NUMBER, 0, 11, [4])]
        )

    def test_memory(self):
        rule = index_operators.rule(schema("take", "self", "index"))
        for tensor, base, on_host in (
            (Tensor(4), 0x1000, 0),
            (Tensor(4, is_contiguous=False), 0, 0),
            (Tensor(4, is_cuda=False), 0x1000, 1),
        ):
            items, _ = rule.declared(iter(enumerate([Tensor(9), tensor])))
            self.assertEqual((items[0].base, items[0].on_host), (base, on_host))
        self.assertEqual(declared(rule, Tensor(9), Tensor(4, floats=True)), [])
        self.assertEqual(declared(rule, Tensor(9), Tensor(4, bytes=2)), [])
        items, _ = rule.declared(iter(enumerate([Tensor(9), Tensor(1, 2, 3, 4, 5)])))
        self.assertEqual((items[0].dim_count, list(items[0].sizes)), (5, [1, 2, 3, 4]))

    def test_what_has_none(self):
        self.assertIsNone(index_operators.rule(schema("add", "self", "other")))
        self.assertIsNone(index_operators.rule(schema("gather", "self", "axis", "index_list")))

    def test_the_table_as_text(self):
        lines = [line.split(" ") for line in index_operators.text().splitlines()]
        self.assertGreater(len(lines), 30)
        self.assertEqual({len(line) for line in lines}, {6})
        self.assertIn("aten::gather index self dim 0 -".split(), lines)


if __name__ == "__main__":
    unittest.main()
