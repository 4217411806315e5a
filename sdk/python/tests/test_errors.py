from __future__ import annotations

import pickle
import re

import pytest
from conftest import ROOT

from kruxos import errors
from kruxos.models import ErrorResponse


def documented() -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE)


def test_each_documented_type_has_a_class_and_no_class_is_of_none() -> None:
    assert sorted(errors.BY_TYPE) == sorted(documented())


@pytest.mark.parametrize("type_", documented())
def test_a_type_is_raised_as_its_class(type_: str) -> None:
    error = errors.capability_error(ErrorResponse(type=type_, message="Why."), request_id="1", capability="a.b")
    assert type(error).__name__ == type_ and isinstance(error, errors.CapabilityError)
    assert (str(error), error.type, error.message, error.request_id) == (f"{type_}: Why.", type_, "Why.", "1")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.error, again.capability) == (type(error), error.error, "a.b")
    if not type_.endswith("Error") and type_ != "Timeout":
        assert getattr(errors, type_ + "Error") is type(error)


def test_a_type_of_a_service_is_a_capability_error() -> None:
    error = errors.capability_error(ErrorResponse(type="ChannelNotFound"))
    assert type(error) is errors.CapabilityError and error.type == "ChannelNotFound"


def test_a_rule_and_an_approval_are_named() -> None:
    denied = errors.CapabilityError.of("PolicyDenied", "No.", context={"rule": "no-strangers", "reason": "Ask first."})
    assert isinstance(denied, errors.PolicyDenied) and (denied.rule, denied.reason) == ("no-strangers", "Ask first.")
    asked = errors.CapabilityError.of("ApprovalRequired", "Wait.", context={"write_id": "w_1"})
    assert isinstance(asked, errors.ApprovalRequired) and asked.approval_id == "w_1"


def test_a_timeout_is_a_timeout_error_too() -> None:
    error = errors.CallTimeout("Late.", request_id="1", idempotency_key="k")
    assert isinstance(error, TimeoutError) and (error.message, error.idempotency_key) == ("Late.", "k")
    assert str(error) == "Late."
