/* The effect ledger of one write. The host may be killed between any two steps; the agent cancels and edits, the operator approves
 * what he saw; a person may delete the effect at the service; the service acts late, refuses, or its answer is lost; an abandoned
 * adapter call may try to send long after its deadline; an attempt makes something before it sends (a draft), which stays behind
 * when it is not sent; the data directory may be copied at any time, the original may go on, and the copy may be started after it.
 * Checked over every interleaving: nothing twice, nothing after a confirmed cancel, nothing that the operator did not see, nothing
 * left behind of what was cancelled, and every write reaches an end that somebody is told of.
 *
 * Its states are those of core/write/transition.hpp as far as they matter here. "cancelled" stands for all that promises that nothing
 * has happened: also what a person rejects, or does not decide in time, and what policy refuses when it is due ("failed"). "escalated", a flag there, stands for
 * every end that a person is told of, "discarded" among them. What policy, limits or an ended key make of a write when it is claimed is
 * one step of the host: it asks a person, once, or refuses.
 *
 * test/model/run checks it, as the test model.ledger. By hand:
 *   spin -a ledger.pml && cc -O2 -DNOCLAIM -o pan pan.c && ./pan                safety (without -DNOCLAIM the claim hides states)
 *   spin -a ledger.pml && cc -O2 -o pan pan.c && ./pan -a -f -N ends            every write ends
 *   spin -p -t ledger.pml                                                       the steps of a counterexample that pan found
 *
 * It holds as it stands, and with
 *   RESEND           the operator's choice to send again what is absent after the settle time
 *   HARMLESS         (with RESEND) what does the same when it is done twice: it is sent again too when no look can tell
 *   RELEASE          in a copy, the operator's choice to let it go out: what a look has not found, at once; what was not looked for
 *                    yet, when a look does not find it. What he was shown must still be so. (Where no look can tell he looks himself.)
 *   UNSEEN_FIRST     a copy that nothing shows to be one, of a write that was due and of which no attempt had begun: it is looked for first.
 *                    (That the settle time is over is taken for granted then, and a cancel in it speaks for that ledger alone.
 *                    So is that a look can be made at last: in truth the tries end, and it goes out.)
 *   PLAIN            attempts make nothing before they send: there are far fewer states, enough for what is about copies
 * Each of these must find a counterexample (spin -a -DX), or the model shows nothing:
 *   NO_LEDGER        "executing" is not durable before the adapter is called
 *   NO_LOOK          an unknown outcome is simply tried again
 *   NO_FENCE         (with RESEND) an abandoned call can still send
 *   NO_SETTLE        (with RESEND) "absent" is believed while a request of ours may still be under way
 *   DELETED          (with RESEND) a person deletes the message before the look: why asking is the default for what reaches people
 *   OPEN             (with RESEND, HARMLESS) what is sent again can still be cancelled
 *   NO_HASH          accepting does not name the content that was shown
 *   CANCEL_UNKNOWN   a write of unknown outcome can be cancelled
 *   UNSEEN           a copy that nothing shows to be one: why kruxosd takes --held
 *   UNSEEN_FIRST with NO_FIRST, what was due is claimed without a look; with UNMADE_OVER, a first look that could not be made counts
 *                    as one; with NO_FIRST_CLAIMED, what was claimed and not begun is tried again without a look; with DELETED, the
 *                    effect is gone before the look
 *   RELEASE with NO_SETTLE, or with DELETED: why evidence is shown to a person, and decides nothing; with UNLOOKED, what was not looked
 *                    for goes out at once; with STALE, what was shown to the operator need not be so any more
 *   CANCEL_COPY      a write of a copy can be cancelled
 *   NO_MARK          the call into the adapter begins before it is durable that it may have begun
 *   NO_CLEANUP       what an attempt has made is left when its write is cancelled
 *   CLEAN_ONCE       a cleanup whose answer is lost counts as done
 *
 * docs/write-path.md says the same in words; a change of the ledger's states is made here first.
 */
#define ATTEMPTS 3
#define KILLS 2
#define FIRST_TRIES 2
mtype = { pending_approval, buffered, executing, unknown, dead_letter, completed, cancelled, escalated, ok, refused,
          none, pending, done, left, absent, found };

