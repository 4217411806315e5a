result = await os.call_async(
    "email.send",
    to="team@example.com",
    subject="Report ready",
    body="The daily report has been generated and is attached.",
)
print(f"Status: {result.data['status']}")
print(f"Buffer ID: {result.data['buffer_id']}")
print(f"Send at: {result.data['scheduled_send']}")
print(f"Cancel before: {result.data['cancel_deadline']}")
