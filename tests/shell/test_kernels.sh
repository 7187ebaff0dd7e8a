# csan kernels: every kind of file, what it says of a kernel, launches, and bad input.

csan=$root/bin/csan
made=$root/data/kernels
[ -d "$made" ] || made=$build/data/kernels # those of a sanitizer's build are the plain one's
ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" err; }
says_not() { ! says "$1"; }
prints_line() { grep -Fq -- "$1" out; }
prints_not() { ! prints_line "$1"; }
one_line() { [ "$(wc -l <err)" = 1 ]; }
no_crash() { [ "$status" -lt 3 ] && ! grep -q 'ERROR: \|runtime error' err; }
# ask FILE EXPRESSION: what Python makes of the JSON `k` (the kernels by bare name) and `d`
ask()
{
    command -v python3 >/dev/null || return 0 # which only some of the tests need
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
k = {x["name"].split("(")[0].split()[-1]: x for x in d["kernels"]}
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
}
# ---- Every kind of file (tests/unit/ptx/ptx.mk makes them)

cp "$made"/* .

write_line='write arg0[4*(blockIdx.x*blockDim.x + threadIdx.x)] if blockIdx.x*blockDim.x + threadIdx.x < arg2'
for file in static shared separate library.so whole.o unit.o text.ptx lines.cubin both.fatbin fixed stripped archive.a; do
    run "$csan" kernels "$file"
    check "$file: its kernels are found" ended 0
    check "$file: what is written is reported" prints_line "$write_line"
    check "$file: nothing is said beside" [ ! -s err ]
    run "$csan" kernels --json "$file"
    check "$file: the JSON is one" ask out 'd["kernels"] and not d["problems"]'
    check "$file: and says the same" ask out 'any(a["kinds"] == ["write"] and a["known"] == "exact" for a in k["scale"]["accesses"])'
done
for file in code.cubin code_100.cubin no_ptx; do
    run "$csan" kernels "$file"
    check "$file: machine code is listed" prints_line ' only, no PTX'
    run "$csan" kernels --json "$file"
    check "$file: with the parameters" ask out '[(p["offset"], p["bytes"], p["class"]) for p in k["scale"]["parameters"]] == [(0, 8, "pointer"), (8, 4, "scalar"), (12, 4, "scalar")]'
    check "$file: and structs" ask out '[(p["offset"], p["bytes"], p["class"]) for p in k["in_struct"]["parameters"]] == [(0, 24, "struct"), (24, 4, "scalar")]'
    check "$file: and large ones" ask out '[(p["offset"], p["bytes"], p["class"]) for p in k["with_large"]["parameters"]] == [(0, 1, "scalar"), (8, 8, "pointer"), (16, 5008, "struct"), (5024, 2, "scalar")]'
    check "$file: and is not complete" ask out 'not k["scale"]["complete"] and k["scale"]["image"]["kind"] == "cubin"'
done
run "$csan" kernels --json separate
check "units of -rdc=true are linked" ask out 'k["across_units"]["accesses"][0]["text"] == "write arg0[4*threadIdx.x + 4]"'
run "$csan" kernels -v --kernel=across_units separate
check "and counted with -v" prints_line 'linked of 2 units'
run "$csan" kernels --json unit.o
check "a unit alone lacks what the other has" ask out 'not k["across_units"]["complete"] and not k["across_units"]["accesses"]'
run "$csan" kernels --json archive.a
check "units of an archive are linked" ask out 'k["across_units"]["complete"]'
check "what is in several units is reported once" ask out 'sum(x["mangled"].startswith("_Z5scale") for x in d["kernels"]) == 1'
run "$csan" kernels -v --kernel=scale both.fatbin
check "the newest PTX is read" prints_line '  PTX sm_90'
check "the other is mentioned with -v" prints_line 'also there: PTX sm_75'
check "so is machine code" prints_line 'also there: machine code sm_75'
run "$csan" kernels --kernel=scale both.fatbin
check "without -v it is not" prints_not 'also there'

# ---- Picking kernels

for pattern in scale _Z5scalePffi 'scale(float\*, float, int)' 'scale(float*, float, int)' 'sc*e'; do
    run "$csan" kernels --kernel="$pattern" static
    check "--kernel=$pattern picks one" [ "$(grep -c '^[^ ]' out)" = 1 ]
done
run "$csan" kernels --kernel='fill<*>' static
check "--kernel='fill<*>' picks both" [ "$(grep -c '^void fill' out)" = 2 ]
run "$csan" kernels --kernel=scalf static
check "a name that no kernel has fails" ended 1
check "and says which there are" says "no kernel of static is called 'scalf'; it has .*scale"

# ---- What is said of them

run "$csan" kernels --json text.ptx
check "arguments have their C++ type" ask out '[p["declared"] for p in k["scale"]["parameters"]] == ["float*", "float", "int"]'
check "and what is done through them" ask out 'k["in_struct"]["parameters"][0]["writes"] and not k["in_struct"]["parameters"][0]["reads"]'
check "pointers in structs have their place" ask out 'k["in_struct"]["pointers"][0]["base"] == "arg0+8"'
check "bounded accesses say why" ask out '[a["known"] for a in k["gather"]["accesses"] if a["base"] == "arg1"] == ["bounded"] and all(a["reason_line"] for a in k["gather"]["accesses"] if a["known"] == "bounded")'
check "atomics are atomics" ask out 'k["count"]["accesses"][0]["kinds"] == ["atomic"] and k["count"]["accesses"][0]["base"] == "counter"'
check "an empty kernel has nothing" ask out 'not k["empty"]["accesses"] and not k["empty"]["parameters"] and k["empty"]["complete"]'

# ---- Launches

launch() { run "$csan" kernels --json --kernel="$1" --launch="$2" text.ptx; }
launch scale grid=4,block=256,args=p0,2.5f,1000
check "a launch is taken" ended 0
check "with its sizes" ask out 'k["scale"]["launch"]["grid"] == [4, 1, 1] and k["scale"]["launch"]["block"] == [256, 1, 1]'
check "a name stands for a pointer" ask out '{r["name"] for r in k["scale"]["launch"]["ranges"]} == {"p0"}'
check "it is read and written" ask out '{r["kind"] for r in k["scale"]["launch"]["ranges"]} == {"read", "write"}'
check "as far as the guard says, exactly" ask out 'all((r["offset"], r["bytes"], r["dims"], r["known"]) == (0, 4000, [], "exact") for r in k["scale"]["launch"]["ranges"])'
check "and the launch as a whole" ask out 'k["scale"]["launch"]["complete"] and k["scale"]["launch"]["exact"]'
launch scale grid=4,block=256,args=0x7f0000000000,2,1000
check "the ranges count from it" ask out 'all((r["name"], r["offset"], r["bytes"]) == (None, 0, 4000) for r in k["scale"]["launch"]["ranges"])'
check "an address is kept" ask out '{r["address"] for r in k["scale"]["launch"]["ranges"]} == {0x7f0000000000}'
launch scale grid=2,3,4,block=8,4,2,shared=0x100,args=buffer+0b10000,-1,?
check "three sizes each, and any base" ask out 'k["scale"]["launch"]["grid"] == [2, 3, 4] and k["scale"]["launch"]["block"] == [8, 4, 2] and k["scale"]["launch"]["shared"] == 256'
check "a name with an offset counts from the name" ask out 'all(r["offset"] >= 16 for r in k["scale"]["launch"]["ranges"])'
launch in_struct 'grid=1,block=32,args={1l,p1,100},7'
check "a struct by members" ask out '[(r["name"], r["offset"], r["bytes"]) for r in k["in_struct"]["launch"]["ranges"]] == [("p1", 2800, 128)]'
launch tile grid=2,2,block=16,16,args=p0+128,1024
check "tiles keep their rows" ask out '[(r["offset"], r["bytes"], r["dims"], r["known"]) for r in k["tile"]["launch"]["ranges"]] == [(128, 128, [{"stride": 4096, "count": 32}], "exact")]'
launch gather grid=1,block=64,args=out,in,index
check "a bounded range says why" ask out '[(r["known"], r["reason"] != "", r["line"] > 0) for r in k["gather"]["launch"]["ranges"] if r["name"] == "in"] == [("bounded", True, True)]'
check "beside exact ones" ask out '[(r["known"], r["bytes"]) for r in k["gather"]["launch"]["ranges"] if r["name"] != "in"] == [("exact", 256)] * 2'
launch in_struct grid=1,block=32,args=hex:0100000000000000000000000000007f0000000000000000,7
check "a struct by its bytes" ask out 'k["in_struct"]["launch"]["ranges"][0]["address"] == 0x7f00000000000000'
launch empty grid=1,block=1,args=
check "no arguments for a kernel without any" ask out 'k["empty"]["launch"]["exact"] or k["empty"]["launch"]["complete"]'
run "$csan" kernels --launch grid=1,block=1 static
check "without args it serves all kernels" ended 0

range_is() { run "$csan" kernels --kernel="$1" --launch="$2" text.ptx; check "--launch=$2 has: $3" grep -Fxq "    $3" out; }
range_is scale grid=4,block=256,args=p0,2.5f,1000 'write  p0[0 .. 4000)  exact'
range_is scale grid=4,block=256,args=0x7f0000000000,2,1000 'write  arg0[0 .. 4000), from 0x7f0000000000  exact'
range_is scale grid=4,block=256,args=p0+0x100,2,0 'touches nothing'
range_is 'fill<double>' grid=1,block=32,args=p,1,100 'write  p[0 .. 800)  exact'
range_is tile grid=1,block=16,16,args=image+128,1024 'write  image[128 + 4096*(0..15)], 64 bytes each  exact'
range_is visit grid=1,block=8 'write  places::visits[0 .. 32)  exact'
check "variables are demangled in lines too" prints_line '  write places::visits[4*threadIdx.x]'
range_is count grid=1,block=1 'atomic counter[0 .. 4)  exact'

refused() { run "$csan" kernels --kernel="$1" --launch="$2" text.ptx; check "--launch=$2 is refused" ended 2; check "and says: $3" says "$3"; }
refused scale grid=4 'lacks block'
refused scale 128,256 'belongs to nothing'
refused scale grid=0,block=1 'from 1 to'
refused scale grid=1,2,3,4,block=1 'one to three numbers'
refused scale grid=1,block=2000 'at most 1024'
refused scale grid=1,block=1,color=3 "no 'color'"
refused scale grid=1,block=1,args=p0 'args has 1 of .* 3 arguments'
refused scale grid=1,block=1,args=p0,p1,3 "argument 1: 'p1' names a pointer"
refused scale grid=1,block=1,args=p0,1,99999999999 'argument 2: .* does not fit into 4 bytes'
refused scale grid=1,block=1,args=p0,1,2.5.5 'argument 2: .*nothing that csan knows'
refused in_struct grid=1,block=1,args=7,7 'argument 0: .* is a struct of 24 bytes'
refused in_struct grid=1,block=1,args=hex:00,7 'argument 0: .*24 bytes'
refused in_struct 'grid=1,block=1,args={p0,p1,p2,p3},7' 'argument 0: .* does not go into 24 bytes'
refused in_struct 'grid=1,block=1,args={p0,7' 'args has 1 of .* 2 arguments'

# ---- Wrong usage

run "$csan" kernels
check "without a file it fails" ended 2
check "and says how" says 'usage: csan kernels'
run "$csan" kernels --help
check "--help succeeds" ended 0
check "--help explains launches" prints_line 'grid=128,block=256'
run "$csan" kernels --fly static
check "an unknown option fails" ended 2
check "an unknown option is named" says '--fly'
run "$csan" kernels static --kernel
check "an option without its value is refused" says "'--kernel' lacks its value"
run "$csan" kernels static shared
check "two files are refused" ended 2
run "$csan" help
check "csan help lists it" prints_line 'csan kernels'

# ---- Bad files

: >empty
echo hello >text
mkdir directory
mkfifo pipe
for file in missing empty text directory pipe /dev/null; do
    run "$csan" kernels "$file"
    check "$file fails" ended 1
    check "$file is named, with what is wrong" one_line
done
run "$csan" kernels /bin/true
check "a program without kernels fails" ended 1
check "and says so" says 'has no GPU kernels'
if [ "$(id -u)" != 0 ]; then
    cp text.ptx locked && chmod 0 locked
    run "$csan" kernels locked
    check "a file that may not be read fails" says 'Permission denied'
fi
printf '.version 8.0\n.target sm_90\n.visible .entry k( {' >broken.ptx
run "$csan" kernels broken.ptx
check "PTX that does not parse fails" ended 1
check "with the line" says 'line 3'
run "$csan" kernels --json broken.ptx
check "and the JSON says it" ask out 'd["problems"] and not d["kernels"]'
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry a$"\\\001() { ret; }' >odd.ptx
run "$csan" kernels --json odd.ptx
check "odd characters do not break the JSON" ask out 'True'

# Cut off and damaged: never a crash, always an exit code of csan's own, always JSON.
wrecked()
{
    run "$csan" kernels --json wreck
    cat out >>answers
    no_crash
}
only_json()
{
    command -v python3 >/dev/null || return 0
    python3 - answers <<'PYTHON'
import json, sys
text, at, decoder = open(sys.argv[1]).read(), 0, json.JSONDecoder()
while at < len(text):
    at = decoder.raw_decode(text, at)[1] + 1
PYTHON
}
ruin() # FILE: byte by byte at some places, and cuts
{
    local bytes=$(stat -c %s "$1") at
    for at in 4 16 18 30 40 48 58 60 62 100 $((bytes / 3)) $((bytes / 2)) $((bytes - 300)) $((bytes - 70)); do
        [ "$at" -lt "$bytes" ] && [ "$at" -ge 0 ] || continue
        cp "$1" wreck
        printf '\377\377\377\377' | dd of=wreck bs=1 seek="$at" conv=notrunc status=none
        wrecked || return 1
        head -c "$at" "$1" >wreck
        wrecked || return 1
    done
}
for file in static unit.o separate code.cubin both.fatbin archive.a text.ptx; do
    check "$file, damaged and cut off, is survived" ruin "$file"
done
check "and answered in JSON" only_json

run sh -c '"$0" kernels static >/dev/full' "$csan"
check "a full disk is an error" ended 1
