# Up to twenty samples of each of 484 texture modes that an H200 gave (tests/data/texture): the
# embedded device gives the same bits.
run env NVCC="$nvcc" "$(dirname "$test")/../gpu/texture_samples.sh" "$root" "$(dirname "$test")/../data/texture/h200.txt.gz"
check "texture samples: the embedded device gives a GPU's bits" [ "$status" = 0 ]
check "texture samples: all modes are compared" grep -q '^484 passed, 0 failed$' out
