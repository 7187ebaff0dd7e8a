"""Runs the code that documents show: snippets.py TOP ROOT WORK PAGE...

TOP is the tree, ROOT the build (bin, lib), WORK an empty folder, PAGE a path below TOP. Prints
"page:line: what is wrong" for each block that is wrong, and at the end how many blocks were run and
how many were not, and why.

Each page begins in a folder of its own with the sources of samples/. A block is handled by its tag:

  console      lines "$ command" are run; the lines below them are its output, "..." stands for anything
  sh           the commands are run
  c, c++, cuda a whole program is built and run, a fragment is compiled
  python, json, yaml   are parsed
  text         is output, a file or a form, and not run

What is written before a block, in comments that a reader does not see:

  <!-- not run: REASON -->   it is not run; REASON is one of REASONS
  <!-- before: COMMANDS -->  these are run first
  <!-- in: tree -->          they run in the tree, whose build/ is ROOT; they must leave no file there
  <!-- file: NAME -->        the block is a file, which later blocks use
  <!-- with: TEXT -->        what a fragment of C declares outside of what is shown
  <!-- from: PATH -->        the block's lines stand in this file of the tree, whatever their indentation
  <!-- exit: CODE -->        how the block's commands end (otherwise 0, or 66 and 67 for findings)

/opt/csan is where a reader installed csan; here it is ROOT.
"""

import collections
import json
import os
import pty
import re
import shutil
import subprocess
import sys

REASONS = (
    "needs a GPU",
    "needs PyTorch",
    "needs a test framework",
    "needs root",
    "needs the network",
    "needs a person at the terminal",
    "needs a launcher of processes",
    "needs another machine",
    "builds csan",
    "takes minutes",
)
SECONDS = 60

Block = collections.namedtuple("Block", "line tag text comments")


def blocks_of(text):
    """The fenced blocks of a page, each with the comments that stand directly before it."""
    lines, comments, at = text.split("\n"), [], 0
    while at < len(lines):
        line = lines[at]
        if fence := re.match(r"( *)```+(\S*)\s*$", line):
            begin, indent = at + 1, len(fence.group(1))
            at += 1
            while not re.match(r" *```+\s*$", lines[at]):
                at += 1
            body = "\n".join(text_line[indent:] for text_line in lines[begin:at])
            yield Block(begin, fence.group(2), body, comments)
            comments = []
        elif line.lstrip().startswith("<!--"):
            begin = at
            while "-->" not in lines[at]:
                at += 1
            comment = "\n".join(lines[begin : at + 1]).strip()
            if match := re.match(r"<!-- (not run|before|file|with|exit|in|from): (.*?) ?-->$", comment, re.S):
                comments.append((match.group(1), match.group(2).strip()))
        elif line.strip():
            comments = []
        at += 1


def commands_of(text, prompt):
    """(command, output) of a block; a command goes on on the next line behind a backslash."""
    commands = []
    goes_on = False
    for line in text.split("\n"):
        if goes_on:
            commands[-1][0] += "\n" + line
        elif line.startswith(prompt) and (prompt or line.strip() and not line.startswith("#")):
            commands.append([line[len(prompt) :], []])
        elif prompt and commands:
            commands[-1][1].append(line)
        else:
            goes_on = False
            continue
        goes_on = line.endswith("\\") and not commands[-1][1]
    return commands


def pattern_of(lines):
    """What is expected as a regular expression; "..." is anything, on a line of its own any lines."""
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part.rstrip() if i else part) for i, part in enumerate(line.rstrip().split("..."))) + r"\n"
    return re.compile(pattern)


