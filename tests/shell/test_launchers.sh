# The variables of launchers: mpirun of both families, srun, torchrun. Where a launcher is not there, a
# script starts the ranks with its variables. One csan around the launcher has one exit code; each rank has a file
# by its number; a rank that dies leaves a recording that can be read.

csan=$root/bin/csan
racy=$plain/halves_overlapping forever=$plain/explore_forever

ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }
times() { [ "$(grep -Ec -- "$2" "$3")" = "$1" ]; }
has_all() { [ -s "$1.0.$2" ] && [ -s "$1.1.$2" ] && [ -s "$1.2.$2" ] && [ ! -e "$1.3.$2" ]; }

# launcher.sh RANK SIZE LOCAL NAME=VALUE... -- PROGRAM...: like the launcher whose variables these are. It
# kills all when one fails, and ends with 1.
cat >launcher.sh <<'END'
rank=$1 size=$2 local=$3; shift 3
for i in 0 1 2; do
    (export $rank=$i $size=3 $local=$i LAUNCHED=$i; exec "$@") & ranks="$ranks $!"
done
for i in $ranks; do wait $i || { kill $ranks 2>/dev/null; exit 1; }; done
END
# one_dies.sh CSAN FOREVER PROGRAM: one rank is killed, once its recording has its kernel, or after a minute.
cat >one_dies.sh <<'END'
[ "$LAUNCHED" = 1 ] || exec "$3"
"$2" forever &
for i in $(seq 240); do
    "$1" info app.1.csan 2>/dev/null | grep -q '^ops  *1 ' && break
    sleep 0.25
done
kill -KILL $!
wait $!
END

unset RANK OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID
for variables in 'RANK WORLD_SIZE LOCAL_RANK' 'SLURM_PROCID SLURM_NTASKS SLURM_LOCALID' \
    'OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK' \
    'PMI_RANK PMI_SIZE MPI_LOCALRANKID'; do
    name=${variables%% *}
    rm -f app.* rank.*

    run "$csan" run --device=embedded sh launcher.sh $variables "$racy"
    check "csan run around a launcher has one code for all ranks ($name)" ended 66

    run "$csan" run --device=embedded --format=json --options=log_path=rank.%r.json \
        sh launcher.sh $variables "$racy"
    check "... each rank has a report by its number" has_all rank json
    run "$csan" merge rank.*.json
    check "... of which csan merge makes one" times 1 '^CSAN: data race' out
    check "... that has all ranks" says '^Seen by ranks 0, 1, 2 of 3 processes'
    check "... and the code" ended 66

    run "$csan" record --device=embedded -o app.%r.csan sh launcher.sh $variables "$racy"
    check "... and a recording" has_all app csan
    run "$csan" info app.2.csan
    check "... that knows its rank" says '^rank +2$'

    rm -f app.*
    run "$csan" record --device=embedded -o app.%r.csan sh launcher.sh $variables \
        sh one_dies.sh "$csan" "$forever" "$racy"
    check "a rank that dies leaves a recording ($name)" test -s app.1.csan
    run "$csan" info app.1.csan
    check "... whose end is missing" ended 2
    check "... which is said" notes 'app\.1\.csan: byte [0-9]+: the recording stops without its end'
    check "... and its kernel is there" says '^ops +1 '
    run "$csan" merge app.*.csan
    check "... the others are merged with it" times 1 '^CSAN: data race' out
    check "... and the message names it" notes 'app\.1\.csan: .*the recording stops'
done

# A launcher that uses CUDA itself has no rank, and may be the first (torchrun's agent is such a one).
rm -f app.*
run "$csan" record --device=embedded -o app.%r.csan sh -c \
    '"$1"; sh launcher.sh RANK WORLD_SIZE LOCAL_RANK "$1"' sh "$racy"
check "recordings of a launcher and of its ranks have names of one pattern" eval '[ "$(ls app.*.csan | wc -l)" = 4 ]'
run "$csan" merge app.*.csan
check "... so all are merged" says '^Seen by .*of 4 processes'
