"""Whether the fix that a report proposes is what makes the case right.

  advice.py REPORT... SOURCE...

REPORT is what csan wrote of a run of all cases, SOURCE a file of cases. A case in its right form has one
synchronization more, behind `if (!racy)`, or one call less, behind `if (racy)`, which is made again behind a
synchronization. That must be of the kind that the fix names. What is more must stand between the two calls
that the report names. Cases whose right form touches other bytes have none, and are only counted. Prints what does not fit, then "N fixes fit, N do not, N cases differ otherwise"; 1 if one does not.
"""

import re
import sys

KINDS = [
    (r"call cuda(Stream|Device)Synchronize", r"cuda(Stream|Device)Synchronize|settle\("),
    (r"record the event on stream", r"cudaEvent(Record|Synchronize)"),
    (r"wait for it \(MPI_Wait\)", r"MPI_(Wait|Test|Request_get_status)"),
    (r"wait for it \(MPI_Wait\) after MPI_R(put|get|acc)", r"MPI_Win_flush"),
    (r"end its epoch", r"MPI_Win_(fence|flush|unlock|complete)|by_flush"),
]
FRAME = re.compile(r"^\s+#\d+ (\w+) \S*?(\w+_cases\.c):(\d+)")


def reports(path):
    """(fix, places) of each: where in the cases the two calls were made, as (file, function, line)."""
    fix, places, taken = None, [], False
    for line in open(path, encoding="utf-8", errors="replace"):
        if line.startswith(("CSAN: ", "=====")):
            if fix and places:
                yield fix, places
            fix, places, taken = None, [], False
        elif line.startswith("Fix: "):
            fix = line[5:].strip()
        elif "ith stack trace" in line:
            taken = False
        frame = FRAME.match(line)
        if frame and not taken:
            places.append((frame[2], frame[1], int(frame[3])))
            taken = True
    if fix and places:
        yield fix, places


def guards_of(source):
    """(function, line, kind of the synchronization, whether it is one more) for each difference."""
    lines, function = source.splitlines(), None
    for number, line in enumerate(lines, 1):
        begin = re.match(r"(?:static )?void (\w+)\(.*\bracy\b", line)
        function = begin[1] if begin else function
        more = re.search(r"if \(!racy|(while|for) \(.*!racy|MPI_\w+\(racy \?|settle\(racy, |put_until\(racy, ", line)
        if more or "if (racy" in line:
            text = " ".join(lines[number - 1 : number + (2 if more else 4)])
            for words, sync in KINDS:
                if re.search(sync, text):
                    yield function, number, words, bool(more)


paths = sys.argv[1:]
sources = {path.rsplit("/", 1)[-1]: open(path).read() for path in paths if path.endswith(".c")}
known = {name: list(guards_of(text)) for name, text in sources.items()}
fits, wrong, other = 0, set(), set()
for path in paths:
    if path.endswith(".c"):
        continue
    for fix, places in reports(path):
        name, function = places[0][:2]
        guards = [guard for guard in known.get(name, []) if guard[0] == function]
        if not guards:
            other.add((name, function))
            continue
        low, high = (edge(place[2] for place in places[:2]) for edge in (min, max))
        if any(re.search(words, fix) and low <= line <= high for _, line, words, _ in guards):
            fits += 1
        else:
            wrong.add((name, function, low, high, fix))
for each in sorted(wrong):
    print("does not fit:", *each)
for each in sorted(other):
    print("differs otherwise:", *each)
print(f"{fits} fixes fit, {len(wrong)} do not, {len(other)} cases differ otherwise")
sys.exit(bool(wrong))
