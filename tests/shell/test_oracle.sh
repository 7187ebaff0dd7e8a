# Random host programs, judged by brute force (tests/oracle). A sanitizer's build plays fewer.
case $root in
*/asan | */tsan) programs=1000 ;;
*) programs=20000 ;;
esac
run "$root/tests/oracle/oracle" --programs=$programs
cat out err
check "oracle: csan and brute force agree" [ "$status" = 0 ]
for waits in 1 2; do
    run "$root/tests/oracle/oracle" --programs=$((programs / 4)) --waits=$waits
    cat out err
    check "oracle: likewise with implicit_sync's other values ($waits)" [ "$status" = 0 ]
done

# What once was taken for csan's mistake.
play_one()
{
    run "$root/tests/oracle/oracle" --programs=1 --seed="$1" --traced="$2" --host-threads=0 --host=0 --schedules=2
    cat out err
}
# A kernel writes through the pointer of a block that the host knows to be freed. Both plays give it
# and the block after it the same places, unless the first left something in the pool.
play_one 507780644 0
check "oracle: a play begins as the one before it" grep -q ' 0 whose outcomes differ; no disagreement' out
# The same, but whether another block lies there by then is up to how far the stream of the free is.
play_one 510625808 1
check "oracle: uses of freed memory may differ" grep -q ' 1 whose outcomes differ; no disagreement' out
