kruxos approve list --service slack    # view recent writes
kruxos approve rollback <write_id>     # undo a write
