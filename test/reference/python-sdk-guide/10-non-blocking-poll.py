from kruxos.errors import ApprovalRequired
import asyncio

try:
    result = await agent.capabilities.invoke("process.run", command="deploy.sh")
except ApprovalRequired as e:
    approval_id = e.approval_id
    # Do other work while waiting
    while True:
        status = await agent.approvals.check(approval_id)
        if status.resolved:
            break
        await asyncio.sleep(5)
