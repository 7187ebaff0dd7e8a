#!/bin/bash
# A thousand random samples of each texture mode, taken on a GPU and on the embedded device: they
# must be equal by their bits.
#
#   texture_samples.sh CSAN_ROOT [DATA]   CSAN_ROOT: an installed tree, or a build; DATA: samples of a
#                                         GPU. If there is no such file, they are taken and kept there.
#
# DATA may have some of the samples only, and be compressed: tests/data/texture has some of an H200.
# Prints a line for each mode that differs, with the first sample and how many differ, and
# "N passed, N failed". Exit code 1 if any failed. Needs nvcc: NVCC, or
# the one on PATH, or that of CUDA_HOME.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${2:-$work/gpu}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
if [ ! -x "$nvcc" ]; then
    echo "skipped texture_samples: no nvcc"
    exit 0
fi
# A sanitizer's run-time that is preloaded is for csan: nvcc crashes with it.
env -u LD_PRELOAD "$nvcc" -cudart shared -std=c++17 -gencode arch=compute_75,code=compute_75 "$here/texture_samples.cu" -o "$work/samples" || exit 1
if [ ! -s "$data" ]; then
    if ! "$here/../../scripts/gpu-present"; then
        echo "skipped texture_samples: no GPU, and no samples of one"
        exit 0
    fi
    LD_LIBRARY_PATH=$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$work/samples" >"$data" || exit 1
fi
"$root/bin/csan" run --device=embedded "$work/samples" >"$work/embedded" 2>"$work/said" || { cat "$work/said"; exit 1; }
python3 - "$data" "$work/embedded" <<'EOF'
import gzip
import struct
import sys

def samples(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            mode, index, *bits = line.split()
            if len(bits) == 4:
                yield (mode, int(index)), bits

def numbers(bits):
    return [struct.unpack("<f", struct.pack("<I", int(v, 16)))[0] for v in bits]

embedded, modes = dict(samples(sys.argv[2])), {}
for (mode, index), bits in samples(sys.argv[1]):
    wrong = modes.setdefault(mode, [])
    if (mode, index) not in embedded:
        sys.exit(f"the embedded device has no sample {index} of {mode}")
    if bits != embedded[mode, index]:
        wrong.append((index, numbers(bits), numbers(embedded[mode, index])))
if not modes:
    sys.exit("no samples of a GPU")
for mode, wrong in modes.items():
    if wrong:
        print(f"not ok {mode}: {len(wrong)} samples differ, first {wrong[0][0]}: GPU {wrong[0][1]}, embedded {wrong[0][2]}")
failed = sum(1 for wrong in modes.values() if wrong)
print(f"{len(modes) - failed} passed, {failed} failed")
sys.exit(failed > 0)
EOF
