/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of the query log. At about 100,000 lines a second, printf() would be most of the cost,
 * so numbers and times are formatted here. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "dns/proto.h"
#include "tap/querylog.h"

static const char *const ways[] = {
#define WAY(name, text) [name] = text,
	TAP_WAY_LIST(WAY)
#undef WAY
};

static const char *const transports[] = {
#define TRANSPORT(name, text) [name] = text,
	TAP_TRANSPORT_LIST(TRANSPORT)
#undef TRANSPORT
};

static char *put_line_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *put_line_number(char *at, uint64_t n)
{
	char digits[20];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		*at++ = digits[--i];
	return at;
}

/* With leading zeros. */
static char *put_digits(char *at, uint64_t n, int width)
{
	for (int i = width - 1; i >= 0; i--, n /= 10)
		at[i] = (char)('0' + n % 10);
	return at + width;
}

/* 2026-01-31T23:59:59.123456Z. Keeps the text of the second for the next line. */
static char *put_line_time(char *at, uint64_t ns)
{
	static _Thread_local char second[40];
	static _Thread_local uint64_t second_is;
	const uint64_t s = ns / CLOCK_NS_PER_S;

	if (!*second || second_is != s) {
		const time_t t = (time_t)s;
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &tm);
		second_is = s;
	}
	at = put_line_text(at, second);
	*at++ = '.';
	at = put_digits(at, ns % CLOCK_NS_PER_S / 1000, 6);
	*at++ = 'Z';
	return at;
}

/* If the address is shortened, the prefix length follows. */
static char *put_client(char *at, const struct tap_event *e, const struct tap_prefix *prefix)
{
	const unsigned int bits = e->family == AF_INET ? prefix->bits4 : prefix->bits6;
	uint8_t address[16];

	memcpy(address, e->peer, sizeof(address));
	tap_shorten(address, e->family, prefix);
	if (e->family == AF_INET) {
		for (int i = 0; i < 4; i++) {
			if (i)
				*at++ = '.';
			at = put_line_number(at, address[i]);
		}
	} else if (inet_ntop(e->family, address, at, INET6_ADDRSTRLEN)) {
		at += strlen(at);
	}
	if (bits == (e->family == AF_INET ? 32 : 128))
		return at;
	*at++ = '/';
	return put_line_number(at, bits);
}

/* JSON needs an escape only for these two: name_to_text() escapes all octets that do not print. */
static char *put_line_name(char *at, const uint8_t *name, bool is_json)
{
	char text[NAME_TEXT_MAX];

	if (!name || name_to_text(text, sizeof(text), name) < 0)
		return put_line_text(at, is_json ? "" : "-");
	for (const char *c = text; *c; c++) {
		if (is_json && (*c == '"' || *c == '\\'))
			*at++ = '\\';
		*at++ = *c;
	}
	return at;
}

static char *put_type(char *at, const struct tap_view *view)
{
	return view->name ? at + proto_type_to_text(at, view->qtype) : put_line_text(at, "-");
}

static char *put_line_flags(char *at, const struct tap_view *view)
{
	static const struct {
		uint16_t bit;
		char text[3];
	} flags[] = {
		{ DNS_FLAG_AA, "aa" }, { DNS_FLAG_TC, "tc" }, { DNS_FLAG_RD, "rd" },
		{ DNS_FLAG_RA, "ra" }, { DNS_FLAG_AD, "ad" }, { DNS_FLAG_CD, "cd" },
	};
	char *const start = at;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!(view->flags & flags[i].bit))
			continue;
		if (at != start)
			*at++ = ' ';
		at = put_line_text(at, flags[i].text);
	}
	if (view->dnssec_ok)
		at = put_line_text(at == start ? at : put_line_text(at, " "), "do");
	return at;
}

static bool has_latency(const struct tap_event *e)
{
	return e->asked_ns && e->answered_ns && e->way != TAP_DRIVER;
}

static uint64_t latency_us(const struct tap_event *e)
{
	return e->answered_ns > e->asked_ns ? (e->answered_ns - e->asked_ns) / 1000 : 0;
}

static char *put_line_key(char *at, const char *key)
{
	at = put_line_text(at, ",\"");
	at = put_line_text(at, key);
	return put_line_text(at, "\":");
}

static char *put_key_number(char *at, const char *key, uint64_t n)
{
	return put_line_number(put_line_key(at, key), n);
}

static char *put_key_text(char *at, const char *key, const char *text)
{
	at = put_line_text(put_line_key(at, key), "\"");
	return put_line_text(put_line_text(at, text), "\"");
}

