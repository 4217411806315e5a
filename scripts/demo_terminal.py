"""How the demo looks on a terminal."""
import os
import re
import shutil
import sys
import textwrap

COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text, *codes):
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if COLOUR else text


def bold(text):
    return paint(text, "1")


def dim(text):
    return paint(text, "2")


def green(text):
    return paint(text, "32")


def yellow(text):
    return paint(text, "33")


def red(text):
    return paint(text, "31")


def cyan(text):
    return paint(text, "36")


WIDTH = min(shutil.get_terminal_size((80, 24)).columns, 80)


def fold(text, first="  ", further=None, width=WIDTH):
    """Lines that fit; long words are broken."""
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=first if further is None else further,
                         break_on_hyphens=False) or first


def labelled(label, colour, text):
    """The same behind a label in colour."""
    return fold(text, f"  {label} ", "      ").replace(label, colour(label), 1)


def shown_width(line):
    return len(re.sub(r"\x1b\[[0-9;]*m", "", line))


class Narrow:
    """Standard output that refuses a line which a terminal of 80 columns would break."""

    def __init__(self, stream):
        self.stream, self.line = stream, ""

    def write(self, text):
        *ended, self.line = (self.line + text).split("\n")
        wide = [line for line in ended if shown_width(line) > 80]
        if wide:
            raise AssertionError(f"a line of the demo is wider than 80 columns: {wide[0]}")
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)
