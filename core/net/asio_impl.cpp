// The one place where Asio, its TLS part and Beast are compiled; see kruxos_asio in cmake/Dependencies.cmake.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
