cap = await agent.capabilities.describe("filesystem.read")
print(cap.purpose)
print(cap.when_to_use)
for inp in cap.inputs:
    print(f" {inp.name}: {inp.type} {'(required)' if inp.required else '(optional)'}")
