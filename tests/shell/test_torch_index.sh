# The ranges of indices that csan_torch declares, in the report of a kernel that fails: with the native adapter
# and with the dispatch mode. Needs a Python with PyTorch: python3, or the one that CSAN_TORCH_PYTHON names.

python=${CSAN_TORCH_PYTHON:-python3}
tests=$(dirname "$(dirname "$(realpath "$test")")")/torch
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
export CSAN_MACHINE_CODE=skip CSAN_CACHE=$PWD/cache PYTHONDONTWRITEBYTECODE=1

run_foreign "$python" "$tests/index_ranges.py" "$root/lib/csan/python"
check "PyTorch takes and refuses the indices that csan_torch says" [ "$status" = 0 ]
table()
{
    cat <<'ROWS'
gather|aten::gather|index (int64[2, 2]) must be in [0, 5), dimension 1 of self; index[1, 1] was copied to the device as 5.
index|aten::index.Tensor|indices (int64[3]) must be in [-3, 3), dimension 0 of self. indices (int64[3]) must be in [-5, 5), dimension 1 of self; indices[1] was 7, and 1 more is out of range.
index_put|aten::index_put_|indices (int64[2]) must be in [-5, 5), dimension 1 of self; indices[1] was copied to the device as 7.
cross_entropy|aten::nll_loss_forward|target (int64[4]) must be in [0, 9) or -100, dimension 1 of self; target[2] was copied to the device as 9.
embedding|aten::embedding|indices (int64[3]) must be below 10, dimension 0 of weight; indices[1] was copied to the device as 10.
written|aten::gather|index (int64[2, 2]) must be in [0, 5), dimension 1 of self.
ROWS
}
# Building the adapter may take longer than `run` waits.
"$root/bin/csan" run --device=embedded "$python" -c 'import torch' </dev/null >/dev/null 2>&1
for way in native dispatch; do
    [ $way = dispatch ] && export CXX=$PWD/no-compiler CSAN_CACHE=$PWD/none
    while IFS='|' read -r name operator words; do
        run "$root/bin/csan" run --device=embedded "$python" "$tests/index_report.py" $name
        check "$way, $name: the report" grep -qxF "  $words" err
        check "$way, $name: names the operator" grep -q "^CSAN: trap in $operator " err
        check "$way, $name: so does PyTorch's exception" \
            grep -qE "^csan: trap in $operator .*thread \(0,0,0\)\. " err
        check "$way, $name: with the words of the report" grep -qF ". $words" err
    done < <(table)
    check "$way: the adapter" [ "$(grep -c 'dispatch mode instead' err)" = $([ $way = dispatch ] && echo 1 || echo 0) ]
done
unset CXX
