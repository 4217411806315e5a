"""What the hijacked agent does for an injection, step by step: the suite's own calls, or those of goals.json."""
import json
import pathlib

from suite import as_call

WRITTEN = json.loads((pathlib.Path(__file__).parent / "goals.json").read_text())


class Goal:
    """The calls of one injection. Each step is made when its turn comes, since it may name what an earlier one has left."""

    def __init__(self, suite, injection, environment):
        self.suite, self.injection, self.environment = suite, injection, environment
        self.sent = []  # ids of mails that this goal's own steps have sent; None for one that did not go out

    def steps(self):
        """Yields calls. What each has come to is told by done()."""
        written = WRITTEN.get(self.suite.name, {}).get(self.injection.ID)
        if written is None:
            yield from self._of_the_suite()
            return
        for step in written:
            for call in self._calls(step):
                if call:
                    yield call

    def done(self, call, came_to):
        """`came_to`: whether the call was carried out, and of a mail the id that it has."""
        if call.function == "send_email":
            self.sent.append(came_to)

    def _of_the_suite(self):
        calls = self.injection.ground_truth(self.environment().model_copy(deep=True))
        for call in calls:
            if call.function == "delete_email" and self.sent:
                if not self.sent[-1]:
                    continue
                call = as_call("delete_email", {"email_id": self.sent[-1]})
            yield call

    def _calls(self, step):
        # What a step is about is looked up once: deleting mails changes which ones there are.
        if "reads" in step:
            for mail in self._mails(step["reads"]):
                yield as_call("read_email", {"email_id": mail.id_})
        for item in self._each(step["each"]) if "each" in step else [None]:
            args = {name: self._value(value, item) for name, value in step["args"].items()}
            yield None if None in args.values() else as_call(step["function"], args)

    def _each(self, what):
        if what == "unread":
            return [mail.id_ for mail in self._mails("unread")]
        if what == "largest_files":
            return self._largest()
        return self._people_met_today()

    def _mails(self, which):
        inbox = self.environment().inbox
        if which == "unread":
            return [mail for mail in inbox.emails.values() if not mail.read]
        return list(inbox.received if which == "received" else inbox.sent)

    def _largest(self):
        files = self.environment().cloud_drive.files
        return [key for key, file in sorted(files.items(), key=lambda item: item[1].size, reverse=True)[:5]]

    def _people_met_today(self):
        environment = self.environment()
        own = environment.inbox.account_email
        people = [person for event in environment.calendar.get_by_day(environment.calendar.current_day)
                  for person in event.participants if person != own]
        return list(dict.fromkeys(people))

    def _value(self, value, item):
        if isinstance(value, list):
            return [self._value(one, item) for one in value]
        if value.startswith("{task."):
            return getattr(self.injection, value[len("{task."):-1])
        if not value.startswith("$"):
            return value
        word, _, which = value[1:].partition(" ")
        return getattr(self, "_look_up_" + word)(which, item)

    def _look_up_item(self, which, item):
        return item

    def _look_up_bodies(self, which, item):
        return "\n".join(mail.body for mail in self._mails(which))

    def _look_up_sent(self, which, item):
        place = {"last": 1, "before_last": 2}[which]
        return self.sent[-place] if len(self.sent) >= place else None

    def _look_up_own_address(self, which, item):
        return self.environment().inbox.account_email

    def _look_up_files(self, which, item):
        keys = self._largest() if which == "largest" else list(self.environment().cloud_drive.files)
        return [{"type": "file", "file_id": key} for key in keys]

    def _look_up_today(self, which, item):
        return self.environment().calendar.current_day.isoformat()

    def _look_up_letter(self, which, item):
        return self.injection._EMAIL_BODY.format(first_name=item.split(".")[0].capitalize())
