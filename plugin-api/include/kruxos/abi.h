/* kruxos/abi.h - the whole plugin boundary. Start at abi/base.h (rules), then abi/entry.h (what a plugin exports). */
#ifndef KRUXOS_ABI_H
#define KRUXOS_ABI_H
#include <kruxos/abi/account.h>
#include <kruxos/abi/base.h>
#include <kruxos/abi/call.h>
#include <kruxos/abi/cleanup.h>
#include <kruxos/abi/entry.h>
#include <kruxos/abi/http.h>
#include <kruxos/abi/read.h>
#include <kruxos/abi/rollback.h>
#include <kruxos/abi/sync.h>
#include <kruxos/abi/uploads.h>
#include <kruxos/abi/write.h>
#endif
