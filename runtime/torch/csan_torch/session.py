"""csan switched on in this process: `enable` and what it needs to know."""

import sys

from . import api, custom_operators, errors, index_operators, stack_source
from .options import switched_off

_OLDEST = (2, 3)

_state = {"enabled": False, "keep": []}


def note(message):
    print(f"csan: {message}", file=sys.stderr)


def _raise(reports):
    """Called in the main thread between two instructions of the program, with the reports that csan
    has printed."""
    raise errors.exception_of_reports(reports)


def _start_adapter(torch, operators):
    from . import adapter

    library = adapter.load(adapter.build(torch, note))
    if not library.csan_torch_start():
        return False
    _state["keep"].append(library)
    library.csan_torch_index_operators(index_operators.text().encode())
    if operators:
        custom_operators.install()
    if not operators:
        stack_source.install(api.find(), ask=False)
    elif not library.csan_torch_follow_operators(_raise):
        stack_source.install(api.find(), ask=True)

    def follow():
        if not library.csan_torch_follow_allocator():
            note("PyTorch's caching allocator is not followed: reused memory is not checked")

    torch.cuda._lazy_call(follow)
    return True


def enable():
    """Check this process from here on. For best results call it before the first use of CUDA.

    Under `csan run`, or linked with libcsan, csan sees every launch; otherwise it sees what
    PyTorch's own CUDA Stream Sanitizer sees, and the verdicts are that one's. Says on standard error
    what it cannot do; never fails."""
    if _state["enabled"]:
        return
    operators = not switched_off("operators")
    unfollowed = "operators are" if operators else "caching allocator is"
    try:
        import torch
    except ImportError as error:
        note(f"PyTorch cannot be imported ({error}): its {unfollowed} not followed")
        return
    from . import adapter

    if adapter._version(torch) < _OLDEST:
        note(f"PyTorch {torch.__version__} is too old, csan needs {_OLDEST[0]}.{_OLDEST[1]}: "
             f"its {unfollowed} not followed")
        return
    _state["enabled"] = True
    if not api.find():
        if not operators or switched_off("check"):
            return
        from . import dispatch

        note("libcsan is not in this process, so only PyTorch's own operators, streams and events "
             "are checked, at the cost of a dispatch mode; `csan run python ...` sees all")
        dispatch.enable(hooks=False)
        return
    from . import failures, gloo, pipes, stores, triton

    triton.install()
    failures.install(torch)
    stores.install()
    gloo.install()
    pipes.install()
    try:
        _start_adapter(torch, operators)
    except (adapter.BuildError, OSError) as error:
        if not operators:
            note(f"no adapter for PyTorch {torch.__version__} ({error}): its {unfollowed} not followed, "
                 "so reused memory is not checked")
            return
        from . import dispatch

        note(f"no adapter for PyTorch {torch.__version__} ({error}): operators are followed by a "
             "dispatch mode instead, which is slower")
        dispatch.enable(hooks=True)
