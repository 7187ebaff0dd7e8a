# What the options of byte ranges print.

says() { grep -Eq -- "$1" err; }
says_not() { ! says "$1"; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }

run env CSAN=1 CSAN_OPTIONS=verify_ranges=1 "$programs/halves_disjoint"
check "verify_ranges=1 finds the ranges right" ended 0
check "verify_ranges=1 sums up each kernel" says '^csan: ranges: .*: 2 launches, [0-9]+ incomplete, [0-9]+ not judged, pointers: [0-9]+ exact, [0-9]+ bounded, [0-9]+ unknown; 0 [a-z ]+$'
run env CSAN=1 CSAN_OPTIONS=verify_ranges=1 "$programs/halves_overlapping"
check "verify_ranges=1 keeps a race's exit code" ended 66

run env CSAN=1 CSAN_OPTIONS=trace=0 "$programs/range_scatter_elsewhere"
check "trace=0 leaves the device's word out" says_not ' traced'
check "trace=0 keeps the program's output" printed done

run env CSAN=1 CSAN_OPTIONS=verbosity=2 "$programs/range_scatter_elsewhere"
check "verbosity=2 says why a kernel is not known exactly" says '^csan: kernel .*: argument [0-9]+ is bounded: '
check "verbosity=2 says so once for each kernel" sh -c "! grep '^csan: kernel ' err | sort | uniq -d | grep -q ."
run env CSAN=1 CSAN_OPTIONS=verbosity=1 "$programs/range_scatter_elsewhere"
check "verbosity=1 does not" says_not 'is bounded: '
