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
print("recording:", around["recording"], "editor:", sources["editor"])

def place(top, stack):
    if top is None:
        return "nowhere"
    found = sources["excerpts"][top["excerpt"]]
    frame = stack[top["frame"]]
    assert found["path"].endswith("/" + frame["file"].lstrip("./")) and found["line"] == frame["line"]
    return frame["file"].split("/")[-1] + ":" + str(frame["line"])

def source(top):
    found = sources["excerpts"][top["excerpt"]]
    return found.get("problem") or found["lines"][found["line"] - found["first"]].strip()

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
check "it has the later access, on its stream" has parsed '^access: scale\(float\*, float, int\) op stream [1-9]'
check "it has the earlier access, on its stream" has parsed '^access: initialize\(float\*, int\) op stream 0$'
check "it has the wait after them" has parsed '^wait: wait the host -1 None$'
check "special characters come through" grep -Fq -- "$hostile" parsed

# A wait that is there, beside the one that lacks.
run "$csan" record -o wait.csan -- "$programs/missing_wait"
run "$csan" report --html=wait.html wait.csan
run python3 page.py wait.html
check "an event's wait says whose work it waits for" has out '^wait: wait for event stream [0-9]+ stream [0-9]+ 1$'
check "... and the record is there, though on a third stream" has out '^moment: record event 1 '
check "... with its line" has out "^moment: record event 1 stream [0-9]+ at missing_wait.cu:$(line samples/missing_wait.cu 'EventRecord(left_done')$"
check "... as the wait has" \
    has out "^moment: wait for event 1 stream [0-9]+ at missing_wait.cu:$(line samples/missing_wait.cu 'consumer, left_done')$"
check "... and the op" \
    has out "^moment: produce\\(float\\*, float, int\\) - stream [0-9]+ at missing_wait.cu:$(line samples/missing_wait.cu 'right>>>')$"

run "$csan" report --format=json -o example.json example.csan
run "$csan" report --html json.html example.json
check "a page of a report in JSON" ended 0
check "... has the race" has json.html '"name": "scale\(float\*, float, int\)"'
run "$csan" record -o clean.csan -- "$programs/example_error_fixed"
run "$csan" report --html clean.html clean.csan
run python3 page.py clean.html
check "a page without races parses" ended 0
run "$csan" report example.csan --html /no/such/directory/x
check "a page that cannot be written ends with 2" ended 2
check "... and is named" says '/no/such/directory/x'
run "$csan" report example.csan --html
check "--html without a file is said" says "lacks its value: '--html'"
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
    drawn example.html
    check "the browser draws the order that is missing" has out 'class="missing" marker-end'
    check "... and the wait after it" has out 'class="edge" marker-end'
    check "... to the lanes' names" lacks out '<text class="name"[^>]*>…'
    check "... both accesses" test "$(grep -o '<g class="access"' out | wc -l)" = 2
    check "... with their lines" has out 'class="place">[^<]*example_error.cu:[0-9]+'
    check "... and the text as text" has out '&lt;/script&gt;&lt;img src=x'
    cat example.html - >keys.html <<'END'
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
    drawn clean.html
    check "a clean run says so" has out 'No races\.'
fi
