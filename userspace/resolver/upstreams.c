/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/upstreams.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/tls_client.h"

#define BACKOFFS_MAX 6
#define SILENT_MAX   6

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_localhost(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	if (address->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* Both families have the port at the same place (RFC 3493 section 3.3). */
static bool has_port(const struct sockaddr_storage *address)
{
	return ((const struct sockaddr_in *)address)->sin_port;
}

/* The n_bytes octets at text: an address, perhaps with a port. */
static int parse_address(struct upstream *u, const char *text, size_t n_bytes)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = SOCK_DGRAM };
	struct addrinfo *found;
	char host[NI_MAXHOST];
	char *at;

	if (n_bytes >= sizeof(host))
		return ERR_CONFIG;
	memcpy(host, text, n_bytes);
	host[n_bytes] = 0;
	at = strchr(host, '@');
	if (at)
		*at = 0;
	if (getaddrinfo(host, at ? at + 1 : "53", &hints, &found))
		return ERR_CONFIG;
	memcpy(&u->address, found->ai_addr, found->ai_addrlen);
	u->address_bytes = found->ai_addrlen;
	freeaddrinfo(found);
	return has_port(&u->address) ? 0 : ERR_CONFIG;
}

/* Names in certificates have no dot at the end. */
static int parse_name(struct upstream *u, const char *text)
{
	size_t n_bytes = strlen(text);

	if (n_bytes && text[n_bytes - 1] == '.')
		n_bytes--;
	if (!n_bytes || n_bytes >= sizeof(u->name))
		return ERR_CONFIG;
	memcpy(u->name, text, n_bytes);
	u->name[n_bytes] = 0;
	return 0;
}

/* The error in the text, or NULL. */
static const char *parse(struct upstream *u, const char *text, const struct upstreams_config *c)
{
	const char *name = c->has_names ? strchr(text, '#') : NULL;
	size_t n_bytes = name ? (size_t)(name - text) : strlen(text);

	if (c->has_names && (!name || !memchr(text, '@', n_bytes) || parse_name(u, name + 1)))
		return "for TLS ADDRESS@853#NAME is expected, with the name of its certificate";
	if (parse_address(u, text, n_bytes))
		return c->has_names ? "ADDRESS@PORT#NAME is expected" :
				      "ADDRESS or ADDRESS@PORT is expected";
	if (is_localhost(&u->address) && !c->allow_localhost)
		return "this machine itself may not be asked (query-localhost)";
	return NULL;
}

int upstreams_init(struct upstreams *us, const struct upstreams_config *config, char *err,
		   size_t cap)
{
	const char *const *address = config->addresses;
	const char *wrong = NULL;

	*us = (struct upstreams){ .window_max = config->window_max,
				  .wait_max_ns = config->wait_max_ms * CLOCK_NS_PER_MS };
	for (; *address && !wrong; address++) {
		if (us->n == UPSTREAMS_MAX)
			wrong = "these are too many";
		else
			wrong = parse(&us->all[us->n], *address, config);
		if (wrong)
			snprintf(err, cap, "forward %s: %s", *address, wrong);
		else
			us->all[us->n++].window =
				min_u32(UPSTREAM_WINDOW_FIRST, config->window_max);
	}
	return wrong ? ERR_CONFIG : 0;
}

uint64_t upstream_wait_ns(const struct upstreams *us, const struct upstream *u, uint32_t n)
{
	uint64_t wait_ns = UPSTREAM_WAIT_FIRST_NS;

	if (u->srtt_ns)
		wait_ns = u->srtt_ns + 4 * u->rttvar_ns;
	if (wait_ns < UPSTREAM_WAIT_MIN_NS)
		wait_ns = UPSTREAM_WAIT_MIN_NS;
	wait_ns <<= min_u32(n > u->n_backoffs ? n : u->n_backoffs, BACKOFFS_MAX);
	return wait_ns < us->wait_max_ns ? wait_ns : us->wait_max_ns;
}

static bool is_ill(const struct upstream *u)
{
	return u->n_silent || u->n_failing >= UPSTREAM_FAILING;
}

static uint64_t score(const struct upstreams *us, const struct upstream *u)
{
	if (!is_ill(u))
		return u->srtt_ns ? u->srtt_ns : UPSTREAM_WAIT_FIRST_NS;
	return upstream_wait_ns(us, u, 0) << min_u32(u->n_silent, SILENT_MAX);
}

static uint32_t room(const struct upstream *u)
{
	uint32_t window = u->down ? min_u32(u->window, UPSTREAM_DOWN_MAX) : u->window;

	return u->n_in_flight < window ? window - u->n_in_flight : 0;
}

uint32_t upstreams_room(const struct upstreams *us, uint16_t set)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < us->n; i++)
		if (set >> i & 1)
			n += room(&us->all[i]);
	return n;
}

