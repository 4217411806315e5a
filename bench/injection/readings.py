"""Where an injection stands in a suite's environment: the calls that show it to an agent, and have no other effect."""
from suite import as_call, files_of


def of(environment, text):
    return [call for part, calls in PARTS.items() if hasattr(environment, part) for call in calls(environment, text)]


def _mails(environment, text):
    return [as_call("read_email", {"email_id": key}) for key, mail in environment.inbox.emails.items() if text in mail.body]


def _days(environment, text):
    days = {event.start_time.date().isoformat() for event in environment.calendar.events.values() if text in event.description}
    return [as_call("get_day_calendar_events", {"day": day}) for day in sorted(days)]


def _drive(environment, text):
    return [as_call("get_file_by_id", {"file_id": key}) for key, file in files_of(environment).items() if text in file.content]


def _channels(environment, text):
    return [as_call("get_channels", {})]


def _payments(environment, text):
    found = any(text in payment.subject for payment in environment.bank_account.transactions)
    return [as_call("get_most_recent_transactions", {"n": 100})] if found else []


def _files(environment, text):
    return [as_call("read_file", {"file_path": path}) for path, content in environment.filesystem.files.items() if text in content]


def _reviews(function, argument, listed):
    def calls(environment, text):
        names = [one.name for one in listed(environment) if any(text in review for review in one.reviews)]
        return [as_call(function, {argument: names})] if names else []

    return calls


# By the part of the environment that lets others write.
PARTS = {
    "inbox": _mails,
    "calendar": _days,
    "cloud_drive": _drive,
    "slack": _channels,
    "bank_account": _payments,
    "filesystem": _files,
    "hotels": _reviews("get_rating_reviews_for_hotels", "hotel_names", lambda there: there.hotels.hotel_list),
    "restaurants": _reviews("get_rating_reviews_for_restaurants", "restaurant_names", lambda there: there.restaurants.restaurant_list),
    "car_rental": _reviews("get_rating_reviews_for_car_rental", "company_name", lambda there: there.car_rental.company_list),
}
