from kruxos import KruxOS

agent = KruxOS.connect("localhost:7700", api_key="<64-char hex>")
result = agent.capabilities.invoke("filesystem.list", path="/workspace")
agent.disconnect()
