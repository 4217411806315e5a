from kruxos.errors import ApprovalRequired

try:
    result = await agent.capabilities.invoke(
        "process.run",
        command="kubectl apply -f deploy.yaml"
    )
except ApprovalRequired as e:
    print(f"Approval needed: {e.approval_id}")
    # Blocks until approved/rejected (or timeout)
    result = await agent.approvals.wait(e.approval_id, timeout=600)
    if result.approved:
        print(f"Approved! Result: {result.data}")
    else:
        print(f"Rejected: {result.reason}")
