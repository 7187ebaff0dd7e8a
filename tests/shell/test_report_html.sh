# The page of csan report --html: whole, alone, safe with any text, and drawn by a browser.

says() { grep -Eq -- "$1" err; }
has() { grep -Eq -- "$2" "$1"; }
lacks() { ! grep -Eq -- "$2" "$1"; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan program=$programs/example_error
repository=$(dirname "$test")/../..
# The line of a file of the repository that has these words.
line() { grep -nF -- "$2" "$repository/$1" | head -1 | cut -d: -f1; }

# Parses the page as a browser does, up to its scripts: elements that match, the two pieces of data
# as JSON, and nothing but scripts and style in which text could be markup.
cat >page.py <<'PYTHON'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
    alone = {"meta", "input", "br", "link", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.data, self.names = [], {}, set()

    def handle_starttag(self, name, attributes):
        self.names.add(name)
        if name not in self.alone:
            self.open.append((name, dict(attributes).get("id")))

    def handle_endtag(self, name):
        assert self.open and self.open[-1][0] == name, (name, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1][0] == "script" and self.open[-1][1]:
            self.data[self.open[-1][1]] = self.data.get(self.open[-1][1], "") + text

page = Page()
page.feed(open(sys.argv[1]).read())
page.close()
assert not page.open, page.open
assert not page.names & {"img", "link", "iframe"}, page.names
assert {"main", "nav", "h1", "header"} <= page.names
report = json.loads(page.data["report-data"])
around = json.loads(page.data["surroundings-data"])
sources = json.loads(page.data["sources-data"])
moments = {moment["at"]: moment for moment in around["moments"]}
print("command:", report["processes"][0]["command"])
for lane, made in zip(around["lanes"], around["created"]):
    print("lane:", lane, "created at", made["file"].split("/")[-1] + ":" + str(made["line"]) if made else "nowhere")
print("recording:", around["recording"], "editor:", sources["editor"])

def place(top, stack):
    if top is None:
        return "nowhere"
    found = sources["excerpts"][top["excerpt"]]
    frame = stack[top["frame"]]
    path = sources["files"][found["file"]]["path"]
    assert path.startswith("/") and path.endswith("/" + frame["file"].lstrip("./")) and found["line"] == frame["line"]
    return frame["file"].split("/")[-1] + ":" + str(frame["line"])

def source(top):
    found = sources["excerpts"][top["excerpt"]]
    file = sources["files"][found["file"]]
    return file["lines"].get(str(found["line"]), file["problem"]).strip()

def story(moment):
    at = moment["file"].split("/")[-1] + ":" + str(moment["line"]) if "file" in moment else "nowhere"
    return " ".join([moment.get("deed") or moment["name"], str(moment.get("event", "-")),
                     around["lanes"][moment["lane"]], "at", at])

assert len(report["races"]) == len(sources["races"])
for race, tops in zip(report["races"], sources["races"]):
    print("race:", race["number"], "group", race["group"])
    for access, top in zip(race["accesses"], tops["accesses"]):
        print("place:", access["name"], place(top["stack"], access["stack"]))
        if top["stack"]:
            print("source:", access["name"], source(top["stack"]))
        if access["launch_stack"]:
            print("launched:", access["name"], place(top["launch"], access["launch_stack"]))
    for call, top in zip(race["calls"], tops["calls"]):
        print("call:", call["role"], call["name"], place(top, call["stack"]))
for race, shown in zip(report["races"], around["races"]):
    assert shown["moments"] == sorted(set(shown["moments"])) and len(shown["skipped"]) == len(shown["moments"])
    for access, at in zip(race["accesses"], shown["accesses"]):
        if at:
            assert at in shown["moments"]
            print("access:", access["name"], moments[at]["kind"], around["lanes"][moments[at]["lane"]])
    for call, at in zip(race["calls"], shown["calls"]):
        assert not at or at in shown["moments"]
        print("drawn:", call["role"], story(moments[at]) if at else "not")
    for other, at in zip(race["others"], shown["others"]):
        print("other:", other["lane"] == around["lanes"][moments[at]["lane"]], other["bytes"])
    for at in shown["moments"]:
        print("moment:", story(moments[at]))
        if "from" in moments[at]:
            print("wait:", moments[at]["deed"], around["lanes"][moments[at]["lane"]],
                  moments[at]["from_lane"] if moments[at]["from_lane"] < 0
                  else around["lanes"][moments[at]["from_lane"]], moments[at].get("event"))
PYTHON

hostile='</script><img src=x onerror=alert(1)>&"'\''<!--<script>'
run "$csan" record -o example.csan -- "$program" "$hostile"
run "$csan" report example.csan --html example.html
check "csan report --html ends with 0" ended 0
check "... and prints nothing" test ! -s out -a ! -s err
check "the page needs nothing from elsewhere" lacks example.html 'https?://|src="|url\((https?|//)'
check "no text of the program is markup" lacks example.html '<img|<script>&|<!--'
run python3 page.py example.html
check "the page parses" ended 0
cp out parsed
check "it has the later access, on its stream" has parsed '^access: scale\(float\*, float, int\) op stream [A-Z]$'
check "it has the earlier access, on its stream" has parsed '^access: initialize\(float\*, int\) op the legacy default stream$'
check "it has the wait after them" has parsed '^wait: wait the host -1 None$'
check "special characters come through" grep -Fq -- "$hostile" parsed

# A wait that is there, beside the one that lacks.
run "$csan" record -o wait.csan -- "$programs/missing_wait"
run "$csan" report --html=wait.html wait.csan
run python3 page.py wait.html
check "an event's wait says whose work it waits for" has out '^wait: wait for event stream C stream A 1$'
check "lanes have the place where they were created" \
    has out "^lane: stream A created at missing_wait.cu:$(line samples/missing_wait.cu '&left, cudaStreamNonBlocking')$"
check "... and the record is there, though on a third stream" has out '^moment: record event 1 '
check "... with its line" has out "^moment: record event 1 stream [AC] at missing_wait.cu:$(line samples/missing_wait.cu 'EventRecord(left_done')$"
check "... as the wait has" \
    has out "^moment: wait for event 1 stream [AC] at missing_wait.cu:$(line samples/missing_wait.cu 'consumer, left_done')$"
check "... and the op" \
    has out "^moment: produce\\(float\\*, float, int\\) - stream B at missing_wait.cu:$(line samples/missing_wait.cu 'right>>>')$"

# The calls that explain a race are where they are among the others, with their lines.
drawn_call() # PROGRAM ROLE WHAT
{
    run "$csan" record -o "$1.csan" -- "$programs/$1"
    run "$csan" report "$1.csan" --html "$1.html"
    run python3 page.py "$1.html"
    check "$1: the $2 is drawn" has out "^drawn: $2 $3"
    check "$1: ... and every other call" lacks out '^drawn: .* not$'
}
drawn_call event_rerecord_moves_away record 'record event 1 stream .* at event_rerecord_moves_away.cu:[0-9]+$'
check "... the record that took its place" has out '^drawn: record-again record event 1 .* at .*cu:[0-9]+$'
check "... the wait" has out '^drawn: wait wait for event 1 .* at .*cu:[0-9]+$'
drawn_call event_recorded_too_early record 'record event 1 .*cu:[0-9]+$'
drawn_call event_recreated wait 'wait for event - .*cu:[0-9]+$'
drawn_call event_wait_before_record usable-record 'record event 1 .*cu:[0-9]+$'
drawn_call stream_destroy_no_order wait 'destroy stream - .*cu:[0-9]+$'
drawn_call graph_two_execs_two_streams wait 'launch graph - .*cu:[0-9]+$'
check "a graph's node has the place of its launch" \
    has out '^launched: increment\(int\*, int\) graph_two_execs_two_streams.cu:[0-9]+$'
check "... and its own" has out '^place: increment\(int\*, int\) program.h:[0-9]+$'
drawn_call programmatic_wait_not_passed_on wait 'fill_not_waiting_and_let\(int\*, int, int\) '

run "$csan" report --format=json -o example.json example.csan
run "$csan" report --html json.html example.json
check "a page of a report in JSON" ended 0
check "... has the race" has json.html '"name": "scale\(float\*, float, int\)"'
run python3 page.py json.html
check "... and says that it is of no recording" has out '^recording: False'

# Source: what was there when the program ran.
run python3 page.py example.html
racy='scale<<<n / 256, 256, 0, side>>>\(a, 5.0f, n\);'
check "the page has the source of the later access" has out "^source: scale\\(.*\\) $racy"
check "... and of the earlier one" has out '^source: initialize\(.*\) initialize<<<n / 256, 256>>>'
run "$csan" report --no-source example.csan --html without.html
run python3 page.py without.html
check "--no-source leaves it out" has out '^source: scale.* Source was left out'
check "... wholly" lacks without.html '"lines": \{"'
# A report in which the accesses are in another file of another directory; the race was found in 2020.
cat >edit.py <<'PYTHON'
import json, os, sys
report = json.load(open("example.json"))
race = report["races"][0]
report["processes"][0]["directory"] = os.getcwd()
race["time"] = 1577836800 * 10**9
for access in race["accesses"]:
    for frame in access["stack"]:
        frame["file"], frame["line"] = sys.argv[1], int(sys.argv[2])
json.dump(report, open("edited.json", "w"))
PYTHON
source_of() # FILE LINE: what the page shows of it
{
    run python3 edit.py "$1" "$2"
    run "$csan" report edited.json --html edited.html
    run python3 page.py edited.html
}
source_of gone.cu 3
check "source that is not there is said" has out '^source: scale.* The source is not here$'
seq -f 'line %.0f' 100 >mine.cu
source_of mine.cu 50
check "source that is newer is said, and not shown" has out '^source: scale.* The source is newer than the recording$'
check "... at all" lacks edited.html 'line 50'
touch -d 2019-12-31 mine.cu
source_of mine.cu 50
check "source that is older is shown" has out '^source: scale.* line 50$'
check "... from three lines before" has edited.html '"47": "line 47"'
check "... to three after" has edited.html '"53": "line 53"'
check "... and no more" lacks edited.html '"(46|54)": '
source_of mine.cu 99
check "... as far as it goes" has edited.html '"100": "line 100"'
source_of mine.cu 5000
check "a line that it has not is said" has out '^source: scale.* The source has fewer lines$'
mkfifo -m 600 pipe.cu
source_of pipe.cu 1
check "a pipe is not read" has out '^source: scale.* The source is no regular file$'
source_of /etc/passwd 1
check "what has no name of source is not read" has out '^source: scale.* This file has no name of source$'
printf 'a\0b\n' >data.cu
touch -d 2019-12-31 data.cu
source_of data.cu 1
check "what is no text is not shown" has out '^source: scale.* The source is no text$'

# The link to an editor.
run "$csan" report example.json --editor='idea://open?file={file}&line={line}' --html editor.html
run python3 page.py editor.html
check "--editor sets the link" grep -Fq 'editor: idea://open?file={file}&line={line}' out
run "$csan" report example.json --html editor.html --editor=
run python3 page.py editor.html
check "--editor= leaves links out" has out 'editor: None'
for wrong in 'javascript:alert({file})' 'JavaScript:alert({file})' 'data:text/html,{file}' '{file}' 'vscode://file/'; do
    run "$csan" report example.json --html editor.html --editor="$wrong"
    check "--editor=$wrong is refused" ended 2
    check "... with a reason" says "^csan report: --editor='"
done

# Races of one missing order, as one report; hostile names; many races.
cat >many.py <<'PYTHON'
import copy, json
report = json.load(open("example.json"))
[race] = report["races"]

def another(number, group):
    made = copy.deepcopy(race)
    made.update(number=number, group=group, fingerprint="%016x" % number)
    made["text"] = made["text"].replace("Race 1 is", f"Race {number} is") + f"word{number}end\n"
    made["accesses"][0]["stack"][0]["line"] = 1000 + number
    return made

def write(name, races):
    json.dump(dict(report, races=races), open(name, "w"))

write("one.json", [another(1, 1), another(2, 2), another(3, 1)])
write("two.json", [another(2, 2), another(4, 4), another(5, 4), another(6, 2)])
write("many.json", [another(i, i if i < 1400 else 1) for i in range(1, 1501)])
hostile = another(1, 1)
for access in hostile["accesses"]:
    access["name"] = "</script><img src=x onerror=alert(1)>\x1b[31m\u202egnp.exe(int)"
    access["lane"] = "<b>stream</b>\u0007"
    for frame in access["stack"]:
        frame["file"], frame["function"] = "\"><img src=x>#%2e?\u202e.cu", "<i>main</i>"
hostile["fix"] = hostile["cause"] = "<img src=y>\x1b[2J"
write("hostile.json", [hostile])
PYTHON
run python3 many.py
run "$csan" report one.json --format=text
check "csan report prints races of one missing order as one" has out \
    '^csan: race 3, by the same missing order as race 1: scale .* does not wait for initialize'
check "... and the others in full" test "$(grep -c '^Race [0-9]* is certain' out)" = 2
run "$csan" merge --format=json one.json two.json
check "csan merge numbers groups anew" test "$(grep -o '"number": [0-9]*, "group": [0-9]*' out |
    tr -dc '0-9,\n' | tr '\n' ' ')" = "1,1 2,2 3,1 4,4 5,4 6,2 "
run "$csan" report one.json --html groups.html
run "$csan" report hostile.json --html hostile.html
check "hostile names are no markup" lacks hostile.html '<img|<b>|<i>main'
run "$csan" report many.json --html many.html
run python3 page.py many.html
check "a page of 1,500 races parses" ended 0
check "... and is not too large for a browser" test "$(stat -c %s many.html)" -lt 8000000
run "$csan" record -o clean.csan -- "$programs/example_error_fixed"
run "$csan" report --html clean.html clean.csan
run python3 page.py clean.html
check "a page without races parses" ended 0
run "$csan" report example.csan --html /no/such/directory/x
check "a page that cannot be written ends with 2" ended 2
check "... and is named" says '/no/such/directory/x'
run "$csan" report example.csan --html
check "--html without a file is said" says "'--html' lacks its value"
head -c 900 example.csan >cut.csan
run "$csan" report --html cut.html cut.csan
check "a page of a recording that is cut off ends with 2" ended 2
check "... and is there" has cut.html 'surroundings-data'

# As a browser makes it.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "# test_report_html: no chromium here: the page's script is not run"
else
    drawn() # PAGE: the document after its script ran
    {
        run_foreign "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" \
            --window-size=390,844 --dump-dom "file://$PWD/$1"
    }
    # No such character in what a browser shows: text and attributes.
    cat >shown.py <<'PYTHON'
import html.parser, sys

class Shown(html.parser.HTMLParser):
    inside = None

    def handle_starttag(self, name, attributes):
        self.inside = name
        assert not any(ord(c) in (0x1b, 7, 0x202e) for _, value in attributes for c in value or ""), attributes

    def handle_endtag(self, name):
        self.inside = None

    def handle_data(self, text):
        assert self.inside == "script" or not any(ord(c) in (0x1b, 7, 0x202e) for c in text), text

Shown().feed(open(sys.argv[1]).read())
PYTHON
    drawn example.html
    check "the browser draws the order that is missing" has out 'class="missing" marker-end'
    check "... and the wait after it" has out 'class="edge all" marker-end'
    check "... to the lanes' names" lacks out '<text class="name"[^>]*>…'
    check "... both accesses" test "$(grep -o '<g class="access"' out | wc -l)" = 2
    check "... with their lines" has out 'class="place"><a [^>]*>[^<]*example_error.cu:[0-9]+'
    check "... and the text as text" has out '&lt;/script&gt;&lt;img src=x'
    check "what to do and the cause stand right under the title" has out \
        '</h2><p class="todo"><strong>What to do</strong>.*</p><p class="cause"><strong>Cause</strong>'
    check "places in the sentences are links that open an editor" has out \
        'class="todo">.*<a class="where" href="vscode://file/[^"]*example_error.cu:[0-9]+"[^>]*>example_error.cu:[0-9]+</a>'
    check "the source of the later access is shown" has out '<span class="named"><i>▶ .*scale&lt;&lt;&lt;'
    check "its path can be copied" has out '<code class="path"[^>]*>/[^<]*example_error.cu:[0-9]+</code>'
    check "a page of a recording does not ask for one" lacks out '>This page was made from a report in JSON'
    cat groups.html - >keys.html <<'END'
<script>
const pressed = [];
function press(key) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    pressed.push(document.activeElement.id || document.activeElement.hash || "none");
}
press("/"), press("ArrowDown"), press("ArrowUp");
document.documentElement.dataset.pressed = pressed.join(" ");
</script>
END
    drawn keys.html
    check "/ goes to the filter, the arrows to the list" has out 'data-pressed="words #race-1 '
    drawn json.html
    check "a report in JSON is drawn, too" has out 'class="missing" marker-end'
    check "... and says that the rest is in a recording" has out 'only in a recording: <code>csan record'
    drawn event_rerecord_moves_away.html
    check "three calls are drawn as such" test "$(grep -o '<g class="call"' out | wc -l)" = 3
    check "... with their roles" has out '>recorded aga[^<]*<'
    check "... and their lines" has out 'class="at"[^>]*>…?[^<]*away.cu:[0-9]+<'
    check "... and listed" has out '<strong>Recorded again: </strong>'
    drawn graph_two_execs_two_streams.html
    check "a graph's node shows its launch" has out '<h5>In a launch of its graph</h5><figure>'
    check "... and where it was made" has out '<h5>As a node that was made here</h5><figure>'
    drawn edited.html
    check "source that is not shown is a sentence" has out 'class="quiet problem">The source is no text\.'
    drawn groups.html
    check "one missing order is one entry" test "$(grep -o '<li><a href="#race-' out | wc -l)" = 2
    check "... that says how many" has out 'and 1 more by the same missing order'
    check "... and lists the other one" has out '<li value="3"><a href="#race-3">'
    drawn hostile.html
    check "hostile names are text" has out '&lt;img src=x onerror=alert\(1\)&gt;'
    check "... with what turns or moves text shown" has out '⟨U\+202E⟩gnp'
    run python3 shown.py out
    check "... wherever they stand" ended 0
    drawn hostile.html
    check "... and no element" lacks out '<img|<b>|<i>main'
    check "... nor leave the link's path" lacks out 'href="vscode:[^"]*[#?]'
    cat many.html - >filtered.html <<'END'
