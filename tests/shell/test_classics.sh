# The classic kernels, and those that Triton compiled, compute what the host computes, without a
# race, and no launch touches a byte that its ranges lack, or leaves out one of an exact range (that
# would end the program with 70).

for program in "$root"/tests/corpus-75/classics/* "$root"/tests/corpus-75/triton/launch; do
    name=$(basename "$program")
    CSAN=1 CSAN_OPTIONS=verify_ranges=1 run "$program"
    check "$name computes what the host does" grep -qx done out
    check "$name has no race" grep -q ', 0 races, 0 possible races' err
    check "$name touches what its ranges say" [ "$status" = 0 ]
    check "$name has its kernels judged" grep -Eq '^csan: ranges: .*: [0-9]+ launch' err
done

# Of Triton's, only what data decides is not exact; `err` is still that of the last program.
bounded=$(sed -n 's/^csan: ranges: \(.*\): [0-9]* launch.* [1-9][0-9]* \(bounded\|unknown\).*/\1/p' err | tr '\n' ' ')
check "Triton's kernels are exact but where data decides" \
    [ "$bounded" = "gather_rows layer_norm_backward histogram triton_poi_fused_embedding_4 " ]
