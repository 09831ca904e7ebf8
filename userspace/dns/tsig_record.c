/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/tsig_record.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"

static uint64_t read_tsig_time(struct wire_reader *r)
{
	uint64_t high = wire_read_be16(r);

	return high << 32 | wire_read_be32(r);
}

static int read_tsig_rdata(struct tsig_record *t, const uint8_t *rdata, size_t len)
{
	int n_bytes = name_check(rdata, len);
	struct wire_reader r;

	if (n_bytes < 0)
		return ERR_FORMAT;
	t->algorithm_bytes = (unsigned int)n_bytes;
	name_fold(t->algorithm, rdata, t->algorithm_bytes);
	wire_reader_init(&r, rdata, len);
	wire_reader_skip(&r, t->algorithm_bytes);
	t->time_s = read_tsig_time(&r);
	t->fudge_s = wire_read_be16(&r);
	t->mac_bytes = wire_read_be16(&r);
	t->mac = wire_read_ref(&r, t->mac_bytes);
	t->original_id = wire_read_be16(&r);
	t->error = wire_read_be16(&r);
	t->other_bytes = wire_read_be16(&r);
	t->other = wire_read_ref(&r, t->other_bytes);
	return r.error || wire_reader_left(&r) ? ERR_FORMAT : 0;
}

int tsig_read(struct tsig_record *t, const uint8_t *msg, size_t len, size_t at, size_t *end)
{
	int n_bytes = name_follow(t->key, msg, len, at, &at);
	uint16_t type, class, rdata_bytes;
	struct wire_reader r;
	const uint8_t *rdata;
	uint32_t ttl;

	if (n_bytes < 0)
		return ERR_FORMAT;
	t->key_bytes = (unsigned int)n_bytes;
	name_fold(t->key, t->key, t->key_bytes);
	wire_reader_init(&r, msg, len);
	wire_reader_seek(&r, at);
	type = wire_read_be16(&r);
	class = wire_read_be16(&r);
	ttl = wire_read_be32(&r);
	rdata_bytes = wire_read_be16(&r);
	rdata = wire_read_ref(&r, rdata_bytes);
	if (!rdata || type != DNS_TYPE_TSIG || class != DNS_CLASS_ANY || ttl)
		return ERR_FORMAT;
	*end = r.at;
	return read_tsig_rdata(t, rdata, rdata_bytes);
}

int tsig_write(const struct tsig_record *t, uint8_t *out, size_t cap)
{
	struct wire_writer w;

	wire_writer_init(&w, out, cap);
	wire_write_bytes(&w, t->key, t->key_bytes);
	wire_write_be16(&w, DNS_TYPE_TSIG);
	wire_write_be16(&w, DNS_CLASS_ANY);
	wire_write_be32(&w, 0);
	wire_write_be16(&w, (uint16_t)(t->algorithm_bytes + 16u + t->mac_bytes + t->other_bytes));
	wire_write_bytes(&w, t->algorithm, t->algorithm_bytes);
	wire_write_be16(&w, (uint16_t)(t->time_s >> 32));
	wire_write_be32(&w, (uint32_t)t->time_s);
	wire_write_be16(&w, t->fudge_s);
	wire_write_be16(&w, t->mac_bytes);
	wire_write_bytes(&w, t->mac, t->mac_bytes);
	wire_write_be16(&w, t->original_id);
	wire_write_be16(&w, t->error);
	wire_write_be16(&w, t->other_bytes);
	wire_write_bytes(&w, t->other, t->other_bytes);
	return w.error ? w.error : (int)w.at;
}

int tsig_write_error(uint8_t out[TSIG_ERROR_MAX], const uint8_t *msg, const struct query *q,
		     uint16_t error)
{
	struct tsig_record t;
	size_t end;

	if (tsig_read(&t, msg, q->end, q->tsig_at, &end))
		return ERR_RDATA;
	t.mac_bytes = 0;
	t.other_bytes = 0;
	t.original_id = q->id;
	t.error = error;
	return tsig_write(&t, out, TSIG_ERROR_MAX);
}
