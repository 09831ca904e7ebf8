/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/message.h"

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/rdata.h"

/* Both cursors move. */
static void copy_rdata(struct wire_writer *w, struct wire_reader *r, size_t n)
{
	const uint8_t *from = wire_read_ref(r, n);

	if (from)
		wire_write_bytes(w, from, n);
}

static void copy_rdata_string(struct wire_writer *w, struct wire_reader *r)
{
	const uint8_t *len = wire_read_ref(r, 1);

	if (!len)
		return;
	wire_write_u8(w, *len);
	copy_rdata(w, r, *len);
}

/* Pointers of the name may lead out of the data, but its labels there must end within the data. */
static void copy_rdata_name(struct wire_writer *w, struct wire_reader *r, const struct message *m,
			    uint32_t rdata_at)
{
	uint32_t at = rdata_at + (uint32_t)r->at;
	uint8_t name[NAME_FOLDED_BYTES];
	uint32_t end;
	unsigned len;

	if (!wire_reader_left(r)) {
		r->error = ERR_SHORT;
		return;
	}
	end = message_name_end(m, at);
	len = message_copy_name(m, at, name);
	if (!end || !len) {
		r->error = ERR_SHORT;
		return;
	}
	wire_reader_skip(r, end - at);
	wire_write_bytes(w, name, len);
}

/* True if no name in the data is compressed. */
static bool has_plain_names(const struct message_record *record, struct rdata_layout l)
{
	size_t at = l.front_bytes;

	while (l.n_names--) {
		int n = at <= record->len ? name_check(record->rdata + at, record->len - at) : -1;

		if (n < 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

int rdnames_expand(const struct message *m, const struct message_record *record, uint8_t *out,
		   size_t cap)
{
	struct rdata_layout l = rdata_layout(record->type, RD_EXPAND);
	bool has_rest = false;
	struct wire_reader r;
	struct wire_writer w;

	if (!l.n_names) {
		l = rdata_layout(record->type, RD_KEEP);
		if (!l.n_names || l.n_strings || has_plain_names(record, l))
			return 0;
		has_rest = true;
	}
	wire_reader_init(&r, record->rdata, record->len);
	wire_writer_init(&w, out, cap);
	copy_rdata(&w, &r, l.front_bytes);
	while (l.n_strings--)
		copy_rdata_string(&w, &r);
	while (l.n_names--)
		copy_rdata_name(&w, &r, m, record->rdata_at);
	copy_rdata(&w, &r, has_rest ? wire_reader_left(&r) : l.tail_bytes);
	if (r.error || wire_reader_left(&r))
		return ERR_RDATA;
	return w.error ? w.error : (int)w.at;
}
