/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a message, read as a NOTIFY, as a reply to one, as a reply to a SOA query, and as a
 * message to reply to. A NOTIFY that is understood, built anew, has the same content.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xfr/notify.h"
#include "xfr/xfr_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t zone[] = "\1z";

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_notify(const struct notify *n)
{
	static const uint8_t soa[] = "\0\0\0\0\0\7\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1";
	uint8_t buf[512];
	struct notify again;
	int len = notify_build(buf, sizeof(buf), n->id, n->zone, n->has_serial ? soa : NULL,
			       sizeof(soa) - 1, 60);

	must(name_check(n->zone, n->zone_bytes) == (int)n->zone_bytes && len > 0);
	must(!notify_parse(&again, buf, (size_t)len));
	must(again.id == n->id && again.zone_bytes == n->zone_bytes);
	must(!memcmp(again.zone, n->zone, n->zone_bytes) && again.has_serial == n->has_serial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t reply[DNS_HEADER_BYTES + DNS_NAME_MAX + 4];
	struct xfr_request_soa soa;
	struct notify n;
	int len;

	if (!notify_parse(&n, data, size))
		check_notify(&n);
	len = notify_match(data, size, 0x1234, zone);
	must(len < 16);
	(void)!xfr_request_read_soa(&soa, data, size, 0x1234, zone);
	len = xfr_reply(reply, sizeof(reply), data, size, 0, DNS_RCODE_REFUSED);
	must(len < 0 || (reply[2] & 0x80 && notify_parse(&n, reply, (size_t)len) < 0));
	return 0;
}
