/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl health: whether queries may be sent to this host.
 *
 *      daemon ──► health_facts.c: facts ──► health.c: reasons, warnings ──► client/health_call.c: a line
 *                 and a look at each      this chapter, pure             for each, a probe, an exit status
 *                 worker once a second
 *
 * A reason is a fault that clients would notice, or a condition that the operator asked for. Any
 * other difference from the configuration is a warning: the next step down the ladder still
 * answers, and in a fleet in which a warning takes a host out, it takes all of them out at once. An
 * operator may choose what counts: zones, interfaces and policies all, any or none of them; zones
 * and policies that are left out of it; warnings that count (strict).
 *
 * One function, health_zone(), decides whether a zone is current: a new state of zones
 * (zonemgr/zonemgr.h) does not compile until it has its words there.
 *
 * Pure, but for health_address(); control's thread.
 */
#ifndef VOLLEY_REPORT_HEALTH_H
#define VOLLEY_REPORT_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "policy/policies.h"
#include "iface/iface.h"
#include "zonemgr/zonemgr.h"

#define HEALTH_IGNORED_CAP 64
#define HEALTH_LISTED_MAX  10   /* zones that are told by name; the others are counted */
#define HEALTH_WORKERS_CAP 1024 /* server.workers */
#define HEALTH_LOOKS_MAX   3    /* a worker goes round four times between two looks */
#define HEALTH_TEXT_CAP    1024

/* In the order of "all|any|none". */
enum health_scope { HEALTH_ALL, HEALTH_ANY, HEALTH_NONE };

/* NOTED: a warning even where warnings count, for the operator has said that it does not matter. */
enum health_level { HEALTH_WELL, HEALTH_NOTED, HEALTH_WARNS, HEALTH_FAILS };

struct health_options {
	enum health_scope zones;
	enum health_scope interfaces;
	enum health_scope policies;
	bool is_strict;
	const char *ignored[HEALTH_IGNORED_CAP]; /* zones and policies; of the arguments */
	size_t n_ignored;
};

/*
 * Reads the arguments of the command, an array of strings that OPTIONS borrows from. 0, or -EINVAL
 * with a sentence in err.
 */
int health_read_options(struct health_options *options, const json_t *args, char *err,
			size_t err_cap) __attribute__((warn_unused_result));

/* The findings, as sentences. The arrays are the caller's. */
struct health {
	const struct health_options *options;
	json_t *reasons;
	json_t *warnings;
	bool have_zones_come; /* once: health_have_zones_come() */
	uint64_t now_s;       /* seconds since 1970: for signatures */
};

/* Adds a sentence; a warning that counts is a reason. HEALTH_WELL adds nothing. */
__attribute__((format(printf, 3, 4))) void health_say(struct health *h, enum health_level level,
						      const char *format, ...);

/* --- Zones --- */

/*
 * Judges a zone at that time, seconds since 1970; unless it is well, TEXT gets a sentence.
 * Signatures that are not valid are a reason if they are made here, and a warning if they were made
 * elsewhere.
 */
enum health_level health_zone(const struct zones_entry *entry, uint64_t now_s,
			      char text[HEALTH_TEXT_CAP]);

/* All N of them, the i-th by at(). */
typedef const struct zones_entry *health_zone_at(const void *user, size_t i);
void health_zones(struct health *h, health_zone_at *at, const void *user, size_t n);

/*
 * Whether no zone waits for its first transfer. Until this has been true once, the host is not
 * complete, and such a zone is a reason. Afterwards such a zone is new on all hosts, as from a
 * catalog, and is only a warning.
 */
bool health_have_zones_come(health_zone_at *at, const void *user, size_t n);

/* --- Policies --- */

/*
 * Lists and local data, all N of them, the i-th by at(): a list that is not in force is a reason,
 * since clients reach names that it forbids; a list of which an earlier version is in force is a
 * warning.
 */
typedef const struct policies_entry *health_policy_at(const void *user, size_t i);
void health_policies(struct health *h, health_policy_at *at, const void *user, size_t n);

/* --- Interfaces --- */

/* IS_SOUND: iface_is_sound(), looked at just now. */
struct health_iface {
	const struct iface *iface;
	bool is_sound;
};

void health_ifaces(struct health *h, const struct health_iface *ifaces, size_t n);

/* --- Workers --- */

/*
 * Looks at a worker's rounds, not a clock: a daemon that was stopped as a whole, or waited long for
 * a processor, has looked as seldom as its workers went round.
 */
struct health_heartbeats {
	struct health_heartbeat {
		uint64_t n_rounds; /* worker_stats.heartbeat, when it changed last */
		uint32_t n_looks;  /* since then */
	} workers[HEALTH_WORKERS_CAP];
};

/* What health remembers from one look to the next. */
struct health_watch {
	struct health_heartbeats heartbeats;
	bool have_zones_come; /* health_have_zones_come() was true once */
};

/* Once a second, for each worker. */
void health_look(struct health_heartbeats *heartbeats, unsigned int worker, uint64_t n_rounds);
/* It had not gone round for HEALTH_LOOKS_MAX looks, at the last of them. */
bool health_hangs(const struct health_heartbeats *heartbeats, unsigned int worker);
/* N_ROUNDS: as it is now. */
void health_worker(struct health *h, const struct health_heartbeats *heartbeats,
		   unsigned int worker, uint64_t n_rounds);

/* --- Addresses --- */

/*
 * Whether the host has a service address, by asking the kernel for a socket there: so an address
 * that a local route stands for counts, too. A wildcard is always there.
 */
void health_address(struct health *h, const struct config_addr *listen);

#endif
