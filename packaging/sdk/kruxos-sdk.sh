# The Python client of KruxOS, for shells that people log in to. In a virtual environment, where what the client stands on may
# be of another version, install the client into it and `unset PYTHONPATH`.
case ":${PYTHONPATH:-}:" in
  *:/opt/kruxos/sdk/python:*) ;;
  *) export PYTHONPATH="/opt/kruxos/sdk/python${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
