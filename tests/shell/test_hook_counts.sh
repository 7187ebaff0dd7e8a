# Counts of the calls that came to the hooks, and their comparison with CUPTI's (on a GPU:
# tests/gpu/hook_counts.sh), here with counts made up.
compare=$(dirname "$test")/../gpu/hook_counts.sh

CSAN=1 CSAN_CALL_COUNTS=counts run "$programs/event_wait_orders"
counted=$(ls counts.* 2>/dev/null)
check "hook counts: a file is written" [ -s "${counted:-none}" ]
check "hook counts: launches" grep -qx 'op cuLaunchKernel 2 0' "$counted"
check "hook counts: the wait" grep -qx 'op cuStreamWaitEvent 1 0' "$counted"
check "hook counts: what was not called" grep -qx 'op cuMemcpy 0 0' "$counted"
check "hook counts: what passes through" grep -qx 'unmodelled cuMemAlloc 0 0' "$counted"
check "hook counts: no captures, which have no hook" [ "$(grep -cE 'BeginCapture(ToGraph)?(_v2)?(_ptsz)? ' "$counted")" = 0 ]
rm -f counts.*
# Neither this program nor the embedded runtime asks where the variable is: csan does, once.
CSAN=1 CSAN_CALL_COUNTS=counts run "$programs/device_variable"
check "hook counts: what csan asks the driver itself" grep -qhx 'op cuLibraryGetGlobal 1 0' counts.*
rm -f counts.*
CSAN_CALL_COUNTS=counts run "$programs/event_wait_orders"
check "hook counts: none without csan" [ "$(ls | grep -c counts)" = 0 ]

printf '%s\n' 'csan calls 1' 'op cuA 2' 'op cuB 0' 'op cuModuleUnload 1' 'unmodelled cuC 1' >csan
printf '%s\n' 'cupti calls 26' 'cuA 2' 'cuQuery 7' 'cuC 5' >same
printf '%s\n' 'cupti calls 26' 'cuA 1' 'cuB 1' >other
run "$compare" --compare csan same
check "hook counts: equal or explained" [ "$status" = 0 ]
check "hook counts: the explanation is given" grep -q '^cuModuleUnload csan 1, cupti 0 explained: ' out
run "$compare" --compare csan other
check "hook counts: unequal" [ "$status" = 1 ]
check "hook counts: too many" grep -qx 'cuA csan 2, cupti 1' out
check "hook counts: missed" grep -qx 'cuB csan 0, cupti 1' out
check "hook counts: named but never called" grep -qx 'cuC csan 1, cupti 0' out

# The whole script, with a GPU, a csan and programs made up: bin/csan writes the counts.
mkdir -p fake/scripts fake/tests/gpu fake/bin fake/tests/programs/plain-static fake/tests/programs/cupti
cp "$compare" fake/tests/gpu/
printf '#!/bin/sh\n' >fake/scripts/gpu-present
touch fake/tests/programs/cupti/libcupti_counts.so
touch fake/tests/programs/plain-static/stream_{good,explained,bad,silent} fake/tests/programs/plain-static/other
cat >fake/bin/csan <<'END'
#!/bin/sh
name=$(basename "$3") seen=2
[ -n "$CUDA_INJECTION64_PATH" ] || exit 1
[ "$name" = stream_silent ] && exit 0
[ "$name" = stream_bad ] && seen=3
[ -e no-cupti ] && { echo "no cupti: none" >"$CUPTI_CALL_COUNTS.1"; echo csan >"$CSAN_CALL_COUNTS.1"; exit 0; }
printf 'csan calls 1\nop cuA 2\nop cuLibraryUnload %d\n' "$([ "$name" = stream_explained ] && echo 1 || echo 0)" >"$CSAN_CALL_COUNTS.1"
printf 'cupti calls 26\ncuA %d\n' $seen >"$CUPTI_CALL_COUNTS.1"
END
chmod +x fake/bin/csan fake/scripts/gpu-present
run fake/tests/gpu/hook_counts.sh fake
check "hook counts: a program that differs fails" [ "$status" = 1 ]
check "hook counts: and is named" grep -qx 'not ok stream_bad: cuA csan 2, cupti 3' out
check "hook counts: one without counts is named" grep -q '^uncounted stream_silent ' out
check "hook counts: explained once" grep -q '^ *1 explained: cuLibraryUnload: the runtime unloads' out
check "hook counts: the sum" grep -qx 'hook counts against CUPTI: 2 programs equal or explained, 1 not' out
run fake/tests/gpu/hook_counts.sh fake stream_good
check "hook counts: one that is equal" [ "$status" = 0 ]
touch no-cupti
run fake/tests/gpu/hook_counts.sh fake
check "hook counts: skipped without CUPTI" [ "$status" = 0 ]
check "hook counts: and says so" grep -qx 'skipped hook counts: none' out
