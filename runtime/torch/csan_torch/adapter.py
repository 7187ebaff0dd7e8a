"""The native adapter: built once against the PyTorch that is here, kept, and loaded.

It lies in $CSAN_CACHE, or csan below $XDG_CACHE_HOME or ~/.cache, in a directory named by everything
that it depends on: PyTorch, Python, csan's sources.
"""

import ctypes
import fcntl
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

_SOURCES = ("adapter.cpp", "forward_stacks.c")
_HEADERS = ("forward_stacks.h", "csan/csan.h", "csan/adapter.h", "csan/detector.h")
_NAME = "csan_torch_adapter.so"
_LOG = "build.log"


class BuildError(Exception):
    """The adapter cannot be built here; the text says why and what to do."""


def _source_directory():
    here = Path(__file__).resolve().parent
    for place in (here / "native", here.parent):
        if (place / _SOURCES[0]).exists():
            return place
    raise BuildError("the adapter's sources are missing from the package csan_torch")


def _source(name):
    place = _source_directory()
    if (place / name).exists():
        return place / name
    return place.parents[1] / "include" / name  # csan.h, in the source tree


def _compilers():
    cxx = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    cc = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not cxx or not cc:
        raise BuildError("there is no C++ compiler (c++ or g++); install one, or set CC and CXX")
    return shlex.split(cc), shlex.split(cxx)


def _python_include():
    include = sysconfig.get_paths()["include"]
    if not Path(include, "Python.h").exists():
        raise BuildError(f"Python's headers are missing from {include} (Debian: python3-dev)")
    return include


def _cuda_include(torch):
    """Where cuda_runtime_api.h is, which PyTorch's own headers want; None: nowhere."""
    places = [Path(os.environ[key], "include") for key in ("CUDA_HOME", "CUDA_PATH") if key in os.environ]
    site = Path(torch.__file__).resolve().parents[1]
    places += sorted(site.glob("nvidia/cu*/include")) + [site / "nvidia/cuda_runtime/include"]
    places += [Path("/usr/local/cuda/include")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        places.append(Path(nvcc).resolve().parents[1] / "include")
    return next((place for place in places if (place / "cuda_runtime_api.h").exists()), None)


def _loaded(name):
    """The path of a library of this process, as a list; [] where it is not known."""
    try:
        with open("/proc/self/maps") as maps:
            paths = [line.split(maxsplit=5)[-1].strip() for line in maps if name in line]
    except OSError:
        return []
    return paths[:1]


def _flags(torch):
    """Of both compilers, of the C++ compiler, of the linker."""
    root = Path(torch.__file__).resolve().parent
    include = [root / "include", root / "include/torch/csrc/api/include", _python_include()]
    cuda = _cuda_include(torch)
    debug = getattr(torch.version, "debug", False)  # its headers' structures depend on NDEBUG
    common = ["-O2", "-g1", "-fPIC", "-fvisibility=hidden", f"-I{_source('forward_stacks.h').parent}"]
    common += [f"-I{_source('csan/csan.h').parents[1]}"]
    common += [flag for path in include for flag in ("-isystem", str(path))]
    cxx = ["-std=c++20" if _version(torch) >= (2, 12) else "-std=c++17"]
    cxx += [] if debug else ["-DNDEBUG"]
    cxx += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]
    libraries = ["-lc10", "-ltorch_cpu"]
    if cuda and (root / "lib/libc10_cuda.so").exists():
        cxx += ["-isystem", str(cuda)]
        libraries += ["-lc10_cuda"]
    else:
        cxx += ["-DCSAN_NO_ALLOCATOR"]
    # PyTorch's own C++ library goes first: with a second one, which some compilers link statically,
    # objects of the one would meet code of the other.
    return common, cxx, [f"-L{root / 'lib'}", *libraries, *_loaded("/libstdc++.so")]


def _version(torch):
    numbers = torch.__version__.split("+")[0].split(".")
    return int(numbers[0]), int("".join(c for c in numbers[1] if c.isdigit()) or 0)


def _plain_environment():
    """For the compiler, which is no CUDA program: without csan, which csan run is not to miss."""
    return {**{k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}, "CSAN": "0"}


