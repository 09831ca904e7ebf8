/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/capture.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "config/config.h"
#include "config/value.h"
#include "config/words.h"
#include "control/ctl_command.h"
#include "daemon/taps.h"
#include "dns/name.h"
#include "report/report_view.h"
#include "dns/proto.h"
#include "tap/event.h"
#include "tap/querylog.h"

#define ID_BYTES   17
#define COUNT_MAX  1000000000u
#define RCODES     24u
#define RECORD_MAX (sizeof(struct record) + TAP_PACKET_HEADERS_MAX + TAP_MESSAGE_MAX)

/* The head of a record in a pcap file. */
struct record {
	uint32_t seconds, nanoseconds;
	uint32_t kept_bytes, bytes;
};

struct filter {
	struct querylog_config of; /* all conditions but the type */
	struct querylog_net client;
	uint8_t name[1][NAME_FOLDED_BYTES];
	bool has_type;
	uint16_t type;
};

struct capture {
	/* Control's. */
	struct taps *taps;
	struct report_source reports;
	bool is_on;
	char id[ID_BYTES];
	uint64_t until_ns;
	uint64_t lost_before; /* of the tap's rings, before this capture */
	/* Both threads', under the lock. */
	pthread_mutex_t lock;
	struct filter filter;
	uint8_t *room; /* CAPTURE_ROOM_BYTES; NULL: there is no capture */
	size_t n;
	uint64_t n_packets, count, n_lost, n_not_udp;
};

struct capture *capture_new(struct taps *taps, const struct report_source *reports)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->taps = taps;
	c->reports = *reports;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	free(c->room);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* --- The tap's thread ------------------------------------------------------------------------- */

static bool wants(const struct filter *f, const struct tap_event *e)
{
	struct tap_view view;

	return e->way != TAP_FORWARDER && tap_view_read(&view, tap_event_reply(e), e->n_reply) &&
	       querylog_wants(&f->of, e, &view) &&
	       (!f->has_type || (view.name && view.qtype == f->type));
}

static void put_capture(struct capture *c, const struct tap_event *e, bool is_reply)
{
	const uint64_t ns = is_reply || !e->asked_ns ? e->answered_ns : e->asked_ns;
	struct record head = { .seconds = (uint32_t)(ns / CLOCK_NS_PER_S),
			       .nanoseconds = (uint32_t)(ns % CLOCK_NS_PER_S) };
	size_t n;

	if (c->n_packets == c->count || (!is_reply && !e->n_query))
		return;
	if (CAPTURE_ROOM_BYTES - c->n < RECORD_MAX) {
		c->n_lost++;
		return;
	}
	n = tap_packet_make(c->room + c->n + sizeof(head), CAPTURE_ROOM_BYTES - c->n - sizeof(head),
			    e, is_reply);
	if (!n)
		return;
	head.kept_bytes = head.bytes = (uint32_t)n;
	memcpy(c->room + c->n, &head, sizeof(head));
	c->n += sizeof(head) + n;
	c->n_packets++;
}

void capture_note(void *ctx, const struct tap_event *e)
{
	struct capture *c = ctx;

	pthread_mutex_lock(&c->lock);
	if (c->room && wants(&c->filter, e)) {
		if (e->transport == TAP_UDP) {
			put_capture(c, e, false);
			put_capture(c, e, true);
		} else {
			c->n_not_udp++;
		}
	}
	pthread_mutex_unlock(&c->lock);
}

/* --- The filter ------------------------------------------------------------------------------- */

static int read_rcode(const char *text, uint64_t *rcodes)
{
	char name[PROTO_TEXT_MAX];

	for (uint16_t rcode = 0; rcode < RCODES; rcode++) {
		proto_rcode_to_text(name, rcode);
		if (strcasecmp(name, text) != 0)
			continue;
		*rcodes = 1ull << rcode;
		return 0;
	}
	return -EINVAL;
}

static int read_client(struct filter *f, const char *text)
{
	struct config_prefix prefix;
	int err = value_read_prefix(text, &prefix);

	if (err)
		return err;
	f->client = (struct querylog_net){ .family = prefix.family, .bits = prefix.bits };
	memcpy(f->client.address, prefix.addr, sizeof(f->client.address));
	f->of.clients = &f->client;
	f->of.n_clients = 1;
	return 0;
}

/* Each condition may be given once. The filter has pointers into itself. */
static int read_condition(struct filter *f, const char *what, const char *text)
{
	int code;

	if (!strcmp(what, "client"))
		return f->of.clients ? -EINVAL : read_client(f, text);
	if (!strcmp(what, "rcode"))
		return f->of.rcodes ? -EINVAL : read_rcode(text, &f->of.rcodes);
	if (!strcmp(what, "type") && !f->has_type) {
		code = proto_type_from_text(text, strlen(text));
		f->has_type = code >= 0;
		f->type = (uint16_t)code;
		return code < 0 ? code : 0;
	}
	if (strcmp(what, "name") != 0 || f->of.zones)
		return -EINVAL;
	code = name_from_text(f->name[0], sizeof(f->name[0]), text, strlen(text));
	f->of.zones = f->name;
	f->of.n_zones = 1;
	return code < 0 ? code : 0;
}

