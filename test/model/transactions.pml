/* One transaction of an agent: a write that waits in the buffer and is held, and two that happen at once and can be undone. The host may
 * be killed between any two steps, and answers to the agent get lost; the agent adds, commits, rolls back and asks again at any time, its
 * time runs out, its connection breaks; writes and their undos go well, fail, or are unknown until somebody has looked.
 * What becomes of one write over kills is ledger.pml's to show. Here a write that has begun ends as what has really happened.
 * Checked over every interleaving: what is held goes out only with the commit; what was committed is never taken back by the host, and all of
 * it has gone well by then; what was not committed has been taken back when the transaction has ended, or stands there with the reason; the
 * last first, each once; and every transaction ends.
 *
 * A step of the host is one transaction of the database (core/write/ledger_transactions.cpp, transaction_keeper.cpp).
 *
 * test/model/run checks it, as the test model.ledger. It holds as it stands. Each of these must find a counterexample (spin -a -DX), or the
 * model shows nothing:
 *   NO_HOLD          a write within a transaction gets its window at once
 *   COMMIT_EARLY     a commit does not wait for what is under way
 *   COMMIT_IN_STEPS  the commit and what it lets go are two transactions of the database
 *   LATE_WRITE       a write is taken in while the transaction is being undone
 *   UNDO_TWICE       an undo whose outcome is not known is asked for once more
 *   UNDO_COMMITTED   a rollback that comes after the commit takes back
 *   FORWARD          what was done first is undone first
 *   FORGETS          what could not be undone is not noted
 */
#define IMMEDIATE 2
#define KILLS 2
mtype = { none, open, committed, undoing, undone,             /* of the transaction */
          held, buffered, sent, cancelled,                    /* of the held write */
          executing, unknown, completed, failed };            /* of the others, and of undos */

mtype tx = open, waits = none;                                /* durable, with the next three */
mtype now[IMMEDIATE] = none, undo[IMMEDIATE] = none;
bool stays[IMMEDIATE];                                        /* noted: it could not be undone */
byte added = 0;                                               /* how many of those that happen at once */
bool happened[IMMEDIATE], taken_back[IMMEDIATE];              /* at the service */
byte undos[IMMEDIATE];                                        /* there too: how often it was asked to undo */
bool told = false, lost = false;                              /* the agent was told of the commit; its connection broke, or its time is over */
bool fresh = false;                                           /* volatile: the host has just started */
byte kills = 0;

#define all_well ((added < 1 || now[0] == completed) && (added < 2 || now[1] == completed))
#define under_way(i) (now[i] == executing || now[i] == unknown)
#define any_under_way ((added > 0 && under_way(0)) || (added > 1 && under_way(1)))
#ifdef FORGETS
#define answered(i) (undo[i] == completed || undo[i] == failed || stays[i])
#else
#define answered(i) (undo[i] == completed || stays[i])
#endif
#define is_done(i) (now[i] == none || now[i] == failed || (now[i] == completed && answered(i)))

inline begin_undoing() {
  tx = undoing;
  if :: waits == held -> waits = cancelled :: else -> skip fi
}

/* Of the last first: it waits until that has ended, then looks at the one before. */
inline take_back(i) {
  if
  :: undo[i] == failed -> stays[i] = true
  :: undo[i] == none -> undo[i] = executing
  :: undo[i] == none -> stays[i] = true                          /* it is refused: its time is over */
#ifdef UNDO_TWICE
  :: undo[i] == unknown -> undo[i] = executing
#endif
  fi
}
#ifdef UNDO_TWICE
#define is_due(i) (undo[i] == none || undo[i] == failed || undo[i] == unknown)
#else
#ifdef FORGETS
#define is_due(i) (undo[i] == none)
#else
#define is_due(i) (undo[i] == none || undo[i] == failed)
#endif
#endif
#define to_take_back(i) (now[i] == completed && !stays[i] && is_due(i))
#ifdef FORWARD
#define turn(i) (i == 0 || is_done(0))
#else
#define turn(i) (i == 1 || added < 2 || is_done(1))
#endif