class Page:
    def __init__(self, top, root, work, path):
        self.top, self.root, self.path = top, root, path
        self.folder = f"{work}/{path.replace('/', '-').removesuffix('.md')}"
        self.prefix = f"{work}/csan"
        self.wrong, self.run, self.left_out = [], collections.Counter(), collections.Counter()
        os.makedirs(f"{self.folder}/.state")
        for name in os.listdir(f"{top}/samples"):
            if name.endswith((".cu", ".h")):
                shutil.copy(f"{top}/samples/{name}", self.folder)

    def fails(self, block, what):
        self.wrong.append(f"{self.path}:{block.line}: {what}")

    # ---- Commands

    def shell(self, command, in_tree=False):
        """Runs it at a terminal, where the one before it stopped. Returns its code and its output."""
        if in_tree:
            command = f"(cd {self.top} && {re.sub(r'(?<![^ ])build/', self.root + '/', command)})"
        state = f"{self.folder}/.state"
        script = (
            f". {state}/environment 2>/dev/null; cd \"$(cat {state}/folder 2>/dev/null || echo {self.folder})\"\n"
            f"(exit $(cat {state}/code 2>/dev/null || echo 0))\n"
            f"{command.replace('/opt/csan', self.prefix)}\n"
            f"code=$?; echo $code >{state}/code; declare -p >{state}/environment; pwd >{state}/folder; exit $code"
        )
        environment = {
            **os.environ,
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
            "CSAN_CACHE": f"{self.folder}/.state/cache",
            "CSAN_DEVICE": "embedded",
            "TERM": "dumb",
        }
        reader, writer = pty.openpty()
        process = subprocess.Popen(
            ["timeout", "-k", "5", str(SECONDS), "bash", "-c", script],
            stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, env=environment,
        )
        os.close(writer)
        output = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # the last writer is gone
                break
            if not part:
                break
            output += part
        os.close(reader)
        text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output.decode(errors="replace")).replace("\r\n", "\n")
        text = re.sub(r"[^\n]*\r", "", text)  # what shows progress is written over
        return process.wait(), text.replace(self.prefix, "/opt/csan")

    def run_commands(self, block, commands, code, in_tree=False):
        for command, expected in commands:
            ended, output = self.shell(command, in_tree)
            allowed = (0, 66, 67) if code is None else (code,)
            shown = "".join(f"\n    {line}" for line in output.split("\n")[-30:] if line)
            if ended not in allowed:
                self.fails(block, f"'{command}' ended with {ended}{shown}")
                return
            while expected and not expected[-1].strip():
                expected.pop()
            if expected and not pattern_of(expected).fullmatch(output.rstrip("\n") + "\n"):
                self.fails(block, f"'{command}' prints something else:{shown}")
                return

    def console(self, block, comments):
        code = int(comments["exit"]) if "exit" in comments else None
        commands = commands_of(block.text, "$ ")
        if not commands:
            self.fails(block, "a console block has lines that begin with '$ '")
        self.run_commands(block, commands, code, comments.get("in") == "tree")

    def sh(self, block, comments):
        code = int(comments["exit"]) if "exit" in comments else None
        commands = commands_of(block.text, "")
        whole = any(subprocess.run(["bash", "-n", "-c", c], capture_output=True).returncode for c, _ in commands)
        self.run_commands(block, [[block.text, []]] if whole else commands, code, comments.get("in") == "tree")

    # ---- Programs

    def compile(self, block, command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if result.returncode:
            self.fails(block, "does not compile:\n    " + result.stderr.strip().replace("\n", "\n    "))
        return result.returncode == 0

    def wrapped(self, text, declarations):
        """A fragment as a file: includes first; statements within a function."""
        includes = re.findall(r"^#include.*$", text, re.M)
        body = re.sub(r"^#include.*\n?", "", text, flags=re.M)
        has_functions = re.search(r"^\w[^\n;=]*\)\s*\n?\{", body, re.M)
        if not has_functions:
            body = f"void snippet(void);\nvoid snippet(void)\n{{\n{body}\n}}"
        return "\n".join(includes) + f"\n{declarations}\n{body}\n"

    def program(self, block, comments):
        cuda = f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}"
        kernels = "<<<" in block.text or "__global__" in block.text
        suffix = ".cu" if kernels else ".c" if block.tag == "c" else ".cpp"
        whole = "with" not in comments and re.search(r"\bint main\(", block.text)
        source = f"snippet-{block.line}{suffix}"
        with open(f"{self.folder}/{source}", "w", encoding="utf-8") as file:
            file.write(block.text if whole else self.wrapped(block.text, comments.get("with", "")))
        compiler = ["nvcc"] if kernels else ["gcc", "-std=c11", "-Wall", "-Wno-unused", "-Werror=implicit-function-declaration"] if suffix == ".c" else ["g++", "-include", "cuda_runtime.h"]
        command = compiler + ["-g", f"-I{self.top}/include"] + ([] if kernels else [f"-I{cuda}/include"]) + [source]
        if whole:
            linker = "-Xlinker" if kernels else "-Wl,-rpath"
            rpath = [linker, f"-rpath={self.root}/lib"] if kernels else [f"{linker},{self.root}/lib"]
            if self.compile(block, command + ["-o", "snippet", f"-L{self.root}/lib", "-lcsan"] + rpath):
                self.run_commands(block, [["CSAN=1 ./snippet", []]], None)
        else:
            self.compile(block, command + (["-c", "-o", "snippet.o"] if kernels else ["-fsyntax-only"]))

    # ---- Data

    def parsed(self, block):
        try:
            if block.tag == "json":
                json.loads(block.text)
            elif block.tag == "python":
                compile(block.text, self.path, "exec")
            else:
                import yaml

                yaml.safe_load(block.text)
        except ImportError:
            self.left_out["there is no YAML parser"] += 1
            return False
        except Exception as problem:  # whatever a parser says
            self.fails(block, f"cannot be parsed: {problem}")
        return True

    def quoted(self, block, path):
        """Each of its lines is one of the file's, but for blanks."""
        with open(f"{self.top}/{path}", encoding="utf-8") as file:
            lines = {" ".join(line.split()) for line in file}
        for line in block.text.split("\n"):
            if " ".join(line.split()) not in lines:
                self.fails(block, f"{path} has no line '{line}'")

    def handle(self, block):
        comments = dict(block.comments)
        if "from" in comments:
            self.quoted(block, comments["from"])
        if "not run" in comments:
            if comments["not run"] not in REASONS:
                self.fails(block, f"not run for a reason that is not known: {comments['not run']}")
            self.left_out[comments["not run"]] += 1
            return
        if "before" in comments:
            self.run_commands(block, [[comments["before"], []]], None)
        if "file" in comments:
            with open(f"{self.folder}/{comments['file']}", "w", encoding="utf-8") as file:
                file.write(block.text + "\n")
            os.chmod(f"{self.folder}/{comments['file']}", 0o755)
            self.run["files"] += 1
            if block.tag not in ("json", "yaml", "python"):
                return
        if block.tag in ("console", "sh"):
            getattr(self, block.tag)(block, comments)
            self.run["commands"] += 1
        elif block.tag in ("c", "c++", "cuda"):
            self.program(block, comments)
            self.run["programs"] += 1
        elif block.tag in ("json", "yaml", "python"):
            if self.parsed(block):
                self.run["parsed"] += 1
        elif block.tag == "text":
            self.run["text"] += 1
        else:
            self.fails(block, f"a block's tag says what it is: console, sh, c, ..., or text; not '{block.tag}'")


def main():
    top, root, work, *paths = sys.argv[1:]
    os.makedirs(f"{work}/csan")
    for name, target in (("bin", f"{root}/bin"), ("lib", f"{root}/lib"), ("include", f"{top}/include")):
        os.symlink(target, f"{work}/csan/{name}")
    run, left_out = collections.Counter(), collections.Counter()
    for path in paths:
        page = Page(top, root, work, path)
        with open(f"{top}/{path}", encoding="utf-8") as file:
            for block in blocks_of(file.read()):
                page.handle(block)
        run += page.run
        left_out += page.left_out
        for line in page.wrong:
            print(line)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(run.items()) if what != "text")
    reasons = ", ".join(f"{count} {why}" for why, count in left_out.most_common())
    print(f"snippets of {len(paths)} pages: {counts}; {run['text']} are output or text; not run: {reasons or 'none'}")


main()
