/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic update: RFC 2136 on an edit of a zone. Who may, and the signature, the caller has looked
 * at.
 *
 *      update_open()   the message, checked as far as it can be without the zone (2, 3.1, 3.4.1)
 *      update_apply()  prerequisites (3.2), then the changes (3.4.2), then the serial number
 *
 * Of a zone that we sign (is_signed_here) RRSIG, NSEC, NSEC3, NSEC3PARAM, DNSKEY, CDS and CDNSKEY
 * are the signer's: REFUSED.
 *
 * Pure but for the edit; one thread.
 */
#ifndef VOLLEY_XFR_UPDATE_H
#define VOLLEY_XFR_UPDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/xfr_message.h"
#include "zone/edit.h"

/* How the serial number grows where the update does not raise it itself. */
enum update_serial {
	UPDATE_SERIAL_INCREMENT,
	UPDATE_SERIAL_UNIXTIME, /* now_s, where that is newer; else by one */
	UPDATE_SERIAL_KEEP,     /* left to the caller: the signer raises it */
};

struct update_options {
	enum update_serial serial;
	uint64_t now_s;      /* seconds since 1970 */
	bool is_signed_here; /* the zone is signed by us */
};

struct update {
	const uint8_t *msg; /* borrowed */
	size_t len;
	uint16_t id;
	uint8_t zone[NAME_FOLDED_BYTES]; /* folded wire */
	unsigned int zone_bytes;
	uint16_t n_prerequisites, n_updates;
};

/*
 * Reads the message: NOERROR, FORMERR, NOTIMP (no UPDATE), NOTZONE. Whoever is asked for another
 * zone or class answers NOTAUTH. len is without the TSIG or with it. Borrows msg.
 */
enum dns_rcode update_open(struct update *u, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * Tests the prerequisites on zone_edit_view() and makes the changes. u->zone is the zone's apex.
 * *changed, whether anything did; the serial number is raised then. NOERROR; anything else: the
 * edit is to be cancelled, nothing may be kept. SERVFAIL: no memory. zone_edit_finish() may refuse
 * what came of it all the same: REFUSED then. O(records of the message).
 */
enum dns_rcode update_apply(const struct update *u, struct zone_edit *edit,
			    const struct update_options *options, bool *changed)
	__attribute__((warn_unused_result));

#endif
