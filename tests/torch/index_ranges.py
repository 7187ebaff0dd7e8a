"""The ranges that csan_torch derives for indices, against what PyTorch does on the CPU: the least
and the greatest index that csan calls right are taken, and the ones beside them are refused.

    index_ranges.py CSAN_TORCH'S_PARENT_DIRECTORY
"""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from csan_torch import index_operators
from csan_torch.detector import INDICES_OF_ALL, INDICES_OF_NUMBER
from csan_torch.operators import Operators

_LEAST = -(1 << 63)


class _Ranges(TorchDispatchMode):
    """Collects (operator, dimension, least, size, ignored) of all operators that have indices."""

    def __init__(self):
        super().__init__()
        self._operators = Operators()
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        operator = self._operators.find(func)
        if operator and operator.indices:
            given = list(operator.arguments(args, kwargs or {}))
            declared, count = operator.indices.declared(iter(given))
            ranges = list(operator.indices.ranges(given))
            assert count == len(ranges)
            for item, (tensor, dimension, size, least, ignored) in zip(declared, ranges):
                assert (item.low, item.high, item.dimension) == (least, size, dimension)
                assert operator.names[item.argument] and operator.names[item.of]
                assert list(item.sizes[: item.dim_count]) == list(tensor.shape)
                assert item.count == tensor.numel() and item.base == tensor.data_ptr()
                name = func._schema.name.removeprefix("aten::")
                self.found.append((name, dimension, least, size, ignored))
        return func(*args, **(kwargs or {}))


def ranges_of(call):
    with _Ranges() as mode:
        call()
    return mode.found


def grid():
    return torch.zeros(3, 5, 7)


def whole(value, *shape):
    return torch.full(shape, value, dtype=torch.long)


# Of one index each: what takes it, and what is to be found. `None` for the least: not said.
_CALLS = {
    "gather": (lambda i: grid().gather(1, whole(i, 3, 2, 7)), ("gather", 1, 0, 5, None)),
    "gather, from the end": (lambda i: grid().gather(-1, whole(i, 3, 5, 2)), ("gather", 2, 0, 7, None)),
    "gather out": (
        lambda i: torch.gather(grid(), 0, whole(i, 1, 5, 7), out=torch.zeros(1, 5, 7)),
        ("gather", 0, 0, 3, None)),
    "scatter": (lambda i: grid().scatter(2, whole(i, 3, 5, 1), 1.0), ("scatter", 2, 0, 7, None)),
    "scatter_ src": (
        lambda i: grid().scatter_(0, whole(i, 1, 5, 7), grid()), ("scatter_", 0, 0, 3, None)),
    "scatter_ reduce": (
        lambda i: grid().scatter_(1, whole(i, 3, 1, 7), 2.0, reduce="multiply"),
        ("scatter_", 1, 0, 5, None)),
    "scatter_add_": (
        lambda i: grid().scatter_add_(1, whole(i, 3, 1, 7), grid()), ("scatter_add_", 1, 0, 5, None)),
    "scatter_reduce_": (
        lambda i: grid().scatter_reduce_(1, whole(i, 3, 1, 7), grid(), "amax"),
        ("scatter_reduce_", 1, 0, 5, None)),
    "index_select": (
        lambda i: grid().index_select(1, whole(i, 2)), ("index_select", 1, None, 5, None)),
    "index_add_": (
        lambda i: grid().index_add_(1, whole(i, 1), torch.zeros(3, 1, 7)),
        ("index_add_", 1, 0, 5, None)),
    "index_reduce_": (
        lambda i: grid().index_reduce_(1, whole(i, 1), torch.zeros(3, 1, 7), "mean"),
        ("index_reduce_", 1, 0, 5, None)),
    "index_copy_": (
        lambda i: grid().index_copy_(1, whole(i, 1), torch.zeros(3, 1, 7)),
        ("index_copy_", 1, 0, 5, None)),
    "index_fill_": (
        lambda i: grid().index_fill_(-2, whole(i, 2), 3.0), ("index_fill_", 1, -5, 5, None)),
    "index": (lambda i: grid()[whole(i, 2)], ("index", 0, -3, 3, None)),
    "index of the second": (lambda i: grid()[:, whole(i, 2)], ("index", 1, -5, 5, None)),
    "index behind a mask": (
        lambda i: grid()[torch.ones(3, 5, dtype=torch.bool), whole(i, 15)], ("index", 2, -7, 7, None)),
    "index_put_": (
        lambda i: grid().__setitem__((slice(None), slice(None), whole(i, 2)), torch.ones(2)),
        ("index_put_", 2, -7, 7, None)),
    "index_put_ accumulate": (
        lambda i: grid().index_put_((whole(i, 2),), torch.tensor(1.0), accumulate=True),
        ("index_put_", 0, -3, 3, None)),
    "take": (lambda i: grid().take(whole(i, 4)), ("take", INDICES_OF_ALL, -105, 105, None)),
    "put_": (
        lambda i: grid().put_(whole(i, 1), torch.zeros(1)), ("put_", INDICES_OF_ALL, -105, 105, None)),
    "embedding": (
        lambda i: F.embedding(whole(i, 2, 2), torch.zeros(11, 4)), ("embedding", 0, None, 11, None)),
    "embedding_renorm_": (
        lambda i: F.embedding(whole(i, 2), torch.zeros(11, 4), max_norm=1.0),
        ("embedding_renorm_", 0, None, 11, None)),
    "embedding_bag": (
        lambda i: F.embedding_bag(whole(i, 2, 2), torch.zeros(11, 4)),
        ("_embedding_bag_forward_only", 0, 0, 11, None)),
    "cross_entropy": (
        lambda i: F.cross_entropy(torch.zeros(2, 9), whole(i, 2)),
        ("nll_loss_forward", 1, 0, 9, -100)),
    "cross_entropy of one": (
        lambda i: F.cross_entropy(torch.zeros(9), whole(i)), ("nll_loss_forward", 0, 0, 9, -100)),
    "cross_entropy ignores": (
        lambda i: F.cross_entropy(torch.zeros(2, 9), whole(i, 2), ignore_index=255),
        ("nll_loss_forward", 1, 0, 9, 255)),
    "nll_loss of images": (
        lambda i: F.nll_loss(torch.zeros(2, 9, 3, 3), whole(i, 2, 3, 3)),
        ("nll_loss2d_forward", 1, 0, 9, -100)),
    "multi_margin_loss": (
        lambda i: F.multi_margin_loss(torch.zeros(2, 9), whole(i, 2)),
        ("multi_margin_loss", 1, 0, 9, None)),
    "of no dimension": (
        lambda i: torch.zeros(()).gather(0, whole(i, 1)), ("gather", 0, 0, 1, None)),
}


