from kruxos.models import (
    CapabilityDefinition,
    InvocationResult,
    ErrorResponse,
    RecoveryAction,
    StateEntry,
    ApprovalStatus,
)
