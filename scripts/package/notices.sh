#!/bin/bash
# notices.sh FILE LIBRARY...: writes into FILE the licenses of the libraries by others that a package
# of csan contains: linked statically (libz.a), copied (libunwind.so.8), or compiled from a header (its
# path). They are those that the library's own package has on this machine, as Debian installs them. A
# license to which such a text refers by its path follows at the end.
set -eu -o pipefail
file=$1
shift

stop()
{
    echo "notices: $*" >&2
    exit 1
}

# libz.a -> zlib1g-dev
package_of()
{
    local pattern=$1 found
    [[ $pattern == /* ]] || pattern="*/$pattern"
    found=$(dpkg-query -S "$pattern" 2>/dev/null | sed -n 's/^\([^:, ]*\)[:, ].*/\1/p' | head -1)
    [ -n "$found" ] || stop "no installed package has $1, whose license belongs into the package"
    echo "$found"
}

command -v dpkg-query >/dev/null || stop "dpkg-query is missing: it knows whose license a library has"
declare -A of
for library; do
    package=$(package_of "$library")
    of[$package]="${of[$package]:+${of[$package]}, }$(basename "$library")"
done

part() { printf '\n==== %s ====\n\n' "$*"; }
{
    echo "csan's own license is in LICENSE. Its packages contain code by others, under these licenses."
    echo "csan's source, and how it is linked with them, is public: it can be linked with other versions."
    for package in $(printf '%s\n' "${!of[@]}" | sort); do
        text=/usr/share/doc/$package/copyright
        [ -s "$text" ] || stop "$text is missing"
        part "${of[$package]}: from the package $package"
        cat "$text"
    done
} >"$file"
for license in $(grep -oE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$file" | sort -u); do
    [ -s "$license" ] || stop "$license is missing"
    part "$license" >>"$file"
    cat "$license" >>"$file"
done
