#!/usr/bin/env python3
"""Reads the mails of make_mails.py as the Gmail adapter does and as Python's email library does, and compares.

  compare.py --reader PROGRAM    PROGRAM is read_mails

differences.txt names each difference with its reason; one that it does not name is an error, and under Python 3.11
(Debian 12's) one that is no more is one too: other versions of the library have other gaps.
"""
import argparse
import email
import email.policy
import email.utils
import html.entities
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile

import make_mails

SILENT = {"script", "style", "title", "template"}


class HtmlWords(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.text, self.silent = [], 0

    def handle_starttag(self, tag, attrs):
        self.silent += tag in SILENT
        self.text.append(" " if tag in ("p", "br", "li", "td", "tr", "hr", "ul", "table", "pre") else "")

    def handle_endtag(self, tag):
        self.silent -= tag in SILENT
        self.text.append(" " if tag in ("p", "li", "td", "tr") else "")

    def handle_data(self, data):
        if not self.silent:
            self.text.append(data)


def words(text):
    return " ".join(text.split())


def part_text(part):
    try:
        text = part.get_content()
    except (LookupError, KeyError):
        text = part.get_payload(decode=True).decode("utf-8", "replace")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        reader = HtmlWords()
        reader.feed(text)
        reader.close()
        text = "".join(reader.text)
    return text


def is_body(part):
    return part.get_content_maintype() == "text" and not part.is_attachment() and (part.get_filename() is None)


def texts(part):
    """What a part says, and whether it is plain text."""
    if part.get_content_maintype() == "message" or not (part.is_multipart() or is_body(part)):
        return ""
    if not part.is_multipart():
        return part_text(part)
    if part.get_content_type() == "multipart/alternative":
        said = [(one.get_content_type() != "text/plain", words(texts(one))) for one in part.iter_parts()]
        return next((text for _, text in sorted(said, key=lambda one: one[0]) if text), "")
    return "\n".join(texts(one) for one in part.get_payload())


def attachments(part):
    if part.get_content_type() == "message/rfc822":
        return [(part.get_filename() or "", None)]
    if part.is_multipart() and part.get_content_maintype() != "message":
        return [found for one in part.get_payload() for found in attachments(one)]
    if not part.is_multipart() and is_body(part):
        return []
    data = part.get_payload(decode=True)
    return [(part.get_filename() or "", len(data) if data is not None else None)]


def people(field):
    if field is None:
        return []
    return [(one.display_name, one.addr_spec) for one in field.addresses]


def by_python(raw):
    mail = email.message_from_bytes(raw, policy=email.policy.default)

    def told(what):
        try:
            return what()
        except Exception as error:  # pylint: disable=broad-except  # the library's own failure is a difference as well
            return f"Python fails: {type(error).__name__}"

    return {"subject": told(lambda: words(str(mail["subject"] or ""))), "from": told(lambda: people(mail["from"])),
            "to": told(lambda: people(mail["to"])),
            "date": told(lambda: int(email.utils.parsedate_to_datetime(str(mail["date"])).timestamp())),
            "message_id": told(lambda: str(mail["message-id"] or "").strip().strip("<>")),
            "text": told(lambda: words(texts(mail))), "attachments": told(lambda: attachments(mail))}


def by_adapter(read):
    files = [(one["filename"], None if one["type"].startswith("message/") else one["size"]) for one in read["attachments"]]
    return {"subject": words(read["subject"]), "from": [(one["name"], one["address"]) for one in read["from"]],
            "to": [(one["name"], one["address"]) for one in read["to"]],
            "date": read["date_ms"] // 1000 if read["date_ms"] >= 0 else "none", "message_id": read["message_id"],
            "text": words(read["text"]), "attachments": files}


def read_by_adapter(reader, mails):
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in mails.items():
            (pathlib.Path(folder) / name).write_bytes(raw)
        lines = subprocess.run([reader, folder], check=True, capture_output=True).stdout.decode().splitlines()
    return {one["name"]: one for one in map(json.loads, lines)}


def check_references(reader):
    """Each character reference of HTML5 is decoded as Python does."""
    names = sorted(html.entities.html5)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("".join(f"&{name} .\n" for name in names))
        file.flush()
        lines = subprocess.run([reader, "--references", file.name], check=True, capture_output=True).stdout.decode().splitlines()
    wrong = [name for name, line in zip(names, lines) if json.loads(line)["text"] != html.entities.html5[name] + " ."]
    assert len(lines) == len(names)
    return [f"&{name} is decoded otherwise" for name in wrong]


def known_differences():
    known = {}
    for line in (pathlib.Path(__file__).parent / "differences.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, reason = line.split(": ", 1)
            assert reason.strip() and tuple(key.split()) not in known, line
            known[tuple(key.split())] = reason
    return known


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reader", required=True)
    reader = parser.parse_args().reader
    mails = make_mails.mails()
    read, known, seen = read_by_adapter(reader, mails), known_differences(), set()
    problems = check_references(reader)
    for name, raw in sorted(mails.items()):
        ours, theirs = by_adapter(read[name]), by_python(raw)
        if name.startswith("hidden_"):
            if ours["text"] != "seen" or "HIDDEN" not in read[name]["hidden"]:
                problems.append(f"{name}: hidden text is not told apart: {read[name]}")
            continue
        for field, value in ours.items():
            if value == theirs[field] or (field == "date" and value == "none" and str(theirs[field]).startswith("Python")):
                continue
            seen.add((name, field))
            if (name, field) not in known:
                problems.append(f"{name} {field}: the adapter says {value!r}, Python {theirs[field]!r}")
    if sys.version_info[:2] == (3, 11):
        problems += [f"{name} {field} is named in differences.txt and is none" for name, field in sorted(set(known) - seen)]
    print("\n".join(problems))
    print(f"{len(mails)} mails, {len(seen)} known differences, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
