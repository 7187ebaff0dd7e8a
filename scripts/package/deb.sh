#!/bin/bash
# deb.sh TREE VERSION MAINTAINER FILE NOTICES [LEVEL]: makes the Debian package FILE of an installed tree, TREE/usr;
# NOTICES has the licenses of what it contains by others (notices.sh). LEVEL is how hard dpkg-deb compresses, 0 to 9.
# What it depends on is read from its programs and libraries: the packages of the shared libraries
# they need, and the C library's version by its symbols. libunwind is opened by name, and done without.
set -eu -o pipefail
tree=$1 version=$2 maintainer=$3 file=$4 notices=$5 level=${6:-}

programs() { find "$tree/usr" -type f -exec sh -c 'readelf -h "$1" >/dev/null 2>&1' sh {} \; -print; }

stop()
{
    echo "deb: $*" >&2
    exit 1
}

# The names of the libraries that no file of the tree brings along.
needed()
{
    local name
    programs | xargs -d '\n' readelf -d | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
        while read -r name; do
            [ -n "$(find "$tree/usr" -name "$name")" ] || echo "$name"
        done
}

# libc.so.6 -> libc6
package_of()
{
    local found
    found=$(dpkg-query -S "*/$1" 2>/dev/null | awk -F: '$2 == "amd64" && !n++ { print $1 }')
    [ -n "$found" ] || stop "no installed package has $1, which csan needs"
    echo "$found"
}

# The newest version of the C library that a symbol wants.
libc_version()
{
    programs | xargs -d '\n' objdump -p 2>/dev/null | sed -n 's/.* GLIBC_\([0-9.]*\)$/\1/p' |
        sort -Vu | tail -1
}

depends()
{
    local name packages
    packages=$(for name in $(needed); do package_of "$name"; done | sort -u) || exit 1
    for name in $packages; do
        [ "$name" = libc6 ] && name="libc6 (>= $(libc_version))"
        echo "$name"
    done | paste -sd, | sed 's/,/, /g'
}

for tool in dpkg-deb dpkg-query readelf objdump; do
    command -v $tool >/dev/null || stop "$tool is missing: install dpkg and binutils"
done
libraries=$(depends) || exit 1
[ -n "$libraries" ] || stop "no library is needed by what is in $tree/usr: is it an installed tree?"

# Debian's zsh and its users look elsewhere than /usr/local's.
mkdir -p "$tree/usr/share/zsh/vendor-completions"
mv "$tree/usr/share/zsh/site-functions/_csan" "$tree/usr/share/zsh/vendor-completions/"
rmdir "$tree/usr/share/zsh/site-functions"
gzip -9n "$tree/usr/share/man/man1/csan.1"
mkdir -p "$tree/usr/share/doc/csan" "$tree/DEBIAN"
{
    cat LICENSE "$notices"
    echo "lib/csan/libcudart.so.13 is a part of NVIDIA's CUDA Toolkit, under its license."
} >"$tree/usr/share/doc/csan/copyright"
chmod -R u=rwX,go=rX "$tree"
find "$tree/usr/lib" -type f -name '*.so.*' -exec chmod 644 {} + # Debian Policy, 8.1

cat >"$tree/DEBIAN/control" <<END
Package: csan
Version: $version
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: $libraries
Recommends: libunwind8
Suggests: g++, python3-dev, libopenblas0, libfftw3-double3, libfftw3-single3
Section: devel
Priority: optional
Description: finds data races between CUDA streams
 Checks programs that use CUDA, PyTorch among them, while they run: two
 accesses to the same bytes, one of them a write, with nothing that orders
 them. It needs no GPU.
END
echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch -hcd "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$tree/usr/bin/csan")}" {} +
dpkg-deb --root-owner-group ${level:+"-z$level"} --build "$tree" "$file" >/dev/null
echo "$file"
