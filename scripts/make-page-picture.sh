#!/bin/bash
# Makes docs/images/page.png, the picture of the page that csan report --html writes, for README.md
# and docs/guide/record-replay.md: of samples/missing_wait.cu, on the embedded device.
#
#   make-page-picture.sh [ROOT]      ROOT: the build, as a rule build
#
# It needs the build (make), nvcc with a CUDA Toolkit 13, and Chromium or Chrome. Where pngquant is
# installed, the picture gets smaller. No GPU is needed.
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd)
root=$(cd "${1:-$repository/build}" && pwd)
picture=$repository/docs/images/page.png
width=1200 height=1010 bytes_max=150000

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "make-page-picture.sh: it needs chromium or google-chrome" >&2
    exit 1
}
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# From a directory of its own, so that the page names no path of this machine.
mkdir "$scratch/app"
cp "$repository"/samples/missing_wait.cu "$repository"/samples/*.h "$scratch/app"
cd "$scratch/app"
"$nvcc" -g -lineinfo missing_wait.cu -o app -L"$root/lib" -lcsan -Xlinker -rpath="$root/lib"
CSAN_DEVICE=embedded "$root/bin/csan" record -o app.csan -- ./app >/dev/null
"$root/bin/csan" report app.csan --html app.html

mkdir -p "$(dirname "$picture")"
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --blink-settings=preferredColorScheme=1 --window-size=$width,$height \
    --user-data-dir="$scratch/browser" --screenshot="$picture" "file://$PWD/app.html" 2>/dev/null
if command -v pngquant >/dev/null; then
    pngquant --force --skip-if-larger --output "$picture" "$picture" || true
fi
bytes=$(stat -c %s "$picture")
echo "$picture: $width x $height, $bytes bytes"
if [ "$bytes" -gt "$bytes_max" ]; then
    echo "make-page-picture.sh: that is more than $bytes_max bytes" >&2
    exit 1
fi
