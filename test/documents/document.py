"""The project's documents as tests read them: their fenced blocks, headings and links."""
import pathlib
import re
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Block:
    """What stands between two fences."""

    def __init__(self, page, line, language, text):
        self.page, self.line, self.language, self.text = page, line, language, text

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    """All documents, by their path below the root; of docs/cli.md itself and not the parts of which it is made."""
    for path in sorted(ROOT.rglob("*.md")):
        name = path.relative_to(ROOT)
        if name.parts[0] not in ("build", ".git") and "node_modules" not in name.parts and name.parts[:3] != ("host", "cli", "help"):
            yield str(name)


def parts(page):
    """(blocks, [(line, text)] of what stands outside of them). An unclosed fence is an error."""
    blocks, outside, fence, body = [], [], None, []
    for line, text in enumerate((ROOT / page).read_text().splitlines(), 1):
        found = re.match(r"^(\s*)```(\S*)\s*$", text)
        if found and fence is None:
            fence, body = (line, found[1], found[2]), []
        elif found and not found[2]:
            blocks.append(Block(page, fence[0], fence[2], "\n".join(body) + "\n"))
            fence = None
        elif fence is not None:
            body.append(text[len(fence[1]):] if text.startswith(fence[1]) else text)
        else:
            outside.append((line, text))
    if fence is not None:
        raise ValueError(f"{page}:{fence[0]}: this block does not end")
    return blocks, outside


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    kept = (c for c in text if c in "-_ " or unicodedata.category(c)[0] in "LMN")
    return "".join(kept).replace(" ", "-")


def anchors(page):
    found, seen = set(), {}
    for _, text in parts(page)[1]:
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", text)
        if heading:
            name = slug(heading[1])
            seen[name] = seen.get(name, -1) + 1
            found.add(name if not seen[name] else f"{name}-{seen[name]}")
    return found


def links(page):
    """(line, target) of each link and picture, code aside."""
    for line, text in parts(page)[1]:
        bare = re.sub(r"`[^`]*`", lambda code: "`" * len(code[0]), text)
        for found in re.finditer(r"\]\(([^()\s]+(?:\([^()\s]*\))?)\)|(?:src|href)=\"([^\"]+)\"", bare):
            yield line, found[1] or found[2]
