# Every page that README.md, DESIGN.md and docs/ link to is there, so are the paths, options, targets
# and variables that they name, and README.md keeps to its size.
csan=$root/bin/csan
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

python3 "$root/tests/shell/check_documents.py" "$root" "$csan" >wrong 2>&1
check "documents name nothing that is not there" cmp -s wrong /dev/null || sed 's/^/    /' wrong
# wrong_page TEXT: what is said of a page that has this line.
wrong_page()
{
    rm -rf tree
    mkdir -p tree/docs/reference tree/mk
    cp "$root/docs/reference/environment.md" tree/docs/reference/
    cp "$root/Makefile" tree/
    echo "$1" >tree/docs/page.md
    python3 "$root/tests/shell/check_documents.py" tree "$csan" | grep -q "^docs/page.md:1: $2\$"
}
check "a name that was not replaced is found" wrong_page '| @ROWS@ |' 'unreplaced @ROWS@'
check "a path that is not there is found" wrong_page 'as `samples/absent.cu` shows' 'path samples/absent.cu'
check "a command's option that is not there is found" wrong_page '`csan run --frobnicate ./app`' 'option --frobnicate of csan run'
check "an option of the library's, too" wrong_page '`CSAN_OPTIONS=dedup=1:frobnicate=1 ./app`' 'option frobnicate='
check "a target that is not there is found" wrong_page '`make frobnicate`' 'target make frobnicate'
check "what is there is not" eval '! wrong_page "\`csan run --options=dedup=1 ./app --own\`, \`make help\`" ".*"'
