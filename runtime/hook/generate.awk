# Makes the driver interposition from driver.table: awk -v OUT=directory -f generate.awk
#     driver.table cudaTypedefs.h
# OUT/driver_hooks.h    prototypes of the hooks, from the typedefs of the toolkit
# OUT/driver_stubs.c    exported stubs, wrappers that name the entry, the look-up table
# Of queries there is a list of names only, so that a look-up can tell them from what is unknown.
#
# A stub tests one byte. Off, or unmodelled: it jumps to the real function and leaves no trace on the
# stack. On: it jumps to a wrapper, which calls the hook with the entry in front of the arguments.

function add(symbol, entry, typedef, thread_default, class, hook)
{
    symbols[count] = symbol; entries[count] = entry; typedefs[count] = typedef
    threads[count] = thread_default; classes[count] = class; hooks[count] = hook
    count++
}
# The last word of a parameter is its name: "const void *srcHost" -> "srcHost".
function names(parameters,    list, pieces, n, i)
{
    if (parameters == "void" || parameters == "") return ""
    n = split(parameters, pieces, ",")
    for (i = 1; i <= n; i++) {
        match(pieces[i], /[A-Za-z_0-9]+[ ]*$/)
        list = list ", " substr(pieces[i], RSTART, RLENGTH)
    }
    return list
}

BEGIN { count = 0 }
FNR == 1 { file++ }
file == 1 && ($1 ~ /^#/ || NF == 0) { next }
file == 1 && $5 == "query" { queries[$1]; next }
file == 1 {
    form = $2 == "-" ? "" : $2
    add($1 form, $1, $1 "_v" $3, 0, $5, $6)
    if ($4 != "-") {
        split($4, variant, "@")
        add($1 form variant[1], $1, $1 "_v" variant[2] variant[1], 1, $5, $6)
    }
    next
}
match($0, /PFN_cu[A-Za-z0-9_]+\)\(/) {
    name = substr($0, RSTART + 4, RLENGTH - 6)
    parameters[name] = substr($0, RSTART + RLENGTH)
    sub(/\);.*/, "", parameters[name])
}

END {
    header = OUT "/driver_hooks.h"; stubs = OUT "/driver_stubs.c"
    print "/* Made by generate.awk from driver.table. */\n#include \"runtime/hook/driver.h\"\n" > header
    print "/* Made by generate.awk from driver.table. */\n#include \"driver_hooks.h\"\n#include \"runtime/hook/call_count.h\"\n#include \"runtime/hook/stubs.h\"\n" > stubs
    for (i = 0; i < count; i++) {
        if (classes[i] != "op") continue
        if (!(typedefs[i] in parameters)) {
            print "generate.awk: cudaTypedefs.h has no PFN_" typedefs[i] > "/dev/stderr"; exit 1
        }
        list = parameters[typedefs[i]]
        if (list == "void") list = ""
        rest = list == "" ? "" : ", " list
        if (!(hooks[i] in declared))
            printf "CUresult hook_%s(const struct driver_entry *entry%s);\n", hooks[i], rest > header
        declared[hooks[i]] = 1
        printf "__attribute__((used)) CUresult wrapped_%s(%s);\n", symbols[i],
            list == "" ? "void" : list > stubs
        call = sprintf("hook_%s(&driver_entries[%d]%s)", hooks[i], i, names(list))
        printf "CUresult wrapped_%s(%s)\n{\n", symbols[i], list == "" ? "void" : list > stubs
        printf "    return __builtin_expect(call_counts != NULL, 0) ? call_count(%d, %s) : %s;\n}\n",
            i, call, call > stubs
    }

    stub["op"] = "OP"; stub["unmodelled"] = "PASS"; stub["capture"] = "CAPTURE"; stub["begin"] = "BEGIN"
    for (i = 0; i < count; i++) {
        printf "DRIVER_STUB_%s(\"%s\", %d)\n", stub[classes[i]], symbols[i], i > stubs
        printf "extern char stub_%s[] __asm__(\"stub_%s\"), thunk_%d[];\n", symbols[i], symbols[i], i > stubs
    }
    print "struct driver_entry driver_entries[] = {" > stubs
    for (i = 0; i < count; i++)
        printf "    {thunk_%d, \"%s\", \"%s\", stub_%s, %d, %d, 0, %d},\n", i, symbols[i],
            entries[i], symbols[i], classes[i] == "unmodelled", threads[i], classes[i] == "op" > stubs
    printf "};\nconst unsigned driver_entry_count = %d;\n", count > stubs

    print "const char *const driver_queries[] = {" > stubs
    for (name in queries) printf "    \"%s\",\n", name > stubs
    print "    NULL};" > stubs
}
