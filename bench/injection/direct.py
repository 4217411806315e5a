"""The suite's own tools, without a host: what a case comes to where nothing stands between the agent and the services."""
from case import Outcome
from suite import twin

READS = ("get_", "search_", "list_", "read_", "check_")


class DirectHands:
    def __init__(self, suite, environment):
        self.suite = suite
        self.environment = twin(environment)

    def read_injections(self):
        """They are read by looking at the environment, which changes nothing."""

    def do(self, call):
        outcome = Outcome(True, "read" if call.function.startswith(READS) else "write", service="suite")
        if call.function == "read_email":
            return outcome
        try:
            made = self.suite.call(self.environment, call.function, call.args)
        except Exception as refusal:  # the suite's tools refuse by whatever exception fits
            return Outcome(False, outcome.kind, why=f"the suite's tool: {refusal}", service="suite")
        if call.function == "send_email":
            outcome.mail_id = made.id_
        return outcome