def _key(torch):
    """Everything that the adapter depends on, and nothing that only building it needs: an image may
    have the one without the other."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in _SOURCES + _HEADERS:
        digest.update(_source(name).read_bytes())
    facts = (torch.__version__, torch.version.git_version, torch.__file__, sys.version)
    wanted = (os.environ.get("CC"), os.environ.get("CXX"), bool(_cuda_include(torch)))
    digest.update(repr((facts, sysconfig.get_platform(), wanted)).encode())
    return digest.hexdigest()[:24]


def _cache():
    named = os.environ.get("CSAN_CACHE")
    if named:
        return Path(named)
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        raise BuildError("there is no home directory to keep the adapter in; set CSAN_CACHE") from None
    return Path(base) / "csan"


def _make(place):
    """With all above it that is missing; as runtime/learn/cache.c does."""
    for directory in reversed([place, *place.parents]):
        try:
            directory.mkdir(mode=0o700)
        except OSError:  # it is there, or will be missed
            pass


def _refuse_what_is_not_ours(place):
    """The adapter is code that this process will run: what another user owns, or can write, is
    refused, and no link is followed below the cache. What is ours is closed to others."""
    for path in (place.parent, place, place / _NAME):
        try:
            status, link = path.stat(), path.lstat()
        except FileNotFoundError:
            continue
        if path == place.parent and status.st_uid == 0 and status.st_mode & stat.S_ISVTX:
            continue  # as /tmp: nobody can put theirs in the place of ours
        if status.st_uid != os.geteuid() or link.st_uid != os.geteuid():
            raise BuildError(f"{path} is another user's; set CSAN_CACHE to a directory of your own")
        if path != place.parent and stat.S_ISLNK(link.st_mode):
            raise BuildError(f"{path} is a link; set CSAN_CACHE to another directory")
        if path == place or (path == place.parent and path.name == "csan"):
            if stat.S_IMODE(status.st_mode) != 0o700:  # the directory may be read-only
                path.chmod(0o700)
        elif path == place / _NAME and status.st_mode & 0o022:
            path.unlink()  # it may be others' by now, and is built again
        elif status.st_mode & 0o022:
            raise BuildError(f"{path} can be written by other users; set CSAN_CACHE to a directory of your own")


def _run(command, log):
    """False: it failed. What it says goes to the log, after the command."""
    log.write(shlex.join(command) + "\n")
    log.flush()
    try:
        done = subprocess.run(command, stdout=log, stderr=log, env=_plain_environment())
    except OSError as error:
        log.write(f"{error}\n")
        return False
    return done.returncode == 0


def _compile(commands, flags, directory, log):
    common, cxx, link = flags
    objects = []
    runs = []
    for name in _SOURCES:
        source = _source(name)
        objects.append(str(directory / (source.stem + ".o")))
        compiler = [*commands[1], *cxx] if source.suffix == ".cpp" else [*commands[0], "-std=gnu11"]
        runs.append([*compiler, *common, "-c", str(source), "-o", objects[-1]])
    runs.append([*commands[1], "-shared", *objects, *link, "-o", str(directory / _NAME)])
    with open(log, "w") as file:
        for run in runs:
            if not _run(run, file):
                raise BuildError(f"{run[0]} failed to build it, see {log}")


def build(torch, note):
    """The path of the adapter for this PyTorch, built if it is not there. Many processes may call
    this at once: one builds, the others wait."""
    place = _cache() / f"torch-{_key(torch)}"
    _refuse_what_is_not_ours(place)
    if (place / _NAME).exists():
        return place / _NAME
    commands = _compilers()
    flags = _flags(torch)
    try:
        _make(place)
        _refuse_what_is_not_ours(place)
        descriptor = os.open(place / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / _NAME).exists():
                note(f"building the adapter for PyTorch {torch.__version__} (once; kept in {place})")
                with tempfile.TemporaryDirectory(dir=place) as scratch:
                    _compile(commands, flags, Path(scratch), place / _LOG)
                    (Path(scratch) / _NAME).chmod(0o700)
                    os.replace(Path(scratch) / _NAME, place / _NAME)
    except OSError as error:
        raise BuildError(f"{place} cannot be written ({error}); set CSAN_CACHE to another directory")
    return place / _NAME


def load(path):
    library = ctypes.PyDLL(str(path))
    library.csan_torch_follow_operators.argtypes = [ctypes.py_object]
    return library
