#!/bin/bash
# home.sh CSAN_ROOT: csan doctor, and a program of Python alone, on a real GPU with an installed csan.
set -u
root=${1:?usage: home.sh CSAN_ROOT}
here=$(cd "$(dirname "$0")" && pwd)
csan=$root/bin/csan
passed=0 failed=0

# check NAME EXPECTED TEXT COMMAND...: the command's exit code, and a text in what it prints.
check()
{
    local name=$1 expected=$2 text=$3 output code
    shift 3
    output=$("$@" 2>&1)
    code=$?
    if [ "$code" = "$expected" ] && [[ $output == *"$text"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s: exit code %s\n%s\n' "$name" "$code" "$output"
    fi
}

check "csan doctor finds the driver" 0 "compute capability" "$csan" doctor --need=driver
check "a race on the GPU" 66 "does not wait for fill" "$csan" run --device=gpu python3 "$here/../python/race.py"
check "its ordered twin" 0 " 0 races" "$csan" run --device=gpu python3 "$here/../python/race.py" ordered
"$csan" doctor
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
