# Rooms of the source tree use what is below them, and no large circle is among the hooks' files.
# scripts/rooms.table has the order; the objects of this build show who uses whom.
tree=$(realpath "$(dirname "$test")/../..")
objects=$root/obj

rooms() { "$tree/scripts/check-rooms" "$@" >out 2>err; }
says() { grep -q "$1" out || grep -q "$1" err; }

check "every arrow points down" rooms "$objects"

# Two rooms that are exchanged in the table make arrows that point up.
exchanged()
{
    sed 's#^runtime/hook/session #runtime/hook/SWAP #; s#^runtime/hook/run #runtime/hook/session #
        s#^runtime/hook/SWAP #runtime/hook/run #' "$tree/scripts/rooms.table" >table
    ! rooms --table table "$objects" &&
        says 'arrow points up: runtime/hook/state/stream.c -> runtime/hook/session/session.c: .*session_context'
}
check "an arrow that points up is found and named" exchanged

missing()
{
    grep -v '^runtime/learn ' "$tree/scripts/rooms.table" >table
    ! rooms --table table "$objects" && says 'runtime/learn/learner.c is in no room'
}
check "an object in no room is found" missing

# made SOURCE FILE: an object as the build would make it, in a tree of its own.
made()
{
    mkdir -p "$(dirname "tree/build/obj/$1")" "$(dirname "tree/$1.c")" tree/scripts
    printf '%s\n' "$2" >"tree/$1.c"
    gcc -c "tree/$1.c" -o "tree/build/obj/$1.o"
}
upward()
{
    made low/a 'void upper(void); void lower(void) { upper(); }' &&
        made high/b 'void lower(void); void upper(void) { lower(); }' &&
        cp "$tree/scripts/check-rooms" tree/scripts && printf 'low\nhigh\n' >tree/scripts/rooms.table
    ! tree/scripts/check-rooms --tops low,high tree/build/obj >out 2>err &&
        says 'arrow points up: low/a.c -> high/b.c: upper' && ! says 'high/b.c -> low/a.c'
}
check "a made-up arrow that points up is found, and the one that points down is not" upward

# Twelve hooks that call each other in turn, and a room of 26 files.
circle()
{
    local i next
    rm -rf tree
    for i in {0..11}; do
        next=$(((i + 1) % 12))
        made "runtime/hook/x/f$i" "void f$next(void); void f$i(void) { f$next(); }" || return 1
    done
    for i in {0..25}; do made "csan/y/g$i" "void g$i(void) {}" || return 1; done
    mkdir -p tree/scripts && cp "$tree/scripts/check-rooms" tree/scripts &&
        printf 'csan/y\nruntime/hook/x\n' >tree/scripts/rooms.table
    ! tree/scripts/check-rooms tree/build/obj >out 2>err && says 'a circle of 12 files' &&
        says 'csan/y has 26 .c files'
}
check "a large circle and a large room are found" circle

# DESIGN.md has the hooks' rooms in the table's order.
drawn()
{
    sed -n '/^### `runtime\/hook/,/^Beside these/s#^| `runtime/hook/\([a-z]*\)` .*#\1#p' "$tree/DESIGN.md" >drawn
    sed -n 's#^[+ ]*runtime/hook/\([a-z]*\) .*#\1#p' "$tree/scripts/rooms.table" >ordered
    diff ordered drawn >out
}
check "DESIGN.md draws the hooks' rooms in that order" drawn
