#!/usr/bin/env python3
"""The figures of a run and how they are shown: without the suites, which PyPI has."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import figures  # noqa: E402
import table  # noqa: E402


class Figures(unittest.TestCase):
    def test_the_interval_is_wilsons(self):
        low, high = figures.wilson(10, 100)
        self.assertAlmostEqual(low, 0.0552, places=4)
        self.assertAlmostEqual(high, 0.1744, places=4)
        self.assertEqual(figures.wilson(0, 0), [0.0, 1.0])
        self.assertEqual(figures.wilson(0, 20)[0], 0.0)

    def test_a_goal_is_reached_in_either_order_and_named_by_what_stopped_it(self):
        def attacked(user, order, goal, why=None):
            stopped = [{"call": "send_email", "service": "gmail", "why": why, "held": True}] if why else []
            return {"suite": "workspace", "injection": "injection_task_3", "user": user, "order": order, "goal": goal, "goal_without_host": True,
                    "needs": "gmail", "stopped": stopped, "utility": not goal, "whole": True}

        cases = [attacked("a", "user first", False, "tier"), attacked("a", "injection first", True),
                 attacked("b", "user first", False, "limit"), attacked("b", "injection first", False, "limit")]
        report = figures.report([], cases, [], [])
        self.assertEqual(report["goals_reached"]["count"], 1)
        self.assertEqual(report["goals_reached"]["of"], 2)
        self.assertEqual(report["by_rule"], {"limit": 1})
        self.assertEqual(report["goals_out_of_scope"], [])

    def test_goals_are_counted_by_what_they_need_and_rules_that_are_never_named_are(self):
        def attacked(injection, needs, why=None):
            stopped = [{"call": "x", "service": needs, "why": "rule other", "held": True}, {"call": "y", "service": needs, "why": why, "held": True}] if why else []
            return {"suite": "travel", "injection": injection, "user": "a", "order": "user first", "goal": not why, "goal_without_host": True,
                    "needs": needs, "stopped": stopped, "utility": True, "whole": True}

        cases = [attacked("i_0", "gmail", "rule strangers"), attacked("i_1", "bank"), attacked("i_2", "text")]
        report = figures.report([], cases, [], [], ["other", "strangers", "secrets"])
        self.assertEqual({need: (one["count"], one["of"]) for need, one in report["goals_by_need"].items()}, {"gmail": (0, 1), "bank": (1, 1), "text": (1, 1)})
        self.assertEqual(report["goals_out_of_scope"], ["travel/i_1", "travel/i_2"])
        self.assertEqual(report["rules_that_stopped_nothing"], ["secrets"])
        both = table.markdown({**figures.report([], [], [], []), "others": report})
        self.assertTrue(both.startswith("## Services that no policy was written for"), both)
        for line in ("| of those that need words alone | 1 of 1", "Rules that stopped no call: secrets.", "| travel 0 | mail | 0 of 1 | 1 | rule other (1) |"):
            self.assertIn(line, both)

    def test_a_report_is_shown_with_what_was_disturbed(self):
        write = {"done": False, "kind": "write", "why": "rule strangers", "held": True, "service": "gmail", "mail_id": None}
        clean = [{"suite": "workspace", "user": "user_task_3", "utility": False, "whole": False, "writes": [write]}]
        own = [{"name": "base64", "what": "Encoded.", "reached": False, "stopped": ["rule strangers"]}]
        honest = [{"tool": "email__send", "done": False, "why": "rule strangers"}, {"tool": "email__send", "done": True, "why": ""}]
        shown = table.markdown(figures.report(clean, [], own, honest))
        for line in ("| user tasks undisturbed, no injection | 0 of 1 (0.0 %; 0.0 to 79.3 %) |", "| workspace 3 | gmail: rule strangers |",
                     "| email__send: rule strangers | 1 |", "| base64 | Encoded. | no | rule strangers |"):
            self.assertIn(line, shown)


if __name__ == "__main__":
    unittest.main()