def is_taken(call, index):
    try:
        call(index)
        return True
    except (IndexError, RuntimeError):
        return False


class Operator(unittest.TestCase):
    def test_ranges(self):
        for name, (call, expected) in _CALLS.items():
            with self.subTest(name):
                name, dimension, least, size, ignored = expected
                expected = name, dimension, _LEAST if least is None else least, size, ignored
                self.assertIn(expected, ranges_of(lambda: call(0)))

    def test_pytorch_agrees(self):
        for name, (call, (_, _, least, size, ignored)) in _CALLS.items():
            with self.subTest(name):
                self.assertTrue(is_taken(call, size - 1))
                self.assertFalse(is_taken(call, size))
                if least is not None:
                    self.assertTrue(is_taken(call, least))
                    self.assertFalse(is_taken(call, least - 1))
                if ignored is not None:
                    self.assertTrue(is_taken(call, ignored))

    def test_backward(self):
        weight = torch.zeros(11, 4, requires_grad=True)
        loss = F.cross_entropy(F.embedding(whole(1, 3), weight), whole(2, 3))
        found = ranges_of(loss.backward)
        self.assertIn(("nll_loss_backward", 1, 0, 4, -100), found)
        self.assertIn(("embedding_dense_backward", INDICES_OF_NUMBER, 0, 11, None), found)

    def test_several(self):
        x = torch.zeros(3, 5, 7)
        self.assertEqual(
            ranges_of(lambda: x[whole(0, 2), :, whole(1, 2)]),
            [("index", 0, -3, 3, None), ("index", 2, -7, 7, None)],
        )

    def test_what_has_none(self):
        x = torch.zeros(3, 5)
        self.assertEqual(ranges_of(lambda: (x + 1, x[x > 0], x.argmax())), [])
        probabilities = torch.full((2, 9), 1 / 9)
        self.assertEqual(ranges_of(lambda: F.cross_entropy(torch.zeros(2, 9), probabilities)), [])

    def test_table(self):
        """Each operator of the table is one that PyTorch has, with these arguments."""
        for line in index_operators.text().splitlines():
            name = line.split()[0].removeprefix("aten::")
            packet = getattr(torch.ops.aten, name, None)
            if packet is None and name.startswith("_unsafe"):  # of later versions
                continue
            schemas = [getattr(packet, overload)._schema for overload in packet.overloads()]
            self.assertTrue(any(index_operators.rule(schema) for schema in schemas), name)


if __name__ == "__main__":
    unittest.main()