<script>
const entries = () => byId("list").children.length;
document.documentElement.dataset.entries = entries();
byId("more").click();
document.documentElement.dataset.more = entries();
byId("words").value = "word77end data";
byId("words").dispatchEvent(new Event("input"));
document.documentElement.dataset.filtered = `${entries()} ${byId("shown").textContent}`;
</script>
END
    drawn filtered.html
    check "of 1,500 races the first are listed" has out 'data-entries="200"'
    check "... more on demand" has out 'data-more="400"'
    check "... and those that are looked for" has out 'data-filtered="1 1 of 1399 reports, 1500 races"'
    drawn clean.html
    check "a clean run says so" has out 'No races'
fi

# However many outputs: the recording is read for its races, and once more for what is around them.
cat >opens.c <<'C'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (strstr(path, "twice.csan"))
        fputs("opened\n", stderr);
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
C
gcc -D_GNU_SOURCE -shared -fPIC opens.c -o opens.so -ldl
run env CSAN=1 CSAN_OPTIONS=record=twice.csan "$program"
run env LD_PRELOAD="./opens.so${LD_PRELOAD:+:$LD_PRELOAD}" "$csan" report twice.csan --html=a.html --dot=a.dot --perfetto=a.trace --json=a.json
check "several outputs are written" ended 0
check "and the recording is read twice for all of them" [ "$(grep -c opened err)" = 2 ]
