/* What the products use and the oldest supported glibc (GLIBC_OLDEST in build.mk) does not have. It
 * is linked into each product that uses it, and seen by no other. */
#ifndef CSAN_GLIBC_H
#define CSAN_GLIBC_H

#define LACKING __attribute__((visibility("hidden")))

#endif