mtype state = pending_approval;             /* durable, with the next three */
byte version = 1, consented = 0, attempt = 0;
bool irrevocable = false;                        /* durable: sent again after an attempt that may have had its effect */
bool begun = false;                         /* durable: the present attempt's call may have begun */
mtype cleanup = none; byte cleanups = 0;    /* durable: a write of its own that takes away what the attempts have made */
bool removing = false;                      /* volatile: its request is sent */
byte calling = 0;                           /* volatile: the attempt whose adapter call has not returned */
bool waiting = false;                       /* volatile: its request is sent */
byte kills = 0, edits = 0, shown = 0;
bool held_as_copy = false;                        /* durable: the ledger is known to be a copy, and this write is held */
mtype evidence = none;                      /* durable, with the next: what a look of a held write has shown */
bool wanted = false;                        /* released before it was looked for: it goes out when a look does not find it */
mtype prompt = left;                        /* the evidence that the operator is shown while he decides; left: he is shown nothing */
bool asked = false;                         /* the policy has changed, and a person was asked once more */
bool first = false; byte unmade = 0;        /* durable: looked for before its first attempt; looks that could not be made */
bool saved = false, copy_runs = false;      /* a copy of what is durable was made; it is what runs now */
mtype s_state = pending_approval; byte s_version = 0, s_consented = 0, s_attempt = 0; bool s_irrevocable = false;
bool agreed[4];                             /* versions that the operator has ever accepted, in the original or in the copy */
byte effects = 0; bool visible = false;     /* at the service: how often it happened, and whether it can be seen */
bool made = false;                          /* there too: a draft, which is gone when it is sent */
chan wire  = [4] of { byte, byte };         /* attempt, version */
chan make  = [4] of { byte };               /* a request that makes the draft */
chan reply = [4] of { byte, mtype };
byte stray = 0, stray_version = 0;          /* an abandoned call that has not sent yet */

#define ended (state == completed || (state == cancelled && cleanup != pending) || state == escalated)
#define idle (empty(wire) && empty(make))       /* nothing of ours is under way */
#define over (ended && (!saved || copy_runs))   /* a copy that was made is started at some time */
#define tag (copy_runs -> attempt + 10 : attempt)  /* an answer reaches the process that asked, never its copy */
#define acts (!held_as_copy)                          /* the host acts by itself, and agents and approval count */
#ifdef UNSEEN
#define seen false
#define may_save true
#define looks_first false
#else
#ifdef UNSEEN_FIRST
#define seen false
#define may_save ((state == buffered && attempt == 0) || (state == executing && attempt == 1 && !begun))
#ifdef NO_FIRST
#define looks_first false
#else
#define looks_first true
#endif
#else
#define seen true
#define may_save true
#define looks_first false
#endif
#endif
#ifdef NO_SETTLE
#define settled empty(make)                 /* the request that has the effect may be under way */
#else
#define settled idle                        /* the settle time is over */
#endif
#ifdef HARMLESS
#define happens effects = 1
#else
#define happens effects++
#endif
#ifdef OPEN
#define sent_again skip
#else
#define sent_again irrevocable = true
#endif
#ifdef NO_FENCE
#define fenced false
#else
#define fenced true                         /* CallContext::begin_unsafe_request refuses a send for an attempt that has ended */
#endif

active proctype service() {
  byte a, v;
end: do
  :: atomic { wire?a,v ->
       if
       :: happens; visible = true; made = false; assert(effects <= 1); assert(state != cancelled); assert(agreed[v] == true);
          if :: reply!a,ok :: skip fi
       :: if :: reply!a,refused :: skip fi
       fi; a = 0; v = 0 }
  :: atomic { make?a -> assert(state != cancelled); made = true; a = 0 }
#ifdef DELETED
  :: atomic { visible -> visible = false }
#endif
  od
}

