#!/usr/bin/env python3
"""What make test-peers makes of the findings of the SDK's tests: without the SDK's packages, which PyPI has."""
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import sdk  # noqa: E402
from report import Report  # noqa: E402

PASSED = '<testcase classname="tests.test_client" name="test_it" />'
SKIPPED = '<testcase classname="tests.test_client" name="test_it"><skipped message="not today" /></testcase>'
# As pytest writes it of a module that skips itself.
LEFT_OUT = '<testcase classname="" name="{}"><skipped message="collection skipped">(\'a.py\', 5, \'Skipped: not installed\')</skipped></testcase>'
LANGGRAPH = LEFT_OUT.format("tests.test_langgraph_agent")


class Take(unittest.TestCase):
    def taken(self, *cases):
        report, said = Report(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(said):
            results = pathlib.Path(folder) / "results.xml"
            results.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
            sdk.take(report, results, subprocess.CompletedProcess([], 0, "", ""))
        return report.passed, report.failed, said.getvalue()

    def test_a_test_that_is_skipped_has_failed(self):
        self.assertEqual(self.taken(PASSED)[:2], (1, 0))
        for skipped in (SKIPPED, LEFT_OUT.format("tests.test_client"), SKIPPED.replace("test_client", "test_langgraph_agent_too")):
            self.assertEqual(self.taken(PASSED, skipped)[:2], (1, 1), skipped)

    def test_the_langgraph_agent_may_be_left_out_and_that_is_said(self):
        passed, failed, said = self.taken(PASSED, LANGGRAPH)
        self.assertEqual((passed, failed), (1, 0))
        self.assertIn("left out tests.test_langgraph_agent: not installed\n", said)

    def test_nothing_but_what_is_left_out_is_no_run(self):
        self.assertEqual(self.taken(LANGGRAPH)[:2], (0, 1))
        self.assertEqual(self.taken()[:2], (0, 1))

    def test_a_test_of_it_that_fails_has_failed(self):
        failed = '<testcase classname="tests.test_langgraph_agent" name="test_it"><failure message="no" /></testcase>'
        broken = '<testcase classname="" name="tests.test_langgraph_agent"><error message="collection failure" /></testcase>'
        for case in (failed, broken):
            self.assertEqual(self.taken(PASSED, case)[:2], (1, 1), case)

    def test_what_takes_too_long_has_failed(self):
        with mock.patch.multiple(sdk, PYTHON=sys.executable, LONGEST=0.05):
            done = sdk.call("-c", "import signal; signal.pause()")
        self.assertIn("It took more than 0.05 seconds.", sdk.why(done))
        report = Report()
        with redirect_stdout(io.StringIO()):
            sdk.take(report, pathlib.Path("no such file"), done)
        self.assertEqual((report.passed, report.failed), (0, 1))


if __name__ == "__main__":
    unittest.main()
