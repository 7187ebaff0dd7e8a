# Learned sets over processes: a second one starts with what the first learned; a gather whose indices
# changed between the two is found out, and known to depend on data from then on; csan kernels
# --learned lists it. Other things in the cache, damaged files and many processes at once do no harm.

says() { grep -Eq -- "$1" err; }
prints() { grep -Eq -- "$1" out; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan program=$programs/learn_gather
export CSAN_CACHE=$PWD/cache CSAN_SCHEDULE=eager
learned() { run env CSAN=1 CSAN_OPTIONS="access=learn${options:-}" "$program" "$@"; }

learned 3 3
check "the first process learns" says 'learning: 2 launches known .* 4 traced to learn'
learned 3 3
check "the second knows, and traces the fourth launch again" says 'learning: 4 launches known .* 2 traced to learn'
run "$csan" kernels --learned --kernel=gather
check "csan kernels --learned: exact" prints '^  grid 1,1,1 block 128,1,1 shared 0: exact, 6 launches'
check "with its ranges" prints '^    writes 512 bytes at \+0 from the pointer at parameter byte 0$'
learned 12 0
check "changed indices are found out" says 'learning: .* [1-9][0-9]* bounded by them'
learned 1 1
check "another process knows that they change" says 'learning: 1 launches known .* 1 bounded by them, 0 traced'
run "$csan" kernels --learned
check "csan kernels --learned: bounded" prints 'bounded \(depends on data\), 19 launches'
check "lists the other kernel, too" prints '^fill\(int\*, int, int\)$'
run "$csan" kernels --learned --kernel=nothing
check "a name that is not there is said" says "none of the 2 kernels in .* is called 'nothing'"
check "and is a failure" ended 1
run "$csan" kernels --learned app
check "--learned takes no file" ended 2

options=:learn_launches=3 learned 2 2
for file in cache/learned/*.learned; do
    printf 'nonsense' >"$file"
done
learned 2 2
check "a damaged file is said in one line" [ "$(grep -c 'are not used: it is damaged' err)" = 1 ]
check "and does no harm" ended 0
learned 2 2
check "it was written anew" [ "$(grep -c 'are not used' err)" = 0 ]

rm -rf cache
options=:learn_cache_mb=0 learned 3 3
check "learn_cache_mb=0 keeps nothing" [ ! -e cache ]
CSAN_CACHE=/proc/nowhere learned 3 3
check "a place that cannot be written is no error" ended 0

for i in 1 2 3 4 5 6 7 8; do
    sanitized env CSAN=1 CSAN_OPTIONS=access=learn "$program" 3 3 >many.$i 2>&1 &
done
wait
check "eight processes at once" [ "$(grep -l '0 races, 0 possible' many.* | wc -l)" = 8 ]
check "leave one whole file" [ "$(find cache -type f ! -name lock | wc -l)" = 1 ]
run "$csan" kernels --learned --kernel=gather
check "that holds what they learned" prints 'shared 0: exact, [0-9]+ launches'

run env CSAN=1 CSAN_OPTIONS=access=never "$program"
check "a word that access does not have is said" says 'option access=never: write one of auto.ptx.learn.exact'
run env CSAN=1 CSAN_OPTIONS=access=exact "$program" 3 3
check "access=exact traces every launch" says '7 ops \(1 copies, sets and libraries, 6 traced\)'
run env CSAN=1 CSAN_OPTIONS=access=ptx "$program" 3 3
check "access=ptx traces none" says '7 ops \(1 copies, sets and libraries, 6 ranges\)'
