#!/bin/bash
# What csan says of each way in which a kernel of failure.cu fails: on a GPU and on the embedded device, of a program that is
# linked with csan, under csan run, and of one of PyTorch. Sourced by failures.sh, torch_failures.sh and
# tests/shell/test_failures.sh and test_torch_failures.sh.
#
# kind | what it is | kernel | text of the line that fails, "-": of none that is known | block | thread | grid and block |
# access | on a GPU | code | what it is on a GPU, if not the same | code on a GPU, if not the same | what is known before
#
# MEMORY and FREED stand for the lines that allocate, as FILE:LINE. What a GPU keeps: "all"; "thread", and no address; "line",
# and the thread only if it is still there; "place", which is the thread and no line.
failure_table()
{
    cat <<'ROWS'
far|illegal memory access|write_at|void write_at|1,0,0|13,0,0|4 x block 64|writing 4 bytes at 0x[0-9a-f]+|line|ILLEGAL_ADDRESS|||out of bounds: write_at .*writes 4 bytes, [0-9]+ bytes behind the end of the 1024 bytes allocated at .*MEMORY
late|illegal memory access|late|void late|0,0,0|0,0,0|1 x block 32|writing 4 bytes at 0x[0-9a-f]+|line|ILLEGAL_ADDRESS|||out of bounds: late .*writes 4 bytes, [0-9]+ bytes behind the end of the 1024 bytes allocated at .*MEMORY
freed|illegal memory access|write_at|void write_at|1,0,0|13,0,0|4 x block 64|writing 4 bytes at 0x[0-9a-f]+, at byte 20 of the 67108864 bytes allocated at .*FREED|line|ILLEGAL_ADDRESS|||use after free: write_at .*uses memory allocated at .*FREED after .*freed it
null|illegal memory access|read_at|void read_at|0,0,0|40,0,0|4 x block 64|reading 4 bytes at 0x10|all|ILLEGAL_ADDRESS|||
host|illegal memory access|read_at|void read_at|0,0,0|40,0,0|4 x block 64|reading 4 bytes at 0x[0-9a-f]+|all|ILLEGAL_ADDRESS|||memory that the device cannot reach: read_at .*reads 4 bytes of the host's memory
atomic|illegal memory access|add_at|-|0,0,0|5,0,0|1 x block 32|atomically updating 4 bytes at 0x[0-9a-f]+|line|ILLEGAL_ADDRESS|||out of bounds: add_at .*atomically updates 4 bytes, [0-9]+ bytes behind the end of the 1024 bytes allocated at .*MEMORY
misaligned|misaligned memory access|misaligned|void misaligned|0,0,0|3,0,0|1 x block 32|writing 4 bytes at 0x[0-9a-f]+, at byte 2 of the 1024 bytes allocated at .*MEMORY|all|MISALIGNED_ADDRESS|||
shared|shared or local memory access out of range|shared_far|void shared_far|0,0,0|1,0,0|1 x block 64|writing 4 bytes at 0x[0-9a-f]+|all|ILLEGAL_ADDRESS|||
trap_far|trap|traps_and_writes|void traps_and_writes|0,0,0|6,0,0|1 x block 32||thread|LAUNCH_FAILED|||
trap|trap|trapped|void trapped|1,0,0|9,0,0|2 x block 32||thread|LAUNCH_FAILED|||
assert_far|failed assert|asserts_and_writes|void asserts_and_writes|0,0,0|6,0,0|1 x block 32||thread|ASSERT|||
assert|failed assert|asserts|void asserts(|0,0,0|6,0,0|1 x block 32||thread|ASSERT|||
stack|stack overflow: calls nest too deep|stack|int deep|0,0,0|0,0,0|1 x block 32||thread|ILLEGAL_ADDRESS|shared or local memory access out of range||
jump|call or jump to an address without code|jumps|void jumps|0,0,0|2,0,0|1 x block 32|touching 1 byte at 0x123456789ab0|place|INVALID_PC||ILLEGAL_ADDRESS|
ROWS
}

# failure_lines KIND DEVICE LAUNCH MEMORY FREED: the lines that the report has, a name and a pattern each. DEVICE is gpu or
# embedded; the others are FILE:LINE.
failure_lines()
{
    local here kind what kernel text block thread sizes access keeps code on_gpu code_on_gpu known place line asserted
    here=$(dirname "${BASH_SOURCE[0]}")
    while IFS='|' read -r kind what kernel text block thread sizes access keeps code on_gpu code_on_gpu known; do
        [ "$kind" = "$1" ] && break
    done < <(failure_table)
    [ "$kind" = "$1" ] || return 1
    if [ "$2" = embedded ]; then
        keeps=all on_gpu='' code_on_gpu=''
    fi
    [ "$keeps" = all ] || access=''
    [ "$kind" = assert ] && asserted='n < 3' || asserted='at < 100'
    place="block \($block\), thread \($thread\) of grid $sizes"
    line="at .*failure\.cu:$(grep -nF -- "$text" "$here/failure.cu" | head -1 | cut -d: -f1)"
    [ "$text" = - ] && line="at .*[a-z_]+\.(cu|hpp|h):[0-9]+"
    case $keeps in
    all | thread) place="^  $place, $line" ;;
    line) place="^  ($place, )?$line" ;;
    place) place="^  $place" ;;
    esac
    {
        echo "the headline|^CSAN: ${on_gpu:-$what} in $kernel( .*)? \(.*$3\)\$"
        echo "the kernel|^  kernel $kernel\("
        echo "thread and line|$place"
        [ -n "$access" ] && echo "address and memory|^  $access"
        case $kind in assert*) echo "the assertion|^  Assertion \`$asserted\` failed\." ;; esac
        echo "the call that reported it|^Reported to the program as CUDA_ERROR_${code_on_gpu:-$code} by "
        [ -n "$known" ] && echo "what is known before|^CSAN: $known"
    } | sed "s/MEMORY/$4/; s/FREED/$5/"
}

# The function of torch_kinds.py for a kind.
torch_function()
{
    case $1 in assert) echo asserts ;; *) echo "$1" ;; esac
}

# torch_lines KIND DEVICE: the same of torch_kinds.py.
torch_lines()
{
    local source launch function
    source=$(dirname "${BASH_SOURCE[0]}")/torch_kinds.py
    function=$(torch_function "$1")
    line_with() { echo "torch_kinds.py:$(grep -n -- "$1" "$source" | head -1 | cut -d: -f1)"; }
    launch=$(awk -v name="$function" '$0 ~ "^def " name "\\(" { inside = 1 } inside && /# launch/ { print NR; exit }' "$source")
    failure_lines "$1" "$2" "$(line_with 'driver.cuLaunchKernel')" "$(line_with '# memory')" "$(line_with '# freed')"
    echo "the Python line|^  File \".*torch_kinds.py\", line $launch, in $function\$"
}