/* "local-data" cannot be the name of a list, because names end with a dot. */
static char *put_line_list(char *at, const struct querylog_rpz *rpz, bool is_json)
{
	return rpz->is_local_data ? put_line_text(at, "local-data") :
				    put_line_name(at, rpz->list, is_json);
}

static char *put_rpz_json(char *at, const struct querylog_rpz *rpz)
{
	if (!rpz)
		return at;
	at = put_line_text(put_line_key(at, "policy"), "\"");
	at = put_line_text(put_line_list(at, rpz, true), "\"");
	return put_key_text(at, "action", rpz->action);
}

static char *put_line_rpz(char *at, const struct querylog_rpz *rpz)
{
	if (!rpz)
		return put_line_text(at, "-");
	at = put_line_list(put_line_text(at, "policy="), rpz, false);
	return put_line_text(put_line_text(at, "/"), rpz->action);
}

static char *put_json(char *at, const struct querylog_config *config, const struct tap_event *e,
		      const struct tap_view *view, const struct querylog_rpz *rpz)
{
	at = put_line_time(put_line_text(at, "{\"time\":\""), e->answered_ns);
	at = put_line_text(at, "\"");
	at = put_line_text(put_line_key(at, "client"), "\"");
	at = put_line_text(put_client(at, e, &config->prefix), "\"");
	at = put_key_number(at, "port", ntohs(e->peer_port));
	at = put_key_text(at, "transport", transports[e->transport]);
	at = put_key_text(at, "way", ways[e->way]);
	at = put_line_text(put_line_key(at, "name"), "\"");
	at = put_line_text(put_line_name(at, view->name, true), "\"");
	at = put_line_text(put_line_key(at, "type"), "\"");
	at = put_line_text(put_type(at, view), "\"");
	at = put_line_text(put_line_key(at, "rcode"), "\"");
	at += proto_rcode_to_text(at, view->rcode);
	at = put_line_text(at, "\"");
	at = put_line_text(put_line_key(at, "flags"), "\"");
	at = put_line_text(put_line_flags(at, view), "\"");
	if (e->query_bytes)
		at = put_key_number(at, "query_bytes", e->query_bytes);
	at = put_key_number(at, "reply_bytes", e->n_reply);
	if (has_latency(e))
		at = put_key_number(at, "latency_us", latency_us(e));
	if (view->ede >= 0)
		at = put_key_number(at, "ede", (uint64_t)view->ede);
	at = put_rpz_json(at, rpz);
	return put_line_text(at, "}");
}

/* Flags are in brackets, since there may be none. A hyphen means not known. */
static char *put_plain(char *at, const struct querylog_config *config, const struct tap_event *e,
		       const struct tap_view *view, const struct querylog_rpz *rpz)
{
	at = put_line_text(put_line_time(at, e->answered_ns), " ");
	at = put_line_text(put_client(at, e, &config->prefix), " ");
	at = put_line_text(put_line_number(at, ntohs(e->peer_port)), " ");
	at = put_line_text(put_line_text(at, transports[e->transport]), " ");
	at = put_line_text(put_line_text(at, ways[e->way]), " ");
	at = put_line_text(put_line_name(at, view->name, false), " ");
	at = put_line_text(put_type(at, view), " ");
	at += proto_rcode_to_text(at, view->rcode);
	at = put_line_text(put_line_flags(put_line_text(at, " ["), view), "] ");
	at = e->query_bytes ? put_line_number(at, e->query_bytes) : put_line_text(at, "-");
	at = put_line_number(put_line_text(at, " "), e->n_reply);
	at = put_line_text(at, " ");
	at = has_latency(e) ? put_line_text(put_line_number(at, latency_us(e)), "us") :
			      put_line_text(at, "-");
	at = put_line_text(at, " ");
	at = view->ede >= 0 ? put_line_number(put_line_text(at, "ede="), (uint64_t)view->ede) :
			      put_line_text(at, "-");
	return put_line_rpz(put_line_text(at, " "), rpz);
}

size_t querylog_line(const struct querylog_config *config, const struct tap_event *e,
		     const struct tap_view *view, char out[QUERYLOG_LINE_MAX])
{
	struct querylog_rpz rpz;
	const bool is_changed = config->judge && config->judge(config->judge_ctx, e, &rpz);
	const struct querylog_rpz *said = is_changed ? &rpz : NULL;
	char *end = config->is_json ? put_json(out, config, e, view, said) :
				      put_plain(out, config, e, view, said);

	return (size_t)(end - out);
}
