/* SPDX-License-Identifier: GPL-2.0-only */
#include "dns/tsig.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"

#define TIME_AND_FUDGE_BYTES 8

/*
 * Copies the name at *at, its pointers followed, and moves *at behind it. query_parse() has walked it:
 * it is well formed, and its pointers lead back. Returns its length.
 */
static size_t copy_owner(uint8_t *dst, const uint8_t *msg, size_t *at)
{
	size_t from = *at, n = 0, end = 0;

	for (;;) {
		uint8_t label = msg[from];

		if (label >= DNS_POINTER_BITS) {
			end = end ? end : from + 2;
			from = wire_load_be16(msg + from) & DNS_POINTER_MAX;
			continue;
		}
		memcpy(dst + n, msg + from, 1u + label);
		n += 1u + label;
		from += 1u + label;
		if (!label)
			break;
	}
	*at = end ? end : from;
	return n;
}

/* RFC 8945 section 4.2: algorithm, time, fudge, MAC, original id, error, other data. */
static int check_rdata(const uint8_t *rdata, size_t len, size_t algorithm_bytes)
{
	struct wire_reader r;

	wire_reader_init(&r, rdata, len);
	wire_reader_skip(&r, algorithm_bytes + TIME_AND_FUDGE_BYTES);
	wire_reader_skip(&r, wire_read_be16(&r));
	wire_reader_skip(&r, 4);
	wire_reader_skip(&r, wire_read_be16(&r));
	return r.error || wire_reader_left(&r) ? ERR_RDATA : 0;
}

int tsig_write_error(uint8_t out[TSIG_ERROR_MAX], const uint8_t *msg, const struct query *q,
		     uint16_t error)
{
	size_t at = q->tsig_at;
	size_t n = copy_owner(out, msg, &at);
	const uint8_t *rdata = msg + at + DNS_RR_FIXED_BYTES;
	size_t len = wire_load_be16(rdata - 2);
	int algorithm_bytes = name_check(rdata, len);
	struct wire_writer w;

	if (algorithm_bytes < 0 || check_rdata(rdata, len, (size_t)algorithm_bytes))
		return ERR_RDATA;
	len = (size_t)algorithm_bytes + TIME_AND_FUDGE_BYTES;
	wire_writer_init(&w, out, TSIG_ERROR_MAX);
	w.at = n;
	wire_write_be16(&w, DNS_TYPE_TSIG);
	wire_write_be16(&w, DNS_CLASS_ANY);
	wire_write_be32(&w, 0);
	wire_write_be16(&w, (uint16_t)(len + 8));
	wire_write_bytes(&w, rdata, len);
	wire_write_be16(&w, 0); /* no MAC */
	wire_write_be16(&w, q->id);
	wire_write_be16(&w, error);
	wire_write_be16(&w, 0); /* no other data */
	return w.error ? w.error : (int)w.at;
}
