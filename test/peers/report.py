"""What passed and what failed, line by line, and the line at the end that counts them."""


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.known = 0
        self.failures = []

    def group(self, title):
        print(f"-- {title}", flush=True)

    def say(self, text):
        print(f"   {text}", flush=True)

    def named(self, name, reason):
        """What is known not to pass, and why: neither passed nor failed."""
        self.known += 1
        self.say(f"known   {name}: {reason}")

    def result(self, name, why=None):
        """A failure says why; a pass has nothing to say."""
        if why is None:
            self.passed += 1
            self.say(f"ok      {name}")
        else:
            self.failed += 1
            self.failures.append(f"FAILED  {name}: {why}")
            self.say(self.failures[-1])

    def end(self):
        """With the failures once more: what stands among hundreds of lines is not seen."""
        for failure in self.failures:
            self.say(failure)
        if self.known:
            print(f"{self.known} are known not to pass; test/peers names each with its reason", flush=True)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 0 if self.failed == 0 and self.passed else 1
