"""The exception that PyTorch raises for a kernel that failed says which kernel it was, as csan's report does."""

import sys

from . import api


def text(plain, table=None):
    """`plain`, the exception's own text, followed by csan's headline if a kernel failed."""
    table = table or api.find()
    more = table.failure_text(0) if table and table.has("failure_text") else None
    return f"{plain}\ncsan: {more.decode(errors='replace')}" if more else plain


def _install_hook():
    """PyTorch before 2.9 raises RuntimeError, and only the error that ends the program can be distinguished."""
    before = sys.excepthook

    def hook(kind, error, trace):
        if kind is RuntimeError and "CUDA error" in str(error) and error.args:
            error.args = (text(str(error.args[0])),) + error.args[1:]
        before(kind, error, trace)

    sys.excepthook = hook


def install(torch):
    kind = getattr(torch, "AcceleratorError", None)
    if kind is None:
        _install_hook()
    else:
        kind.__str__ = lambda error: text(RuntimeError.__str__(error))
