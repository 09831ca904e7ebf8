/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `zone list` and `zone status`: zones as JSON.
 *
 * A list may have a million zones, so it is given in pages, and the client asks for each:
 *
 *	volleyctl ── zone list ──────────────► control: the first rows
 *	          ◄─ {zones:[...], next:NAME}
 *	          ── zone list --after NAME ─► the rows after that name, and so on
 *	          ◄─ {zones:[...]}             no next: that was the last page
 *
 * A page takes ZONE_LIST_NS at most. Control keeps nothing between two pages: the name is the
 * place, in the canonical order of names, and zones may come and go meanwhile. So a client that
 * reads slowly, or stops, costs neither memory nor time, and other commands come in between
 * (docs/decisions/0081). A page without rows may have a next: none of the zones that were looked at
 * was wanted.
 *
 * Control's thread.
 */
#ifndef VOLLEY_REPORT_ZONE_LIST_H
#define VOLLEY_REPORT_ZONE_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "zonemgr/transfer_bridge.h"
#include "zonemgr/zonemgr.h"

#define ZONE_LIST_ROWS  64u     /* of a page at most */
#define ZONE_LIST_NAMES 512u    /* the same, of names alone */
#define ZONE_LIST_NS    400000u /* for a page; writing it as text takes about as long again */
#define ZONE_LIST_LOOK  128u    /* zones between two looks at the clock */

/* Its file is being read, or will be, or what was read is not served yet: reports say "loading". */
static inline bool zone_list_is_loading(const struct zones_entry *entry)
{
	return zones_is_loading(entry) || entry->loading.fresh || entry->state == ZONES_NEW;
}

struct zone_list_want {
	const char *pattern;    /* name_is_like(); borrowed; NULL: all */
	enum zones_state state; /* as the list shows it; ZONES_N_STATES: all */
	size_t limit;           /* rows */
	bool is_names;          /* rows have only the name */
	bool has_after;
	uint8_t after[NAME_FOLDED_BYTES]; /* only zones after this name */
};

/* Reads [PATTERN] [--state STATE] [--after NAME] [--limit N] [--names]; borrows from ARGS. 0, or a
 * negative code with a sentence in ERR. */
int zone_list_read(struct zone_list_want *want, const json_t *args, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

struct zone_list_source {
	/* zones_walk() */
	void (*walk)(const void *user, const uint8_t *from, bool is_with, zones_walk_fn *each,
		     void *each_user);
	const void *user;
	struct transfer_bridge *bridge; /* its thread is asked about zones with primaries */
};

/* {zones:[...], next}: a page. A new reference, or NULL: no memory. */
json_t *zone_list_page(const struct zone_list_source *source, const struct zone_list_want *want);

/* {zones:[...]} with one zone, or none: NULL. A new reference, or NULL: no memory. */
json_t *zone_list_one(struct transfer_bridge *bridge, const struct zones_entry *entry);

/* `zone list` and `zone status`: run() of a struct ctl_command; the user is a struct report_view.
 * `zone status` without a name is the first page of the list. */
int zone_list_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int zone_list_run_status(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

#endif
