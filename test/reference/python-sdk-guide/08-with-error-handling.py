from kruxos.errors import CapabilityError, PolicyDenied, ApprovalRequired

try:
    result = await agent.capabilities.invoke(
        "process.run",
        command="ls -la /workspace"
    )
    print(result.data["stdout"])
except PolicyDenied as e:
    print(f"Policy blocked: {e.message}")
    print(f"Rule: {e.rule}")
except ApprovalRequired as e:
    print(f"Waiting for approval: {e.approval_id}")
    # Wait for approval (see Approval section below)
    result = await agent.approvals.wait(e.approval_id, timeout=300)
except CapabilityError as e:
    print(f"Error: {e.type}")
    for recovery in e.recovery:
        print(f" Try: {recovery.action} — {recovery.description}")
