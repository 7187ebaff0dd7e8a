"""What README.md, DESIGN.md and docs/ name, against the tree: check_documents.py TOP CSAN.

One line on standard output for each name that is wrong: a name in @...@ that a script should have replaced, a path that
is not there, a heading that a link leads to and the page lacks, an option that a command or the
library does not have, a target that make does not have, a variable that the code reads and environment.md lacks.
"""

import glob
import json
import os
import re
import subprocess
import sys

top, csan = sys.argv[1:]
pages = sorted(glob.glob(f"{top}/*.md") + glob.glob(f"{top}/docs/**/*.md", recursive=True))
FOLDERS = "csan|docs|include|mk|runtime|samples|scripts|tests"
# Folders of an installed csan, and headers as a program includes them.
INSTALLED = re.compile(r"csan/(csan|adapter|detector|gtest|catch2|test_listener|stream_ordered_pool|csan-[a-z]+\.schema)\.|csan/python|csan/embedded")

# What stands for a name, and what `csan kernels --launch` takes.
PLACEHOLDERS = {"name", "key", "grid"}


def said(*arguments):
    return subprocess.run([csan, *arguments], capture_output=True, text=True).stdout


def code_of(text):
    """What stands in backticks and in blocks of code, each with its line's number."""
    in_block = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        elif in_block:
            yield number, line
        else:
            for piece in re.findall(r"`([^`]+)`", line):
                yield number, piece


def source_files():
    for room in ("csan", "runtime", "include"):
        for folder, _, names in os.walk(f"{top}/{room}"):
            for name in names:
                if name.endswith((".c", ".h", ".cpp", ".py")):
                    with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
                        yield file.read()


def make_targets():
    makefiles = [f"{top}/Makefile"] + [
        f"{folder}/{name}"
        for room in ("mk", "runtime", "tests", "scripts")
        for folder, _, names in os.walk(f"{top}/{room}")
        for name in names
        if name.endswith(".mk")
    ]
    targets = set()
    for path in makefiles:
        with open(path, encoding="utf-8") as file:
            for line in re.findall(r"^\.PHONY: *(.*)$", file.read(), re.M):
                targets |= set(line.split())
    return targets


def options_of(help_text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", help_text))


commands = re.findall(r"^  csan ([a-z]+) ", said("help"), re.M)
command_options = {name: options_of(said(name, "--help")) | {"--help", "-h"} for name in commands}
library_options = set(re.findall(r"^ +([a-z][a-z0-9_]*)=", said("help"), re.M))
targets = make_targets()


def unreplaced(piece):
    for name in re.findall(r"@[A-Z][A-Z_]*@", piece):
        yield f"unreplaced {name}"


def paths(piece):
    for path in re.findall(rf"(?<![\w./$}}-])(?:{FOLDERS})/[\w./*-]*[\w*]", piece):
        here = any(glob.glob(f"{top}/{path}{end}") for end in ("", ".c", ".h"))  # or a noun's files
        if not here and not INSTALLED.match(path):
            yield f"path {path}"


def commands_in(line):
    """Each csan command of a line, with the words up to the next command."""
    for match in re.finditer(r"(?<![\w/.-])csan ([a-z]+)((?: [^|;&#`]*)?)", line):
        yield match.group(1), match.group(2)


def options(piece):
    for command, rest in commands_in(piece):
        if command not in command_options:
            continue
        for word in rest.split():
            if command in ("run", "record", "explore", "mutate", "fix"):
                if not word.startswith("-"):
                    break  # from here on it is the program's
            option = re.match(r"--?[a-z][a-z-]*", word)
            if option and option.group() not in command_options[command]:
                yield f"option {option.group()} of csan {command}"
    texts = re.findall(r"(?:CSAN_OPTIONS|--options)=['\"]?([a-z][^\s'\"`]*)", piece)
    for text in texts + re.findall(r"^[a-z_]+=(?!True|False)\S*$", piece):
        for name in re.findall(r"(?:^|:)([a-z_0-9]+)=", text):
            if name not in library_options and name not in PLACEHOLDERS:
                yield f"option {name}="


def anchors_of(path):
    """The names by which a link may lead to a heading of the page."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ +(.*)$", file.read(), re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def anchors(page, line):
    for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", line):
        target = os.path.join(os.path.dirname(page), link) if link else page
        if not os.path.isfile(target) or anchor not in anchors_of(target):
            yield f"heading {link}#{anchor}"


def make_calls(piece):
    if match := re.match(r"(?:\$ )?make ((?:[a-z][a-z0-9-]*\b(?![./=:]) ?)+)(?=$|[ #,;A-Z|>])", piece):
        for target in match.group(1).split():
            if target not in targets:
                yield f"target make {target}"


for page in pages:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    wrong = [(n, w) for n, line in enumerate(text.split("\n"), 1) for w in unreplaced(line)]
    wrong += [(n, w) for n, line in enumerate(text.split("\n"), 1) for w in anchors(page, line)]
    for number, piece in code_of(text):
        for check in (paths, options, make_calls):
            wrong += [(number, what) for what in check(piece)]
    for number, what in sorted(set(wrong)):
        print(f"{os.path.relpath(page, top)}:{number}: {what}")

def keys_of(schema):
    """The keys of all objects that a schema describes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from keys_of(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from keys_of(part)


# The keys of documents for tools.
for path in glob.glob(f"{top}/include/csan/*.schema.json"):
    with open(path, encoding="utf-8") as file:
        keys = set(keys_of(json.load(file)))
    with open(f"{top}/docs/reference/report-format.md", encoding="utf-8") as file:
        described = set(re.findall(r"`(\w+)`", file.read()))
    for key in sorted(keys - described):
        print(f"docs/reference/report-format.md: lacks {key} of {os.path.basename(path)}")

# Every target but those that others are made of.
with open(f"{top}/Makefile", encoding="utf-8") as file:
    helped = re.findall(r'^\t@echo "(.*)"$', file.read(), re.M)
internal = {"build", "help", "dist-tree", "aarch64-all", "mutant", "test-cuda12-samples", "shell-needs", "test-named",
            "tests-begin", "tests-of-shell", "tests-others"}
for target in sorted(targets - internal):
    if not any(re.search(rf"(?<![\w-]){target}(?![\w-])", line) for line in helped):
        print(f"make help: lacks {target}")

with open(f"{top}/docs/reference/environment.md", encoding="utf-8") as file:
    environment = file.read()
named = set(re.findall(r"[A-Z][A-Z0-9_]+", environment))
for source in source_files():
    reads = r"(?:environment_get|getenv|environ(?:\.get)?)[\[(][\"'](CSAN_?[A-Z_]*)[\"']"
    for name in sorted(set(re.findall(reads, source)) - named):
        print(f"docs/reference/environment.md: lacks {name}")
