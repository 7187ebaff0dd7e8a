#!/bin/bash
# On a GPU: kernels that fail, by kind and by the call that reports it to the program. What each call returns must be what it
# returns without csan, and csan must report the kernel.
#
#   failures.sh CSAN_ROOT
set -u
root=$1
here=$(cd "$(dirname "$0")" && pwd)
command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1 || { echo "skipped failures: no GPU, or no nvcc"; exit 0; }
root=$(cd "$root" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# With PTX, which -arch=native leaves out: csan then knows before the kernel runs what it will touch.
architecture=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
nvcc -g -lineinfo -arch="$architecture" -std=c++17 -cudart shared "$here/failure.cu" -o failure 2>/dev/null || exit 1
nvcc -g -lineinfo -arch="$architecture" -std=c++17 -cudart shared "$here/failure.cu" -o linked -L"$root/lib" -lcsan \
    -Xlinker -rpath="$root/lib" -Xlinker --no-as-needed 2>/dev/null || exit 1
# Without line information an assertion has its own.
nvcc -arch=native -std=c++17 -cudart shared "$here/failure.cu" -o no_lines 2>/dev/null || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
passed=0 failed=0

# shellcheck source=tests/gpu/failure_table.sh
. "$here/failure_table.sh"
line_of() { grep -nF -- "$1" "$here/failure.cu" | head -1 | cut -d: -f1; }

judge()
{
    local what=$1
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $what"
        diff plain.out csan.out | head -5
        head -20 csan.err
    fi
}

# The report has each line that the table says, and there is one.
check_report()
{
    local what=$1 kind=$2 launch name pattern
    launch=failure.cu:$(line_of "\"$kind\")")
    while IFS='|' read -r name pattern; do
        grep -qE -- "$pattern" csan.err
        judge "$what: $name" $?
    done < <(failure_lines "$kind" gpu "$launch" "failure.cu:$(line_of 'cudaMalloc(&p')" "$launch")
    [ "$(grep -c '^Reported to the program' csan.err)" = 1 ]
    judge "$what: once" $?
}

check()
{
    local kind=$1 call=$2 way=$3 code
    shift 3
    timeout 60 ./failure "$kind" "$call" >plain.out 2>/dev/null
    timeout 60 "$@" "$kind" "$call" >csan.out 2>csan.err
    code=$?
    cmp -s plain.out csan.out
    judge "$way $kind $call: what calls return" $?
    if [ "$kind" = none ]; then
        [ $code = 0 ] && ! grep -q '^CSAN: ' csan.err
        judge "$way $kind $call: no report" $?
        return
    fi
    [ $code = 66 ]
    judge "$way $kind $call: the exit code" $?
    check_report "$way $kind $call" "$kind"
}

options=access=ptx
for kind in none $(failure_table | cut -d'|' -f1); do
    for call in stream device event async query later launches; do
        case $kind in
        none | far | trap | assert | late) ;;
        *) case $call in stream | query) ;; *) continue ;; esac ;;
        esac
        check $kind $call "csan run" env CSAN_OPTIONS=$options "$root/bin/csan" run ./failure
    done
    check $kind stream linked env CSAN=1 CSAN_OPTIONS=$options ./linked
done
CSAN_OPTIONS=$options "$root/bin/csan" run ./no_lines assert stream >csan.out 2>csan.err
grep -qE "^  block .0,0,0., thread .6,0,0. of grid 1 x block 32, at .*failure.cu:$(line_of 'void asserts(')" csan.err && grep -q '^  Assertion `n < 3. failed\.$' csan.err
judge "an assertion's place and words, without line information" $?
# Indices of an operator: which may be, and which was not where csan saw them copied.
nvcc -arch=native -std=c++17 -cudart shared -I"$here/../../include" "$here/index_range.cu" -o index_range 2>/dev/null || exit 1
range='index (int64\[4, 3\]) must be in \[0, 16) or -100, dimension 0 of self'
for way in pageable pinned written set right; do
    CSAN_OPTIONS=$options "$root/bin/csan" run ./index_range $way >csan.out 2>csan.err
    case $way in
    right) grep -q '^no failure$' csan.out ;;
    pageable | pinned) grep -q "^  Assertion .* failed. $range; index\[2, 1\] was copied to the device as 16, and 1 more is out of range.$" csan.err ;;
    *) grep -q "^  Assertion .* failed. $range.$" csan.err ;;
    esac
    judge "indices, $way: the report" $?
done
# While csan learns kernels through the driver's tools interface no dump comes. What the streams wrote behind their
# launches shows which launch it was, though no thread.
for kind in misaligned trap assert; do
    for call in stream device launches; do
        env CSAN_OPTIONS=access=learn:learn_cache_mb=0 "$root/bin/csan" run ./failure "$kind" "$call" >csan.out 2>csan.err
        case $kind in misaligned) kernel=misaligned ;; trap) kernel=trapped ;; assert) kernel=asserts ;; esac
        timeout 60 ./failure "$kind" "$call" >plain.out 2>/dev/null
        cmp -s plain.out csan.out
        judge "learning $kind $call: what calls return" $?
        grep -qE "^CSAN: .* in $kernel" csan.err && grep -q 'first launch of its stream that had not finished' csan.err
        judge "learning $kind $call: the launch" $?
    done
done
echo "failures: $passed passed, $failed failed"
[ $failed = 0 ]
