"""What a call raises. One class for each type of docs/errors.md; all of them are `CapabilityError`.

`PolicyDeniedError` is `PolicyDenied`, and so on: both spellings are the same class. `Timeout` has one alone.
"""

from __future__ import annotations

from typing import Any

from .models import ErrorResponse, RecoveryAction, text_in, write_id_in


class KruxOSError(Exception):
    """Whatever this package raises. `request_id` is the JSON-RPC id of the call, where there was one."""

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id

    @property
    def type(self) -> str:
        return type(self).__name__


class ConfigurationError(KruxOSError):
    """An address, key or setting that cannot be right."""


class ClientClosed(KruxOSError):
    """The client was closed."""


class ConnectionFailed(KruxOSError):
    """No connection could be made."""

    def __init__(self, message: str, *, retryable: bool = True, request_id: str | None = None) -> None:
        super().__init__(message, request_id=request_id)
        self.retryable = retryable


class _InDoubt(KruxOSError):
    def __init__(
        self, message: str, *, request_id: str | None = None, may_have_happened: bool = True, idempotency_key: str | None = None
    ) -> None:
        super().__init__(message, request_id=request_id)
        self.may_have_happened = may_have_happened
        self.idempotency_key = idempotency_key


class ConnectionLost(_InDoubt):
    """The connection ended before the answer. The same call with the same `idempotency_key` is the same write."""


class CallTimeout(_InDoubt, TimeoutError):
    """The call's time is over. The host may go on with it; `idempotency_key` as for ConnectionLost."""


class ProtocolError(_InDoubt):
    """What came is no answer of a KruxOS host."""


class CapabilityError(KruxOSError):
    """The host refused, or the capability failed. `recovery` says what to do."""

    error: ErrorResponse
    idempotency_key: str | None = None

    def __init__(self, error: ErrorResponse, *, request_id: str | None = None, capability: str | None = None) -> None:
        super().__init__(error.message, request_id=request_id)
        self.error = error
        self.capability = capability

    @classmethod
    def of(cls, type_: str, message: str, **more: Any) -> CapabilityError:
        return capability_error(ErrorResponse(type=type_, message=message, **more))

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"

    def __reduce__(self) -> Any:
        return _again, (type(self), self.error, self.request_id, self.capability)

    @property
    def type(self) -> str:
        return self.error.type

    @property
    def retryable(self) -> bool:
        return self.error.retryable

    @property
    def retry_after(self) -> float | None:
        return self.error.retry_after

    @property
    def recovery(self) -> list[RecoveryAction]:
        return self.error.recovery

    @property
    def context(self) -> dict[str, Any]:
        return self.error.context

    @property
    def rule(self) -> str | None:
        """The policy's rule that decided, where one did."""
        return text_in(self.context, "rule")

    @property
    def reason(self) -> str | None:
        """What the rule, or a person, said."""
        return text_in(self.context, "reason")

    @property
    def write_id(self) -> str | None:
        return write_id_in(self.context)


def _again(kind: type[CapabilityError], error: ErrorResponse, request_id: str | None, capability: str | None) -> CapabilityError:
    return kind(error, request_id=request_id, capability=capability)


class ApprovalRejected(CapabilityError):
    """A person has rejected the write. It will not happen."""


class ApprovalRequired(CapabilityError):
    """A person has to approve it first."""

    @property
    def approval_id(self) -> str:
        """For `approvals.check` and `approvals.wait`: the write's id."""
        return self.write_id or ""


class BodyFetchFailed(CapabilityError):
    """What a read asked the service for did not come whole."""


class Cancelled(CapabilityError):
    """The call was ended before it was done."""


class CannotCancel(CapabilityError):
    """It is too late to cancel the write: it runs, has run, or may have happened."""


class ConflictError(CapabilityError):
    """The present state does not allow it, or the same key came with another content."""


