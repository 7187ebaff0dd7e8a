# Structs of csan.h and detector.h that the library fills and csan_torch reads through ctypes: the same members, in
# the same order, at the same offsets. (csan_torch itself needs PyTorch; its detector.py does not.)

cat >describe.py <<'PYTHON'
import ctypes, importlib.util, re, sys
*headers, path = sys.argv[1:]
spec = importlib.util.spec_from_file_location("detector", path)
detector = importlib.util.module_from_spec(spec)
spec.loader.exec_module(detector)
structs = {"csan_race_access": detector._RaceAccess, "csan_race": detector._Race,
           "csan_access": detector.Access, "csan_dim": detector.Dim, "csan_indices": detector.Indices}
text = re.sub(r"/\*.*?\*/", "", "".join(open(header).read() for header in headers), flags=re.S)
lines, expected = [], []
for name, struct in structs.items():
    body = re.search(r"struct %s \{(.*?)\n\};" % name, text, re.S).group(1)
    members = [re.search(r"(\w+)(\[\w+\])?$", part.strip()).group(1)
               for line in body.split(";") if line.strip() for part in line.split(",")]
    lines.append(f'printf("%s %zu\\n", "{name}", sizeof(struct {name}));')
    expected.append(f"{name} {ctypes.sizeof(struct)}")
    known = [field[0] for field in struct._fields_]
    assert known == members, (name, known, members)
    for member in members:
        lines.append(f'printf("%s %zu\\n", "{name}.{member}", offsetof(struct {name}, {member}));')
        expected.append(f"{name}.{member} {getattr(struct, member).offset}")
open("offsets.c", "w").write("#include <csan/csan.h>\n#include <stdio.h>\nint main(void)\n{\n"
                             + "\n".join(lines) + "\nreturn 0;\n}\n")
open("expected", "w").write("\n".join(expected) + "\n")
PYTHON

source=$(cd "$(dirname "$test")/../.." && pwd)
run_foreign python3 describe.py "$source/include/csan/csan.h" "$source/include/csan/adapter.h" "$source/include/csan/detector.h" \
    "$source/runtime/torch/csan_torch/detector.py"
check "csan_torch knows the members of csan.h's structs" eval '[ "$status" = 0 ]'
run_foreign gcc -I"$source/include" -o offsets offsets.c
run_foreign ./offsets
check "... at the same offsets" cmp -s out expected
