/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends one query to a name server over UDP and checks the answer, for volleyctl health --probe.
 * The query is like a resolver's, without EDNS. If no answer comes, it is sent again.
 *
 * Any thread.
 */
#ifndef VOLLEY_CLIENT_PROBE_H
#define VOLLEY_CLIENT_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "port/addr.h"

struct probe {
	uint8_t name[DNS_NAME_MAX]; /* wire form */
	size_t name_bytes;
	uint16_t type;
};

/* Reads "NAME" (the type is SOA) or "NAME/TYPE". 0, or one of our codes if it is wrong. */
int probe_read(struct probe *probe, const char *text) __attribute__((warn_unused_result));

/*
 * probe_write() writes the query with that ID and RD clear into MESSAGE, and returns its length.
 * probe_judge() checks a reply: PROBE_NOT_OURS if it is no reply to this query; 0 for NOERROR with
 * an answer, or with TC=1; PROBE_NO_RECORDS for NOERROR without an answer; else the rcode, 1 to 15.
 * Pure.
 */
#define PROBE_QUERY_MAX  (DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES)
#define PROBE_NO_RECORDS (-1)
#define PROBE_NOT_OURS   (-2)
size_t probe_write(const struct probe *probe, uint16_t id, uint8_t message[PROBE_QUERY_MAX]);
int probe_judge(const struct probe *probe, uint16_t id, const uint8_t *reply, size_t len)
	__attribute__((warn_unused_result));

/*
 * Sends the query to SERVER, or to the loopback address if SERVER is a wildcard. Waits at most
 * WAIT_MS. 0, or a negative code with a sentence in err.
 */
int probe_ask(const struct probe *probe, const struct port_addr *server, int wait_ms, char *err,
	      size_t err_cap) __attribute__((warn_unused_result));

#endif
