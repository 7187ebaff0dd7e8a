# Makes the driver interposition from driver.table: awk -v OUT=directory -f generate.awk
#     driver.table cudaTypedefs.h runtime/cuda/newer.h
# OUT/driver_hooks.h    prototypes of the hooks, from the typedefs of the toolkit
# OUT/driver_stubs.c    exported stubs, wrappers that name the entry, the look-up table
# Of queries there is a list of names only, so that a look-up distinguishes them from unknown names.
#
# A stub tests one byte. Off, or unmodelled: it jumps to the real function and leaves no trace on the
# stack. On: it jumps to a wrapper, which calls the hook with the entry in front of the arguments. A
# wrapper whose calls are watched (call_watch.h) calls an observer before and after each call, with
# what the call is about by the types of its parameters; the stream may be another then, also where
# the call takes none and has a form that does (cuMemsetD8 and cuMemsetD8Async). Once a kernel has
# failed, each call's result is looked at (failure.h).
#
# A hook that is not called without the guard is called by a function that enters and leaves it, which
# is what wrappers call, and others who make the same call: guarded_NAME for hook_NAME.

function add(symbol, entry, typedef, thread_default, class, hook, guard)
{
    symbols[count] = symbol; entries[count] = entry; typedefs[count] = typedef
    threads[count] = thread_default; classes[count] = class
    hooks[count] = hook; guards[count] = guard
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

# The first parameter of that type, a pattern; "": there is none.
function of_type(parameters, type,    pieces, n, i)
{
    n = split(parameters, pieces, ",")
    for (i = 1; i <= n; i++) {
        gsub(/^ +| +$/, "", pieces[i])
        if (pieces[i] ~ ("^" type "[A-Za-z_0-9]+$")) {
            sub("^" type, "", pieces[i])
            return pieces[i]
        }
    }
    return ""
}
function length_of(parameters,    pieces)
{
    return parameters == "void" || parameters == "" ? 0 : split(parameters, pieces, ",")
}
# Calls that return once work of the device is over: there a program learns of a kernel that failed.
function ending(entry)
{
    if (entry ~ /Async/) return "ended"
    if (entry == "cuCtxSynchronize") return "waited_for_all"
    return entry ~ /Synchronize|StreamQuery|EventQuery|ElapsedTime|^cuMemFree|^cuMem(cpy|set)/ ? "waited" : "ended"
}

# A call by which the host waits, as csan_on_synchronize has it: an initializer of its struct; "": none.
function synchronization(i, list,    words)
{
    if (entries[i] !~ /^cu(Stream|Event|Ctx)Synchronize$/) return ""
    words = ".size = sizeof(struct csan_synchronization), .result = (int)result, .function = driver_entries[" i "].name, "
    if (entries[i] == "cuStreamSynchronize")
        return words ".kind = CSAN_SYNCHRONIZED_STREAM, .stream = " (threads[i] ? "hStream ? hStream : CU_STREAM_PER_THREAD" : "hStream")
    if (entries[i] == "cuEventSynchronize") return words ".kind = CSAN_SYNCHRONIZED_EVENT, .event = hEvent"
    return words ".kind = CSAN_SYNCHRONIZED_DEVICE" (list == "" ? "" : ", .context = ctx")
}
# A function that does the same as the wrapper of another name, and then calls what csan_on_synchronize added.
function synchronizing(i, list, what)
{
    printf "static CUresult waits_%s(%s);\n", symbols[i], list == "" ? "void" : list > stubs
    printf "CUresult wrapped_%s(%s)\n{\n", symbols[i], list == "" ? "void" : list > stubs
    printf "    CUresult result = waits_%s(%s);\n", symbols[i], substr(names(list), 3) > stubs
    printf "    sync_callback_ended(&(struct csan_synchronization){%s});\n    return result;\n}\n", what > stubs
}

# What a wrapper does once its hook has returned: a look at the result where a kernel may have failed.
function endings(name, flags, wait)
{
    printf "static inline CUresult %s(const struct driver_entry *entry, CUresult result)\n{\n", name > stubs
    printf "    return __builtin_expect((%s) | (result >= CUDA_ERROR_ILLEGAL_ADDRESS), 0)\n", flags > stubs
    printf "               ? failure_call_ended(entry, result, %s) : result;\n}\n", wait > stubs
}

# What wrappers call.
function entered(i)
{
    return (guards[i] == "itself" ? "hook_" : "guarded_") hooks[i]
}
# Between guard_enter and guard_leave the hook, and without them the driver.
function guarded(i, list, rest)
{
    printf "CUresult guarded_%s(const struct driver_entry *entry%s);\n", hooks[i], rest > header
    printf "CUresult guarded_%s(const struct driver_entry *entry%s)\n{\n", hooks[i], rest > stubs
    printf "    if (!guard_enter%s())\n", guards[i] == "late" ? "_without_flush" : "" > stubs
    printf "        return DRIVER_REAL(entry, %s)(%s);\n", typedefs[i], substr(names(list), 3) > stubs
    printf "    CUresult result = hook_%s(entry%s);\n", hooks[i], names(list) > stubs
    print "    guard_leave();\n    return result;\n}" > stubs
}

# The form of a synchronous copy or set that takes a stream behind the same parameters; -1: none.
function twin_of(i,    j)
{
    if (entries[i] !~ /^cuMem(cpy|set)/) return -1
    for (j = 0; j < count; j++)
        if (entries[j] == entries[i] "Async" && classes[j] == "op" && !threads[j] &&
            length_of(parameters[typedefs[j]]) == length_of(parameters[typedefs[i]]) + 1)
            return j
    return -1
}
# The call as call_watch.h has it.
function watched(i, list,    text, stream, name)
{
    text = sprintf(".entry = &driver_entries[%d]", i)
    stream = of_type(list, "CUstream ")
    if (stream != "") text = text ", .stream = " stream ", .has_stream = true"
    else if (entries[i] ~ /^cuMem(cpy|set)/) text = text ", .has_stream = true"
    if ((name = of_type(list, "CUstream [*]")) != "") text = text ", .created = " name
    if ((name = of_type(list, "CUevent ")) != "") text = text ", .event = " name
    if ((name = of_type(list, "CUgraph ")) != "") text = text ", .graph = " name
    if ((name = of_type(list, "const CUlaunchConfig [*]")) != "") text = text ", .config = " name
    return text
}
# The names, with what the watcher may have changed in place of what was passed.
function watched_names(list,    text, name)
{
    text = names(list) ","
    if ((name = of_type(list, "CUstream ")) != "") sub(", " name ",", ", call.stream,", text)
    if ((name = of_type(list, "const CUlaunchConfig [*]")) != "") sub(", " name ",", ", call.config,", text)
    return substr(text, 1, length(text) - 1)
}

BEGIN { count = 0 }
FNR == 1 { file++ }
file == 1 && ($1 ~ /^#/ || NF == 0) { next }
file == 1 && $5 == "query" { queries[$1]; next }
file == 1 && $5 == "asks" { queries[$1] }
file == 1 {
    form = $2 == "-" ? "" : $2
    add($1 form, $1, $1 "_v" $3, 0, $5, $6, $7)
    if ($4 != "-") {
        split($4, variant, "@")
        add($1 form variant[1], $1, $1 "_v" variant[2] variant[1], 1, $5, $6, $7)
    }
    next
}
# A typedef may take several lines.
{ text = text " " $0 }
!/;/ { next }
match(text, /PFN_cu[A-Za-z0-9_]+\)\(/) {
    name = substr(text, RSTART + 4, RLENGTH - 6)
    parameters[name] = substr(text, RSTART + RLENGTH)
    sub(/\);.*/, "", parameters[name])
    gsub(/ +/, " ", parameters[name])
}
{ text = "" }

END {
    header = OUT "/driver_hooks.h"; stubs = OUT "/driver_stubs.c"
    print "/* Made by generate.awk from driver.table. */\n#include \"runtime/hook/interpose/driver.h\"\n\nextern struct driver_entry driver_entries[];\nextern const unsigned driver_entry_count;\nextern const char *const driver_queries[];\n" > header
    print "/* Made by generate.awk from driver.table. */\n#include \"driver_hooks.h\"\n#include \"runtime/hook/interpose/call_watch.h\"\n#include \"runtime/hook/failure/failure.h\"\n#include \"runtime/hook/failure/unverified.h\"\n#include \"runtime/hook/interpose/stubs.h\"\n#include \"runtime/hook/session/guard.h\"\n#include \"runtime/hook/session/sync_callback.h\"\n" > stubs
    endings("ended", "failures_seen", "DUMP_NO_WAIT")
    endings("waited", "failures_seen | unverified_any", "DUMP_WAITED")
    endings("waited_for_all", "failures_seen | unverified_any", "DUMP_WAITED_FOR_ALL")
    for (i = 0; i < count; i++) {
        if (classes[i] != "op") continue
        if (!(typedefs[i] in parameters)) {
            print "generate.awk: cudaTypedefs.h has no PFN_" typedefs[i] > "/dev/stderr"; exit 1
        }
        list = parameters[typedefs[i]]
        if (list == "void") list = ""
        rest = list == "" ? "" : ", " list
        if (!(hooks[i] in declared)) {
            printf "CUresult hook_%s(const struct driver_entry *entry%s);\n", hooks[i], rest > header
            if (guards[i] != "itself") guarded(i, list, rest)
        }
        declared[hooks[i]] = 1
        printf "__attribute__((used)) CUresult wrapped_%s(%s);\n", symbols[i],
            list == "" ? "void" : list > stubs
        twin = of_type(list, "CUstream ") == "" ? twin_of(i) : -1
        call = sprintf("%s(&driver_entries[%d]%s)", entered(i), i, watched_names(list))
        if (twin >= 0)
            call = sprintf("call.moved ? %s(&driver_entries[%d]%s, call.stream) : %s", entered(twin),
                twin, names(list), call)
        what = synchronization(i, list)
        if (what != "") synchronizing(i, list, what)
        printf "%s_%s(%s)\n{\n", what == "" ? "CUresult wrapped" : "static CUresult waits", symbols[i],
            list == "" ? "void" : list > stubs
        printf "    if (__builtin_expect(calls_watched, 0)) {\n        struct watched_call call = {%s};\n",
            watched(i, list) > stubs
        printf "        call_watch_begin(&call);\n        return %s(call.entry, call_watch_end(&call, %s));\n    }\n",
            ending(entries[i]), call > stubs
        printf "    return %s(&driver_entries[%d], %s(&driver_entries[%d]%s));\n}\n", ending(entries[i]), i, entered(i),
            i, names(list) > stubs
    }

    for (i = 0; i < count; i++) {
        if (classes[i] != "asks") continue
        list = parameters[typedefs[i]] == "void" ? "" : parameters[typedefs[i]]
        printf "__attribute__((used)) CUresult wrapped_%s(%s);\n", symbols[i], list == "" ? "void" : list > stubs
        printf "CUresult wrapped_%s(%s)\n{\n", symbols[i], list == "" ? "void" : list > stubs
        printf "    return ended(&driver_entries[%d], DRIVER_REAL(&driver_entries[%d], %s)(%s));\n}\n", i, i,
            typedefs[i], substr(names(list), 3) > stubs
    }

    stub["op"] = stub["asks"] = "OP"; stub["unmodelled"] = "PASS"; stub["capture"] = "CAPTURE"; stub["begin"] = "BEGIN"
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
