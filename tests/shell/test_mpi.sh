# Programs of MPI, for each MPI that is installed: what its functions do with memory, in cases that are
# right and with one synchronization left out (tests/mpi); a solver and a halo exchange; what a report
# says; and the other ways in. Where there is no MPI these are skipped.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI makes a folder there, of one name for all runs, and two may make it at once.
export TMPDIR=$scratch
csan=$root/bin/csan
folder=$root/tests/mpi
source=$(dirname "$test")/../mpi

says() { grep -Eq -- "$1" err; }
prints() { grep -qx -- "$1" out; }
silent() { [ "$status" = 0 ] && ! grep -q '^CSAN' err && prints right; }
reports() { [ "$status" = 66 ] && says "^CSAN: data race: .*$1"; }

# launch MPI RANKS PROGRAM...: under one csan run.
launch()
{
    local mpi=$1 ranks=$2
    shift 2
    sanitized "$csan" run --device=embedded "mpirun.$mpi" -n "$ranks" ${over[$mpi]} "$@" >out 2>err
    status=$?
}
declare -A over=([openmpi]=--oversubscribe [mpich]=)

tree=$(realpath "$(dirname "$test")/../..")
toolkit=$cuda_lib
# MPIs read and write the memory of other processes by process_vm_readv(2), which fails on a guarded page.
cat >beside.c <<'EOF'
#include "kernels.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { W = 30001, TURNS = 10, BYTES = 5 * W * sizeof(float) };
static int rank;
static float *rows, mine[W], got[W];
static cudaStream_t stream;
/* Rows 0 and 3 come, rows 1 and 4 go; a kernel works on row 2. `late`: they are registered meanwhile. */
static int by_requests(int late)
{
    MPI_Request requests[4];
    MPI_Irecv(rows, W, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(rows + 3 * W, W, MPI_FLOAT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(rows + W, W, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(rows + 4 * W, W, MPI_FLOAT, 1 - rank, 1, MPI_COMM_WORLD, &requests[3]);
    if (late)
        cudaHostRegister(rows, BYTES, cudaHostRegisterDefault);
    launch_fill(rows + 2 * W, W, 7, stream);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    cudaStreamSynchronize(stream);
    if (late)
        cudaHostUnregister(rows);
    return rows[9] == 1 - rank && rows[3 * W + 9] == 1 - rank;
}
/* Row 0 of the other is put, its row 1 is got. */
static int by_window(MPI_Win window, MPI_Aint base, MPI_Aint unit)
{
    launch_fill(rows + 2 * W, W, 7, stream);
    MPI_Put(mine, W, MPI_FLOAT, 1 - rank, base, W, MPI_FLOAT, window);
    MPI_Get(got, W, MPI_FLOAT, 1 - rank, base + W * unit, W, MPI_FLOAT, window);
    MPI_Win_flush(1 - rank, window);
    cudaStreamSynchronize(stream);
    return got[9] == 1 - rank;
}
int main(int argc, char **argv)
{
    const int dynamic = !strcmp(argv[1], "dynamic"), late = !strcmp(argv[1], "registered");
    MPI_Win window;
    MPI_Aint base = 0, other = 0;
    int right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (late)
        rows = aligned_alloc(4096, (BYTES + 4095) / 4096 * 4096);
    else
        cudaMallocHost((void **)&rows, BYTES);
    cudaStreamCreate(&stream);
    for (int i = 0; i < 5 * W; i++)
        rows[i] = rank;
    for (int i = 0; i < W; i++)
        mine[i] = 5;
    if (late || !strcmp(argv[1], "requests")) {
        for (int i = 0; i < TURNS; i++)
            right &= by_requests(late);
    } else {
        if (dynamic) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
            MPI_Win_attach(window, rows, BYTES);
            MPI_Get_address(rows, &base);
            MPI_Sendrecv(&base, 1, MPI_AINT, 1 - rank, 0, &other, 1, MPI_AINT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Win_create(rows, BYTES, sizeof(float), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        }
        MPI_Win_lock_all(0, window);
        for (int i = 0; i < TURNS; i++)
            right &= by_window(window, other, dynamic ? sizeof(float) : 1);
        MPI_Win_unlock_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
        right &= rows[9] == 5;
        if (dynamic)
            MPI_Win_detach(window, rows);
        MPI_Win_free(&window);
    }
    MPI_Reduce(rank ? &right : MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (!rank)
        puts(right ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
EOF
cat >in_flight.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
int cudaMallocHost(void **memory, size_t bytes);
int main(int argc, char **argv)
{
    int rank, right;
    int *host, *came;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cudaMallocHost((void **)&host, 4096);
    cudaMallocHost((void **)&came, 4096);
    host[7] = rank;
    MPI_Irecv(came, 1024, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(host, 1024, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    right = host[7] == rank; /* two reads */
    if (argc > 1)
        host[3] = 5;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    host[3] = 6;
    right &= came[7] == 1 - rank;
    if (!rank)
        puts(right ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
EOF

for mpi in openmpi mpich; do
    if [ ! -x "$folder/$mpi/cases" ]; then
        echo "skipped: there is no mpicc.$mpi; scripts/setup.sh installs it where it can"
        continue
    fi
    check "the numbers of $mpi's ABI are those of its mpi.h" "$folder/$mpi/abi_check"
    check "the elements of 3,000 random datatypes are those that $mpi packs" eval \
        'run "$folder/$mpi/layout_check" && prints "3000 right, 0 wrong"'
    rm -f advice.*
    for ranks in 2 4; do
        CSAN_OPTIONS=log_path=advice.$ranks.%r.txt launch $mpi $ranks "$folder/$mpi/cases"
        check "every case is judged right with $ranks ranks ($mpi)" eval \
            '[ "$status" = 0 ] && grep -Eq "^[0-9]+ passed, 0 failed$" out'
    done
    run python3 "$source/advice.py" advice.* "$source"/*_cases.c
    check "... and the fix of each report is what its right form has ($mpi)" eval \
        '[ "$status" = 0 ] && grep -Eq "^[1-9][0-9][0-9] fixes fit, 0 do not" out'

    CSAN_MPI_STAGE=copy launch $mpi 2 "$folder/$mpi/cases"
    check "... and where device buffers are copied, too ($mpi)" eval \
        '[ "$status" = 0 ] && grep -Eq "^[0-9]+ passed, 0 failed$" out'

    launch $mpi 2 "$folder/$mpi/jacobi"
    check "a Jacobi solver is right, and csan is silent ($mpi)" silent
    launch $mpi 2 "$folder/$mpi/jacobi" 1
    check "... without the wait before the exchange it is reported" reports 'MPI_Sendrecv .*does not wait for relax'
    check "... with the call that is missing" says 'Fix: call cudaStreamSynchronize\(stream A\) before MPI_Sendrecv'
    launch $mpi 2 "$folder/$mpi/jacobi" 2
    check "... without the wait before the reduction, too" reports 'MPI_Allreduce .*does not wait for cudaMemcpyAsync'
    launch $mpi 2 "$folder/$mpi/halo"
    check "a halo exchange is right, and csan is silent ($mpi)" silent
    missing=('' 'MPI_Isend .*does not wait for relax' 'relax .*does not wait for MPI_Irecv'
        'relax .*does not wait for MPI_Isend' 'relax .*does not wait for relax')
    for k in 1 2 3 4; do
        launch $mpi 2 "$folder/$mpi/halo" $k
        check "... without synchronization $k it is reported" reports "${missing[k]}"
    done

    CSAN_OPTIONS=host=guard launch $mpi 2 "$folder/$mpi/halo"
    check "with host=guard, too; UCX patches the C library's mmap ($mpi)" silent

    launch $mpi 2 "$folder/$mpi/halo" 3
    check "a report says what the call was about ($mpi)" says '^MPI_Isend: 64 MPI_FLOAT to rank [01], tag [01], MPI_COMM_WORLD$'
    check "... that nobody waited" says 'Cause: nothing has waited for the request of MPI_Isend'
    check "... and how to wait" says 'Fix: wait for it \(MPI_Wait\) after MPI_Isend'
    check "the summary counts messages and bytes" says '^csan: MPI \((Open MPI|MPICH)\): [0-9]+ calls, [0-9]+ messages, [0-9]+ bytes$'
    check "libcsan_mpi is none of the frames" eval '! grep -q libcsan_mpi err'

    sanitized "$csan" run --device=embedded --format=json --options=log_path=report.%r.json \
        "mpirun.$mpi" -n 2 ${over[$mpi]} "$folder/$mpi/halo" 3 >out 2>err
    check "a report in JSON has it, too" grep -q '"detail": "64 MPI_FLOAT to rank' report.0.json

    rm -f app.*.csan
    sanitized "$csan" record --device=embedded -o app.%r.csan "mpirun.$mpi" -n 2 ${over[$mpi]} \
        "$folder/$mpi/halo" 3 >out 2>err
    run "$csan" replay app.0.csan
    check "a replay says the same" reports 'relax .*does not wait for MPI_Isend'
    check "... and what the call was about" says '^MPI_Isend: 64 MPI_FLOAT to rank'
    run "$csan" info app.0.csan
    check "... sent and received, by what is recorded" grep -Eq '^messages +[1-9][0-9]* sent, [1-9][0-9]* bytes; [1-9][0-9]* received$' out
    check "csan info counts messages and bytes" grep -Eq 'MPI \(.*: [0-9]+ calls, [0-9]+ messages, [0-9]+ bytes' out

    if [ -x "$folder/$mpi/fortran" ]; then
        launch $mpi 2 "$folder/$mpi/fortran"
        check "Fortran's mpi_f08 is seen: right ($mpi)" silent
        launch $mpi 2 "$folder/$mpi/fortran" racy
        check "... sent before its kernel ended" reports 'MPI_Send \(.*fortran.f90:36\) does not wait for fill'
        check "... and used before it came" says 'fill .* does not wait for MPI_Irecv \(.*fortran.f90:38\)'
    else
        echo "skipped: there is no gfortran with $mpi"
    fi

    sanitized env CSAN=1 "mpirun.$mpi" -n 2 ${over[$mpi]} "$folder/$mpi/linked" >out 2>err
    check "a program that is linked with csan and csan_mpi is right ($mpi)" eval 'prints right && ! says "^CSAN"'
    sanitized env CSAN=1 "mpirun.$mpi" -n 2 ${over[$mpi]} "$folder/$mpi/linked" 1 >out 2>err
    check "... and reported without a synchronization" says '^CSAN: data race: MPI_Isend .*does not wait for relax'

    rm -f app.*.csan
    sanitized "$csan" record --device=embedded -o app.%r.csan "mpirun.$mpi" -n 2 ${over[$mpi]} \
        "$folder/$mpi/dies" >out 2>err
    run "$csan" replay app.1.csan
    check "the recording of a rank that was killed can be read ($mpi)" says '^CSAN: data race: MPI_Bcast .*does not wait for fill'
    check "code that announces its accesses: the program ($mpi)" eval \
        '"mpicc.$mpi" -g -fsanitize=thread -c in_flight.c -o in_flight.o && "mpicc.$mpi" in_flight.o -o in_flight \
            -L"$root/lib" -lcsan_host -Wl,-rpath,"$root/lib" -L"$toolkit" -lcudart'
    CSAN_OPTIONS=host=instrumented launch $mpi 2 ./in_flight early
    check "... the host's store between MPI_Isend and its wait is found ($mpi)" eval \
        'reports "MPI_Isend" && says "Fix: wait for it .MPI_Wait. after MPI_Isend .* and before the host.s store"'
    CSAN_OPTIONS=host=instrumented launch $mpi 2 ./in_flight
    check "... behind it, it is silent ($mpi)" silent
    check "pages that messages and kernels share: the program ($mpi)" eval \
        '"mpicc.$mpi" -g -I"$source" -I"$cuda/include" beside.c "$root/tests/mpi/kernels.o" -o beside \
            -L"$toolkit" -lcudart -lstdc++'
    for beside in requests window dynamic; do
        launch $mpi 2 timeout 60 ./beside $beside
        check "... $beside: other processes read and write in these pages ($mpi)" silent
    done
    CSAN_OPTIONS=verbosity=1:host_guard_us=1000000 launch $mpi 2 timeout 60 ./beside registered
    check "... registered while requests are pending: the pages stay open ($mpi)" eval \
        'silent && says "host memory: 0 ops guarded .*, 10 in memory that cannot be guarded"'
    run "$csan" run --device=embedded "$folder/$mpi/touches"
    check "a host access to device memory is one clear line" says \
        '^csan: the program read memory of the device at 0x[0-9a-f]+, which the host cannot reach: copy it with cudaMemcpy'
    check "... and ends as it did" eval '[ "$status" = 139 ]'
done

run "$csan" run --device=embedded --verbose --options=mpi=0 "$plain/stream_same"
check "mpi=0 leaves the library out" eval '! grep -q libcsan_mpi err'
check "libcsan_mpi needs the C library alone" eval \
    '[ "$(readelf -d "$root/lib/libcsan_mpi.so.0" | grep NEEDED | grep -Evc "libc\.so|libdl|libpthread|lib(a|t|ub)san")" = 0 ]'
