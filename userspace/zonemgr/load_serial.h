/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The serial number of a zone that an operator's file has. Secondaries fetch a zone only if its
 * serial is newer (RFC 1982), so content that has changed under an old serial is told, or, if
 * zones[].serial asks for it, gets a new serial:
 *
 *      the file                       served serial
 *      as before                      as before
 *      changed, with a newer serial   the file's
 *      changed, without               one more, or that of the time if this is newer; without the
 *                                     key the file's, and a warning
 *
 * The digest of the file stays that of its text; load->file_serial is the served serial, where the
 * journal begins. Threads of the loader.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_SERIAL_H
#define VOLLEY_ZONEMGR_LOAD_SERIAL_H

#include "zonemgr/load.h"

/* Gives load->zone another serial where needed, or warns. Call it after load->file_digest is set,
 * and before the journal is applied. 0, -ENOMEM or ERR_ZONE. */
int load_set_serial(struct load *load) __attribute__((warn_unused_result));

/* The serial of @policy that follows @before at the time @now_s, seconds since 1970. It is newer
 * than @before. Pure. */
uint32_t load_next_serial(enum config_serial policy, uint32_t before, uint64_t now_s);

#endif
