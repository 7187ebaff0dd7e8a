# Makes the knowledge of libraries from library.table: awk -v OUT=directory -f generate.awk library.table
# OUT/library_touch.c   what each function touches, as calls of touch.h; the table of functions
# OUT/library_stubs.c   the exported stubs, one for each function and version of its library
# OUT/library_signatures.inc  each function's parameters by their bits, for the test that compares
#                       them with the libraries' headers
# OUT/libcsan.map       version script: the versions under which they are exported
# With -v EXTENT=LIBRARY, OUT/LIBRARY_extents.c alone: the same rows of that library as calls of
#                       runtime/device/library/extent.h, for csan's own library on the embedded device

function fail(why) { print "generate.awk: line " NR ": " why > "/dev/stderr"; failed = 1; exit 1 }

# "cublas{S,D}dot_v2" into alternatives[1..n], with the letter of each.
function expand(name,    open, close_, list, i, pair)
{
    open = index(name, "{"); close_ = index(name, "}")
    if (!open) {
        alternatives[1] = name
        letters[1] = match(name, /^cublas[SDCZH][a-z]/) ? substr(name, 7, 1) : "S"
        return 1
    }
    n_alternatives = split(substr(name, open + 1, close_ - open - 1), list, ",")
    for (i = 1; i <= n_alternatives; i++) {
        split(list[i], pair, "=")
        alternatives[i] = substr(name, 1, open - 1) pair[1] substr(name, close_ + 1)
        letters[i] = pair[2] == "" ? pair[1] : pair[2]
    }
    return n_alternatives
}

# Parameters of the row into names[], kinds[]; returns how many. places[]: which one each is of those
# in integer registers and on the stack, which are n_places.
function parameters(text,    list, n, i, word, count)
{
    n = text == "" ? 0 : split(text, list, ", *")
    n_places = 0
    for (i = 1; i <= n; i++) {
        count = split(list[i], word, " ")
        kinds[i] = count == 2 ? word[1] : "pointer"
        names[i] = word[count]; sub(/^\*/, "", names[i])
        if (kinds[i] !~ /^(int|enum|long|float|double|pointer)$/) fail("what is " kinds[i] "?")
        places[i] = kinds[i] ~ /^(float|double)$/ ? -1 : n_places++
    }
    return n
}

# "op(a, b)" into "touch_op(call, a, b)", everywhere in the text.
function calls(text,    out, name)
{
    while (match(text, /[a-z_0-9]+\(/)) {
        name = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1) prefix "_" name "call"
        text = substr(text, RSTART + RLENGTH)
        if (substr(text, 1, 1) != ")") out = out ", "
    }
    return out text
}

