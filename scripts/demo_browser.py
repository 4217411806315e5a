#!/usr/bin/env python3
"""A browser for demonstrations: opens an authorization address of an emulator, fills in the page of consent and follows
where that leads. Loopback addresses alone; no scripts. Prints the address at which it ended; with --page also the page.

    scripts/demo_browser.py 'http://127.0.0.1:41234/o/oauth2/v2/auth?...' --account ada@example.com --untick mail.send
"""
import argparse
import sys
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

MOST_STEPS = 10
LOOPBACK = ("127.0.0.1", "localhost")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Every step is looked at before it is taken."""

    def redirect_request(self, *args, **kwargs):
        return None


class Form(HTMLParser):
    """The first form of a page: what it would send, and the boxes that are not ticked."""

    def __init__(self, html):
        super().__init__()
        self.action = None
        self.done = False
        self.fields, self.unchecked, self.boxes = {}, set(), {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action", "")
        if tag != "input" or self.action is None or self.done or "name" not in attributes:
            return
        name, value = attributes["name"], attributes.get("value", "")
        can_be_left = attributes.get("type") in ("checkbox", "radio")
        if can_be_left and "checked" not in attributes:
            self.unchecked.add((name, value))
            return
        self.fields[name] = value
        if attributes.get("type") == "checkbox":
            self.boxes[value] = name

    def handle_endtag(self, tag):
        self.done = self.done or tag == "form"


def is_here(address):
    parts = urllib.parse.urlsplit(address)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def fetch(address, fields=None):
    """Status, where to go next (or None) and the page. Without proxies: nothing leaves this machine."""
    data = None if fields is None else urllib.parse.urlencode(fields).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect())
    try:
        with opener.open(urllib.request.Request(address, data=data), timeout=30) as reply:
            return reply.status, None, reply.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as refused:
        page = refused.read().decode("utf-8", "replace")
        location = refused.headers.get("Location") if 300 <= refused.code < 400 else None
        return refused.code, location, page


def fill_in(form, arguments):
    if arguments.account and form.fields.get("account") != arguments.account:
        if ("account", arguments.account) not in form.unchecked:
            sys.exit(f"the page does not offer the account {arguments.account}")
        form.fields["account"] = arguments.account
    for scope in arguments.untick:
        if scope not in form.boxes:
            sys.exit(f"the page has no box for {scope}")
        del form.fields[form.boxes[scope]]
    form.fields["decision"] = "deny" if arguments.deny else "allow"


def browse(arguments):
    """(address, page): page is None where the address could not be opened."""
    address = arguments.address
    for _ in range(MOST_STEPS):
        if not is_here(address):
            return address, None
        try:
            status, location, page = fetch(address)
            form = Form(page)
            if status == 200 and form.action is not None:
                fill_in(form, arguments)
                status, location, page = fetch(urllib.parse.urljoin(address, form.action), form.fields)
        except (urllib.error.URLError, OSError):
            return address, None
        if location is None:
            return address, page
        address = urllib.parse.urljoin(address, location)
    sys.exit("the page leads in circles")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("address")
    parser.add_argument("--account", help="whom to be; otherwise whom the page has chosen")
    parser.add_argument("--untick", action="append", default=[], metavar="SCOPE", help="a scope to refuse (repeatable)")
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--page", action="store_true", help="print the page too")
    arguments = parser.parse_args()
    address, page = browse(arguments)
    print(address)
    if arguments.page and page is not None:
        print(page)


if __name__ == "__main__":
    main()
