#!/usr/bin/env python3
"""What make test-peers makes of the suite's findings: without the suite, which npm has."""
import io
import pathlib
import sys
import unittest
from contextlib import redirect_stdout

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import conformance  # noqa: E402
from report import Report  # noqa: E402


def check(status, name="x"):
    return {"id": name, "status": status, "errorMessage": "why"}


class StateOf(unittest.TestCase):
    def test_a_pass_is_whole_or_partly(self):
        self.assertEqual(conformance.state_of([check("SUCCESS"), check("INFO")])[0], "passes")
        self.assertEqual(conformance.state_of([check("SUCCESS"), check("WARNING")])[0], "partly")
        self.assertEqual(conformance.state_of([check("SKIPPED")])[0], "partly")
        self.assertEqual(conformance.state_of([check("SUCCESS", "wire-schema-valid"), check("INFO")])[0], "partly")
        self.assertEqual(conformance.state_of([])[0], "partly")

    def test_one_failure_fails(self):
        self.assertEqual(conformance.state_of([check("SUCCESS"), check("WARNING"), check("FAILURE")]), ("fails", "x: why"))


class Compare(unittest.TestCase):
    def counts(self, found, expected):
        report = Report()
        with redirect_stdout(io.StringIO()):
            conformance.compare(report, "here", {name: (state, "") for name, state in found.items()}, expected, "list.txt")
            code = report.end()
        return report.passed, report.failed, report.known, code

    def test_what_is_named_is_known_and_the_rest_passes(self):
        # "The suite ran" is a result of its own.
        self.assertEqual(self.counts({"a": "passes", "b-1": "fails", "b-2": "fails", "c": "partly"},
                                     [("b-*", "fails", "no b"), ("c", "partly", "no c")]), (2, 0, 3, 0))

    def test_the_first_line_that_fits_counts(self):
        self.assertEqual(self.counts({"b-1": "partly", "b-2": "fails"}, [("b-1", "partly", "x"), ("b-*", "fails", "x")]), (1, 0, 2, 0))

    def test_a_failure_or_half_a_pass_that_is_not_named_fails(self):
        self.assertEqual(self.counts({"a": "fails", "b": "partly"}, [])[1], 2)

    def test_a_pass_that_is_named_fails_and_so_does_another_state(self):
        self.assertEqual(self.counts({"a": "passes", "b": "partly"}, [("a", "fails", "x"), ("b", "fails", "x")])[1], 2)

    def test_a_name_that_the_suite_does_not_have_fails(self):
        self.assertEqual(self.counts({"a": "passes"}, [("gone", "fails", "x")])[1], 1)

    def test_no_results_fail(self):
        self.assertEqual(self.counts({}, [])[3], 1)


class Known(unittest.TestCase):
    def test_the_lists_can_be_read(self):
        for name in ("conformance_production.txt", "conformance_fixtures.txt"):
            self.assertEqual(list(conformance.known(name)), list(conformance.REVISIONS))


if __name__ == "__main__":
    unittest.main()
