"""Makes the wheel csan-cuda: `wheel.py TREE PYTHON SOURCES VERSION OLDEST LICENSES DIRECTORY`.

TREE is an installed csan, PYTHON the folder with csan_torch and its .pth, SOURCES the folder with the package
csan. A wheel is a zip file with a list of its files and their digests (packaging.python.org, "Binary
distribution format"), so Python's own library makes it, without a network; the same input gives the same
bytes. Its tag names the oldest glibc that it runs with, which is read from its ELF files and must not be
newer than OLDEST. LICENSES has the licenses of what it contains.
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

NAME = "csan_cuda"

# Opened only where it loads; without it csan uses the C library's unwinder.
OPTIONAL = ("libunwind.so.8", "liblzma.so.5", "libz.so.1")

METADATA = """\
Metadata-Version: 2.1
Name: csan-cuda
Version: {version}
Summary: Finds data races between CUDA streams, in C++, PyTorch, CuPy, JAX and Numba; needs no GPU
License: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.8
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Debuggers
Description-Content-Type: text/markdown

# csan

`csan run python train.py` checks a program and everything below it while it runs. It reports two accesses
to the same bytes, one of them a write, with nothing that orders them. Without a GPU programs run on csan's
embedded device. `csan doctor` says what is there and what is missing.

`import csan` finds the files: `csan.get_include()`, `csan.get_library_dir()`, `csan.get_cmake_dir()`.
`pytest --csan` lets a test with a race fail. A program with PyTorch that is started without `csan run` is
checked where `CSAN=1` is set, or after `csan_torch.enable()`.

The command is `csan`. The package of that name on the public index is another project's.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: csan ({version})
Root-Is-Purelib: false
Tag: {tag}
"""

ENTRY_POINTS = """\
[console_scripts]
csan = csan:main

[pytest11]
csan = csan.pytest_plugin
"""


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def glibc_of(path):
    """The newest version of glibc that an ELF file asks for: (2, 27)."""
    said = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    found = [tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_(\d[\d.]*)", said)]
    return max(found, default=(2, 0))


def oldest_glibc(tree, limit):
    """What the tree's libraries need; ends with a message where that is newer than `limit`."""
    needs = {p: glibc_of(p) for p in sorted(tree.rglob("*")) if p.is_file() and not p.is_symlink() and is_elf(p)}
    wanted = tuple(map(int, limit.split(".")))
    for path, version in needs.items():
        if version > wanted and path.name not in OPTIONAL:
            sys.exit(f"wheel: {path} needs glibc {'.'.join(map(str, version))}, and a wheel for {limit} is asked for")
    return f"{wanted[0]}_{wanted[1]}"


def linker_script(link):
    """A wheel has no symbolic links. What -lNAME finds becomes a script that names the library."""
    return f"INPUT({os.readlink(link)})\n".encode()


def tree_files(tree):
    for place in sorted(tree.rglob("*")):
        name = f"csan/tree/{place.relative_to(tree).as_posix()}"
        if place.is_symlink() and place.name.endswith(".so"):
            yield name, linker_script(place), False
        elif place.is_file() and "__pycache__" not in place.parts:
            yield name, place.read_bytes(), os.access(place, os.X_OK)


def package_files(folder, base):
    for place in sorted(p for p in folder.rglob("*") if p.is_file()):
        if "__pycache__" not in place.parts:
            yield place.relative_to(base).as_posix(), place.read_bytes(), False


def contents(tree, python, sources, version, tag, licenses):
    """Every file of the wheel but its list of files: (name, bytes, whether it is a program)."""
    yield from package_files(sources / "csan", sources)
    yield from tree_files(tree)
    yield from package_files(python / "csan_torch", python)
    yield from package_files(python / "csan_pools", python)
    yield "csan_torch.pth", (python / "csan_torch.pth").read_bytes(), False
    # Where man and shells look, when the environment's share is one of their folders.
    for name in ("man/man1/csan.1", "bash-completion/completions/csan", "zsh/site-functions/_csan"):
        yield f"{NAME}-{version}.data/data/share/{name}", (tree / "share" / name).read_bytes(), False
    information = f"{NAME}-{version}.dist-info"
    yield f"{information}/LICENSE", licenses.read_bytes(), False
    yield f"{information}/METADATA", METADATA.format(version=version).encode(), False
    yield f"{information}/WHEEL", WHEEL.format(version=version, tag=tag).encode(), False
    yield f"{information}/entry_points.txt", ENTRY_POINTS.encode(), False


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def write(archive, name, data, program=False):
    entry = zipfile.ZipInfo(name)  # dated 1980, so that two builds are equal
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if program else 0o100644) << 16
    archive.writestr(entry, data)


def main():
    tree, python, sources, version, oldest, licenses, directory = sys.argv[1:]
    tree = Path(tree)
    tag = f"py3-none-manylinux_{oldest_glibc(tree, oldest)}_{platform.machine()}"
    path = Path(directory, f"{NAME}-{version}-{tag}.whl")
    record = f"{NAME}-{version}.dist-info/RECORD"
    lines = ""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, program in contents(tree, Path(python), Path(sources), version, tag, Path(licenses)):
            write(archive, name, data, program)
            lines += record_line(name, data)
        write(archive, record, (lines + f"{record},,\n").encode())
    print(path)


main()
