from kruxos import KruxOS

async with KruxOS.connect_async(
    host="localhost:7700",
    api_key="7f3a8c1d2e9b5a4f8e6c1d3b7a9f2e5c8d1b4a7f3c9e6d8b1a4c7f2e5d9b8a3c",
) as agent:
    # agent is connected and authenticated
    pass
# Connection closed automatically
