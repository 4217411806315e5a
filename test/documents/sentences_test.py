#!/usr/bin/env python3
"""The sentences that docs/troubleshooting.md quotes (`> …`) are those of the program: each piece between two … stands in a literal."""
import re
import sys

sys.dont_write_bytecode = True
from document import ROOT  # noqa: E402

PAGE = "docs/troubleshooting.md"
SHORTEST = 4  # characters of a piece that is looked for


def literals():
    """All texts of the sources of one kind, literals that stand side by side joined, values left out."""
    text = []
    for folder in ("core", "host", "plugins", "plugin-api"):
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            if not re.search(r"_test\.|fixture|/testdata/", str(path)):
                source = re.sub(r'"\s*\n\s*"', "", path.read_text())
                text += re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    return re.sub(r"\{[0-9]?\}", "…", re.sub(r"\\(.)", r"\1", "\n".join(text)))


def main():
    said = literals()
    problems, quoted = [], 0
    for line, text in enumerate((ROOT / PAGE).read_text().splitlines(), 1):
        if text.startswith("> "):
            quoted += 1
            for piece in (part.strip(" \"().?") for part in text[2:].split("…")):
                if len(piece) >= SHORTEST and piece not in said:
                    problems.append(f"{PAGE}:{line}: no literal holds \"{piece}\"")
    if quoted < 20:
        problems.append(f"{PAGE} quotes {quoted} sentences: is the form of its quotations another one?")
    print("\n".join(problems) or f"The program says these {quoted} sentences.")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
