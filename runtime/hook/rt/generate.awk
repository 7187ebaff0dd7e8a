# From cudart.table makes the trampolines of libcsan_rt, their names and the version scripts.
#   awk -v OUT=DIR -f generate.awk cudart.table
#
# A trampoline is made for each function of each of three versions:
#   CSAN_RT            what a program that is linked with -lcsan binds to: of whichever CUDA that
#                      program was built for. The default version, and the only one a linker takes
#   libcudart.so.12    what a program binds to that was linked with CUDA 12's library,
#   libcudart.so.13    or with CUDA 13's
#
# For trampoline N there is  slot N      where a call goes on; at first
#                            thunk N     which loads N and enters runtime_resolve_common
#                            its symbol  one indirect jump through slot N; no register changes

BEGIN {
    n = 0
    stubs = OUT "/runtime_stubs.S"; names = OUT "/runtime_names.inc"; map = OUT "/runtime.map"
    only = OUT "/runtime_only.inc" # what one of the versions has and the other has not, in order
    print "#if defined(__x86_64__)\n" \
          "#define STUB(label, versioned, n) .globl label; .type label, @function; .p2align 4; " \
          "label: jmp *runtime_slots+8*n(%rip); .size label, .-label; .symver label, versioned\n" \
          "#define THUNK(n) .Lthunk_##n: movl $n, %r11d; jmp runtime_resolve_common\n" \
          "#elif defined(__aarch64__)\n" \
          "#define STUB(label, versioned, n) .globl label; .type label, %function; .p2align 4; " \
          "label: adrp x16, runtime_slots+8*n; ldr x16, [x16, :lo12:runtime_slots+8*n]; br x16; " \
          ".size label, .-label; .symver label, versioned\n" \
          "#define THUNK(n) .Lthunk_##n: mov w17, n; b runtime_resolve_common\n" \
          "#endif\n" > stubs
    # The first node: a reference without a version takes its symbols.
    print "CSAN_RT {\n  global:" > map
}
/^#/ || NF == 0 { next }
{
    trampoline($1, "@@CSAN_RT", "LINKED")
    print "    " $1 ";" > map
    if ($2 == "-" || $3 == "-")
        print "{\"" $1 "\", RUNTIME_" ($2 == "-" ? 13 : 12) "}," > only
    for (major = 12; major <= 13; major++)
        if ($(major - 10) != "-")
            versioned($1, major)
}
END {
    print "  local:\n    *;\n};\nlibcudart.so.12 {\n};\nlibcudart.so.13 {\n};" > map
    print "\n.section .data.rel,\"aw\"\n.p2align 3\n.globl runtime_slots\n.hidden runtime_slots" > stubs
    print "runtime_slots:" > stubs
    for (i = 0; i < n; i++)
        print ".quad .Lthunk_" i > stubs
    print "\n.section .note.GNU-stack,\"\",%progbits" > stubs
    for (major = 12; major <= 13; major++)
        print "  local:\n    *;\n};" > library_map(major)
}

function trampoline(symbol, version, name)
{
    print "STUB(" symbol "_" name ", " symbol version ", " n ")\nTHUNK(" n ")" > stubs
    print "{\"" symbol "\", RUNTIME_" name "}," > names
    n++
}

# Of one of NVIDIA's libraries: with its trampoline, its place in the embedded device's library.
function versioned(symbol, major)
{
    trampoline(symbol, "@libcudart.so." major, major)
    if (!begun[major]++)
        print "libcudart.so." major " {\n  global:" > library_map(major)
    print "    " symbol ";" > library_map(major)
    print symbol > (OUT "/cudart_symbols." major)
}

function library_map(major)
{
    return OUT "/cudart." major ".map"
}
