#!/bin/bash
# demo.sh DIR: shows csan at work on the two programs of samples/example_error*.cu, built in DIR.
# Fails when csan did not behave as shown.
set -u
root=$1
programs=$root/tests/programs/static
line() { printf '%s\n' "$@"; }

line "" \
    "== 1. A program with a race: samples/example_error.cu =================================" \
    "   One stream initialises an array, another multiplies it in place, nothing orders them." \
    "   It was compiled by nvcc and linked with -lcsan. Now: CSAN=1 example_error" ""
CSAN=1 "$programs/example_error" 2>&1
racy=$?
line "" \
    "== 2. The same program, fixed: samples/example_error_fixed.cu =========================" \
    "   An event carries the order from one stream to the other. Now: CSAN=1 example_error_fixed" ""
CSAN=1 "$programs/example_error_fixed" 2>&1
fixed=$?
line ""
if [ $racy = 66 ] && [ $fixed = 0 ]; then
    line "demo: the race was reported (exit code $racy), the fixed program is clean (exit code $fixed)."
else
    line "demo: FAILED: expected exit codes 66 and 0, got $racy and $fixed."
    exit 1
fi
