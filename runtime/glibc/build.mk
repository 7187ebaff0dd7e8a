# The products run with an older glibc than the one that they are linked with: with GLIBC_OLDEST, which
# is that of RHEL 8 and of the Python tag manylinux_2_28. They are linked with stubs of this machine's C
# library that have each symbol in the newest version that GLIBC_OLDEST had (stubs.sh). What it did not
# have at all is in an archive of csan's. tests/shell/test_glibc.sh reads the products.

GLIBC_OLDEST := 2.28
glibc_src    := $(filter-out %/start.c,$(wildcard runtime/glibc/*.c))
GLIBC_STUBS  := $(OUT)/gen/glibc

# A sanitizer's run-time wants the C library that it was made with.
ifeq ($(SANITIZE)$(CROSS),)
  GLIBC       := $(GLIBC_STUBS)/libc.so
  GLIBC_LINK  := -L$(GLIBC_STUBS)
  GLIBC_START := $(call objects,runtime/glibc/start.c)
  GLIBC_START_LINK := -Wl,--wrap=__libc_start_main $(GLIBC_START)
endif

# Compiled without what would make of these functions calls of themselves.
$(call objects,$(glibc_src) runtime/glibc/start.c): EXTRA_CFLAGS += -fno-builtin -U_FORTIFY_SOURCE

$(GLIBC_STUBS)/liblacking.a: $(call objects,$(glibc_src))
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^
$(GLIBC_STUBS)/libc.so: runtime/glibc/stubs.sh $(GLIBC_STUBS)/liblacking.a
	@mkdir -p $(@D)
	CC='$(CC)' runtime/glibc/stubs.sh $(GLIBC_OLDEST) $(GLIBC_STUBS)