active proctype people() {
end: do
  :: atomic { acts && state == pending_approval && shown != version -> shown = version }
#ifdef NO_HASH
  :: atomic { acts && state == pending_approval && shown > 0 -> consented = shown; agreed[consented] = true; state = buffered }
#else
  :: atomic { acts && state == pending_approval && shown == version -> consented = shown; agreed[consented] = true; state = buffered }   /* accept names the hash */
#endif
  :: atomic { acts && (state == pending_approval || state == buffered) && !irrevocable && attempt == 0 && edits < 1 -> edits++; version++; state = pending_approval }
#ifdef UNSEEN_FIRST
  :: atomic { !copy_runs && (state == pending_approval || state == buffered || state == dead_letter) && !irrevocable -> state = cancelled;
#else
  :: atomic { acts && (state == pending_approval || state == buffered || state == dead_letter) && !irrevocable -> state = cancelled;
#endif
#ifndef NO_CLEANUP
       if :: attempt > 0 -> cleanup = pending :: else -> skip fi                         /* in the same transaction */
#endif
     }
  :: atomic { acts && irrevocable && (state == pending_approval || state == buffered) -> state = escalated }   /* discards what nobody can cancel */
  :: atomic { acts && state == unknown -> state = escalated }                        /* looks himself: discards it, or says that it happened */
#ifdef CANCEL_UNKNOWN
  :: atomic { acts && state == unknown -> state = cancelled }
#endif
#ifdef CANCEL_COPY
  :: atomic { held_as_copy && !ended -> held_as_copy = false; state = cancelled }
#endif
  :: atomic { held_as_copy && !ended -> held_as_copy = false; state = escalated }                /* discards it, or says that it happened */
  :: atomic { held_as_copy && !ended && evidence == found -> held_as_copy = false; state = completed }   /* takes the evidence for it */
#ifdef RELEASE
  :: atomic { held_as_copy && !ended && !wanted && evidence != found && prompt != evidence -> prompt = evidence }
#ifdef STALE
  :: atomic { held_as_copy && !ended && !wanted && prompt != left ->
#else
  :: atomic { held_as_copy && !ended && !wanted && prompt == evidence ->
#endif
       prompt = left;
       if
#ifdef UNLOOKED
       :: held_as_copy = false; irrevocable = true
#else
       :: evidence == none -> wanted = true
       :: evidence != none -> held_as_copy = false; irrevocable = true
#endif
       fi }
#endif
  :: over -> break
  od
}

/* cp -a of the data directory, once. */
active proctype copier() {
end: do
  :: atomic { !saved && !ended && state != cancelled && may_save ->
       saved = true; s_state = state; s_version = version; s_consented = consented; s_attempt = attempt; s_irrevocable = irrevocable }
  :: over -> break
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
  :: over -> break
#ifdef NO_LEDGER
  :: atomic { acts && state == buffered && !waiting && attempt < ATTEMPTS -> attempt++; waiting = true; wire!tag,version }
  :: atomic { acts && state == buffered && waiting && nempty(reply) -> reply?a,r; if :: a == tag && r == ok -> state = completed :: else -> waiting = false fi; a = 0; r = 0 }
  :: atomic { acts && state == buffered && !waiting && attempt == ATTEMPTS -> state = escalated }
#else
  :: atomic { acts && !first && state == buffered -> state = executing; attempt++; begun = false }  /* the claim: one step against cancel and edit */
#endif
#ifndef NO_MARK
  :: atomic { state == executing && !begun && calling != attempt -> begun = true }
  :: atomic { state == executing && begun && calling != attempt -> calling = attempt }                       /* the adapter is called */
#else
  :: atomic { state == executing && calling != attempt -> calling = attempt }
#endif
#ifndef PLAIN
  :: atomic { state == executing && calling == attempt && !waiting && !made && empty(make) -> make!attempt }  /* or it needs none */
#endif
  :: atomic { state == executing && calling == attempt && !waiting && empty(make) -> waiting = true; wire!tag,version }
  :: atomic { state == executing && waiting && nempty(reply) -> reply?a,r;
       if
       :: a == tag && r == ok      -> state = completed; waiting = false
       :: a == tag && r == refused -> state = dead_letter; waiting = false       /* certainly not done */
       :: a != tag                 -> skip
       fi; a = 0; r = 0 }
  :: atomic { state == executing && calling == attempt ->                            /* deadline: answer missing, or not even sent yet */
       if :: !waiting && stray == 0 -> stray = tag; stray_version = version :: else -> skip fi;
       state = unknown; waiting = false }
  :: atomic { acts && !first && state == dead_letter -> if :: attempt < ATTEMPTS -> state = executing; attempt++; begun = false :: else -> state = escalated fi }
  :: atomic { acts && state == unknown && settled ->
       if
#ifdef NO_LOOK
       :: attempt < ATTEMPTS -> state = executing; attempt++; begun = false
       :: attempt == ATTEMPTS -> state = escalated
#else
       :: visible -> state = completed                                               /* find_effect: found by its marker */
       :: fenced && effects == 0 -> state = dead_letter                              /* disproved: positive proof that nothing happened */
#ifdef RESEND
       :: !visible && attempt < ATTEMPTS -> sent_again; state = buffered
#ifdef HARMLESS
       :: attempt < ATTEMPTS -> sent_again; state = buffered                         /* no look can tell */
#endif
       :: !visible && attempt == ATTEMPTS -> state = escalated
#else
       :: !visible -> state = escalated                                            /* absent: a person decides */
#endif
#endif
       fi }
  :: atomic { cleanup == pending && !removing && cleanups < ATTEMPTS -> cleanups++; removing = true;
       if :: made = false :: skip fi }                                               /* the request arrives, or not */
  :: atomic { cleanup == pending && removing -> removing = false;
       if
       :: !made -> cleanup = done                                                    /* taken away, or gone: both are done */
       :: skip                                                                       /* the answer is lost: harmless to repeat */
#ifdef CLEAN_ONCE
       :: cleanup = done
#endif
       fi }
  :: atomic { cleanup == pending && !removing && cleanups == ATTEMPTS -> cleanup = left }   /* a person is told */
  :: atomic { !ended && kills < KILLS -> kills++; calling = 0; waiting = false; removing = false;   /* SIGKILL and restart */
       stray = 0; stray_version = 0;
       if
       :: state == executing && begun  -> state = unknown
       :: state == executing && !begun -> state = dead_letter                        /* provably never called, in this boot; looked for first all the same, see UNSEEN_FIRST */
       :: else -> skip
       fi }
  :: atomic { first && (state == buffered || state == dead_letter) && settled -> first = false; if :: visible -> state = completed :: else -> skip fi }
  :: atomic { first && (state == buffered || state == dead_letter) && unmade < FIRST_TRIES -> unmade++            /* refused token, quota, no network: once more */
#ifdef UNMADE_OVER
       ; first = false
#endif
     }
  :: atomic { held_as_copy && !ended && evidence == none && settled ->                       /* by its marker, presuming nothing */
       if
       :: visible -> evidence = found; wanted = false
       :: !visible && !wanted -> evidence = absent
       :: !visible && wanted -> evidence = absent; wanted = false; held_as_copy = false; irrevocable = true
       fi }
  :: atomic { saved && !copy_runs ->                                                   /* the host runs on the copy, and sees that it is one */
       copy_runs = true; calling = 0; waiting = false; removing = false; stray = 0; stray_version = 0; shown = 0;
       state = s_state; version = s_version; consented = s_consented; attempt = s_attempt; irrevocable = s_irrevocable;
       held_as_copy = seen; first = looks_first; cleanup = none;
       /* The original may have gone on: that no call had begun proves nothing here. */
#ifdef UNSEEN_FIRST
       /* It is not known for a copy, so that this seems to prove that nothing was called. */
       if :: state == executing -> state = dead_letter :: else -> skip fi;
#ifdef NO_FIRST_CLAIMED
       if :: state == dead_letter -> first = false :: else -> skip fi
#endif
#else
       if :: state == executing -> state = unknown :: else -> skip fi
#endif
     }
  :: atomic { acts && !first && (state == buffered || state == dead_letter) && attempt < ATTEMPTS && !asked ->   /* the policy of now asks a person first */
       asked = true; shown = 0; state = pending_approval }
  :: atomic { acts && !first && (state == buffered || state == dead_letter) && !irrevocable ->   /* or refuses it: as a cancel */
       state = cancelled;
#ifndef NO_CLEANUP
       if :: attempt > 0 -> cleanup = pending :: else -> skip fi
#endif
     }
  od;
  assert(state != completed || effects == 1); assert(state != cancelled || effects == 0);
  assert(state != cancelled || !made || cleanup == left)
}
ltl ends { <> over }