static int read_filter(struct filter *f, const json_t *args, char *err, size_t err_cap)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = 2; i < json_array_size(args); i += 2) {
		const char *what = ctl_arg(args, i), *text = ctl_arg(args, i + 1);

		if (what && text && !read_condition(f, what, text))
			continue;
		snprintf(err, err_cap,
			 "%s %s: a filter is name NAME, type TYPE, client PREFIX or rcode RCODE, "
			 "each of them once",
			 what ? what : "", text ? text : "");
		return -EINVAL;
	}
	return 0;
}

/* --- The command ------------------------------------------------------------------------------ */

/* The number of sampled events that found no room on their way to the tap's thread. */
static uint64_t count_lost(const struct report_view *v)
{
	struct tap_counters counters;
	struct volley_cpu sum;
	uint64_t n;

	tap_counters_read(v->tap, &counters);
	n = counters.lost;
	for (size_t i = 0; i < v->n_ifaces; i++)
		if (v->ifaces[i].program && !program_counters(v->ifaces[i].program, &sum))
			n += sum.taps_lost;
	return n;
}

/* Handles events on their way to the tap's thread first. Cannot fail: it starts no thread. */
static void observe_nothing(struct capture *c)
{
	int err = taps_observe(c->taps, TAP_CAPTURE, 0, NULL, NULL);

	assert(!err);
	(void)err;
}

static void end_capture(struct capture *c)
{
	observe_nothing(c);
	free(c->room);
	c->room = NULL;
	c->is_on = false;
}

void capture_tick(struct capture *c, uint64_t now_ns)
{
	if (c->is_on && now_ns >= c->until_ns)
		end_capture(c);
}

static int make_capture_id(char id[ID_BYTES])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(id, ID_BYTES, "%016llx", (unsigned long long)number);
	return 0;
}

static int begin_capture(struct capture *c, const struct report_view *v, const json_t *args,
			 char *err, size_t err_cap)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = COUNT_MAX };
	int code;

	if (c->is_on) {
		snprintf(err, err_cap,
			 "another capture is running, and only one can: try again later");
		return -EBUSY;
	}
	code = read_filter(&c->filter, args, err, err_cap);
	if (code)
		return code;
	if (!ctl_arg(args, 1) || value_read_number(&key, ctl_arg(args, 1), &c->count)) {
		snprintf(err, err_cap, "give -n and a number from 1 to %u", COUNT_MAX);
		return -EINVAL;
	}
	c->n_packets = c->n_lost = c->n_not_udp = c->n = 0;
	c->lost_before = count_lost(v);
	c->room = malloc(CAPTURE_ROOM_BYTES);
	code = c->room ? make_capture_id(c->id) : -ENOMEM;
	if (!code)
		code = taps_observe(c->taps, TAP_CAPTURE, 1, capture_note, c);
	c->is_on = !code;
	if (!code)
		return 0;
	free(c->room);
	c->room = NULL;
	return code;
}

/* RFC 4648 section 4. NULL: no memory. */
static char *to_base64(const uint8_t *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((n + 2) / 3 * 4 + 1), *at = text;

	for (size_t i = 0; text && i < n; i += 3) {
		size_t left = n - i;
		uint32_t bits = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
				(left > 2 ? p[i + 2] : 0);

		*at++ = digits[bits >> 18];
		*at++ = digits[bits >> 12 & 63];
		*at++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*at++ = left > 2 ? digits[bits & 63] : '=';
	}
	if (text)
		*at = 0;
	return text;
}

/* Takes the packets that have come. */
static json_t *report_capture(struct capture *c, const struct report_view *v)
{
	uint64_t lost = count_lost(v) - c->lost_before;
	json_t *o = json_object();
	char *text;

	pthread_mutex_lock(&c->lock);
	text = to_base64(c->room, c->n);
	json_put_int(o, "packets", c->n_packets);
	json_put_int(o, "lost", lost + c->n_lost);
	json_put_int(o, "not_udp", c->n_not_udp);
	json_put_int(o, "bytes", c->n);
	c->n = text ? 0 : c->n;
	pthread_mutex_unlock(&c->lock);
	json_put_text(o, "records", text ? text : "");
	free(text);
	return o;
}

int capture_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct capture *c = user;
	const struct report_view *v = report_view_now(&c->reports);
	const char *word = ctl_arg(args, 0), *id = ctl_arg(args, 1);
	int code = 0;

	if (!v->workers)
		return ctl_not_ready(err, err_cap);
	if (!strcmp(word, "begin"))
		code = begin_capture(c, v, args, err, err_cap);
	else if ((strcmp(word, "next") != 0 && strcmp(word, "end") != 0) || !id || !c->is_on ||
		 strcmp(id, c->id) != 0)
		code = -ENOENT;
	if (code)
		return code;
	c->until_ns = clock_ns() + CAPTURE_REST_S * CLOCK_NS_PER_S;
	if (!strcmp(word, "begin")) {
		*result = json_pack("{s:s}", "id", c->id);
		return *result ? 0 : -ENOMEM;
	}
	if (!strcmp(word, "end"))
		observe_nothing(c);
	*result = report_capture(c, v);
	if (!strcmp(word, "end"))
		end_capture(c);
	return *result ? 0 : -ENOMEM;
}
