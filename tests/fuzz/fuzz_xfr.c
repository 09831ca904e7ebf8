/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a request (one octet of choices) and the stream that answers it, each message after
 * two octets of length as over TCP. A zone or a journal must accept all that the reader returns:
 * owners in the zone, data of its type, change sets that chain.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "dns/rdata.h"
#include "xfr/xfr_in.h"

#define ID 0x1234

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t zone[] = "\1z";

struct sink {
	unsigned int n_begun, n_records;
	uint32_t serial;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int on_begin(void *user, uint32_t serial)
{
	struct sink *s = user;

	(void)serial;
	must(!s->n_begun++);
	return 0;
}

static int on_record(void *user, const uint8_t *owner, unsigned int owner_bytes, uint16_t type,
		     uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct sink *s = user;

	must(s->n_begun == 1 && name_check(owner, owner_bytes) == (int)owner_bytes);
	must(name_is_under(owner, zone) && ttl <= DNS_TTL_MAX);
	must(!rdata_check(type, rdata, rdata_bytes));
	must((type == DNS_TYPE_SOA) == !s->n_records++);
	return 0;
}

/* A journal accepts it unchanged. */
static int on_changes(void *user, struct changeset *set)
{
	struct sink *s = user;
	struct changeset copy;

	must(!s->n_begun && set->serial_from == s->serial);
	must(!changeset_load(&copy, set->bytes, set->n_bytes));
	must(copy.serial_to == set->serial_to);
	changeset_fini(&copy);
	s->serial = set->serial_to;
	return 0;
}

static void feed(struct xfr_in *in, const uint8_t *data, size_t size)
{
	enum xfr_in_result result = XFR_IN_MORE;

	while (size >= 2 && result == XFR_IN_MORE) {
		size_t n = wire_load_be16(data);
		uint8_t *copy;

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		copy = malloc(n);
		must(copy || !n);
		if (n)
			memcpy(copy, data, n);
		result = xfr_in_message(in, copy, n, 1000);
		free(copy);
		data += n;
		size -= n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sink sink = { .serial = 5 };
	struct xfr_in_config config = {
		.zone = zone,
		.id = ID,
		.serial = 5,
		.limits = { .n_records = 5000 },
		.sink = { &sink, on_begin, on_record, on_changes },
	};
	struct xfr_in in;

	if (!size)
		return 0;
	config.type = data[0] & 1 ? DNS_TYPE_IXFR : DNS_TYPE_AXFR;
	config.has_serial = data[0] & 1 || data[0] & 4;
	config.takes_older = data[0] & 8;
	xfr_in_init(&in, &config);
	feed(&in, data + 1, size - 1);
	xfr_in_fini(&in);
	return 0;
}
