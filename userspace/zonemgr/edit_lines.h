/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a zone as people write them, a line each:
 *
 *      add OWNER [TTL] TYPE RDATA       a record; default TTL: that of the RRset, or EDIT_TTL_S
 *      remove OWNER TYPE RDATA          this record
 *      remove OWNER TYPE                all of the type
 *      remove OWNER                     all of the name
 *
 * As in a master file: an owner without a last dot is relative to the zone, @ is the zone itself.
 */
#ifndef VOLLEY_ZONEMGR_EDIT_LINES_H
#define VOLLEY_ZONEMGR_EDIT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "zone/edit.h"

#define EDIT_TTL_S 3600

/*
 * Makes the changes of @n lines. If anything has changed, and no line changed the serial number, it
 * is raised by one. In a zone that is signed here (@is_signed) lines with record types of the
 * signer are errors. 0, or a negative code with the line and a sentence in @why: then the caller
 * has to cancel the edit.
 */
int edit_lines(struct zone_edit *edit, const char *const *lines, size_t n, bool is_signed,
	       struct zone_error *why) __attribute__((warn_unused_result));
/* Raises the serial number by one. 0, -ENOMEM, or ERR_ZONE without a SOA record. */
int edit_raise_serial(struct zone_edit *edit) __attribute__((warn_unused_result));

#endif
