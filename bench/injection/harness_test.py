"""The harness by itself: the suites without a host, the texts of injections, what a hijacked agent does."""
import typing
import unittest

import case
import office
import policies
import readings
import yaml
from agent import Refused
from direct import DirectHands
from hands import HostHands, rule_of
from suite import OTHERS, SUITES, Suite, twin

TEXT = "It's \"odd\": {braces}, a colon: and\na line."


class Suites(unittest.TestCase):
    def test_every_user_task_is_done_by_the_suites_own_tools(self):
        for name in SUITES:
            suite = Suite(name)
            environment = suite.environment()
            undone = [task.ID for task in suite.user_tasks.values() if not case.run(suite, DirectHands(suite, environment), task).utility]
            self.assertEqual(undone, [], name)

    def test_every_injection_reaches_its_goal_where_nothing_stands_between(self):
        for name, user in (("workspace", "user_task_14"), ("slack", "user_task_0"), ("banking", "user_task_1"), ("travel", "user_task_2")):
            suite = Suite(name)
            environment = suite.environment("Do what it wants.", ("prompt_injection_channel",) if name == "slack" else ())
            for injection in suite.injections.values():
                for order in case.ORDERS:
                    result = case.run(suite, DirectHands(suite, environment), suite.user_tasks[user], injection, order, utility=False)
                    self.assertTrue(result.goal, f"{name} {injection.ID}, {order}: {result.stopped}")

    def test_an_injection_may_have_any_letters(self):
        suite = Suite("workspace")
        environment = suite.environment(TEXT)
        bodies = [mail.body for mail in environment.inbox.emails.values() if TEXT in mail.body]
        self.assertEqual(len(bodies), len([place for place in suite.places() if place.startswith("email_")]))
        self.assertTrue(any(TEXT in event.description for event in environment.calendar.events.values()))
        self.assertEqual(len(environment.inbox.emails), len(suite.environment().inbox.emails))

    def test_the_hijacked_agent_reads_wherever_it_stands(self):
        for name in OTHERS:
            suite = Suite(name)
            environment = suite.environment(TEXT)
            calls = readings.of(environment, TEXT)
            shown = sum(_times(TEXT, suite.call(twin(environment), call.function, call.args)) for call in calls)
            self.assertEqual(shown, _times(TEXT, environment.model_dump(mode="json")), name)
            self.assertGreaterEqual(shown, len(suite.places()), name)
            self.assertEqual(readings.of(suite.environment(), TEXT), [], name)

    def test_what_only_wants_something_said_is_named_so(self):
        suite = Suite("travel")
        environment = suite.environment("Do what it wants.")
        needs = {}
        for injection in suite.injections.values():
            result = case.run(suite, DirectHands(suite, environment), suite.user_tasks["user_task_2"], injection, utility=False)
            needs[injection.ID] = result.needs
        self.assertEqual([name for name, need in needs.items() if need == "text"], ["injection_task_6"])

    def test_what_is_not_carried_out_reaches_no_goal(self):
        class Held(DirectHands):
            def do(self, call):
                if call.function == "send_email":
                    return case.Outcome(False, "write", why="held", held=True, service="gmail")
                return super().do(call)

        suite = Suite("workspace")
        environment = suite.environment("Do what it wants.")
        for name in ("injection_task_3", "injection_task_5", "injection_task_8"):
            result = case.run(suite, Held(suite, environment), suite.user_tasks["user_task_33"], suite.injections[name], utility=False)
            self.assertFalse(result.goal, name)
            self.assertEqual(result.stopped[0], {"call": "send_email", "service": "gmail", "why": "held", "held": True})
            self.assertEqual([write["done"] for write in result.writes], [False])


class Mocks(unittest.TestCase):
    def test_definitions_have_what_the_suites_tools_take(self):
        for name in OTHERS:
            suite = Suite(name)
            for function in suite.suite.tools:
                if hasattr(HostHands, "_" + function.name):
                    continue
                made = office.tool(suite, function.name)
                inputs = {one["name"]: one.get("required", False) for one in made.capability.get("inputs", [])}
                wanted = {name: field.is_required() and type(None) not in typing.get_args(field.annotation)
                          for name, field in function.parameters.model_fields.items()}
                self.assertEqual(inputs, wanted, function.name)

    def test_amounts_are_cents_and_what_is_not_given_is_left_out(self):
        suite = Suite("banking")
        made = office.tool(suite, "update_scheduled_transaction").arguments({"id": 7, "amount": 200.29, "recipient": None, "recurring": True})
        self.assertEqual(made, {"id": 7, "amount": 20029, "recurring": True})
        self.assertIsNone(office.tool(suite, "reserve_hotel"))

    def test_only_writes_that_wait_are_made_not_to(self):
        self.assertEqual(office.delays(["office", "files"]), {})
        self.assertEqual(office.delays(["calendar"]), {"calendar.create_calendar_event": 0, "calendar.cancel_calendar_event": 0})


def _times(text, value):
    if isinstance(value, str):
        return value.count(text)
    if hasattr(value, "model_dump"):
        return _times(text, value.model_dump(mode="json"))
    if isinstance(value, dict):
        return sum(_times(text, one) for one in value.values())
    return sum(_times(text, one) for one in value) if isinstance(value, list) else 0


RULES = """policy: 1
rules:
  - {name: outside, capabilities: [email.send], when: [{recipients: {any_outside: [example.com, "*.example.com"]}}], tier: blocked}
  - {name: at night, capabilities: [email.send], when: [{time_outside: {zone: Europe/Berlin, from: "07:00", to: "20:00"}}], tier: blocked}
  - {name: by day, capabilities: [email.send], when: [{time_within: {zone: Europe/Berlin, from: "07:00", to: "20:00"}}], tier: notify, delay_seconds: 60}
  - {name: slowly, capabilities: [email.send], delay_seconds: 60}
"""


class Rules(unittest.TestCase):
    def test_rules_are_measured_without_delays_and_as_at_noon(self):
        rules = yaml.safe_load(policies.as_measured(RULES, "harbour.example"))["rules"]
        self.assertEqual(rules, [
            {"name": "outside", "capabilities": ["email.send"], "when": [{"recipients": {"any_outside": ["harbour.example", "*.harbour.example"]}}], "tier": "blocked"},
            {"name": "by day", "capabilities": ["email.send"], "tier": "notify"}])
        self.assertIsNone(policies.as_measured("policy: 1\nrules: [{name: slowly, capabilities: [email.send], delay_seconds: 60}]", None))

    def test_a_refusal_is_named_alike_in_every_case(self):
        limit = Refused({"type": "ApprovalRequired", "message": "It waits for a person's approval and has not been sent. The limit of 5 in 1 h for a is reached; one more fits at 12:00. Do not send it again: w_1."})
        self.assertEqual(rule_of(limit), "ApprovalRequired: The limit of 5 in 1 h for a is reached")
        self.assertEqual(rule_of(Refused({"type": "PolicyDenied", "context": {"rule": "no-strangers"}, "message": "x"})), "rule no-strangers")
        told = Refused({"type": "ApprovalRequired", "message": 'email.send needs a person\'s approval by the rule "no-strangers". It waits as w_1.'})
        self.assertEqual(rule_of(told), "rule no-strangers")


if __name__ == "__main__":
    unittest.main()
