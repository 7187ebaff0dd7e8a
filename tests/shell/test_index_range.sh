# Kernels of operators whose assertion on an index fails: the report has the range, and the value where the
# indices came from the host and nothing wrote there since.

says() { grep -Eq -- "$1" err; }
prints() { grep -Eq -- "$1" out; }

tests=$(dirname "$(dirname "$(realpath "$test")")")
"$nvcc" -arch=sm_90 -std=c++17 -cudart shared -I"$(dirname "$tests")/include" "$tests/gpu/index_range.cu" -o index_range
range='index \(int64\[4, 3\]\) must be in \[0, 16\) or -100, dimension 0 of self'
value='; index\[2, 1\] was copied to the device as 16, and 1 more is out of range\.'

for way in pageable pinned; do
    run "$root/bin/csan" run --device=embedded ./index_range $way
    check "$way: the range and the value" says "^  Assertion .* failed\. $range$value\$"
    check "$way: a framework's exception says it, too" prints "thread \([0-9]+,0,0\)\. Assertion .* failed\. $range$value\$"
    check "$way: the program gets what it gets without" prints '^cudaErrorAssert$'
done
for way in written set; do
    run "$root/bin/csan" run --device=embedded ./index_range $way
    check "$way since: the range alone" says "^  Assertion .* failed\. $range\.\$"
done
run "$root/bin/csan" run --device=embedded ./index_range right
check "indices that are right: nothing" prints '^no failure$'
