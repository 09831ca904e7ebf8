/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/rate_limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/log.h"
#include "xdp/abi.h"

#define LOADS_BYTES (VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line))
#define REST_S      10u /* within its limit for so long, a prefix is reported as within it */
#define LINES_MAX   5u  /* of the log, in a second */
#define PREFIX_CAP  (INET6_ADDRSTRLEN + 4)
#define MAPPED_BITS 96u /* of the prefix before an IPv4 address */

/* The state of a place of the list a second ago. */
struct seen {
	uint64_t key;
	uint64_t withheld;
	uint64_t per_second;
	uint64_t first_withheld; /* at since_s */
	uint32_t since_s;
	bool is_over;
};

struct rate_limits {
	struct limiter limiter;
	struct limiter_config config;
	bool is_own; /* the memory is this process's */
	struct seen seen[VOLLEY_RRL_LIMITED];
};

static void *own_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int rate_limits_open(struct rate_limits **out, const struct limiter *maps)
{
	struct rate_limits *rrl = calloc(1, sizeof(*rrl));

	if (!rrl)
		return -ENOMEM;
	rrl->is_own = !maps;
	if (maps) {
		rrl->limiter = *maps;
	} else {
		rrl->limiter.rrl = own_memory(sizeof(struct volley_rrl));
		rrl->limiter.loads = own_memory(LOADS_BYTES);
	}
	if (!rrl->limiter.rrl || !rrl->limiter.loads) {
		rate_limits_close(rrl);
		return -ENOMEM;
	}
	*out = rrl;
	return 0;
}

void rate_limits_close(struct rate_limits *rrl)
{
	if (!rrl)
		return;
	if (rrl->is_own && rrl->limiter.rrl)
		munmap(rrl->limiter.rrl, sizeof(struct volley_rrl));
	if (rrl->is_own && rrl->limiter.loads)
		munmap(rrl->limiter.loads, LOADS_BYTES);
	free(rrl);
}

const struct limiter *rate_limits_limiter(const struct rate_limits *rrl)
{
	return &rrl->limiter;
}

int rate_limits_configure(struct rate_limits *rrl, const struct config *config,
			  unsigned int n_workers)
{
	const struct config_rrl *said = &config->rrl;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	rrl->config = (struct limiter_config){
		.answers = said->answers,
		.octets = said->octets,
		.slip = said->slip,
		.dry_run = said->dry_run,
		.has_exempt = said->n_exempt > 0,
		.n_readers = n_workers + (unsigned int)(n_cpus < 1 ? 1 : n_cpus) *
						 (config->n_interfaces ? config->n_interfaces : 1),
	};
	return limiter_configure(rrl->limiter.rrl, &rrl->config);
}

/* ---- The list -------------------------------------------------------------------------------- */

/* Writes "192.0.2.0/24". False: the place is free, or is being written. */
static bool put_rate_limits_prefix(const struct volley_limited *at, char text[PREFIX_CAP])
{
	uint64_t key = __atomic_load_n(&at->key, __ATOMIC_ACQUIRE);
	uint32_t bits = __atomic_load_n(&at->bits, __ATOMIC_ACQUIRE);
	uint8_t address[16];
	bool is_ipv4;
	size_t n;

	if (!key || !bits)
		return false;
	memcpy(address, at->address, sizeof(address));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&at->bits, __ATOMIC_RELAXED) != bits ||
	    __atomic_load_n(&at->key, __ATOMIC_RELAXED) != key)
		return false;
	is_ipv4 = bits > MAPPED_BITS && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address);
	if (!inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? address + 12 : address, text,
		       INET6_ADDRSTRLEN))
		return false;
	n = strlen(text);
	snprintf(text + n, PREFIX_CAP - n, "/%u", is_ipv4 ? bits - MAPPED_BITS : bits);
	return true;
}

static uint64_t withheld(const struct volley_limited *at)
{
	return __atomic_load_n(&at->slipped, __ATOMIC_RELAXED) +
	       __atomic_load_n(&at->dropped, __ATOMIC_RELAXED);
}

static bool is_rate_limits_over(const struct volley_limited *at, uint32_t now_s)
{
	uint32_t last_s = __atomic_load_n(&at->last_s, __ATOMIC_RELAXED);

	return now_s < last_s || now_s - last_s < REST_S;
}

static const char *what_is_done(const struct rate_limits *rrl)
{
	return rrl->config.dry_run ? "; nothing is withheld, since rrl.dry-run says so" : "";
}

/* The lines of the log that are left in this second. */
struct lines {
	unsigned int left;
	unsigned int n_unsaid;
};

static bool may_say(struct lines *lines)
{
	if (lines->left) {
		lines->left--;
		return true;
	}
	lines->n_unsaid++;
	return false;
}

static void began(struct rate_limits *rrl, struct seen *seen, const struct volley_limited *at,
		  uint32_t now_s, struct lines *lines)
{
	char text[PREFIX_CAP];

	seen->is_over = true;
	seen->since_s = now_s;
	seen->first_withheld = seen->withheld;
	if (put_rate_limits_prefix(at, text) && may_say(lines))
		log_notice("rrl: %s is over its limit%s", text, what_is_done(rrl));
}

