/* Versions of glibc's symbols, which differ by processor: its first release for it names most. Of
 * condition variables x86-64 has two kinds; what is linked today uses the newer. */
#ifndef RUNTIME_GLIBC_SYMBOL_VERSION_H
#define RUNTIME_GLIBC_SYMBOL_VERSION_H

#if defined(__x86_64__)
#define GLIBC_FIRST     "GLIBC_2.2.5"
#define GLIBC_CONDITION "GLIBC_2.3.2"
#else
#define GLIBC_FIRST     "GLIBC_2.17"
#define GLIBC_CONDITION GLIBC_FIRST
#endif

#endif
