"""What PyTorch's operators do to their tensors, as their schemas' alias annotations say: an argument
(a!) is written, (a) is a view, which touches no data, any other is read; a result that is no view is
written. Worked out once for each operator."""

import re

import torch

from . import index_operators
from .detector import READ, WRITE

_FACTORIES = re.compile(r"(.*::)?(new_.*|.*_like)")  # read nothing of the tensors that they are like


def _is_result(argument, results):
    """Whether the argument is written, and returned."""
    alias = argument.alias_info
    others = [result.alias_info for result in results if result.alias_info]
    return bool(
        alias and alias.is_write and any(other.before_set == alias.before_set for other in others)
    )


class Operator:
    """`text`: the schema. Of each argument: `names`, `uses` (READ, WRITE or None), `returned`; of
    each result, whether it is `written`. `indices`: an index_operators.Rule, or None."""

    def __init__(self, schema, metadata):
        self.text = str(schema)
        self.names = [argument.name for argument in schema.arguments]
        self.returned = [_is_result(argument, schema.returns) for argument in schema.arguments]
        factory = bool(_FACTORIES.fullmatch(schema.name))
        self.uses = [
            None if metadata else self._use(schema, argument, factory)
            for argument in schema.arguments
        ]
        self.written = [
            not metadata and not factory and (not result.alias_info or result.alias_info.is_write)
            for result in schema.returns
        ]
        self.indices = index_operators.rule(schema)
        self._places = {name: place for place, name in enumerate(self.names)}

    @staticmethod
    def _use(schema, argument, factory):
        alias = argument.alias_info
        if alias and alias.is_write:
            return WRITE
        # Collectives of torch.distributed that work in place, without an annotation that says so.
        if schema.name.startswith("c10d::") and schema.name.endswith("_"):
            return READ if argument.name.startswith("input") else WRITE
        return None if alias or factory else READ

    def arguments(self, args, kwargs):
        """(place, value) of each argument that was given."""
        yield from enumerate(args)
        for name, value in kwargs.items():
            if name in self._places:
                yield self._places[name], value

    def results(self, value):
        """(written, value) of each result."""
        return zip(self.written, (value,) if len(self.written) == 1 else value or ())


class Operators:
    """By overload."""

    def __init__(self):
        self._known = {}

    def find(self, overload):
        """None: it works on no tensor's data, or is none of the dispatcher's operators."""
        if overload not in self._known:
            self._known[overload] = self._make(overload)
        return self._known[overload]

    @staticmethod
    def _make(overload):
        schema = getattr(overload, "_schema", None)
        if schema is None or schema.name == "aten::record_stream":
            return None
        return Operator(schema, torch.Tag.inplace_view in overload.tags)


def tensors_in(value):
    """The tensors of an argument or result: itself, or those of its lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
