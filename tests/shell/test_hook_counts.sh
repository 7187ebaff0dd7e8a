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
check "hook counts: no captures, which have no hook" [ "$(grep -c BeginCapture "$counted")" = 0 ]
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