static void stopped(struct seen *seen, const struct volley_limited *at, uint32_t now_s,
		    struct lines *lines)
{
	char text[PREFIX_CAP];

	seen->is_over = false;
	if (put_rate_limits_prefix(at, text) && may_say(lines))
		log_notice("rrl: %s is within its limit again: it was over it for %u s, with %llu "
			   "answers",
			   text, now_s - seen->since_s - REST_S,
			   (unsigned long long)(seen->withheld - seen->first_withheld));
}

void rate_limits_tick(struct rate_limits *rrl, uint32_t now_s)
{
	struct lines lines = { .left = LINES_MAX };

	for (unsigned int i = 0; i < VOLLEY_RRL_LIMITED; i++) {
		const struct volley_limited *at = &rrl->limiter.rrl->limited[i];
		uint64_t key = __atomic_load_n(&at->key, __ATOMIC_RELAXED);
		struct seen *seen = &rrl->seen[i];
		uint64_t now = withheld(at);

		if (key != seen->key)
			*seen = (struct seen){ .key = key };
		seen->per_second = now > seen->withheld ? now - seen->withheld : 0;
		if (key && is_rate_limits_over(at, now_s) && !seen->is_over)
			began(rrl, seen, at, now_s, &lines);
		seen->withheld = now;
		if (seen->is_over && !is_rate_limits_over(at, now_s))
			stopped(seen, at, now_s, &lines);
	}
	if (lines.n_unsaid)
		log_notice(
			"rrl: %u more prefixes went over their limit or came back within it: see "
			"volleyctl rrl top",
			lines.n_unsaid);
}

/* ---- Reports --------------------------------------------------------------------------------- */

unsigned int rate_limits_n_limited(const struct rate_limits *rrl, uint32_t now_s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < VOLLEY_RRL_LIMITED; i++) {
		const struct volley_limited *at = &rrl->limiter.rrl->limited[i];

		n += __atomic_load_n(&at->key, __ATOMIC_RELAXED) && is_rate_limits_over(at, now_s);
	}
	return n;
}

/* By the answers withheld in a second, the most first. */
static int compare_rate_limits(const void *a, const void *b, void *user)
{
	const struct rate_limits *rrl = user;
	uint64_t x = rrl->seen[*(const unsigned int *)a].per_second;
	uint64_t y = rrl->seen[*(const unsigned int *)b].per_second;

	return x > y ? -1 : x < y;
}

static json_t *report_prefix(const struct rate_limits *rrl, unsigned int i, uint32_t now_s)
{
	const struct volley_limited *at = &rrl->limiter.rrl->limited[i];
	const struct seen *seen = &rrl->seen[i];
	char text[PREFIX_CAP];
	json_t *row;

	if (!put_rate_limits_prefix(at, text))
		return NULL;
	row = json_object();
	json_put_text(row, "prefix", text);
	json_put_int(row, "over_s", seen->is_over ? now_s - seen->since_s : 0);
	json_put_int(row, "over_per_second", seen->per_second);
	json_put_int(row, "slipped", __atomic_load_n(&at->slipped, __ATOMIC_RELAXED));
	json_put_int(row, "dropped", __atomic_load_n(&at->dropped, __ATOMIC_RELAXED));
	return row;
}

json_t *rate_limits_report_top(const struct rate_limits *rrl, unsigned int n, uint32_t now_s)
{
	unsigned int order[VOLLEY_RRL_LIMITED], n_order = 0;
	json_t *rows = json_array();

	for (unsigned int i = 0; i < VOLLEY_RRL_LIMITED; i++) {
		const struct volley_limited *at = &rrl->limiter.rrl->limited[i];

		if (__atomic_load_n(&at->key, __ATOMIC_RELAXED) && is_rate_limits_over(at, now_s))
			order[n_order++] = i;
	}
	qsort_r(order, n_order, sizeof(order[0]), compare_rate_limits, (void *)rrl);
	for (unsigned int i = 0; i < n_order && i < n; i++) {
		json_t *row = report_prefix(rrl, order[i], now_s);

		if (row)
			json_array_append_new(rows, row);
	}
	return json_pack("{s:i, s:o}", "prefixes_over", (int)n_order, "top", rows);
}

json_t *rate_limits_report(const struct rate_limits *rrl, uint32_t now_s)
{
	json_t *o = json_object();

	json_put_int(o, "answers_per_second", rrl->config.answers);
	json_put_int(o, "octets_per_second", rrl->config.octets);
	json_put_int(o, "slip", rrl->config.slip);
	json_put_bool(o, "dry_run", rrl->config.dry_run);
	json_put_int(o, "table_bytes", LOADS_BYTES);
	json_put_int(o, "prefixes_over", rate_limits_n_limited(rrl, now_s));
	json_put_int(o, "unlisted", __atomic_load_n(&rrl->limiter.rrl->unlisted, __ATOMIC_RELAXED));
	return o;
}
