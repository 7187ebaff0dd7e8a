#!/bin/sh
# Fails when the embedded libcuda exports anything but the driver API and the interfaces for observers, lacks
# any of it, or needs a library beyond the C library's.
#   usage: check-exports.sh LIBRARY SYMBOLS
set -eu
export LC_ALL=C
wanted=$( (cat "$2"; echo device_trace_subscribe; echo device_trace_last_launch;
    echo device_failure_subscribe;
    echo device_schedule_set; echo device_schedule_finish; echo device_schedule_now;
    echo device_schedule_node; echo device_schedule_aside; echo device_schedule_ignore_clock; echo device_work_subscribe; echo device_memory_view;
    echo device_text_source_set;
    echo device_native_kernel; echo device_native_memory; echo device_native_runs;
    echo device_array_layout; echo device_compile_trouble) | sort -u)
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort -u)
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libdl|libpthread|ld-linux-x86-64|ld-linux-aarch64)\.so' || true)
if [ "$wanted" != "$exported" ] || [ -n "$needed" ]; then
    echo "$1 needs $needed, and these are exported and should not be, or the other way round:" >&2
    printf '%s\n%s\n' "$wanted" "$exported" | sort | uniq -u >&2
    exit 1
fi
