# runtime/hook/interpose/driver.table is the whole driver API: what the installed toolkit's headers declare has
# its row, what has a row is in the headers or in runtime/cuda/newer.table, and each row's symbol has the type
# that its version says.

tree=$(realpath "$(dirname "$test")/../..")
table=$tree/runtime/hook/interpose/driver.table
include=$cuda/include

# What a row stands for: "symbol typedef", and the same of its per-thread form.
awk '/^cu/ { form = $2 == "-" ? "" : $2; print $1 form, $1 "_v" $3
             if ($4 != "-") { split($4, v, "@"); print $1 form v[1], $1 "_v" v[2] v[1] } }' "$table" >rows

# __CUDA_API_VERSION_INTERNAL makes cuda.h declare every version, old ones and per-thread ones too.
echo '#include <cuda.h>' | gcc -E -P -D__CUDA_API_VERSION_INTERNAL -I"$include" -x c - |
    grep -oE '\bcu[A-Z][A-Za-z0-9_]*\(' | tr -d '(' | sort -u >symbols
typedefs() { grep -ohE 'PFN_cu[A-Za-z0-9_]+\)\(' "$@" | sed 's/^PFN_//; s/)($//' | sort -u; }

none() { [ ! -s "$1" ] || { cat "$1"; return 1; }; }
counted() { [ "$(wc -l <"$1")" -ge "$2" ]; }
found() { awk "{ print \$$1 }" rows | sort -u; }

check "the headers were read" counted symbols 600
check "every function and type of the headers has a row" "$tree/scripts/check-driver-table" "$include"
awk '/^cu/ { print $2 }' "$tree/runtime/cuda/newer.table" >newer
comm -13 <({ typedefs "$include"/cuda*Typedefs.h; cat newer; } | sort -u) <(found 2) >too_many
check "every row is a version of cuda*Typedefs.h, or newer" none too_many
sed 's/^cuMemFree .*//' "$table" >lessened
mkdir -p copy/runtime/hook/interpose copy/runtime/cuda copy/scripts
cp "$tree/runtime/cuda/newer.table" copy/runtime/cuda/
cp lessened copy/runtime/hook/interpose/driver.table
cp "$tree/scripts/check-driver-table" copy/scripts/
run copy/scripts/check-driver-table "$include"
check "a function without a row is named" grep -q '^cuMemFree_v2 of CUDA' out
check "and the check fails" [ "$status" = 1 ]
awk '{ print $1 }' rows | sort | uniq -d >twice
check "no symbol has two rows" none twice
grep '^cu' "$table" | awk '$5 !~ /^(op|unmodelled|capture|begin|asks|query)$/ || ($5 == "op") != ($6 != "-") ||
                         NF != ($5 == "op" ? 7 : 6) || ($5 == "op" && $7 !~ /^(guarded|late|itself)$/)' >odd
check "every row has a class, and a hook and its guard if it is an op" none odd
grep '^cu' "$table" | awk '$5 == "op" { print $6, $7 }' | sort -u | awk '{ print $1 }' | uniq -d >twice
check "no hook is guarded for one entry and not for another" none twice

# Where the hooks of each stretch of rows are, in the order of the rows, by the symbols of the objects; and what the
# comment before them says.
nm -A --defined-only "$root"/obj/runtime/hook/*/*.o | sed -n 's#.*/hook/\([a-z_]*/[a-z_]*\)\.o:.* T hook_\([a-z0-9_]*\)$#\2 \1.c#p' >places
check "the hooks were found" counted places 150
awk 'NR == FNR { place[$1] = $2; next }
     function judge() { if (files != named) print heading ": " files " and not " named; heading = files = named = "" }
     /^#/ { if (rows) { judge(); rows = 0 }
            if (!heading) heading = $0
            for (line = $0; match(line, /[a-z_]+\/[a-z_]+\.c/); line = substr(line, RSTART + RLENGTH))
                named = named " " substr(line, RSTART, RLENGTH) }
     /^$/ && !rows { heading = named = "" }
     /^cu/ { rows = 1 }
     /^cu/ && $5 == "op" && index(files " ", " " place[$6] " ") == 0 { files = files " " place[$6] }
     END { judge() }' places "$table" >elsewhere
check "comments name the files where the hooks are" none elsewhere

# The pairs: cuMemAlloc_v2 is of type PFN_cuMemAlloc_v3020. (The other headers need OpenGL's and such.)
typedefs "$include/cudaTypedefs.h" >of_cuda
{
    echo '#define __CUDA_API_VERSION_INTERNAL'
    echo '#include <cudaTypedefs.h>'
    awk 'NR == FNR { known[$1]; next }
         $2 in known { printf "_Static_assert(__builtin_types_compatible_p(__typeof__(&%s), PFN_%s), \"\");\n", $1, $2 }' \
        of_cuda rows
} >pairs.c
check "the pairs were made" counted pairs.c 600
check "symbols and versions belong together" gcc -std=gnu11 -fsyntax-only -I"$include" pairs.c
