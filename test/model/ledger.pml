/* The effect ledger of one write. The host may be killed between any two steps; the agent cancels and edits, the operator approves
 * what he saw; a person may delete the effect at the service; the service acts late, refuses, or its answer is lost; an abandoned
 * adapter call may try to send long after its deadline. Checked over every interleaving: nothing twice, nothing after a confirmed
 * cancel, nothing that the operator did not see, and every write reaches an end that somebody is told of.
 *
 * test/model/run checks it, as the test model.ledger. By hand:
 *   spin -a ledger.pml && cc -O2 -DNOCLAIM -o pan pan.c && ./pan                safety (without -DNOCLAIM the claim hides states)
 *   spin -a ledger.pml && cc -O2 -o pan pan.c && ./pan -a -f -N ends            every write ends
 *   spin -p -t ledger.pml                                                       the steps of a counterexample that pan found
 *
 * It holds as it stands, and with RESEND: the operator's choice to send again what is absent after the settle time.
 * Each of these must find a counterexample (spin -a -DX), or the model shows nothing:
 *   NO_LEDGER        "executing" is not durable before the adapter is called
 *   NO_LOOK          an unknown outcome is simply tried again
 *   NO_FENCE         (with RESEND) an abandoned call can still send
 *   NO_SETTLE        (with RESEND) "absent" is believed while a request of ours may still be under way
 *   DELETED          (with RESEND) a person deletes the message before the look: why asking is the default for what reaches people
 *   NO_HASH          accepting does not name the content that was shown
 *   CANCEL_UNKNOWN   a write of unknown outcome can be cancelled
 *
 * docs/write-path.md says the same in words; a change of the ledger's states is made here first.
 */
#define ATTEMPTS 3
#define KILLS 2
mtype = { pending_approval, buffered, executing, unknown, dead_letter, completed, cancelled, told_person, ok, refused };

mtype state = pending_approval;             /* durable, with the next three */
byte version = 1, consented = 0, attempt = 0;
bool closed = false;                        /* durable: sent again after an attempt that may have had its effect */
byte calling = 0;                           /* volatile: the attempt whose adapter call has not returned */
bool waiting = false;                       /* volatile: its request is sent */
byte kills = 0, edits = 0, shown = 0;
byte effects = 0; bool visible = false;     /* at the service: how often it happened, and whether it can be seen */
chan wire  = [4] of { byte, byte };         /* attempt, version */
chan reply = [4] of { byte, mtype };
byte stray = 0, stray_version = 0;          /* an abandoned call that has not sent yet */

#define ended (state == completed || state == cancelled || state == told_person)
#ifdef NO_SETTLE
#define settled true
#else
#define settled empty(wire)                 /* the settle time is over: nothing of ours is under way */
#endif
#ifdef NO_FENCE
#define fenced false
#else
#define fenced true                         /* HttpClient refuses a send for an attempt that has ended */
#endif

active proctype service() {
  byte a, v;
end: do
  :: atomic { wire?a,v ->
       if
       :: effects++; visible = true; assert(effects <= 1); assert(state != cancelled); assert(v == consented);
          if :: reply!a,ok :: skip fi
       :: if :: reply!a,refused :: skip fi
       fi; a = 0; v = 0 }
#ifdef DELETED
  :: atomic { visible -> visible = false }
#endif
  od
}

active proctype people() {
end: do
  :: atomic { state == pending_approval && shown != version -> shown = version }
#ifdef NO_HASH
  :: atomic { state == pending_approval && shown > 0 -> consented = shown; state = buffered }
#else
  :: atomic { state == pending_approval && shown == version -> consented = shown; state = buffered }   /* accept names the hash */
#endif
  :: atomic { (state == pending_approval || state == buffered) && !closed && edits < 1 -> edits++; version++; state = pending_approval }
  :: atomic { (state == pending_approval || state == buffered || state == dead_letter) && !closed -> state = cancelled }
  :: atomic { state == unknown -> state = told_person }                                /* looks himself: discards it, or says that it happened */
#ifdef CANCEL_UNKNOWN
  :: atomic { state == unknown -> state = cancelled }
#endif
  :: ended -> break
  od
}

/* A call that the host gave up on, still alive in its thread. */
active proctype abandoned() {
end: do
  :: atomic { stray > 0 -> if :: fenced -> skip :: !fenced -> wire!stray,stray_version fi; stray = 0; stray_version = 0 }
  od
}

active proctype host() {
  byte a; mtype r;
  do
  :: ended -> break
#ifdef NO_LEDGER
  :: atomic { state == buffered && !waiting && attempt < ATTEMPTS -> attempt++; waiting = true; wire!attempt,version }
  :: atomic { state == buffered && waiting && nempty(reply) -> reply?a,r; if :: a == attempt && r == ok -> state = completed :: else -> waiting = false fi; a = 0; r = 0 }
  :: atomic { state == buffered && !waiting && attempt == ATTEMPTS -> state = told_person }
#else
  :: atomic { state == buffered -> state = executing; attempt++ }                    /* the claim: one step against cancel and edit */
#endif
  :: atomic { state == executing && calling != attempt -> calling = attempt }        /* the adapter is called */
  :: atomic { state == executing && calling == attempt && !waiting -> waiting = true; wire!attempt,version }
  :: atomic { state == executing && waiting && nempty(reply) -> reply?a,r;
       if
       :: a == attempt && r == ok      -> state = completed; waiting = false
       :: a == attempt && r == refused -> state = dead_letter; waiting = false       /* certainly not done */
       :: a != attempt                 -> skip
       fi; a = 0; r = 0 }
  :: atomic { state == executing && calling == attempt ->                            /* deadline: answer missing, or not even sent yet */
       if :: !waiting && stray == 0 -> stray = attempt; stray_version = version :: else -> skip fi;
       state = unknown; waiting = false }
  :: atomic { state == dead_letter -> if :: attempt < ATTEMPTS -> state = executing; attempt++ :: else -> state = told_person fi }
  :: atomic { state == unknown && settled ->
       if
#ifdef NO_LOOK
       :: attempt < ATTEMPTS -> state = executing; attempt++
       :: attempt == ATTEMPTS -> state = told_person
#else
       :: visible -> state = completed                                               /* find_effect: found by its marker */
       :: fenced && effects == 0 -> state = dead_letter                              /* disproved: positive proof that nothing happened */
#ifdef RESEND
       :: !visible && attempt < ATTEMPTS -> closed = true; state = buffered
       :: !visible && attempt == ATTEMPTS -> state = told_person
#else
       :: !visible -> state = told_person                                            /* absent: a person decides */
#endif
#endif
       fi }
  :: atomic { !ended && kills < KILLS -> kills++; calling = 0; waiting = false; stray = 0; stray_version = 0;   /* SIGKILL and restart */
       if :: state == executing -> state = unknown :: else -> skip fi }
  od;
  assert(state != completed || effects == 1); assert(state != cancelled || effects == 0)
}
ltl ends { <> ended }
