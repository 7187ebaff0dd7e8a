# Names of earlier versions, in csan.h and among the options, work for one version, with a warning.
tree=$(cd "$(dirname "$test")/../.." && pwd)
cat >old.c <<'C'
#include <csan/csan.h>

void say(csan_context *context, csan_lane lane, const csan_snapshot *snapshot);
void say(csan_context *context, csan_lane lane, const csan_snapshot *snapshot)
{
    csan_op_sibling(context, lane, lane, 1, 2);
    csan_lane_seen_to_wait(context, lane, "a call");
    csan_snapshot_seen_to_wait(context, snapshot, "a call");
    csan_lane_create_host(context, "key", CSAN_HOST_MEETING);
}

unsigned long long asked(const struct csan_error *error);
unsigned long long asked(const struct csan_error *error)
{
    const struct csan_shortage *numbers = error->shortage;
    return numbers ? numbers->asked : 0;
}
C
cp old.c old.cc
for compiler in gcc g++; do
    source=old.c && [ $compiler = gcc ] || source=old.cc
    run_foreign $compiler -Wall -Wextra -I"$tree/include" -c $source -o old.o
    check "$compiler: old names compile" test "$status" = 0
    for name in csan_op_same_operator csan_lane_observed_wait csan_snapshot_observed_wait CSAN_HOST_SYNC_OBJECT \
        csan_out_of_memory out_of_memory; do
        check "$compiler: a warning names $name" grep -Eq "warning: .*use $name\"?[] ]*(\[|\$)" err
    done
    sed -e 's/csan_op_sibling/csan_op_same_operator/; s/seen_to_wait/observed_wait/; s/CSAN_HOST_MEETING/CSAN_HOST_SYNC_OBJECT/' \
        -e 's/csan_shortage/csan_out_of_memory/; s/>shortage/>out_of_memory/' $source >new_$source
    run_foreign $compiler -Wall -Wextra -Werror -I"$tree/include" -c new_$source -o new.o
    check "$compiler: new names compile without one" test "$status" = 0
done

run_foreign "$root/bin/csan" replay --options=backlog=3 absent.csan
check "an option's old name is noted" grep -Fxq 'csan: option backlog is now called deferred_limit; version 0.4 will not have the old name' err
run_foreign "$root/bin/csan" replay --options=deferred_limit=3 absent.csan
check "its new name is not" test "$(grep -c 'is now called' err)" = 0
