"""csan, a race detector for CUDA streams: where the files of the wheel csan-cuda are.

The command `csan` is installed beside the interpreter; `python -m csan` is the same. `csan run python
program.py` checks a program. csan_torch has the adapter for PyTorch, and `pytest --csan` checks tests.
"""

import os
import sys

_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree")


def get_root():
    """The folder with bin, lib, include and share: an installed csan, which names no other folder."""
    return _ROOT


def get_include():
    """For the compiler's -I: <csan/csan.h> lies below it."""
    return os.path.join(_ROOT, "include")


def get_library_dir():
    """For the linker's -L and -rpath: -lcsan is found there."""
    return os.path.join(_ROOT, "lib")


def get_cmake_dir():
    """For CMake's csan_DIR or CMAKE_PREFIX_PATH: csan-config.cmake lies in it."""
    return os.path.join(_ROOT, "lib", "cmake", "csan")


def get_command():
    """The command itself, for a parent process that starts it."""
    return os.path.join(_ROOT, "bin", "csan")


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version

        return version("csan-cuda")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main():
    """The command in place of this interpreter."""
    command = get_command()
    try:
        os.execv(command, ["csan", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"csan: {command} cannot be run: {error.strerror}. Install the wheel csan-cuda again.")
