"""Sentences of documents that have too many words: check_sentences.py TOP [--except=PATTERN]...

Reads *.md and docs/**/*.md below TOP, without the pages whose path matches a
PATTERN (as in a shell). Prints "page:line: N words" for each sentence of more than 25 words, and
nothing else.

A sentence ends with . ! ? or : before a space. So do a paragraph, a heading and an item of a list.
Blocks of code and tables have none. What stands in backticks is one word.
"""

import fnmatch
import glob
import os
import re
import sys

LIMIT = 25
ENDING = re.compile(r"[.!?:][\"')*_]*$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def blocks(text):
    """The document's paragraphs, headings and items, each as a list of (line number, text)."""
    block, in_code = [], False
    # What a reader does not see has no lines of its own.
    text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        bare = re.sub(r"^\s*(?:> ?)+", "", line)
        if bare.lstrip().startswith("```"):
            in_code = not in_code
            bare = ""
        elif in_code or bare.lstrip().startswith("|"):
            bare = ""
        if not bare.strip() or bare.startswith("#") or ITEM.match(bare):
            yield block
            block = []
        if bare.strip():
            block.append((number, ITEM.sub("", bare, count=1)))
        if bare.startswith("#"):
            yield block
            block = []
    yield block


def words_of(block):
    """Each word with its line's number. Code is one word; of a link only what a reader sees."""
    text = "\n".join(line for _, line in block)
    text = re.sub(r"`[^`]+`", lambda code: "code" + "\n" * code.group().count("\n"), text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for offset, line in enumerate(text.split("\n")):
        for word in line.split():
            if re.search(r"\w", word):
                yield block[min(offset, len(block) - 1)][0], word


def sentences(text):
    """Of each sentence the line where it begins, and how many words it has."""
    for block in blocks(text):
        first = count = 0
        for number, word in words_of(block):
            first = first or number
            count += 1
            if ENDING.search(word):
                yield first, count
                first = count = 0
        if count:
            yield first, count


def main():
    top, *arguments = sys.argv[1:]
    left_out = [argument.removeprefix("--except=") for argument in arguments]
    pages = sorted(glob.glob(f"{top}/*.md")) + sorted(glob.glob(f"{top}/docs/**/*.md", recursive=True))
    for page in pages:
        path = os.path.relpath(page, top)
        if not os.path.exists(page) or any(fnmatch.fnmatch(path, out) for out in left_out):
            continue
        with open(page, encoding="utf-8") as file:
            for line, count in sentences(file.read()):
                if count > LIMIT:
                    print(f"{path}:{line}: {count} words")


main()