uint8_t upstreams_choose(const struct upstreams *us, uint16_t set, struct random *random)
{
	uint64_t scores[UPSTREAMS_MAX], best = UINT64_MAX, good;
	uint8_t chosen = UPSTREAM_NONE;
	uint32_t n_good = 0;

	for (unsigned int i = 0; i < us->n; i++) {
		scores[i] = UINT64_MAX;
		if (set >> i & 1 && room(&us->all[i]))
			scores[i] = score(us, &us->all[i]);
		if (scores[i] < best)
			best = scores[i];
	}
	if (best == UINT64_MAX)
		return UPSTREAM_NONE;
	good = best + best / 4 + 2 * CLOCK_NS_PER_MS;
	for (unsigned int i = 0; i < us->n; i++)
		if (scores[i] <= good && (!n_good++ || !random_below(random, n_good)))
			chosen = (uint8_t)i;
	return chosen;
}

uint16_t upstreams_down(const struct upstreams *us, uint16_t set)
{
	uint16_t down = 0;

	for (unsigned int i = 0; i < us->n; i++)
		if (us->all[i].down)
			down |= (uint16_t)(1U << i);
	return set & down;
}

bool upstream_has_line(const struct upstreams *us, const struct upstream *u, uint64_t sent_ns,
		       uint64_t now_ns)
{
	return u->answered_sent_ns < sent_ns && now_ns - u->heard_ns < UPSTREAM_LINE_NS &&
	       now_ns - sent_ns < us->wait_max_ns;
}

/* RFC 6298 sections 2.2 and 2.3. */
static void measure_upstreams(struct upstream *u, uint64_t rtt_ns)
{
	uint64_t off = u->srtt_ns > rtt_ns ? u->srtt_ns - rtt_ns : rtt_ns - u->srtt_ns;

	u->n_backoffs = 0;
	if (!u->srtt_ns) {
		u->srtt_ns = rtt_ns;
		u->rttvar_ns = rtt_ns / 2;
		return;
	}
	u->rttvar_ns = u->rttvar_ns - u->rttvar_ns / 4 + off / 4;
	u->srtt_ns = u->srtt_ns - u->srtt_ns / 8 + rtt_ns / 8;
}

static void set_window(const struct upstreams *us, struct upstream *u, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - u->replies_since_ns;

	u->n_replies++;
	if (u->window < us->window_max && u->n_in_flight >= u->window / 2)
		u->window++;
	if (passed_ns >= UPSTREAM_WINDOW_NS) {
		uint64_t each_second = u->n_replies * CLOCK_NS_PER_S / passed_ns;

		if (each_second < UPSTREAM_WINDOW_KEPT)
			each_second = UPSTREAM_WINDOW_KEPT;
		if (u->window > each_second)
			u->window = (uint32_t)each_second;
		u->n_replies = 0;
		u->replies_since_ns = now_ns;
	}
}

void upstream_on_reply(const struct upstreams *us, struct upstream *u, uint64_t rtt_ns,
		       uint64_t now_ns)
{
	if (rtt_ns) {
		measure_upstreams(u, rtt_ns);
		if (u->answered_sent_ns < now_ns - rtt_ns)
			u->answered_sent_ns = now_ns - rtt_ns;
	}
	set_window(us, u, now_ns);
	u->heard_ns = now_ns;
	u->n_silent = 0;
	u->down = false;
	u->probe_ns = now_ns + UPSTREAM_PROBE_NS;
}

void upstream_on_outcome(struct upstream *u, bool is_answer, uint64_t now_ns)
{
	u->n_failing = is_answer ? 0 : u->n_failing + 1;
	u->n_answers += is_answer;
	u->n_failures += !is_answer;
	if (is_ill(u))
		u->probe_ns = now_ns + UPSTREAM_PROBE_ILL_NS;
}

void upstream_on_silence(struct upstream *u, uint64_t sent_ns, uint64_t now_ns)
{
	u->n_timeouts++;
	if (!u->n_silent++)
		u->silent_since_ns = sent_ns;
	if (sent_ns >= u->backed_off_ns) {
		u->n_backoffs = min_u32(u->n_backoffs + 1, BACKOFFS_MAX);
		u->backed_off_ns = now_ns;
	}
	if (u->n_silent >= UPSTREAM_DOWN_QUERIES && now_ns - u->silent_since_ns >= UPSTREAM_DOWN_NS)
		u->down = true;
	if (u->probe_ns > now_ns + UPSTREAM_PROBE_ILL_NS)
		u->probe_ns = now_ns + UPSTREAM_PROBE_ILL_NS;
}

bool upstream_wants_probe(struct upstream *u, uint64_t now_ns)
{
	if (now_ns < u->probe_ns)
		return false;
	u->probe_ns = now_ns + (is_ill(u) ? UPSTREAM_PROBE_ILL_NS : UPSTREAM_PROBE_NS);
	return true;
}

int upstreams_tls_new(SSL_CTX **out, const char *bundle, char *err, size_t cap)
{
	const struct tls_client_options options = {
		.min_version = TLS1_2_VERSION,
		.verifies = true,
		.bundle = bundle,
	};
	char why[448] = "";
	int code;

	if (!bundle) {
		snprintf(err, cap,
			 "tls-bundle: the file of certificates that are trusted is missing");
		return ERR_CONFIG;
	}
	code = tls_client_new(out, &options, why, sizeof(why));
	if (code)
		snprintf(err, cap, "tls-bundle: %s", *why ? why : err_text(code));
	return code;
}
