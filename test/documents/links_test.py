#!/usr/bin/env python3
"""Each link of a document leads to a file and a heading that there are, each page stands in the index, each picture has words."""
import pathlib
import re
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import document  # noqa: E402
from document import ROOT  # noqa: E402

INDEX = "docs/README.md"
MOST_BYTES = 300_000  # of a picture


def broken_links(page):
    for line, target in document.links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (ROOT / page).parent / path if path else ROOT / page
        if not to.exists():
            yield f"{page}:{line}: there is no {target}"
        elif anchor and to.suffix == ".md":
            there = str(to.resolve().relative_to(ROOT))
            if anchor not in document.anchors(there):
                yield f"{page}:{line}: {there} has no heading #{anchor}"


def not_in_the_index():
    listed = {(ROOT / "docs" / target.partition("#")[0]).resolve() for _, target in document.links(INDEX)}
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.resolve() not in listed and page != ROOT / INDEX:
            yield f"{INDEX} does not list {page.name}"


def pictures():
    for path in sorted((ROOT / "docs" / "images").glob("*.svg")):
        name = path.relative_to(ROOT)
        if path.stat().st_size > MOST_BYTES:
            yield f"{name} has more than {MOST_BYTES} bytes"
        root = xml.etree.ElementTree.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        if any((root.findtext(space + part) or "").strip() == "" for part in ("title", "desc")):
            yield f"{name} has no title or no desc, which those hear who do not see it"
        if "prefers-color-scheme" not in path.read_text() and "prefers-reduced-motion" not in path.read_text():
            yield f"{name} looks at neither the reader's colours nor at whether he wants movement"
    recorded = ROOT / "docs" / "images" / "demo"
    drawn = [text.text for text in xml.etree.ElementTree.parse(recorded.with_suffix(".svg")).iter() if text.tag.endswith("}text")]
    said = re.sub(r"\s", "", recorded.with_suffix(".txt").read_text())
    if re.sub(r"\s", "", "".join(drawn)) != said:
        yield "docs/images: demo.svg and demo.txt are not of one recording (scripts/record makes both)"
    for page in document.pages():
        for line, text in document.parts(page)[1]:
            if re.search(r"!\[\]\(|<img(?![^>]*\balt=\"[^\"]+\")", text):
                yield f"{page}:{line}: a picture without words (alt)"


def main():
    problems = list(not_in_the_index()) + list(pictures())
    for page in document.pages():
        problems += broken_links(page)
    print("\n".join(problems) or "Each link leads somewhere.")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
