/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/edns.h"

#include <string.h>

#include "base/err.h"

#define EXPIRE_BYTES    4
#define KEEPALIVE_BYTES 2

static size_t option_bytes(const void *value, size_t n_bytes)
{
	return value ? DNS_OPTION_FIXED_BYTES + n_bytes : 0;
}

/* The text of an extended error may be missing; its code is the first 2 bytes (RFC 8914). */
static size_t ede_bytes(const struct edns_reply *e)
{
	if (e->ede_code == EDNS_NO_EDE)
		return 0;
	return DNS_OPTION_FIXED_BYTES + 2u + (e->ede_text ? e->ede_text_bytes : 0u);
}

size_t edns_reply_bytes(const struct edns_reply *e)
{
	return DNS_OPT_FIXED_BYTES + option_bytes(e->cookie, e->cookie_bytes) +
	       option_bytes(e->nsid, e->nsid_bytes) + option_bytes(e->expire, EXPIRE_BYTES) +
	       option_bytes(e->keepalive, KEEPALIVE_BYTES) + ede_bytes(e);
}

static void put_edns_option(struct wire_writer *w, uint16_t code, const uint8_t *value,
			    uint16_t n_bytes)
{
	if (!value)
		return;
	wire_write_be16(w, code);
	wire_write_be16(w, n_bytes);
	wire_write_bytes(w, value, n_bytes);
}

static void put_ede(struct wire_writer *w, const struct edns_reply *e)
{
	if (e->ede_code == EDNS_NO_EDE)
		return;
	wire_write_be16(w, DNS_OPTION_EDE);
	wire_write_be16(w, (uint16_t)(ede_bytes(e) - DNS_OPTION_FIXED_BYTES));
	wire_write_be16(w, (uint16_t)e->ede_code);
	if (e->ede_text)
		wire_write_bytes(w, e->ede_text, e->ede_text_bytes);
}

static void put_fixed(uint8_t *p, const struct edns_reply *e, uint16_t option_bytes_sum)
{
	p[0] = 0; /* the root */
	wire_store_be16(p + 1, DNS_TYPE_OPT);
	wire_store_be16(p + 3, e->udp_size);
	p[5] = (uint8_t)(e->rcode >> 4);
	p[6] = DNS_EDNS_VERSION;
	wire_store_be16(p + 7, e->dnssec_ok ? DNS_EDNS_DO : 0);
	wire_store_be16(p + 9, option_bytes_sum);
}

int edns_reply_write(struct wire_writer *w, const struct edns_reply *e)
{
	size_t n_bytes = edns_reply_bytes(e);

	if (n_bytes > wire_writer_left(w) || n_bytes - DNS_OPT_FIXED_BYTES > UINT16_MAX) {
		w->error = ERR_SPACE;
		return w->error;
	}
	put_fixed(wire_write_ref(w, DNS_OPT_FIXED_BYTES), e,
		  (uint16_t)(n_bytes - DNS_OPT_FIXED_BYTES));
	put_edns_option(w, DNS_OPTION_COOKIE, e->cookie, e->cookie_bytes);
	put_edns_option(w, DNS_OPTION_NSID, e->nsid, e->nsid_bytes);
	put_edns_option(w, DNS_OPTION_EXPIRE, e->expire, EXPIRE_BYTES);
	put_edns_option(w, DNS_OPTION_KEEPALIVE, e->keepalive, KEEPALIVE_BYTES);
	put_ede(w, e);
	return w->error;
}