active proctype host() {
  byte i;
end: do
  /* what happens to writes that have begun, and to undos */
  :: atomic { now[0] == executing -> if :: now[0] = completed; happened[0] = true :: now[0] = failed :: now[0] = unknown; happened[0] = true :: now[0] = unknown fi }
  :: atomic { now[1] == executing -> if :: now[1] = completed; happened[1] = true :: now[1] = failed :: now[1] = unknown; happened[1] = true :: now[1] = unknown fi }
  :: atomic { now[0] == unknown -> if :: happened[0] -> now[0] = completed :: !happened[0] -> now[0] = failed fi }
  :: atomic { now[1] == unknown -> if :: happened[1] -> now[1] = completed :: !happened[1] -> now[1] = failed fi }
  :: atomic { undo[0] == executing -> i = 0; goto undoes }
  :: atomic { undo[1] == executing -> i = 1;
undoes:
       assert(tx == undoing); assert(i == 1 || added < 2 || is_done(1)); undos[i]++; assert(undos[i] <= 1);
       if :: undo[i] = completed; taken_back[i] = true :: undo[i] = failed :: undo[i] = unknown; taken_back[i] = true :: undo[i] = unknown fi; i = 0 }
  :: atomic { undo[0] == unknown -> if :: taken_back[0] -> undo[0] = completed :: !taken_back[0] -> undo[0] = failed fi }
  :: atomic { undo[1] == unknown -> if :: taken_back[1] -> undo[1] = completed :: !taken_back[1] -> undo[1] = failed fi }
  :: atomic { waits == buffered -> assert(tx == committed); waits = sent }
  /* who looks after transactions */
  :: atomic { tx == open && fresh -> begin_undoing() }
  :: atomic { tx == open && lost -> begin_undoing() }
  :: atomic { tx == open && (now[0] == failed || now[1] == failed) -> begin_undoing() }
  :: atomic { tx == undoing && added > 0 && turn(0) && to_take_back(0) -> take_back(0) }
  :: atomic { tx == undoing && added > 1 && turn(1) && to_take_back(1) -> take_back(1) }
  :: atomic { tx == undoing && is_done(0) && is_done(1) -> tx = undone;
       assert(waits == none || waits == cancelled);
       assert(!happened[0] || taken_back[0] || stays[0]); assert(!happened[1] || taken_back[1] || stays[1]) }
#ifdef COMMIT_IN_STEPS
  :: atomic { tx == committed && waits == held && !fresh -> waits = buffered }
#endif
  :: atomic { kills < KILLS -> kills++; fresh = true; lost = true }
  :: atomic { fresh && tx != open -> fresh = false }
  od
}

active proctype agent() {
end: do
#ifdef LATE_WRITE
  :: atomic { added < IMMEDIATE && tx != committed -> now[added] = executing; added++ }
#else
  :: atomic { added < IMMEDIATE && tx == open && !lost -> now[added] = executing; added++ }
#endif
#ifdef NO_HOLD
  :: atomic { waits == none && tx == open && !lost -> waits = buffered }
#else
  :: atomic { waits == none && tx == open && !lost -> waits = held }
#endif
  :: atomic { tx == open && !lost ->                                     /* commit */
       if
#ifdef COMMIT_EARLY
       :: tx = committed; if :: waits == held -> waits = buffered :: else -> skip fi; assert(all_well)
#else
#ifdef COMMIT_IN_STEPS
       :: all_well -> tx = committed
#else
       :: all_well -> tx = committed; if :: waits == held -> waits = buffered :: else -> skip fi; assert(all_well)
#endif
#endif
       :: any_under_way -> skip                                          /* too early: nothing has changed */
       :: !all_well && !any_under_way -> begin_undoing()
       fi }
  :: atomic { tx == committed && !told -> told = true; assert(waits != held && waits != cancelled) }  /* asked once more, where the answer was lost */
  :: atomic { tx == open -> begin_undoing() }                            /* rolls back */
#ifdef UNDO_COMMITTED
  :: atomic { tx == committed -> tx = undoing }
#endif
  :: atomic { told -> assert(tx == committed) }
  od
}

/* Its time is over at some moment, or its connection breaks. */
active proctype time() { lost = true }

ltl ends { <>(tx == committed || tx == undone) }
