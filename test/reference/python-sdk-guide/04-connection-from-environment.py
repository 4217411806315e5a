from kruxos import KruxOS

# Reads KRUXOS_HOST and KRUXOS_API_KEY from environment
async with KruxOS.connect_async() as agent:
    pass
