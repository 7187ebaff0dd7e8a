/* Goes into every program linked with -lcsan, and holds nothing but a reference to libcsan.so.0.
 *
 * A program that calls the runtime API alone uses no function of libcsan itself, so under the
 * linker's --as-needed, which many distributions switch on, it would need libcsan_rt only. libcsan
 * would then be loaded after the C library, whose dlsym would be found first. */
        .section .data.rel.ro, "aw", %progbits
        .p2align 3
        .quad csan_api
        .section .note.GNU-stack, "", %progbits
