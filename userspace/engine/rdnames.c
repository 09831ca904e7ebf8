/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/rdnames.h"

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

/* Data with names: what stands before them, how many, what stands behind. */
struct layout {
	uint8_t front_bytes;
	uint8_t n_strings; /* character strings behind the front: RFC 1035 section 3.3 */
	uint8_t n_names;
	uint8_t tail_bytes;
};

static struct layout layout_of(uint16_t type)
{
	switch (type) {
	case DNS_TYPE_NS:
	case DNS_TYPE_MD:
	case DNS_TYPE_MF:
	case DNS_TYPE_CNAME:
	case DNS_TYPE_MB:
	case DNS_TYPE_MG:
	case DNS_TYPE_MR:
	case DNS_TYPE_PTR:
	case DNS_TYPE_DNAME:
		return (struct layout){ .n_names = 1 };
	case DNS_TYPE_MINFO:
	case DNS_TYPE_RP:
		return (struct layout){ .n_names = 2 };
	case DNS_TYPE_MX:
	case DNS_TYPE_AFSDB:
	case DNS_TYPE_RT:
	case DNS_TYPE_KX:
		return (struct layout){ .front_bytes = 2, .n_names = 1 };
	case DNS_TYPE_PX:
		return (struct layout){ .front_bytes = 2, .n_names = 2 };
	case DNS_TYPE_SRV:
		return (struct layout){ .front_bytes = 6, .n_names = 1 };
	case DNS_TYPE_NAPTR:
		return (struct layout){ .front_bytes = 4, .n_strings = 3, .n_names = 1 };
	case DNS_TYPE_SOA:
		return (struct layout){ .n_names = 2, .tail_bytes = 20 };
	default:
		return (struct layout){ 0 };
	}
}

/* Both cursors move. */
static void copy(struct wire_writer *w, struct wire_reader *r, size_t n)
{
	const uint8_t *from = wire_read_ref(r, n);

	if (from)
		wire_write_bytes(w, from, n);
}

static void copy_string(struct wire_writer *w, struct wire_reader *r)
{
	const uint8_t *len = wire_read_ref(r, 1);

	if (!len)
		return;
	wire_write_u8(w, *len);
	copy(w, r, *len);
}

/* The name may point out of the data, but it must end within. */
static void copy_name(struct wire_writer *w, struct wire_reader *r, const struct message *m,
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

int rdnames_expand(const struct message *m, const struct message_record *record, uint8_t *out,
		   size_t cap)
{
	struct layout l = layout_of(record->type);
	struct wire_reader r;
	struct wire_writer w;

	if (!l.n_names)
		return 0;
	wire_reader_init(&r, record->rdata, record->len);
	wire_writer_init(&w, out, cap);
	copy(&w, &r, l.front_bytes);
	while (l.n_strings--)
		copy_string(&w, &r);
	while (l.n_names--)
		copy_name(&w, &r, m, record->rdata_at);
	copy(&w, &r, l.tail_bytes);
	if (r.error || wire_reader_left(&r))
		return ERR_RDATA;
	return w.error ? w.error : (int)w.at;
}
