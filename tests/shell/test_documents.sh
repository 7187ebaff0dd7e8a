# Every page that README.md, DESIGN.md and docs/ link to is there, and README.md keeps to its size.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
links()
{
    grep -o '](\([^)#]*\)' "$1" | sed 's/^](//' | grep -v '^[a-z]*:' | grep .
}
missing=
while read -r page; do
    for link in $(links "$page"); do
        [ -e "$(dirname "$page")/$link" ] || missing+="$page: $link"$'\n'
    done
done < <(ls "$root"/*.md; find "$root/docs" -name '*.md')
printf '%s' "$missing" >missing
check "every page that is linked to is there" test ! -s missing
check "README.md has at most 8 kB" test "$(wc -c <"$root/README.md")" -le 8192
