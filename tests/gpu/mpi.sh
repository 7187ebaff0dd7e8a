#!/bin/bash
# Programs of MPI on GPUs: the verdicts of the MPI tests, with an MPI that knows nothing of CUDA, so
# that csan copies device buffers (runtime/mpi/stage.c). With two GPUs each rank has its own.
#
#   mpi.sh CSAN_ROOT [BUNDLE]
#
# BUNDLE is what scripts/bundle-mpi made, build/mpi-bundle.tar.gz if it is not given.
set -u
root=$(cd "$1" && pwd) bundle=${2:-build/mpi-bundle.tar.gz}
[ -f "$bundle" ] || { echo "skipped: there is no $bundle (scripts/bundle-mpi)"; exit 0; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -C "$place" -xzf "$bundle" || exit 2
mpi=$place/mpi
export LD_LIBRARY_PATH=$mpi/lib:$root/lib/csan${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PATH=$mpi/bin:$PATH
passed=0 failed=0

# launch RANKS PROGRAM...
launch()
{
    local ranks=$1
    shift
    timeout 200 "$root/bin/csan" run --device=gpu mpiexec.hydra -n "$ranks" "$mpi/bin/$@" >out 2>err </dev/null
    status=$?
}
check()
{
    local name=$1
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
cd "$place" || exit 2

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
for size in "8 100 200" "1048576 5 60"; do
    launch 2 ping_pong $size
    check "a message costs little: $(grep 'one way' out)" grep -q 'one way' out
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
