# What there is in Python and needs no PyTorch, csan_torch.EventHandler, the Python face of the detector,
# before all: tests/torch/test_*.py, one check for each test of theirs.

sources=$(dirname "$(dirname "$(realpath "$test")")")/torch
if ! command -v python3 >/dev/null; then
    echo "skipped $(basename "$test" .sh): there is no python3 on this machine"
    return 0
fi
for script in "$sources"/test_*.py; do
    way=run
    [ "$(basename "$script")" = test_turns.py ] && way=run_foreign # it starts programs without csan
    $way env CSAN_LIBRARY="$root/lib/libcsan.so.0" CSAN_PARITY="$root/tests/torch/libparity.so" \
        PYTHONDONTWRITEBYTECODE=1 python3 "$script" -v
    check "$(basename "$script" .py) ends well" [ "$status" = 0 ]
    while read -r name result; do
        check "$(basename "$script" .py): ${name//_/ }" [ "$result" = ok ]
    done < <(sed -En 's/^test_([a-z0-9_]+) .* \.\.\. (ok|FAIL|ERROR)$/\1 \2/p' err)
done
