/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl health: decides whether queries may be sent to this host.
 *
 *      daemon ──► health_facts.c: facts ──► health.c: reasons, ──► client/health_call.c: a line
 *                 and a look at each        warnings: pure         for each, a probe, an exit
 *                 worker once a second                             status
 *
 * A reason is a fault that clients would notice, or a condition that the operator asked for. Any
 * other difference from the configuration is a warning: volleyd still answers by a slower way. If
 * warnings took a host out of a fleet, one warning could take out all hosts at once. An operator
 * may choose how many zones, interfaces and RPZ lists must be well (all, any or none), leave out
 * single zones and lists, and may let warnings count as reasons (strict).
 *
 * health_zone() alone decides whether a zone is current. A new state of zones (zonemgr/zonemgr.h)
 * does not compile until health_zone() has a case for it.
 *
 * Pure, except health_addresses(). Control's thread.
 */
#ifndef VOLLEY_REPORT_HEALTH_H
#define VOLLEY_REPORT_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "recursion/rpz_manager.h"
#include "iface/iface.h"
#include "zonemgr/zonemgr.h"

#define HEALTH_IGNORED_CAP 64
#define HEALTH_LISTED_MAX  10   /* zones that are listed by name; the others are counted */
#define HEALTH_WORKERS_CAP 1024 /* server.workers */
#define HEALTH_LOOKS_MAX   3    /* a worker goes round four times between two looks */
#define HEALTH_TEXT_CAP    1024

enum health_scope { HEALTH_ALL, HEALTH_ANY, HEALTH_NONE };

/* NOTED: a warning even with strict, since the operator has made it so, or has allowed it. */
enum health_level { HEALTH_WELL, HEALTH_NOTED, HEALTH_WARNS, HEALTH_FAILS };

struct health_options {
	enum health_scope zones;
	enum health_scope interfaces;
	enum health_scope rpz;
	bool is_strict;
	const char *ignored[HEALTH_IGNORED_CAP]; /* zones and lists, borrowed */
	size_t n_ignored;
};

/*
 * Reads the arguments of the command, an array of strings. OPTIONS borrows the strings. 0, or
 * -EINVAL with a sentence in err.
 */
int health_read_options(struct health_options *options, const json_t *args, char *err,
			size_t err_cap) __attribute__((warn_unused_result));

/* The findings, as sentences. The caller owns the arrays. */
struct health {
	const struct health_options *options;
	json_t *reasons;
	json_t *warnings;
	bool have_zones_come; /* health_have_zones_come() was true once */
	uint64_t now_s;       /* seconds since 1970: for signatures */
};

/* Adds a sentence to reasons or warnings; strict: a warning is a reason. HEALTH_WELL adds none. */
__attribute__((format(printf, 3, 4))) void health_say(struct health *h, enum health_level level,
						      const char *format, ...);

/* --- Zones --- */

/*
 * Judges a zone at now_s, in seconds since 1970. TEXT gets a sentence unless the zone is well.
 * Invalid signatures are a reason if volleyd makes them, and a warning if the zone comes signed.
 */
enum health_level health_zone(const struct zones_entry *entry, uint64_t now_s,
			      char text[HEALTH_TEXT_CAP]);

/* Writes the line behind a list of zones that leaves out N more. Returns TEXT. */
const char *health_more_zones(char text[HEALTH_TEXT_CAP], size_t n);

/* Why the driver denies no names of the zone, as a part of a sentence; "": it may deny them. */
void health_denials_text(const struct zones_entry *entry, char *text, size_t cap);

/* Judges N zones; at() returns the i-th. */
typedef const struct zones_entry *health_zone_at(const void *user, size_t i);
void health_zones(struct health *h, health_zone_at *at, const void *user, size_t n);

/*
 * True if no zone waits for its first transfer. Until this has been true once, the host is not
 * complete, and a zone that waits is a reason. Afterwards a zone that waits is new on all hosts, as
 * from a catalog, and is only a warning.
 */
bool health_have_zones_come(health_zone_at *at, const void *user, size_t n);

/* --- RPZ --- */

/*
 * Judges N lists and local data; at() returns the i-th. A list that is not in force is a reason,
 * since clients reach names that it forbids. If an earlier version of a list is in force, that is a
 * warning.
 */
typedef const struct rpz_manager_entry *health_rpz_at(const void *user, size_t i);
void health_rpz(struct health *h, health_rpz_at *at, const void *user, size_t n);

/* --- Interfaces --- */

/* is_sound: the present result of iface_is_sound(). */
struct health_iface {
	const struct iface *iface;
	bool is_sound;
};

void health_ifaces(struct health *h, const struct health_iface *ifaces, size_t n);

/* --- Workers --- */

/*
 * Counts looks at a worker's rounds instead of seconds: if the whole daemon was stopped, or waited
 * long for a processor, there were no looks either, and no worker seems to hang.
 */
struct health_heartbeats {
	struct health_heartbeat {
		uint64_t n_rounds; /* worker_stats.heartbeat at its last change */
		uint32_t n_looks;  /* since then */
	} workers[HEALTH_WORKERS_CAP];
};

/* The state that health keeps from one look to the next. */
struct health_watch {
	struct health_heartbeats heartbeats;
	bool have_zones_come; /* health_have_zones_come() was true once */
};

/* Called once a second for each worker. */
void health_look(struct health_heartbeats *heartbeats, unsigned int worker, uint64_t n_rounds);
/* True if at the last look the worker had made no round for HEALTH_LOOKS_MAX looks. */
bool health_hangs(const struct health_heartbeats *heartbeats, unsigned int worker);
/* A reason if the worker hangs and n_rounds, read now, has not changed either. */
void health_worker(struct health *h, const struct health_heartbeats *heartbeats,
		   unsigned int worker, uint64_t n_rounds);

/* --- Addresses --- */

/* A reason for each service address that the host does not have: report/missing.h. */
void health_addresses(struct health *h, const struct config *config);

#endif
