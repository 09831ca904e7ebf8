/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where libunbound asks for a name, and what came of its questions there. libunbound tells nobody
 * what it knows of servers, so this is what is seen from outside: one row of counters for each stub
 * and forward zone, and one for all other names, which are asked from the root down or at the
 * forwards.
 *
 *	the name ─► the deepest stub or forward zone at or above it ─► its row        (for DS: of the name without its first label)
 *	         └─ none ─► row 0
 *
 * One struct for each resolver thread, which counts; the zones are never changed. Any thread reads:
 * each counter is whole, and a row is not of one instant.
 */
#ifndef VOLLEY_RESOLVER_TARGETS_H
#define VOLLEY_RESOLVER_TARGETS_H

#include <stddef.h>
#include <stdint.h>

#include "dns/nameset.h"
#include "resolver/groups.h"
#include "resolver/resolver_config.h"

/* E(name). A question that several clients ask at once is one; timed_out counts each client. */
#define TARGET_COUNTERS(E)                                                                 \
	E(asked)    /* given to libunbound */                                              \
	E(done)     /* libunbound is done with these: known, answered, bogus and failed */ \
	E(known)    /* answered from what libunbound remembers: no server was asked */     \
	E(answered) /* answered by servers */                                              \
	E(bogus)    /* and not validated */                                                \
	E(failed)                                                                          \
	E(timed_out)        /* clients that waited to their deadline */                    \
	E(took_ns)          /* all the time of those that servers answered */              \
	E(last_answered_ns) /* CLOCK_MONOTONIC; 0: never */                                \
	E(last_failed_ns)   /* likewise; failed or bogus */

struct target_counters {
#define TARGET_FIELD(name) uint64_t name;
	TARGET_COUNTERS(TARGET_FIELD)
#undef TARGET_FIELD
};

struct targets {
	struct nameset zones;
	struct target_counters *rows; /* zones.n + 1; NULL: nothing is counted */
};

/* How a question ended. */
enum target_end {
	TARGET_ANSWERED,
	TARGET_BOGUS,
	TARGET_FAILED,
};

/* With the stubs and forward zones of the configuration. 0, -ENOMEM, or an error of
 * name_from_text(); targets_fini() in any case. */
int targets_init(struct targets *t, const struct resolver_config *config)
	__attribute__((warn_unused_result));
void targets_fini(struct targets *t);

/* The row of a folded name. Any thread. */
size_t targets_find(const struct targets *t, const uint8_t *folded, uint16_t qtype);

/* The group is given to libunbound: its row and time are set. */
void targets_on_asked(struct targets *t, struct resolver_group *group, uint64_t now_ns);

/* libunbound is done with it. is_known: at once, so that no server was asked. */
void targets_on_end(struct targets *t, const struct resolver_group *group, enum target_end end,
		    bool is_known, uint64_t now_ns);

/* A client of a group that was asked waits no more. */
void targets_on_timeout(struct targets *t, const struct resolver_group *group);

/* Adds the counters of a row to *sum; of the two times the later one. Any thread. */
void targets_add(const struct targets *t, size_t row, struct target_counters *sum);

#endif
