# From the runtime's symbol list (symbols.sh) makes the trampolines, their names and the version script.
#   awk -v OUT=DIR -f generate.awk symbols
#
# For symbol number N there is  slot N      where a call goes on; at first
#                               thunk N     which loads N and enters runtime_resolve_common
#                               the symbol  one indirect jump through slot N; no register changes

BEGIN {
    n = 0
    stubs = OUT "/runtime_stubs.S"; names = OUT "/runtime_names.inc"; map = OUT "/runtime.map"
    print "#if defined(__x86_64__)\n" \
          "#define STUB(name, n) .globl name; .type name, @function; .p2align 4; name: " \
          "jmp *runtime_slots+8*n(%rip); .size name, .-name\n" \
          "#define THUNK(n) .Lthunk_##n: movl $n, %r11d; jmp runtime_resolve_common\n" \
          "#elif defined(__aarch64__)\n" \
          "#define STUB(name, n) .globl name; .type name, %function; .p2align 4; name: " \
          "adrp x16, runtime_slots+8*n; ldr x16, [x16, :lo12:runtime_slots+8*n]; br x16; " \
          ".size name, .-name\n" \
          "#define THUNK(n) .Lthunk_##n: mov w17, n; b runtime_resolve_common\n" \
          "#endif\n" > stubs
}
NR == 1 { version = $1; next }
{
    symbol[n] = $1
    print "STUB(" $1 ", " n ")\nTHUNK(" n ")" > stubs
    print "\"" $1 "\"," > names
    n++
}
END {
    print "\n.section .data.rel,\"aw\"\n.p2align 3\n.globl runtime_slots\n.hidden runtime_slots" > stubs
    print "runtime_slots:" > stubs
    for (i = 0; i < n; i++)
        print ".quad .Lthunk_" i > stubs
    print "\n.section .note.GNU-stack,\"\",%progbits" > stubs
    print version " {\n  global:" > map
    for (i = 0; i < n; i++)
        print "    " symbol[i] ";" > map
    print "  local:\n    *;\n};" > map
}
