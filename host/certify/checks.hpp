// The checks that run in the worker, by what they are about. Each throws CheckFailed or CheckSkipped, or has passed.
#pragma once

#include <string>

#include "host/certify/lab.hpp"

namespace krux::certify {

void check_describe(Lab& lab, const std::string& subject);
void check_verify(Lab& lab, const std::string& subject);
void check_verify_refused(Lab& lab, const std::string& subject);
void check_verify_faults(Lab& lab, const std::string& subject);
void check_verify_in_time(Lab& lab, const std::string& subject);
/// The service takes the token no more: nothing may come after it.
void check_revoke(Lab& lab, const std::string& subject);

void check_sync_full(Lab& lab, const std::string& subject);
void check_sync_repeat(Lab& lab, const std::string& subject);
void check_sync_idle(Lab& lab, const std::string& subject);
void check_sync_changes(Lab& lab, const std::string& subject);
void check_sync_resume(Lab& lab, const std::string& subject);
void check_sync_connection(Lab& lab, const std::string& subject);
void check_sync_server(Lab& lab, const std::string& subject);
void check_sync_limited(Lab& lab, const std::string& subject);
void check_sync_refused(Lab& lab, const std::string& subject);
void check_sync_garbage(Lab& lab, const std::string& subject);
void check_sync_cursors(Lab& lab, const std::string& subject);
void check_sync_hostile(Lab& lab, const std::string& subject);
void check_sync_in_time(Lab& lab, const std::string& subject);

void check_read(Lab& lab, const std::string& subject);
void check_read_bad(Lab& lab, const std::string& subject);
void check_resolve(Lab& lab, const std::string& subject);

void check_write_once(Lab& lab, const std::string& subject);
void check_write_answer_lost(Lab& lab, const std::string& subject);
void check_write_not_sent(Lab& lab, const std::string& subject);
void check_write_twins(Lab& lab, const std::string& subject);
void check_write_repeat(Lab& lab, const std::string& subject);
void check_write_limited(Lab& lab, const std::string& subject);
void check_write_refused(Lab& lab, const std::string& subject);
void check_write_server(Lab& lab, const std::string& subject);
void check_write_garbage(Lab& lab, const std::string& subject);
void check_write_in_time(Lab& lab, const std::string& subject);
void check_write_bad(Lab& lab, const std::string& subject);
void check_find_unattempted(Lab& lab, const std::string& subject);
void check_find_faults(Lab& lab, const std::string& subject);

void check_rollback(Lab& lab, const std::string& subject);
void check_rollback_conflict(Lab& lab, const std::string& subject);
void check_rollback_lost(Lab& lab, const std::string& subject);
void check_rollback_faults(Lab& lab, const std::string& subject);

void check_side_by_side(Lab& lab, const std::string& subject);
void check_life(Lab& lab, const std::string& subject);

}  // namespace krux::certify
