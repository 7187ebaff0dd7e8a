# The litmus rules on the embedded device: its schedules overtake where nothing orders, csan says so
# for each, and says nothing where order is promised.
run "$(dirname "$test")/../gpu/litmus.sh" "$root"
check "litmus: csan and six schedules agree on every rule" [ "$status" = 0 ]
check "litmus: no rule is wrong" [ "$(grep -c '| WRONG\|| FALSE ALARM\|| FAILED' out)" = 0 ]
overtaken=$(grep -c 'overlapped [1-9].*| race .*| ok |' out)
check "litmus: B overtakes A under at least 50 rules ($overtaken)" [ "$overtaken" -ge 50 ]
kept=$(grep -c '| ordered: .*overlapped 0 of 6.*| ordered .*| ok |' out)
check "litmus: order is kept under at least 60 rules ($kept)" [ "$kept" -ge 60 ]
check "litmus: csan's answers are definite" [ "$(grep -c 'possible race' out)" = 0 ]
for value in promised none; do
    run "$(dirname "$test")/../gpu/litmus.sh" "$root" --implicit-sync $value
    check "litmus: implicit_sync=$value leaves out what it says" [ "$status" = 0 ]
done
run "$root/tests/programs/litmus/litmus" --trials 0
check "litmus: no trials are refused" [ "$status" = 2 ]
