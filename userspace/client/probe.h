/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One question to a name server over UDP, and whether there is an answer: volleyctl health --probe.
 * The question is as a resolver's, without EDNS; a datagram that is lost is sent again.
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

/* Reads "NAME" (the type is SOA) or "NAME/TYPE". 0, or an own code when one of them is wrong. */
int probe_read(struct probe *probe, const char *text) __attribute__((warn_unused_result));

/*
 * Writes the query with that ID, RD clear, into MESSAGE of PROBE_QUERY_MAX octets; its length. Of a
 * reply, PROBE_NOT_OURS or what it says of the server: 0 for NOERROR with an answer (TC=1 is one,
 * too), else PROBE_NO_RECORDS or its rcode, 1 to 15. Pure.
 */
#define PROBE_QUERY_MAX  (DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES)
#define PROBE_NO_RECORDS (-1)
#define PROBE_NOT_OURS   (-2)
size_t probe_write(const struct probe *probe, uint16_t id, uint8_t message[PROBE_QUERY_MAX]);
int probe_judge(const struct probe *probe, uint16_t id, const uint8_t *reply, size_t len)
	__attribute__((warn_unused_result));

/*
 * Asks SERVER; where that is a wildcard, the loopback address. Waits at most WAIT_MS. 0, or a
 * negative code with a sentence in err.
 */
int probe_ask(const struct probe *probe, const struct port_addr *server, int wait_ms, char *err,
	      size_t err_cap) __attribute__((warn_unused_result));

#endif
