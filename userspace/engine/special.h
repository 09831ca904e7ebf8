/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers for names that have no place in the public DNS (dns/name.h), for clients that
 * recurse. The engine looks here after our zones, the cache, and local data and block lists
 * (rpz/rpz.h), and before upstream, with any resolver:
 *
 *	the name is at or below a special name, and in no stub zone at or below that ─► the answer
 *
 *	the special name itself     SOA and NS; else NODATA   RFC 6303 section 3
 *	localhost, all names below  127.0.0.1 and ::1         RFC 6761 section 6.3
 *	reverse of 127.0.0.1, ::1   PTR localhost             RFC 6303 sections 4.2 and 4.3
 *	all others                  NXDOMAIN                  RFC 6303, RFC 6761, RFC 7686, RFC 8375
 *
 * A negative answer has the SOA of the special name. The DS of a special name belongs to its
 * parent, so upstream is asked for it. A name with a stub zone below it exists, so it gets NODATA.
 *
 * special_apart() also knows the names that a denial of a zone above must not cover (RFC 8020):
 * stub zones, and names whose chain of trust is not followed.
 *
 * Immutable after special_new(); any thread reads.
 */
#ifndef VOLLEY_ENGINE_SPECIAL_H
#define VOLLEY_ENGINE_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/query.h"
#include "engine/render.h"

struct special;

/* Lists of names as text with NULL at the end; NULL is the empty list. For special_new() only. */
struct special_config {
	const char *const *off;      /* special names at or below one of these are not answered */
	bool is_off;                 /* no special name is answered */
	const char *const *stubs;    /* stub zones */
	const char *const *insecure; /* negative trust anchors: RFC 7646 */
};

/* 0, -ENOMEM, or an error of name_from_text() for a name of the configuration. */
int special_new(struct special **out, const struct special_config *config)
	__attribute__((warn_unused_result));
void special_free(struct special *s);

/*
 * The answer to q (class IN), if it is for a special name. exists: a zone of ours has the name, so
 * it is not denied. a->body lies in r until the next use of r. The caller sets zone_slot and
 * zone_gen, under which the answer may be cached without an end. No allocation.
 */
bool special_answer(const struct special *s, struct render *r, const struct query *q, bool exists,
		    struct cache_answer *a);

/* True if special_answer() has an answer to q. Pure. */
bool special_has(const struct special *s, const struct query *q);

/* The special name, in `folded`, by which special_answer() answers a folded name. NULL: none. */
const uint8_t *special_find(const struct special *s, const uint8_t *folded, uint16_t qtype);

/*
 * The part of a folded name that no zone above it may deny: a pointer into `folded`, or NULL.
 * Special names are such parts too, answered or not.
 */
const uint8_t *special_apart(const struct special *s, const uint8_t *folded);

#endif
