# The classic kernels compute what the host computes, without a race: they run one after the other.

for program in "$root"/tests/corpus-75/classics/*; do
    name=$(basename "$program")
    CSAN=1 run "$program"
    check "$name computes what the host does" grep -qx done out
    check "$name has no race" grep -q ', 0 races, 0 possible races' err
done
