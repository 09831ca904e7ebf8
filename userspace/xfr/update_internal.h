/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the update share. */
#ifndef VOLLEY_XFR_UPDATE_INTERNAL_H
#define VOLLEY_XFR_UPDATE_INTERNAL_H

#include "xfr/update.h"

/* The sections by their names in RFC 2136 section 2. */
#define UPDATE_PREREQUISITE XFR_ANSWER
#define UPDATE_UPDATE       XFR_AUTHORITY
#define UPDATE_ADDITIONAL   XFR_ADDITIONAL

/* RFC 2136 section 3.2 on a zone: NOERROR, or what the first that does not hold says. */
enum dns_rcode update_prerequisites(const struct update *u, const struct zone *z)
	__attribute__((warn_unused_result));

/* Goes to the first record of the message, which update_open() has read. */
static inline void update_rewind(struct xfr_message *m, const struct update *u)
{
	struct xfr_question q;

	(void)!xfr_message_open(m, u->msg, u->len);
	(void)!xfr_message_question(m, &q);
}

#endif
