"""How each page's commands are run, and which are not: the one place that knows.

Every block of a page that begins with ```sh is run, in the page's order, in one shell with a terminal (setting.py says in what
surroundings, terminal.py who answers its questions). What a page leaves to its reader, such as ID, is a word of `words`: a text,
or `$(…)`, which is asked anew before each block.
"""
import dataclasses

WAITING = "$(kruxos --json approve list | jq -r '(.needs_operator + .pending)[0].write_id')"
ENDED = "$(kruxos --json approve list | jq -r '.recent[0].write_id')"


@dataclasses.dataclass
class Page:
    begins: bool = True  # whether it finds a host that runs, with an agent, both services and the operator's passphrase
    words: dict = dataclasses.field(default_factory=dict)
    policy: str = ""     # the service's policy for Slack, where it is another one
    calls: tuple = ()    # what the agent has called before: (capability, arguments)
    before: str = ""     # shell, before the page
    after: str = ""      # shell, behind it: what must have come of it


def send(text):
    return ("slack.send", {"channel": "general", "text": text})


ASKS = "policy: 1\nservice: slack\ncapabilities: {slack.send: {tier: approval_required}}\n"
PAGES = {
    "README.md": Page(
        begins=False, words={"ID": WAITING, "FILE": "key"},
        after="kruxos --json approve list | jq -e '[.recent[] | select(.state == \"cancelled\")] | length == 1'"),
    "docs/tiers.md": Page(
        after="kruxos policy check slack.send --agent helper --arguments '{\"channel\": \"general\", \"text\": \"Hi\"}' --policies ~/.config/kruxos/policies | grep -q approval_required"),
    "docs/troubleshooting.md": Page(words={"ID": WAITING}, calls=(send("Hello"),)),
    "docs/faq.md": Page(begins=False, after="kruxos connect status | grep -q 'ada@example.com'"),
    "docs/approvals.md": Page(
        words={"ID": WAITING}, policy=ASKS, calls=(send("one"), send("two"), send("three")),
        after="kruxos --json approve list | jq -e '.pending | length >= 1'"),
    "docs/policies.md": Page(words={"DIR": "policies", "TIME": "2026-11-01T00:00:00Z", "NAME": "helper"}, calls=(send("Hello"),)),
    "docs/audit.md": Page(words={"WRITE_ID": WAITING, "FILE": "receipt.json"}, calls=(send("Hello"),)),
    "docs/uploads.md": Page(before="echo %PDF-1.4 > report.pdf"),
    "docs/vault.md": Page(before="echo 'a sentence of a test' > passphrase", after="kruxos vault status | grep -q 'key file'"),
    "docs/disconnecting.md": Page(words={"SERVICE": "slack", "ID": "$(kruxos --json disconnect --receipts | jq -r '.receipts[0].receipt_id')"}),
    "docs/oauth.md": Page(words={"SERVICE": "gmail"}),
    "docs/replica-verify.md": Page(),
    "docs/operator-api.md": Page(),
}
ELSEWHERE = {
    "docs/cli.md": "test/e2e/chain_test.cpp runs its line of jq; the others are of every page here",
    "docs/operations.md": "test/e2e/copies_test.cpp and host/cli's tests back up, restore and release; packages and containers need a machine of their own",
    "docs/certify.md": "test/certify runs the kit over every adapter and over defects",
    "docs/testing.md": "test/package/testing_page_test.cpp follows it on an installed host",
    "docs/adapter-guide.md": "test/package/whole_host_test.cpp makes, builds and connects the adapter of this page",
    "plugin-api/README.md": "test/package/package_test.cpp runs its command as it stands",
    "docs/sdk.md": "sdk/python/tests/test_docs.py runs each example, test_stubs.py the command",
    "docs/wrapping.md": "test/e2e/wrapped_test.cpp wraps a server at an address and one that is a program",
    "docs/bundles.md": "test/bundles installs, replaces and removes a bundle by these commands",
    "docs/slack.md": "it has no commands",
    "docs/gmail.md": "it has no commands",
    "test/emulators/README.md": "test/contract starts the emulators and seeds them",
    "docs/benchmarks.md": "they take minutes to hours, and say nothing on a machine that does other things",
    "sdk/python/README.md": "make test-peers installs the package and runs its tests",
    "docs/injection.md": "it needs packages from PyPI, and minutes",
    "CONTRIBUTING.md": "they build; .ci/run runs them",
}
# Of the pages above: a block that is not run, by its first words, and why.
NOT_RUN = {
    ("README.md", "claude mcp add"): "a program of somebody else; `make test-peers` plugs in official clients instead",
    ("README.md", "make demo"): "it builds everything and installs packages; .ci/run runs the demo and the tests",
}
