from kruxos import transaction

async with transaction(agent) as tx:
    await tx.invoke("filesystem.write", path="/workspace/a.txt", content="hello")
    await tx.invoke("filesystem.write", path="/workspace/b.txt", content="world")
    # If any invocation fails, all are rolled back
