#!/bin/bash
# A thousand random samples of each texture mode, taken on a GPU and on the embedded device: nearest
# texels must be equal by their bits, and what is filtered within a share of the greatest value.
#
#   texture_samples.sh CSAN_ROOT [DATA]   CSAN_ROOT: an installed tree, or a build; DATA: where the GPU's
#                                         samples are kept (without a GPU: read)
#
# TEXTURE_TOLERANCE is that share (0.000001). Prints a line for each mode that differs, with the first
# sample and how many differ, and "N passed, N failed". Exit code 1 if any failed. Needs nvcc.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${2:-$work/gpu}
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ ! -x "$nvcc" ]; then
    echo "skipped texture_samples: no nvcc"
    exit 0
fi
"$nvcc" -cudart shared -std=c++17 -gencode arch=compute_75,code=compute_75 "$here/texture_samples.cu" -o "$work/samples" || exit 1
if "$here/../../scripts/gpu-present"; then
    LD_LIBRARY_PATH=$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$work/samples" >"$data" || exit 1
elif [ ! -s "$data" ]; then
    echo "skipped texture_samples: no GPU, and no samples of one"
    exit 0
fi
"$root/bin/csan" run --device=embedded "$work/samples" >"$work/embedded" 2>"$work/said" || { cat "$work/said"; exit 1; }
python3 - "$data" "$work/embedded" "${TEXTURE_TOLERANCE:-0.000001}" <<'EOF'
import struct
import sys

def samples(path):
    with open(path) as lines:
        for line in lines:
            mode, index, *values = line.split()
            if len(values) == 4:
                yield mode, int(index), [struct.unpack("<f", struct.pack("<I", int(v, 16)))[0] for v in values]

def differs(mode, a, b, tolerance):
    if mode.split("-")[0] == "gather" or ("-point" in mode and "-srgb" not in mode):
        return a != b
    greatest = 64 if "-float-" in mode else 1
    return any(abs(x - y) > tolerance * greatest for x, y in zip(a, b))

gpu, embedded = list(samples(sys.argv[1])), list(samples(sys.argv[2]))
tolerance, modes = float(sys.argv[3]), {}
if [s[:2] for s in gpu] != [s[:2] for s in embedded]:
    sys.exit("the two have other samples: " + str((len(gpu), len(embedded))))
for (mode, index, a), (_, _, b) in zip(gpu, embedded):
    wrong = modes.setdefault(mode, [])
    if differs(mode, a, b, tolerance):
        wrong.append((index, a, b))
for mode, wrong in modes.items():
    if wrong:
        print(f"not ok {mode}: {len(wrong)} samples differ, first {wrong[0][0]}: GPU {wrong[0][1]}, embedded {wrong[0][2]}")
failed = sum(1 for wrong in modes.values() if wrong)
print(f"{len(modes) - failed} passed, {failed} failed")
sys.exit(failed > 0)
EOF
