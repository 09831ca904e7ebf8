/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The additional section: addresses of the names in RDATA of the answer and authority sections. */
#ifndef VOLLEY_ENGINE_ADDITIONAL_H
#define VOLLEY_ENGINE_ADDITIONAL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/render_state.h"

/* True if an additional section may have RRsets of this type. */
bool additional_has_type(uint16_t type);

/*
 * The offset in RDATA of this type of a name whose addresses the client may need, or -1: RFC 1035
 * section 3.3.9 and 3.3.11, RFC 1183 section 1, RFC 2230 section 3.1, RFC 2782, RFC 9460 section
 * 2.2.
 */
int additional_target_offset(uint16_t type);

/* Notes the names in rrset whose addresses the client may need. Only NS, MX, KX, AFSDB, SRV, SVCB
 * and HTTPS have them. */
void additional_note(struct render *r, const struct zone_rrset *rrset);

/* Marks the end of the required part, then adds the addresses of the noted names that fit. */
void additional_optional(struct render *r);

/*
 * Adds the addresses of a referral's name servers: first the required ones, then the others that
 * fit. Marks the end of the required part between them. cut is the owner of ns. ERR_SPACE: the
 * required ones do not fit.
 */
int additional_referral(struct render *r, const uint8_t *cut, const struct zone_rrset *ns)
	__attribute__((warn_unused_result));

#endif
