// Asio and Beast, compiled once for this program, which shares no code with the core.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
