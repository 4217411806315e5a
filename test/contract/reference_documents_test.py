#!/usr/bin/env python3
"""The blocks of test/reference are those of the reference documents, token by token.

The documents are not part of this tree: where they are neither beside it nor in KRUXOS_DOCUMENTS_DIR, the test is skipped. Their stored texts
have lost indentation and blank lines, which tokens do not know, and mail addresses.
"""
import io
import os
import pathlib
import re
import sys
import tokenize

from published import SKIPPED

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "test" / "reference"
DOCUMENTS = ("gmail-quickstart", "python-sdk-guide", "service-proxy-adapters", "slack-integration")
ADDRESS = re.compile(r"\b[\w.+-]+@example\.com\b")
LOST = "[email protected]"  # what the stored texts have in the place of each address
LAYOUT = {tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER}
CODE = re.compile(r"(from|import|async (def|with)|await|except|[a-z_]+ =|kruxos [a-z]+)\s|try:|print\(|\w+(\.\w+)+\(.*\)$")
ENDS = re.compile(r"[)\]}]|# |(pass|break)$")  # how blocks end besides, and those of Rust too


def find_documents():
    for place in (os.environ.get("KRUXOS_DOCUMENTS_DIR"), ROOT.parent / "shared" / "seeds"):
        if place and all((pathlib.Path(place) / f"{name}.txt").is_file() for name in DOCUMENTS):
            return pathlib.Path(place)
    return None


def lines_of(text):
    return [line.strip() for line in ADDRESS.sub(LOST, text).splitlines() if line.strip()]


def tokens_of(lines, name):
    """Of Python its tokens, with comments; of anything else its words."""
    if not name.endswith(".py"):
        return [word for line in lines for word in line.split()]
    try:
        found = list(tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline))
    except (tokenize.TokenError, SyntaxError) as error:
        return [f"no Python: {error}"]
    return [token.string for token in found if token.type not in LAYOUT]


def blocks_of(document):
    """Name and text, in the document's order: what a block prints stands behind it."""
    files = sorted((FOLDER / document).glob("*"), key=lambda file: (file.name.split(".")[0], ".output." in file.name))
    return [(file.name, file.read_text(encoding="utf-8")) for file in files]


def mismatches(document, text, blocks):
    """What differs, as sentences; and how many tokens agree."""
    left, begin, found, agreeing = lines_of(text), 0, [], 0
    for name, block in blocks:
        ours = lines_of(block)
        head = ours[:2]
        at = next((n for n in range(begin, len(left)) if left[n:n + len(head)] == head), None)
        if at is None:
            found.append(f"{document} has no block that begins as {name}, behind the one before")
            continue
        theirs = tokens_of(left[at:at + len(ours)], name)
        for n, token in enumerate(tokens_of(ours, name)):
            if n >= len(theirs) or token != theirs[n]:
                found.append(f"{document}, {name}: token {n + 1} is {token!r}, the document has {theirs[n:n + 1]}")
                break
        else:
            agreeing += len(theirs)
            if n + 1 != len(theirs):
                found.append(f"{document}, {name}: the document goes on with {theirs[n + 1]!r}")
        del left[at:at + len(ours)]
        begin = at
    found += [f"{document} has code that stands in no block: {line}" for line in left if CODE.match(line) or (blocks and ENDS.match(line))]
    return found, agreeing


def check_this_check(document, text, blocks):
    """A changed word, a lost block and a lost last line are noticed."""
    found = []
    for number, (name, block) in enumerate(blocks):
        others = blocks[:number], blocks[number + 1:]
        lines = block.rstrip().splitlines()
        changed = {"a changed word": "\n".join([*lines[:-1], lines[-1].replace(lines[-1].split()[-1], "changed")])}
        if len(lines) > 1 and not name.endswith(".txt"):  # a line of plain words may be anything
            changed["a lost line"] = "\n".join(lines[:-1])
        for what, new in changed.items():
            if not mismatches(document, text, [*others[0], (name, new), *others[1]])[0]:
                found.append(f"this test does not notice {what} in {document}, {name}")
        if not name.endswith(".txt") and not mismatches(document, text, [*others[0], *others[1]])[0]:
            found.append(f"this test does not notice that {document}, {name} is not there")
    return found


def main():
    place = find_documents()
    if place is None:
        print("skipped: the reference documents are not here (set KRUXOS_DOCUMENTS_DIR to their directory)")
        return SKIPPED
    sentences, count, agreeing = [], 0, 0
    for document in DOCUMENTS:
        text, blocks = (place / f"{document}.txt").read_text(encoding="utf-8"), blocks_of(document)
        found, tokens = mismatches(document, text, blocks)
        sentences += found or check_this_check(document, text, blocks)
        count, agreeing = count + len(blocks), agreeing + tokens
    for sentence in sentences:
        print(sentence)
    print(f"{count} blocks, {agreeing} tokens agree" if not sentences else f"{len(sentences)} disagreements")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
