/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What volleyctl health thinks of this host: whether queries may be sent here.
 *
 *      daemon ──► health_ask.c: facts ──► health.c: reasons, warnings ──► client/health_call.c: a line
 *                 and a look at each      this chapter, pure             for each, a probe, an exit status
 *                 worker once a second
 *
 * A reason is what a client would notice, or what the operator asked to hold. Whatever else is not as
 * configured is a warning: the next step down the ladder still answers, and a fleet in which a warning
 * takes hosts out takes all of them out at once. An operator may say what matters: zones, interfaces and policies
 * all, any or none of them; zones and policies that are left out of it; warnings that count (strict).
 *
 * What makes a zone not current is one function, health_zone(): a new state of zones (zonemgr/zones.h) does
 * not compile until it has its words there.
 *
 * Pure, but for health_address(); control's thread.
 */
#ifndef VOLLEY_CONTROL_HEALTH_H
#define VOLLEY_CONTROL_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "control/policies.h"
#include "iface/iface.h"
#include "zonemgr/zones.h"

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
 * Reads the arguments of the command, an array of strings that OPTIONS borrows from. 0, or -EINVAL with a
 * sentence in err.
 */
int health_read_options(struct health_options *options, const json_t *args, char *err,
			size_t err_cap) __attribute__((warn_unused_result));

/* What has been found: sentences. The arrays are the caller's. */
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
 * What there is to say of a zone at that time, seconds since 1970, if anything: a sentence in TEXT. Signatures that
 * are not valid are a reason where they are made here; of those that others have made it is a warning.
 */
enum health_level health_zone(const struct zones_entry *entry, uint64_t now_s,
			      char text[HEALTH_TEXT_CAP]);

/* All N of them, the i-th by at(). */
typedef const struct zones_entry *health_zone_at(const void *user, size_t i);
void health_zones(struct health *h, health_zone_at *at, const void *user, size_t n);

/*
 * Whether none waits for its first transfer. Until that has been so once, a host is not complete, and such a
 * zone is a reason. Afterwards it is one that is new everywhere, as by a catalog, and only warns.
 */
bool health_have_zones_come(health_zone_at *at, const void *user, size_t n);

/* --- Policies --- */

/*
 * Lists and local data, all N of them, the i-th by at(): one that is not in force is a reason, for its clients reach what
 * it forbids; one of which an earlier version is in force is a warning.
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
 * Looks at a worker's rounds, not a clock: a daemon that was stopped as a whole, or waited long for a
 * processor, has looked as seldom as its workers went round.
 */
struct health_beats {
	struct health_beat {
		uint64_t n_rounds; /* worker_stats.heartbeat, when it changed last */
		uint32_t n_looks;  /* since then */
	} workers[HEALTH_WORKERS_CAP];
};

/* Once a second, for each worker. */
void health_look(struct health_beats *beats, unsigned int worker, uint64_t n_rounds);
/* It had not gone round for HEALTH_LOOKS_MAX looks, at the last of them. */
bool health_hangs(const struct health_beats *beats, unsigned int worker);
/* N_ROUNDS: as it is now. */
void health_worker(struct health *h, const struct health_beats *beats, unsigned int worker,
		   uint64_t n_rounds);

/* --- Addresses --- */

/*
 * Whether the host has a service address, by asking the kernel for a socket there: so an address that a
 * local route stands for counts, too. A wildcard is always there.
 */
void health_address(struct health *h, const struct config_addr *listen);

#endif
