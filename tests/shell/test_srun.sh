# Slurm's srun for real, where it is installed: a cluster of this one machine, with its daemons in the
# test's folder. Without it, test_launchers.sh has srun's variables.

csan=$root/bin/csan
racy=$plain/halves_overlapping forever=$plain/explore_forever
for command in srun slurmctld slurmd munged; do
    PATH=$PATH:/usr/sbin command -v $command >/dev/null && continue
    echo "skipped: there is no $command (Debian: slurm-wlm)"
    return 0
done
export PATH=$PATH:/usr/sbin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset RANK OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID

ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }

# ---- The cluster ----

# Paths of sockets are short.
cluster=$(mktemp -d /tmp/srun.XXXXXX) host=$(hostname -s) port=$((20000 + $$ % 10000))
mkdir "$cluster/state" "$cluster/spool"
head -c 1024 /dev/urandom >"$cluster/key" && chmod 400 "$cluster/key"
cat >"$cluster/slurm.conf" <<END
ClusterName=csan
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$cluster/munge
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmdSpoolDir=$cluster/spool
StateSaveLocation=$cluster/state
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:4
END
export SLURM_CONF=$cluster/slurm.conf

cluster_end()
{
    for daemon in slurmd slurmctld munge; do
        [ -s "$cluster/$daemon.pid" ] && kill "$(cat "$cluster/$daemon.pid")" 2>/dev/null
    done
    rm -rf "$cluster"
}
trap cluster_end EXIT

munged --force --key-file="$cluster/key" --socket="$cluster/munge" --pid-file="$cluster/munge.pid" \
    --log-file="$cluster/munge.log" --seed-file="$cluster/seed" >daemons 2>&1 &&
    slurmctld >>daemons 2>&1 && slurmd >>daemons 2>&1
for i in $(seq 50); do
    timeout 10 srun -n 1 true 2>/dev/null && break
    sleep 0.2
done
if ! timeout 10 srun -n 1 true 2>>daemons; then
    echo "skipped: Slurm's daemons do not start here: $(tail -1 daemons)"
    return 0
fi

# ---- Any program ----

run "$csan" run --device=embedded srun -n 3 "$racy"
check "csan run around srun has one code for all ranks" ended 66
check "... and counts them" notes '^csan run: 3 processes used CUDA: 3 races'
run "$csan" run --device=embedded --format=json --options=log_path=rank.%r.json srun -n 3 "$racy"
check "each rank has a report by its number" eval '[ -s rank.0.json ] && [ -s rank.1.json ] && [ -s rank.2.json ]'
run "$csan" merge rank.*.json
check "... of which csan merge makes one" eval 'ended 66 && [ "$(grep -c "^CSAN: data race" out)" = 1 ]'
check "... that has all ranks" says '^Seen by ranks 0, 1, 2 of 3 processes'
run srun -n 2 "$csan" run --device=embedded "$racy"
check "srun around csan run has the code, too" ended 66

cat >one_dies.sh <<'END'
[ "$SLURM_PROCID" = 1 ] && exec timeout -s KILL 2 "$1" forever
exec "$2"
END
run "$csan" record --device=embedded -o app.%r.csan srun -n 2 sh one_dies.sh "$forever" "$racy"
run "$csan" info app.1.csan
check "a rank that dies leaves a recording that can be read" eval 'ended 2 && says "^ops +1 "'
run "$csan" merge app.*.csan
check "... with which the other is merged" says '^CSAN: data race'

# ---- MPI, by what the two have in common ----

for pair in pmi2:mpich pmix:openmpi; do
    type=${pair%:*} mpi=${pair#*:}
    if [ ! -x "$root/tests/mpi/$mpi/shared" ] || ! srun --mpi=list 2>&1 | grep -qw "$type"; then
        echo "skipped: no $mpi, or no $type of srun's"
        continue
    fi
    for form in '' racy; do
        rm -f app.*.csan
        run "$csan" record --device=embedded -o app.%r.csan srun --mpi=$type -n 3 "$root/tests/mpi/$mpi/shared" send $form
        check "ranks of $mpi run right under srun" eval 'ended 0 && says "^right$"'
        run "$csan" merge --order app.*.csan
        if [ "$form" = racy ]; then
            check "... and are reported" eval 'ended 66 && says "^Race 1 is certain"'
        else
            check "... and are in order" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"'
        fi
    done
    run "$csan" run --device=embedded srun --mpi=$type -n 2 "$root/tests/mpi/$mpi/halo" 3
    check "a halo exchange without a wait is reported under srun ($mpi)" eval 'ended 66 && notes "relax .*does not wait for MPI_Isend"'
done
