#!/bin/bash
# rpm.sh TREE VERSION PACKAGER FILE NOTICES: makes the RPM package FILE of an installed tree, TREE/opt/csan;
# NOTICES has the licenses of what it contains by others (notices.sh). The whole tree stays in /opt/csan, since
# csan finds its libraries in lib beside bin; /usr has links to the command, the manual page and the
# completions. rpmbuild reads what it needs from its ELF files. libunwind is opened by name, and done without.
set -eu -o pipefail
tree=$(cd "$1" && pwd) version=$2 packager=$3 file=$4 notices=$5

command -v rpmbuild >/dev/null || { echo "rpm: rpmbuild is missing: install rpm-build (Debian: rpm)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

link() { mkdir -p "$tree/$(dirname "$2")" && ln -sfn "$1" "$tree/$2"; }
link /opt/csan/bin/csan usr/bin/csan
link /opt/csan/share/man/man1/csan.1 usr/share/man/man1/csan.1
link /opt/csan/share/bash-completion/completions/csan usr/share/bash-completion/completions/csan
link /opt/csan/share/zsh/site-functions/_csan usr/share/zsh/site-functions/_csan
mkdir -p "$tree/opt/csan/share/licenses"
{
    cat LICENSE "$notices"
    echo "lib/csan/libcudart.so.13 is a part of NVIDIA's CUDA Toolkit, under its license."
} >"$tree/opt/csan/share/licenses/LICENSE"
chmod -R u=rwX,go=rX "$tree"

cat >"$work/csan.spec" <<END
Name: csan
Version: $version
Release: 1
Summary: Finds data races between CUDA streams
License: Apache-2.0
Group: Development/Tools
Packager: $packager
Recommends: libunwind
Suggests: gcc-c++ python3-devel openblas fftw-libs
# The embedded device's libraries have NVIDIA's names, and are for csan alone.
%global __provides_exclude_from ^/opt/csan/lib/csan/.*$
%global __requires_exclude ^lib(cuda|cudart|csan[a-z_]*)\\\\.so.*$
%global __brp_strip %{nil}
%global debug_package %{nil}
%global __os_install_post %{nil}

%description
Checks programs that use CUDA, PyTorch among them, while they run: two
accesses to the same bytes, one of them a write, with nothing that orders
them. It needs no GPU.

%files
/opt/csan
/usr/bin/csan
/usr/share/man/man1/csan.1
/usr/share/bash-completion/completions/csan
/usr/share/zsh/site-functions/_csan
END
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$tree/opt/csan/bin/csan")}
export SOURCE_DATE_EPOCH
cp -a "$tree" "$work/root" # rpmbuild removes its build root
rpmbuild -bb --quiet --buildroot "$work/root" --define "_topdir $work/top" --define "_rpmdir $work/out" \
    --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
    --define "clamp_mtime_to_source_date_epoch 1" --target "$(uname -m)" "$work/csan.spec" >"$work/log" 2>&1 ||
    { tail -5 "$work/log" >&2; exit 1; }
mv "$work"/out/*/*.rpm "$file"
echo "$file"
