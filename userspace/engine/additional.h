/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The additional section: addresses of the names that answer and authority speak of.
 */
#ifndef VOLLEY_ENGINE_ADDITIONAL_H
#define VOLLEY_ENGINE_ADDITIONAL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/render_state.h"

/* Are there RRsets of this type in an additional section? */
bool additional_has_type(uint16_t type);

/*
 * Where the name stands in RDATA of this type whose addresses may be of use, or -1: RFC 1035
 * section 3.3.9 and 3.3.11, RFC 1183 section 1, RFC 2230 section 3.1, RFC 2782, RFC 9460 section
 * 2.2.
 */
int additional_target_offset(uint16_t type);

/* Notes the names in rrset (NS, MX, KX, AFSDB, SRV, SVCB, HTTPS; others have none) whose addresses
 * may be of use. */
void additional_note(struct render *r, const struct zone_rrset *rrset);

/* Marks the end of the required part, then adds the addresses of the noted names as they fit. */
void additional_optional(struct render *r);

/*
 * The addresses of a referral's name servers: the required ones, the end of the required part, the
 * rest as it fits. cut is the owner of ns. ERR_SPACE: the required ones do not fit.
 */
int additional_referral(struct render *r, const uint8_t *cut, const struct zone_rrset *ns)
	__attribute__((warn_unused_result));

#endif
