# Ranks that share memory by CUDA's handles, for each MPI that is installed: `csan merge --order` knows
# what calls of MPI order between them (tests/mpi/shared.c). Where there is no MPI these are skipped.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI makes a folder there, of one name for all runs, and two may make it at once.
export TMPDIR=$scratch
csan=$root/bin/csan
source=$(dirname "$test")/../..
folder=$root/tests/mpi
declare -A over=([openmpi]=--oversubscribe [mpich]=)

# record MPI RANKS ORDER [FORM]
record()
{
    local mpi=$1 ranks=$2
    shift 2
    rm -f app.*.csan
    sanitized "$csan" record --device=embedded -o app.%r.csan "mpirun.$mpi" -n "$ranks" ${over[$mpi]} \
        "$folder/$mpi/shared" "$@" >out 2>err
    recorded=$?
}
merge() { run "$csan" merge --order app.*.csan; }
runs_right() { [ "$recorded" = 0 ] && grep -qx right out; }
ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }
in_order() { ended 0 && notes ' 0 races between processes, 0 of them possible$' && ! notes 'possible ones$'; }
is_certain() { ended 66 && says '^Race 1 is certain' && notes '[1-9][0-9]* races between processes, 0 of them possible$'; }
is_possible() { ended 0 && notes ' ([1-9][0-9]*) races between processes, \1 of them possible$'; }

orders='send any second isend persistent probe iprobe mprobe bcast ibcast scatter scatterv scan
    gather gatherv reduce waitsome barrier ibarrier allreduce alltoallv allgatherv sendrecv neighbours fence
    ssend issend matched complete post lock lock_shared flush_barrier win_free
    word shared_fence exposed
    inter inter_up inter_bcast inter_reduce inter_allreduce inter_barrier inter_copied merged idup create_group
    by_create by_split_type by_cart_sub by_graph by_dist_graph by_adjacent by_dup_with_info'

for mpi in openmpi mpich; do
    if [ ! -x "$folder/$mpi/shared" ]; then
        echo "skipped: there is no mpicc.$mpi; scripts/setup.sh installs it where it can"
        continue
    fi
    for order in $orders; do
        record $mpi 3 $order
        check "ranks that share memory run right ($mpi, $order)" runs_right
        merge
        check "... and are in order" in_order
        record $mpi 3 $order racy
        merge
        check "... but not if the kernel is waited for too late" is_certain
        check "... with both ranks" says '^Seen by ranks 0, .*of 3 processes'
    done

    for order in send barrier; do
        record $mpi 2 $order none
        merge
        check "without the call there is a race ($mpi, $order)" is_certain
    done
    for order in bcast_of_last no_elements own_group send_to_first posted post_put flush_alone word_alone; do
        record $mpi 2 $order
        merge
        check "a call that rank 1 need not wait in orders nothing ($mpi, $order)" is_certain
    done

    for order in value flag_synced flag_alone; do
        for form in '' racy; do
            record $mpi 2 $order $form
            merge
            check "a value that is read under a lock that ranks share makes races possible ($mpi, $order${form:+, $form})" is_possible
            check "... csan says why" notes \
                'rank 1: it read values of a window that others could write at the same time: all races .* possible ones$'
            check "... as does the race" says \
                '^Race 1 is possible: both accesses are exact, but whether the two processes are in order is not known\.$'
        done
    done
    record $mpi 3 word_shared
    merge
    check "who loads under a shared lock comes after who stored under the lock ($mpi)" eval \
        'ended 0 && notes " 0 races between processes, 0 of them possible$"'
    record $mpi 3 word_shared racy
    merge
    check "... and races are possible, since it may store, too" is_possible

    if command -v node >/dev/null; then
        record $mpi 3 send racy
        run "$csan" report --html=page.html app.*.csan
        check "csan report makes one page of all ranks ($mpi)" ended 0
        run node "$source/tests/shell/page_script.js" page.html
        check "... with a band over the lanes of each that takes part" eval \
            '[ "$(grep -Ec "^g rank [012]$" out)" = 2 ]'
        check "... the message" says '^li the host of rank [12]: receive message, from the host of rank 0$'
        check "... the collective calls" says '^li the host of rank [012]: end collective call, from the host of rank '
        check "... and the race between them" says '^g\.access stream A of rank [12]: copy'
    else
        echo "skipped: there is no node for the page's script"
    fi

    # All calls of the cases (tests/mpi), recorded and judged at once.
    rm -f app.*.csan
    sanitized "$csan" run --device=embedded --options=record=app.%r.csan "mpirun.$mpi" -n 4 ${over[$mpi]} \
        "$folder/$mpi/cases" >out 2>err
    status=$?
    check "where they are recorded, too, every case is judged right ($mpi)" eval \
        '[ "$status" = 0 ] && grep -Eq "^[0-9]+ passed, 0 failed$" out'
    merge
    check "... and each message and call meets its other side" eval \
        'notes " [1-9][0-9]+ messages, [1-9][0-9]+ ends of collective calls" && ! notes "that no recording|that not all"'

    # A rank that another one started (Debian's MPICH cannot).
    if [ $mpi = openmpi ]; then
        launch="mpirun.$mpi -n 1 ${over[$mpi]} $folder/$mpi/spawn"
        sanitized "$csan" run --device=embedded $launch >out 2>err
        check "a rank that is started later is right" eval '[ $? = 0 ] && grep -qx right out && ! grep -q "^CSAN" err'
        sanitized "$csan" run --device=embedded $launch racy >out 2>err
        check "... and is checked" eval 'grep -q "^CSAN: data race: MPI_Send .*does not wait for copy" err'
        rm -f app.*
        sanitized "$csan" record --device=embedded -o app.%r.csan $launch >out 2>err
        check "... its recording is another file than that of the rank that started it" eval '[ "$(ls app.0.*csan | wc -l)" = 2 ]'
        run "$csan" merge --order app.0.*csan
        check "... csan says that it does not know their communicator" \
            notes 'messages of a communicator that csan does not know: all races .* possible ones$'
        check "... and makes no race certain" eval '! says "^Race [0-9]+ is certain"'
        rm -f app.*
        sanitized "$csan" record --device=embedded -o app.%r.csan $launch silent >out 2>err
        check "a rank that is started and sends nothing is right" eval '[ $? = 0 ] && grep -qx right out'
        run "$csan" merge --order app.0.*csan
        check "... what was done before it was started makes no race certain" is_possible
        check "... both ranks say why" eval \
            '[ "$(grep -c "messages of a communicator that csan does not know" err)" = 2 ]'
        rm -f app.*

        record $mpi 3 connected
        check "two groups that meet by a port run right" runs_right
        merge
        check "... and are in order" in_order
        record $mpi 3 connected racy
        merge
        check "... but not if the kernel is waited for too late" is_certain
    fi

    # Calls of MPI 4 that are not followed.
    if [ $mpi = mpich ]; then
        for order in large_send partitions session; do
            for form in '' racy; do
                record $mpi 2 $order $form
                check "ranks that share memory run right ($mpi, $order)" runs_right
                merge
                check "... and races are possible ones" is_possible
            done
        done
        sanitized "$csan" run --device=embedded "mpirun.$mpi" -n 2 "$folder/$mpi/shared" large_send >out 2>err
        check "the summary names what is not followed" notes '; not modelled: .*MPI_Send_c'
    fi

    record $mpi 2 send
    rm app.0.csan && mv app.1.csan other.1.csan
    record $mpi 2 send
    run "$csan" merge --order app.0.csan other.1.csan
    check "recordings of two jobs make no certain race ($mpi)" eval '! says "^Race [0-9]+ is certain"'
done
