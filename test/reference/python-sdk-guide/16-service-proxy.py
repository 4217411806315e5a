# Search emails (reads from local replica — no API calls)
result = await agent.capabilities.invoke(
    "email.search",
    query="invoice",
    is_read=False
)
for msg in result.data["messages"]:
    print(f"{msg['from']}: {msg['subject']}")

# Send email (buffered — 5 min cancellation window)
result = await agent.capabilities.invoke(
    "email.send",
    to="finance@example.com",
    subject="Report",
    body="Please find the report attached."
)
write_id = result.data["write_id"]
print(f"Buffered until {result.data['buffer_until']}")

# Cancel if needed
await agent.capabilities.invoke("proxy.cancel_write", write_id=write_id)