function line(kind, text,    condition, type, place, argument, i)
{
    condition = toupper(prefix) "_ALWAYS"; type = prefix "_element(call)"
    if (place = index(text, " if ")) {
        condition = calls(substr(text, place + 4)); text = substr(text, 1, place - 1)
    }
    if (place = index(text, " of ")) {
        type = calls(substr(text, place + 4)); text = substr(text, 1, place - 1)
    }
    match(text, /\([A-Za-z_0-9]+/)
    argument = substr(text, RSTART + 1, RLENGTH - 1)
    for (i = 1; i <= n_parameters && names[i] != argument; i++)
        ;
    if (i > n_parameters) fail("no parameter " argument)
    body = body "    if (" prefix "_begin(call, " kind ", " (i - 1) ", " type ", " condition "))\n        " \
        calls(text) ";\n"
}

# The rows since the last lines, complete now.
function finish(    i, j, reads, value)
{
    if (!n_rows) return
    if (left_out || EXTENT != "" && (traced || notes != "")) { n_rows = 0; body = after = notes = ""; stream = -1; apart = traced = 0; return }
    if (body != "" && each != "" && EXTENT == "" && names[1] == "handle") line("CSAN_WRITE", each)
    if (body != "") {
        print "static void " prefix "_" number "(struct " prefix " *call)\n{" > touch
        for (i = 1; i <= n_parameters; i++) {
            if (body !~ ("[^A-Za-z_0-9]" names[i] "[^A-Za-z_0-9(]")) continue
            if (places[i] < 0) fail(names[i] " is in no register that is read")
            if (kinds[i] == "pointer") value = "const uint64_t"
            else value = "const int64_t"
            reads = kinds[i] == "enum" ? "integer" : kinds[i]
            if (kinds[i] == "int") reads = "size"
            print "    " value " " names[i] " = " prefix "_argument_" reads "(call, " places[i] ");" > touch
        }
        print body "}" > touch
    }
    for (j = 1; j <= n_rows; j++) {
        printf "SIGNATURE(%s, \"", row_names[j] > signatures
        for (i = 1; i <= n_parameters; i++)
            printf "%s", kinds[i] == "pointer" ? "p" : places[i] < 0 ? substr(kinds[i], 1, 1) : kinds[i] == "long" || kinds[i] == "int" && row_wide[j] ? "8" : "4" > signatures
        print "\")" > signatures
    }
    printf "static const char *const arguments_%d[] = {", number > touch
    for (i = 1; i <= n_parameters; i++) printf "\"%s\", ", names[i] > touch
    print "NULL};" > touch
    if (after notes != "" && EXTENT == "") print "void " after notes "(struct touch *call, int result);" > touch
    for (j = 1; j <= n_rows; j++) add_function(row_names[j], row_letters[j], row_wide[j])
    number++; n_rows = 0; body = after = notes = ""; stream = -1; apart = traced = 0
}

function add_extent(symbol, letter, wide,    kinds_shown, i)
{
    for (i = 1; i <= n_parameters; i++)
        kinds_shown = kinds_shown (kinds[i] == "pointer" ? "p" : kinds[i] == "long" || kinds[i] == "int" && wide ? "8" : "4")
    functions[n_functions++] = sprintf("{\"%s\", \"%s\", arguments_%d, %s, '%s', %d}", symbol, kinds_shown, \
        number, body == "" ? "NULL" : "extent_" number, letter, wide)
    print "LIBRARY_ENTRY(" n_functions - 1 ", \"" symbol "\", \"" EXTENT "_call\")" > touch
}

function add_function(symbol, letter, wide,    shown, i)
{
    if (EXTENT != "") { add_extent(symbol, letter, wide); return }
    shown = symbol; sub(/_v2/, "", shown)
    functions[n_functions++] = sprintf("{\"%s\", {\"%s\", arguments_%d, %d, CSAN_NO_ARGUMENT}, %s, %s, %s, '%s', %d, TOUCH_STACK_WORDS(%d), %d, %d}", \
        symbol, shown, number, n_parameters, body == "" ? "NULL" : "touch_" number, \
        after == "" ? "NULL" : after, notes == "" ? "NULL" : notes, letter, wide, n_places, stream, apart || stream >= 0)
    for (i = 1; i <= n_homes; i++) {
        printf "LIBRARY_STUB(%d, \"%s\", \"%s\")\nextern char library_stub_%d[], library_thunk_%d[];\n", n_entries, \
            symbol, versioned ? home[i] : "CSAN_UNVERSIONED", n_entries, n_entries > stubs
        entries[n_entries] = sprintf("{library_thunk_%d, library_stub_%d, library_thunk_%d, &library_functions[%d], &library_homes[%d]}", \
            n_entries, n_entries, n_entries, n_functions - 1, home_number[i])
        n_entries++
    }
}

BEGIN {
    touch = OUT "/library_touch.c"; stubs = OUT "/library_stubs.c"; map = OUT "/libcsan.map"
    signatures = OUT "/library_signatures.inc"
    stream = -1; apart = traced = 0; number = n_functions = n_entries = all_homes = left_out = 0
    prefix = EXTENT == "" ? "touch" : "extent"
    if (EXTENT != "") {
        touch = OUT "/" EXTENT "_extents.c"; stubs = map = signatures = "/dev/null"
        print "/* Made by generate.awk from library.table. */\n#include \"runtime/device/library/extent.h\"\n" > touch
    }
    else
    print "/* Made by generate.awk from library.table. */\n#include \"runtime/hook/library/touch.h\"\n" > touch
    print "/* Made by generate.awk from library.table. */\n#include \"runtime/hook/library/stubs.h\"\n" > stubs
    print "/* What libcsan.so.0 exports beside this has no version, and default visibility. */" > map
    # The first one is that of references without a version (ld.so: do_lookup_x).
    # etext is the linker's.
    print "CSAN_UNVERSIONED { local: etext; __start_csan_session_life; __stop_csan_session_life; };" > map
}
/^#/ || NF == 0 { next }
/^library / {
    finish()
    left_out = EXTENT != "" && $2 != "lib" EXTENT ".so"
    versioned = $NF != "unversioned"; n_homes = 0; each = ""
    for (i = 3; i <= NF - !versioned; i++) {
        home[++n_homes] = $2 "." $i
        home_number[n_homes] = all_homes
        homes[all_homes++] = sprintf("{.name = \"%s\", .versioned = %d}", $2 "." $i, versioned)
        if (versioned) print $2 "." $i " {};" > map
    }
    next
}
/^[a-z_]/ {
    if (body != "" || after != "" || notes != "" || stream >= 0) finish()
    head = $0
    match(head, /\(.*\)$/)
    text = substr(head, RSTART + 1, RLENGTH - 2)
    head = substr(head, 1, RSTART - 1)
    if (n_rows && text != row_text) fail("other parameters than in the row above")
    row_text = text
    n_parameters = parameters(text)
    twin = sub(/\[_64\]$/, "", head)
    n = expand(head)
    for (i = 1; i <= n; i++) {
        row_names[++n_rows] = alternatives[i]; row_letters[n_rows] = letters[i]; row_wide[n_rows] = 0
        if (!twin) continue
        row_names[++n_rows] = alternatives[i] "_64"; row_letters[n_rows] = letters[i]; row_wide[n_rows] = 1
    }
    next
}
{
    verb = $1; text = $0; sub(/^ *[a-z]+ +/, "", text)
    if (verb == "reads") line("CSAN_READ", text)
    else if (verb == "updates" && EXTENT != "") line("EXTENT_UPDATE", text)
    else if (verb == "writes" || verb == "updates") line("CSAN_WRITE", text)
    else if (verb == "each") { if (n_rows) fail("`each` stands behind `library`"); each = text }
    else if (verb == "after") after = text
    else if (verb == "notes") notes = text
    else if (verb == "apart") apart = 1
    else if (verb == "traced") traced = 1
    else if (verb == "on") {
        for (i = 1; i <= n_parameters; i++) if (names[i] == text) stream = places[i]
        if (stream < 0) fail("no parameter " text)
    } else fail("what is " verb "?")
}
END {
    if (failed) exit 1
    finish()
    if (EXTENT != "") print "const struct extent_function extent_functions[] = {" > touch
    else print "const struct library_function library_functions[] = {" > touch
    for (i = 0; i < n_functions; i++) print "    " functions[i] "," > touch
    if (EXTENT != "") { print "};" > touch; exit }
    print "};\nconst unsigned library_function_count = " n_functions ";" > touch
    print "struct library_home library_homes[] = {" > stubs
    for (i = 0; i < all_homes; i++) print "    " homes[i] "," > stubs
    print "};\nstruct library_entry library_entries[] = {" > stubs
    for (i = 0; i < n_entries; i++) print "    " entries[i] "," > stubs
    print "};\nconst unsigned library_entry_count = " n_entries ";" > stubs
}
