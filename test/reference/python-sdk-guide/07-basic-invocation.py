result = await agent.capabilities.invoke(
    "filesystem.read",
    path="/workspace/data.csv"
)
if result.success:
    print(result.data["content"])
else:
    print(f"Error: {result.error.type} — {result.error.message}")
