"""The client of the KruxOS Service Proxy: `KruxOS.connect()` for callers that block, `KruxOS.connect_async()` for asyncio."""

from ._clock import Backoff, Clock
from ._settings import ConnectOptions
from ._transport import Connection, Disconnected, Transport
from ._version import VERSION as __version__
from .async_client import AsyncKruxOS, Connecting
from .capabilities import RawResponse
from .client import KruxOS
from .errors import (
    ApprovalRejected,
    ApprovalRequired,
    CallTimeout,
    CapabilityError,
    ConnectionFailed,
    ConnectionLost,
    KruxOSError,
    PolicyDenied,
    RateLimited,
    VersionConflict,
)
from .models import ApprovalStatus, CapabilityDefinition, ErrorResponse, InvocationResult, RecoveryAction, StateEntry, WriteStatus
from .transactions import AsyncTransaction, Transaction, transaction
from .writes import AsyncWrite, Write

__all__ = [
    "ApprovalRejected",
    "ApprovalRequired",
    "ApprovalStatus",
    "AsyncKruxOS",
    "AsyncTransaction",
    "AsyncWrite",
    "Backoff",
    "CallTimeout",
    "CapabilityDefinition",
    "CapabilityError",
    "Clock",
    "ConnectOptions",
    "Connecting",
    "Connection",
    "ConnectionFailed",
    "ConnectionLost",
    "Disconnected",
    "ErrorResponse",
    "InvocationResult",
    "KruxOS",
    "KruxOSError",
    "PolicyDenied",
    "RateLimited",
    "RawResponse",
    "RecoveryAction",
    "StateEntry",
    "Transaction",
    "Transport",
    "VersionConflict",
    "Write",
    "WriteStatus",
    "__version__",
    "transaction",
]