class VersionConflict(ConflictError):
    """Somebody else has written a newer version, or the key is not as it was expected."""

    @property
    def version(self) -> int:
        """That is there now; 0: none is."""
        found = self.context.get("version")
        return found if isinstance(found, int) else 0


class DatabaseError(CapabilityError):
    """The host's storage failed. Nothing was acknowledged."""


class InputRequired(CapabilityError):
    """The read must be told something first, and nobody can be asked for it here, or nobody has answered."""


class Internal(CapabilityError):
    """A defect of the host. Its log says more."""


class InvalidInput(CapabilityError):
    """The arguments do not fit. The message names the one that does not."""


class MessageNotFound(CapabilityError):
    """There is no such message or record."""


class NoLabelsProvided(CapabilityError):
    """Neither a label to add nor one to remove was given."""


class NotAuthenticated(CapabilityError):
    """The key is missing or wrong; or the service does not let the account in."""


class NotConnected(CapabilityError):
    """No account of the service is connected, or the service refuses its token."""


class NotFound(CapabilityError):
    """There is nothing of this name or id."""


class OutcomeUnknown(CapabilityError):
    """The write may have happened or not. Do not repeat it."""


class PolicyDenied(CapabilityError):
    """A rule, the account's profile or the end of its key does not let this agent do that."""


class RateLimited(CapabilityError):
    """Refused for now. retry_after says for how long."""


class RollbackConflict(CapabilityError):
    """What the write left behind was changed since. Only a person can undo it nevertheless."""


class ServiceUnavailable(CapabilityError):
    """The service, its adapter or the host cannot do it now."""


class SessionExpired(CapabilityError):
    """There is no such session, or it has ended."""


class Timeout(CapabilityError):
    """It was not done in time."""


class Unsupported(CapabilityError):
    """The adapter, or this kind of call, does not have that ability."""


class WriteCancelled(CapabilityError):
    """The write was taken back before it was carried out."""


class WriteDiscarded(CapabilityError):
    """An operator has discarded the write."""


class WriteFailed(CapabilityError):
    """The write did not happen. The message says whether the host tries again."""


class BatchProtection(RateLimited):
    """Too much at once: a limit of the definition, the policy or a rule is reached. Nothing was accepted."""


class OperationBlocked(PolicyDenied):
    """The policy or the connection forbids this operation."""


class RollbackExpired(CapabilityError):
    """The time in which the write could be undone has passed."""


def _types_below(kind: type[CapabilityError]) -> dict[str, type[CapabilityError]]:
    found = {one.__name__: one for one in kind.__subclasses__()}
    for one in list(found.values()):
        found.update(_types_below(one))
    return found


BY_TYPE = _types_below(CapabilityError)


def capability_error(error: ErrorResponse, **more: Any) -> CapabilityError:
    """Of its own class where the type has one; a service's own types are plain CapabilityError."""
    return BY_TYPE.get(error.type, CapabilityError)(error, **more)


ApprovalRejectedError = ApprovalRejected
ApprovalRequiredError = ApprovalRequired
BatchProtectionError = BatchProtection
BodyFetchFailedError = BodyFetchFailed
CancelledError = Cancelled
CannotCancelError = CannotCancel
InputRequiredError = InputRequired
InternalError = Internal
InvalidInputError = InvalidInput
MessageNotFoundError = MessageNotFound
NoLabelsProvidedError = NoLabelsProvided
NotAuthenticatedError = NotAuthenticated
NotConnectedError = NotConnected
NotFoundError = NotFound
OperationBlockedError = OperationBlocked
OutcomeUnknownError = OutcomeUnknown
PolicyDeniedError = PolicyDenied
RateLimitedError = RateLimited
RollbackConflictError = RollbackConflict
RollbackExpiredError = RollbackExpired
ServiceUnavailableError = ServiceUnavailable
SessionExpiredError = SessionExpired
UnsupportedError = Unsupported
VersionConflictError = VersionConflict
WriteCancelledError = WriteCancelled
WriteDiscardedError = WriteDiscarded
WriteFailedError = WriteFailed
