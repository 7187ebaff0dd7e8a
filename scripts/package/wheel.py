"""Makes the wheel of the PyTorch adapter: `wheel.py PACKAGE VERSION LICENSE DIRECTORY`.

PACKAGE is the folder with csan_torch and its .pth as `make` puts them together. A wheel is a zip file
with a list of its files and their digests (packaging.python.org, "Binary distribution format"), so
Python's own library makes it, without a network; the same input gives the same bytes.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

METADATA = """\
Metadata-Version: 2.1
Name: csan-torch
Version: {version}
Summary: csan for PyTorch: finds data races between CUDA streams
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/plain

Checks a program that uses PyTorch where CSAN=1 is set, or after csan_torch.enable(). csan's library,
libcsan.so.0, is not in here: it is found where the system's loader looks, or by CSAN_LIBRARY. The first
run compiles the sources in csan_torch/native against the PyTorch that is there.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: csan ({version})
Root-Is-Purelib: true
Tag: py3-none-any
"""


def contents(package, version, license_file):
    """Every file of the wheel but its list of files: (name, bytes)."""
    places = sorted(p for p in (package / "csan_torch").rglob("*") if p.is_file())
    for place in [*places, package / "csan_torch.pth"]:
        if "__pycache__" not in place.parts:
            yield place.relative_to(package).as_posix(), place.read_bytes()
    information = f"csan_torch-{version}.dist-info"
    yield f"{information}/LICENSE", license_file.read_bytes()
    yield f"{information}/METADATA", METADATA.format(version=version).encode()
    yield f"{information}/WHEEL", WHEEL.format(version=version).encode()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def write(archive, name, data):
    entry = zipfile.ZipInfo(name)  # dated 1980, so that two builds are equal
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    archive.writestr(entry, data)


def main():
    package, version, license_file, directory = sys.argv[1:]
    path = Path(directory, f"csan_torch-{version}-py3-none-any.whl")
    record = f"csan_torch-{version}.dist-info/RECORD"
    lines = ""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents(Path(package), version, Path(license_file)):
            write(archive, name, data)
            lines += record_line(name, data)
        write(archive, record, (lines + f"{record},,\n").encode())
    print(path)


main()
