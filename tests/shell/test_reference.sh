# The generated pages of docs/reference are what scripts/make-reference makes of this build.
csan=$root/bin/csan
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
run_foreign "$top/scripts/make-reference" "$csan" "$scratch/new"
check "make-reference succeeds" test "$status" = 0
# is_new PAGE: what was made of this build says the same
is_new() { diff -u "$top/docs/reference/$1" "new/docs/reference/$1" >out 2>err; }
pages=$(cd new/docs/reference && find . -name '*.md' -printf '%P\n' | sort)
for page in $pages; do
    check "docs/reference/$page is up to date (make docs)" is_new "$page"
done
check "each command has a page" sh -c "'$csan' help | sed -n 's/^  csan \([a-z]*\) .*/\1/p' | while read -r c; do
    [ -s new/docs/reference/commands/\$c.md ] || exit 1; done"
# every committed page of commands/ is one that is made: none is left of a command that is gone
made_now() { (cd "$top/docs/reference/commands" && ls) | diff - <(cd new/docs/reference/commands && ls) >out; }
check "no page of a command that is gone" made_now
every_one()
{
    for page in $pages; do
        head -4 "$top/docs/reference/$page" | grep -qi '^<!-- .*generated from .* by scripts/make-reference' || return 1
    done
}
check "generated pages say what they are generated from" every_one
# holds PAGE TEXT
holds() { grep -qF -- "$2" "$top/docs/reference/$1"; }
check "options.md has an option with its default" holds options.md '| [`exitcode`](#exitcode) | `66` |'
check "api.md has a function with its comment" holds api.md '#### `csan_pool_alloc`, `csan_pool_free`'
check "api.md has a struct of the detector" holds api.md 'struct csan_access {'
check "a command's page has its options" holds commands/run.md '| `--baseline=FILE` |'
check "a command's page has its exit codes" holds commands/explore.md '| 67 |'
check "report-format.md has a key with its meaning" holds report-format.md '| `fingerprint_version` | `2` |'
