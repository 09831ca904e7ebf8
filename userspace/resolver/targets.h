/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts where libunbound asks, and the results. libunbound does not tell what it knows of servers,
 * so this is the view from outside: a row of counters for each stub and forward zone, and one for
 * all other names, which are asked from the root down or of the forwards.
 *
 *	the name ─► the deepest stub or forward zone at or above it ─► its row
 *	         └─ none ─► row 0             (for DS: at or above the parent)
 *
 * Each resolver thread has one struct and counts there; the zones never change. Any thread reads:
 * each counter is whole, but a row is not of one instant.
 */
#ifndef VOLLEY_RESOLVER_TARGETS_H
#define VOLLEY_RESOLVER_TARGETS_H

#include <stddef.h>
#include <stdint.h>

#include "dns/nameset.h"
#include "resolver/groups.h"
#include "resolver/resolver_config.h"

/* E(name). A question of several clients counts once; timed_out counts each client. */
#define TARGET_COUNTERS(E)                                                       \
	E(asked)    /* given to libunbound */                                    \
	E(done)     /* ended: known + answered + bogus + failed */               \
	E(known)    /* answered from libunbound's caches: no server was asked */ \
	E(answered) /* answered by servers */                                    \
	E(bogus)    /* answered, but bogus */                                    \
	E(failed)                                                                \
	E(timed_out)        /* clients that waited until their deadline */       \
	E(took_ns)          /* sum of the times of `answered` */                 \
	E(last_answered_ns) /* CLOCK_MONOTONIC; 0: never */                      \
	E(last_failed_ns)   /* likewise; failed or bogus */

struct target_counters {
#define TARGET_FIELD(name) uint64_t name;
	TARGET_COUNTERS(TARGET_FIELD)
#undef TARGET_FIELD
};

struct targets {
	struct nameset zones;
	struct target_counters *rows; /* targets_n_rows(); borrowed; NULL: nothing is counted */
};

/* How a question ended. */
enum target_end {
	TARGET_ANSWERED,
	TARGET_BOGUS,
	TARGET_FAILED,
};

/* The rows of the configuration: one for each stub or forward zone, and one for all other names. */
static inline size_t targets_n_rows(const struct resolver_config *config)
{
	return config->n_stubs + 1;
}

/* Learns the configuration's stub and forward zones, and counts in the rows, which are zeroed and
 * stay until targets_fini(). 0, -ENOMEM, or an error of name_from_text(). Call targets_fini() in
 * any case. */
int targets_init(struct targets *t, const struct resolver_config *config,
		 struct target_counters *rows) __attribute__((warn_unused_result));
void targets_fini(struct targets *t);

/* The row of a folded name. Any thread. */
size_t targets_find(const struct targets *t, const uint8_t *folded, uint16_t qtype);

/* The group is given to libunbound. Sets its target and asked_ns. */
void targets_on_asked(struct targets *t, struct resolver_group *group, uint64_t now_ns);

/* The group has ended. is_known: it ended at once, so no server was asked. */
void targets_on_end(struct targets *t, const struct resolver_group *group, enum target_end end,
		    bool is_known, uint64_t now_ns);

/* The deadline of a client of an asked group has passed. */
void targets_on_timeout(struct targets *t, const struct resolver_group *group);

/* Adds the counters of a row to *sum; each last_..._ns becomes the later time. Any thread. */
void targets_add_row(const struct target_counters *row, struct target_counters *sum);

#endif
