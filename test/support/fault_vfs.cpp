#include "support/fault_vfs.hpp"

#include <sqlite3.h>

#include <cstring>
#include <mutex>

namespace support {
namespace {

struct Plan {
  std::mutex mutex;
  int write_code = SQLITE_OK, writes_left = 0, sync_code = SQLITE_OK;
  bool lasting = false, no_open = false;
  std::string write_suffix, sync_suffix;
  int faults = 0, log_syncs = 0;
};
Plan plan;
sqlite3_vfs* real = nullptr;
sqlite3_vfs shim;

struct File {
  sqlite3_file base;
  const char* name;
  sqlite3_file* under;  ///< lies behind this struct
};

sqlite3_file* under(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->under;
}

bool is_for(sqlite3_file* file, const std::string& suffix) {
  const char* name = reinterpret_cast<File*>(file)->name;
  const std::string text = name ? name : "";
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

int write(sqlite3_file* f, const void* bytes, int count, sqlite3_int64 at) {
  {
    const std::lock_guard guard(plan.mutex);
    if (plan.write_code != SQLITE_OK && is_for(f, plan.write_suffix) && --plan.writes_left < 0) {
      ++plan.faults;
      return plan.write_code;
    }
  }
  return under(f)->pMethods->xWrite(under(f), bytes, count, at);
}

int sync(sqlite3_file* f, int flags) {
  const int code = under(f)->pMethods->xSync(under(f), flags);
  const std::lock_guard guard(plan.mutex);
  if (is_for(f, "-wal")) ++plan.log_syncs;
  if (plan.sync_code == SQLITE_OK || !is_for(f, plan.sync_suffix)) return code;
  ++plan.faults;
  const int fault = plan.sync_code;
  if (!plan.lasting) plan.sync_code = SQLITE_OK;
  return fault;
}

const sqlite3_io_methods kMethods = {
    3,
    [](sqlite3_file* f) { return under(f)->pMethods ? under(f)->pMethods->xClose(under(f)) : SQLITE_OK; },
    [](sqlite3_file* f, void* p, int n, sqlite3_int64 o) { return under(f)->pMethods->xRead(under(f), p, n, o); },
    write,
    [](sqlite3_file* f, sqlite3_int64 n) { return under(f)->pMethods->xTruncate(under(f), n); },
    sync,
    [](sqlite3_file* f, sqlite3_int64* n) { return under(f)->pMethods->xFileSize(under(f), n); },
    [](sqlite3_file* f, int l) { return under(f)->pMethods->xLock(under(f), l); },
    [](sqlite3_file* f, int l) { return under(f)->pMethods->xUnlock(under(f), l); },
    [](sqlite3_file* f, int* r) { return under(f)->pMethods->xCheckReservedLock(under(f), r); },
    [](sqlite3_file* f, int op, void* p) { return under(f)->pMethods->xFileControl(under(f), op, p); },
    [](sqlite3_file* f) { return under(f)->pMethods->xSectorSize(under(f)); },
    [](sqlite3_file* f) { return under(f)->pMethods->xDeviceCharacteristics(under(f)); },
    [](sqlite3_file* f, int r, int n, int x, void volatile** p) {
      return under(f)->pMethods->xShmMap(under(f), r, n, x, p);
    },
    [](sqlite3_file* f, int o, int n, int flags) { return under(f)->pMethods->xShmLock(under(f), o, n, flags); },
    [](sqlite3_file* f) { under(f)->pMethods->xShmBarrier(under(f)); },
    [](sqlite3_file* f, int d) { return under(f)->pMethods->xShmUnmap(under(f), d); },
    [](sqlite3_file* f, sqlite3_int64 o, int n, void** p) { return under(f)->pMethods->xFetch(under(f), o, n, p); },
    [](sqlite3_file* f, sqlite3_int64 o, void* p) { return under(f)->pMethods->xUnfetch(under(f), o, p); },
};

int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out_flags) {
  auto* file = reinterpret_cast<File*>(f);
  file->base.pMethods = nullptr;
  {
    const std::lock_guard guard(plan.mutex);
    if (plan.no_open) return ++plan.faults, SQLITE_CANTOPEN;
  }
  file->name = name;
  file->under = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code = real->xOpen(real, name, file->under, flags, out_flags);
  if (code == SQLITE_OK) file->base.pMethods = &kMethods;
  return code;
}

}  // namespace

FaultVfs::FaultVfs() {
  heal();
  plan.faults = 0;
  real = sqlite3_vfs_find(nullptr);
  shim = *real;
  shim.zName = "fault";
  shim.szOsFile = static_cast<int>(sizeof(File)) + real->szOsFile;
  shim.xOpen = open;
  sqlite3_vfs_register(&shim, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&shim);
  sqlite3_vfs_register(real, 1);
}

void FaultVfs::fail_writes(int code, int after, const std::string& suffix) {
  const std::lock_guard guard(plan.mutex);
  plan.write_code = code;
  plan.writes_left = after;
  plan.write_suffix = suffix;
}

void FaultVfs::fail_syncs(int code, const std::string& suffix, bool lasting) {
  const std::lock_guard guard(plan.mutex);
  plan.sync_code = code;
  plan.sync_suffix = suffix;
  plan.lasting = lasting;
}

void FaultVfs::fail_opens(bool fail) {
  const std::lock_guard guard(plan.mutex);
  plan.no_open = fail;
}

void FaultVfs::heal() {
  const std::lock_guard guard(plan.mutex);
  plan.write_code = plan.sync_code = SQLITE_OK;
  plan.no_open = false;
}

int FaultVfs::log_syncs() const {
  const std::lock_guard guard(plan.mutex);
  return plan.log_syncs;
}

int FaultVfs::faults() const {
  const std::lock_guard guard(plan.mutex);
  return plan.faults;
}

}  // namespace support
