/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of an UPDATE, and functions to read them. Only update*.c includes this header. */
#ifndef VOLLEY_XFR_UPDATE_SECTIONS_H
#define VOLLEY_XFR_UPDATE_SECTIONS_H

#include "xfr/xfr_message.h"

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
