"""Official programs of the Model Context Protocol against the shipped host: scripts/test-peers runs it."""
import sys

sys.dont_write_bytecode = True

import conformance  # noqa: E402
import sessions  # noqa: E402
from host import FixturesHost, ServicesHost  # noqa: E402
from report import Report  # noqa: E402


def main():
    report = Report()
    with ServicesHost([name for name, *_ in sessions.SESSIONS]) as host:
        host.begin()
        sessions.run(host, report)
        conformance.run(host, report, "production")
    with FixturesHost() as host:
        host.begin()
        sessions.run_changes(host, report)
        conformance.run(host, report, "fixtures")
    sys.exit(report.end())


if __name__ == "__main__":
    main()
