#!/bin/bash
# bundle-libraries.sh DIRECTORY LIBRARY...: copies shared libraries (given by name, as the linker
# finds them) and all that they need into DIRECTORY, but for the C and C++ run-time, which every
# machine has.
set -eu
directory=$1
shift
mkdir -p "$directory"
for name; do
    path=$(gcc -print-file-name="$name")
    [ -f "$path" ] || { echo "bundle-libraries: there is no $name on this machine" >&2; exit 1; }
    { echo "$path"; ldd "$path" | awk '$2 == "=>" { print $3 }'; } |
        grep -Ev '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[^/]*)\.so' |
        while read -r library; do
            cp -L "$library" "$directory/$(basename "$library")"
        done
done
