"""Programs of others against the shipped host: official ones of the Model Context Protocol, a browser, and the Python SDK. scripts/test-peers runs it."""
import subprocess
import sys

sys.dont_write_bytecode = True

import cedar  # noqa: E402
import conformance  # noqa: E402
import invitations  # noqa: E402
import page  # noqa: E402
import sdk  # noqa: E402
import sessions  # noqa: E402
import wrapped  # noqa: E402
from host import ROOT, FixturesHost, ServicesHost  # noqa: E402
from report import Report  # noqa: E402


def run_injections(report):
    """A few cases of the injection benchmark, where its suites are installed."""
    if not (ROOT / "build" / "injection" / "installed").exists():
        return
    report.group("injection benchmark, three cases")
    done = subprocess.run([ROOT / "scripts" / "bench-injection", "--smoke"], capture_output=True, text=True, timeout=300)
    report.result("cases come to what they come to without a host", None if done.returncode == 0 else (done.stdout + done.stderr)[-2000:])


def main():
    report = Report()
    cedar.run(report)
    with ServicesHost([name for name, *_ in sessions.SESSIONS]) as host:
        host.begin()
        sessions.run(host, report)
        conformance.run(host, report, "production")
    with FixturesHost() as host:
        host.begin()
        sessions.run_changes(host, report)
        conformance.run(host, report, "fixtures")
    with page.PageHost() as host:
        host.begin()
        page.run(host, report)
        invitations.run(host, report)
    with wrapped.WrappedHost() as host:
        host.begin()
        wrapped.run(host, report)
    sdk.run(report)
    run_injections(report)
    sys.exit(report.end())


if __name__ == "__main__":
    main()
