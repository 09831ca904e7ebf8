/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic update: RFC 2136 on an edit of a zone. The caller has checked the signature and the
 * client's rights.
 *
 *      update_open()   reads the message; checks all that needs no zone (2, 3.1, 3.4.1)
 *      update_apply()  prerequisites (3.2), then the changes (3.4.2), then the serial number
 *
 * In a zone that we sign (is_signed_here), an update may not change RRSIG, NSEC, NSEC3, NSEC3PARAM,
 * DNSKEY, CDS and CDNSKEY, which the signer makes: REFUSED.
 *
 * Pure, except for the edit; one thread.
 */
#ifndef VOLLEY_XFR_UPDATE_H
#define VOLLEY_XFR_UPDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/xfr_message.h"
#include "zone/edit.h"

/* How the serial number grows if the update does not raise it itself. */
enum update_serial {
	UPDATE_SERIAL_INCREMENT,
	UPDATE_SERIAL_UNIXTIME, /* to now_s if that is newer, else by one */
	UPDATE_SERIAL_KEEP,     /* not at all: the caller's signer raises it */
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
 * Reads the message: NOERROR, FORMERR, NOTIMP (no UPDATE), NOTZONE. The caller answers NOTAUTH if
 * the zone or class is not one of ours. len may include the TSIG. Borrows msg.
 */
enum dns_rcode update_open(struct update *u, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * Tests the prerequisites on zone_edit_view() and makes the changes. u->zone is the zone's apex.
 * *changed: true if the zone has changed; then its serial number is raised. If the result is not
 * NOERROR, the caller must cancel the edit. SERVFAIL: no memory. If zone_edit_finish() refuses the
 * result, the caller answers REFUSED. O(records of the message).
 */
enum dns_rcode update_apply(const struct update *u, struct zone_edit *edit,
			    const struct update_options *options, bool *changed)
	__attribute__((warn_unused_result));

/* The sections of an UPDATE, and functions to read them. Only update*.c includes this header. */

struct update;
struct zone;

/* The sections by their names in RFC 2136 section 2. */
#define UPDATE_PREREQUISITE XFR_ANSWER
#define UPDATE_UPDATE       XFR_AUTHORITY
#define UPDATE_ADDITIONAL   XFR_ADDITIONAL

/* RFC 2136 section 3.2 on a zone: NOERROR, or the rcode of the first one that fails. */
enum dns_rcode update_prerequisites(const struct update *u, const struct zone *z)
	__attribute__((warn_unused_result));

/* Goes to the first record of a message that update_open() has read. */
static inline void update_rewind(struct xfr_message *m, const uint8_t *msg, size_t len)
{
	struct xfr_question q;

	(void)!xfr_message_open(m, msg, len);
	(void)!xfr_message_question(m, &q);
}

#endif
