#!/bin/bash
# stubs.sh VERSION DIRECTORY: makes stubs of this compiler's C library in DIRECTORY, to link with: they
# have names and versions, and no code. A program that is linked with them runs with glibc VERSION and
# all later ones, for glibc keeps every version of a symbol that it ever had.
#
#   libc.so.6 and others       each symbol, in the newest version up to VERSION
#   newer/libc.so.6 and others what there is in later versions alone, so that linking never fails here
#   libc.so, libm.so, ...      what -lc and others find: the first, DIRECTORY/liblacking.a, the second
#
# Since 2.34 libc.so.6 has what was in libpthread, libdl, librt and libutil; the stubs put it back, so
# that a program needs the libraries in which an older glibc has it.
set -eu -o pipefail
version=$1
directory=$(mkdir -p "$2" && cd "$2" && pwd)
CC=${CC:-gcc}
tool() { $CC -print-prog-name="$1"; }
library() { $CC -print-file-name="$1"; }

loader=$(basename "$(ls "$(dirname "$(readlink -f "$(library libc.so.6)")")"/ld-linux-*.so.* | head -1)")
libraries=(libc.so.6 libm.so.6 "$loader")
stubs=(libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 "$loader")

# Lines "home old|newer version type size name", from the dynamic symbols of the three libraries.
symbols()
{
    local file
    for file in "${libraries[@]}"; do
        "$(tool objdump)" -T "$(library "$file")" | awk -v home="$file" -v oldest="$version" '
            function number(text,  part) { # GLIBC_2.2.5 -> 2002005
                split(substr(text, 7), part, ".")
                return part[1] * 1000000 + part[2] * 1000 + part[3]
            }
            function moved_from(name) { # in which library 2.33 had what 2.34 has in libc
                if (name ~ /^dl/) return "libdl.so.2"
                if (name ~ /^(aio_|lio_|mq_|timer_|shm_)/) return "librt.so.1"
                if (name ~ /^(login|logout|logwtmp|openpty|forkpty)/) return "libutil.so.1"
                return "libpthread.so.0"
            }
            BEGIN { limit = number("GLIBC_" oldest) }
            /\*UND\*|\*ABS\*/ || !/GLIBC_[0-9]/ { next }
            {
                name = $NF; this = $(NF - 1); gsub(/[()]/, "", this)
                if (this !~ /^GLIBC_[0-9.]+$/) next
                flags = substr($0, 18, 7)
                if (!(name in newest) && !(name in later)) order[++count] = name
                type[name] = flags ~ /O/ ? "object" : "function"
                size[name] = $(NF - 2)
                if (number(this) > limit) {
                    later[name] = this
                    if (this == "GLIBC_2.34") moved[name] = 1
                } else if (!(name in newest) || number(this) > number(newest[name]))
                    newest[name] = this
            }
            END {
                for (i = 1; i <= count; i++) {
                    name = order[i]
                    if (name in newest)
                        print (name in moved) && home == "libc.so.6" ? moved_from(name) : home,
                            "old", newest[name], type[name], size[name], name
                    else
                        print home, "newer", later[name], type[name], size[name], name
                }
            }'
    done
}

# stub AGE SONAME FILE: of the symbols on standard input.
stub()
{
    local made=$3.part
    awk -v age="$1" -v home="$2" -v assembly="$made.s" -v map="$made.map" '
        BEGIN { printf "" >assembly }
        $1 != home || $2 != age { next }
        {
            printf ".globl %s\n.type %s, %%%s\n.size %s, 0x%s\n", $6, $6, $4, $6, $5 >assembly
            printf "%s\n%s: .skip %s\n", $4 == "object" ? ".bss\n.balign 16" : ".text", $6,
                $4 == "object" ? "0x" $5 : "4" >assembly
            nodes[$3] = nodes[$3] $6 "; "
        }
        END {
            for (node in nodes)
                printf "%s { global: %s};\n", node, nodes[node] >map
            printf "STUB_ALONE { local: *; };\n" >map
        }'
    $CC -shared -nostdlib -Wl,-soname,"$2" -Wl,--version-script="$made.map" -x assembler "$made.s" -o "$3"
    rm -f "$made.s" "$made.map"
}

mkdir -p "$directory/newer"
symbols >"$directory/symbols"
for soname in "${stubs[@]}"; do
    stub old "$soname" "$directory/$soname" <"$directory/symbols"
    stub newer "$soname" "$directory/newer/$soname" <"$directory/symbols"
done

# group FILE SONAME MORE...: what -lNAME finds.
group()
{
    local file=$1 soname=$2
    shift 2
    echo "GROUP($directory/$soname $* AS_NEEDED($directory/newer/$soname))" >"$directory/$file"
}
group libm.so libm.so.6
group libpthread.so libpthread.so.0
group libdl.so libdl.so.2
group librt.so librt.so.1
group libc.so libc.so.6 "$directory/liblacking.a" "$(library libc_nonshared.a)" \
    "AS_NEEDED($directory/$loader $directory/libpthread.so.0 $directory/libdl.so.2 $directory/newer/$loader)"
