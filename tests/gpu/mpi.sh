#!/bin/bash
# Programs of MPI on GPUs: the verdicts of the MPI tests, with Open MPI and MPICH that know nothing of
# CUDA, so that csan copies device buffers (runtime/mpi/stage.c). With two GPUs each rank has its own.
#
#   mpi.sh CSAN_ROOT [BUNDLE]
#
# BUNDLE is what scripts/bundle-mpi made, build/mpi-bundle.tar.xz if it is not given. CSAN_DEVICE is the
# device (gpu).
set -u
root=$(cd "$1" && pwd) bundle=${2:-build/mpi-bundle.tar.xz} device=${CSAN_DEVICE:-gpu}
[ -f "$bundle" ] || { echo "skipped: there is no $bundle (scripts/bundle-mpi)"; exit 0; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -C "$place" -xf "$bundle" || exit 2
# Open MPI makes a folder there, of one name for all runs.
export TMPDIR=$place CSAN_DEVICE=$device
passed=0 failed=0

# launch RANKS PROGRAM...
launch()
{
    local ranks=$1
    shift
    timeout 200 "$root/bin/csan" run --device="$device" $launcher -n "$ranks" "$mpi/bin/$@" >out 2>err </dev/null
    status=$?
}
check()
{
    local name="$1 ($family)"
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "not ok $name (ended with $status)"
        tail -5 out | sed 's/^/    out: /'
        grep -v '^  #' err | head -30 | sed 's/^/    err: /'
    fi
}
is_right() { [ "$status" = 0 ] && ! grep -q '^CSAN' err && grep -qx right out; }
reports() { [ "$status" = 66 ] && grep -Eq "^CSAN: .*data race: .*$1" err; }

# Ranks that share memory by CUDA's handles: what calls of MPI order, by csan merge --order.
record()
{
    rm -f app.*.csan
    timeout 200 "$root/bin/csan" record --device="$device" -o app.%r.csan $launcher -n 2 "$mpi/bin/shared" "$@" \
        >out 2>err </dev/null
    recorded=$?
    timeout 100 "$root/bin/csan" merge --order app.*.csan >merged 2>>err
    status=$?
}
in_order() { [ "$recorded" = 0 ] && [ "$status" = 0 ] && grep -Eq ' 0 races between processes, 0 of them possible$' err; }
is_certain() { [ "$status" = 66 ] && grep -q '^Race 1 is certain' merged; }

tests()
{
    local ranks k size order
    for ranks in 2 4; do
        launch $ranks cases
        check "every case is judged right with $ranks ranks: $(tail -1 out)" eval '[ "$status" = 0 ] && grep -q " 0 failed" out'
    done
    launch 2 jacobi
    check "a Jacobi solver is right, and csan is silent" is_right
    for k in 1 2; do
        launch 2 jacobi $k
        check "... without synchronization $k it is reported" reports 'MPI_'
    done
    launch 2 halo
    check "a halo exchange is right, and csan is silent" is_right
    for k in 1 2 3 4; do
        launch 2 halo $k
        check "... without synchronization $k it is reported" reports ''
    done
    for order in send bcast allreduce; do
        record $order
        check "ranks that share memory are in order by $order" in_order
        record $order racy
        check "... and reported if the kernel is waited for too late" is_certain
    done
    [ "$device" = gpu ] || return
    for size in "8 100 200" "1048576 5 60"; do
        launch 2 ping_pong $size
        check "a message costs little: $(grep 'one way' out)" grep -q 'one way' out
    done
}

cd "$place" || exit 2
for family in mpich openmpi; do
    mpi=$place/$family
    [ -d "$mpi" ] || continue
    launcher="mpiexec.hydra"
    [ $family = mpich ] || launcher="mpirun --oversubscribe"
    # In a shell of its own: each family has variables.
    (
        [ ! -f "$mpi/environment" ] || . "$mpi/environment"
        export LD_LIBRARY_PATH=$mpi/lib:$root/lib/csan${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PATH=$mpi/bin:$PATH
        passed=0 failed=0
        tests
        echo "$passed $failed" >"$family.totals"
    )
    read -r more wrong <"$family.totals"
    passed=$((passed + more)) failed=$((failed + wrong))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
