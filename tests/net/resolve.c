/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resolve [OPTION]...: the resolver floor by itself. Reads lines from stdin:
 *
 *	NAME TYPE [cd] [other] [refresh] [from ADDRESS]
 *					a question; other: of the second memory; refresh: is_refresh
 *	flood N SUFFIX			N questions for A of f0.SUFFIX, f1.SUFFIX, ...
 *	same N NAME			N times the same question
 *	counters			one line: name=value ...
 *
 * and prints a line for each completion, with tabs between the fields:
 *
 *	answer NAME TYPE RCODE SECURITY EDE MESSAGE-IN-HEX WHY
 *	flooded N NOERROR SERVFAIL
 *
 * "ready" comes first; at the end of stdin the resolver is stopped, and what came back then is
 * counted in "stopped N". Options: see usage().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/err.h"
#include "resolver/resolver.h"
#include "resolver/thread.h"

#define QUESTIONS_CAP 300000
#define LIST_CAP      8
#define BURST         64

static struct resolver_question *questions;
static uint32_t free_slots[QUESTIONS_CAP];
static uint32_t n_free;
static struct inbox inbox;
static struct resolver *resolver;
static struct resolver_place place;
static struct tap_producer *told[RESOLVER_THREADS_MAX];
static uint64_t deadline_ms = 5000;
static uint32_t flood_left, flood_n, flood_noerror, flood_servfail;

static const char *forwards[LIST_CAP + 1], *privates[LIST_CAP + 1], *insecure[LIST_CAP + 1];
static struct resolver_stub stubs[LIST_CAP];
static struct resolver_option options[LIST_CAP];
static struct resolver_config config = RESOLVER_CONFIG_INIT;

static _Noreturn void usage(void)
{
	fputs("usage: resolve [-n THREADS] [-f FORWARD]... [-t udp|tcp|tls] [-b CERTIFICATES]\n"
	      "  [-r HINTS] [-a ANCHOR] [-A AUTO-ANCHOR] [-s ZONE=ADDRESS]... [-p PRIVATE]...\n"
	      "  [-i INSECURE]...\n"
	      "  [-o OPTION=VALUE]... [-m OUTSTANDING] [-c PER-CLIENT] [-u UPSTREAM-MAX]\n"
	      "  [-q UPSTREAM-QPS] [-w DEADLINE-MS] [-W TIMEOUT-MS]\n"
	      "  [-P FIRST-LAST]\n"
	      "  [-x]   (-x: 0x20)\n",
	      stderr);
	exit(2);
}

static void add(const char **list, const char *value)
{
	unsigned int n = 0;

	while (list[n])
		n++;
	if (n == LIST_CAP)
		usage();
	list[n] = value;
}

/* "A=B": ends A in place, returns B. */
static const char *split(char *text)
{
	char *at = strchr(text, '=');

	if (!at)
		usage();
	*at = 0;
	return at + 1;
}

static enum resolver_transport transport_of(const char *text)
{
	return !strcmp(text, "tls") ? RESOLVER_TLS :
	       !strcmp(text, "tcp") ? RESOLVER_TCP :
				      RESOLVER_UDP;
}

static void add_option(char *text)
{
	const char *value = split(text);
	char *name = NULL;

	if (config.n_options == LIST_CAP || asprintf(&name, "%s:", text) < 0)
		usage();
	options[config.n_options++] = (struct resolver_option){ name, value };
}

static void add_stub(char *text)
{
	const char *address = split(text);

	if (config.n_stubs == LIST_CAP)
		usage();
	stubs[config.n_stubs++] = (struct resolver_stub){ .zone = text, .address = address };
}

/* long: one case for each option */
static void read_options(int argc, char **argv)
{
	int c;

	config.forwards = forwards;
	config.private_addresses = privates;
	config.insecure = insecure;
	config.stubs = stubs;
	config.options = options;
	config.query_localhost = true;
	while ((c = getopt(argc, argv, "n:f:t:b:r:a:A:s:p:i:o:m:c:u:q:w:W:P:x")) != -1) {
		switch (c) {
		case 'n':
			config.n_threads = (unsigned int)atoi(optarg);
			break;
		case 'f':
			add(forwards, optarg);
			break;
		case 't':
			config.transport = transport_of(optarg);
			break;
		case 'b':
			config.tls_bundle = optarg;
			break;
		case 'r':
			config.root_hints = optarg;
			break;
		case 'a':
			config.trust_anchor_file = optarg;
			break;
		case 'A':
			config.auto_trust_anchor_file = optarg;
			break;
		case 's':
			add_stub(optarg);
			break;
		case 'p':
			add(privates, optarg);
			break;
		case 'i':
			add(insecure, optarg);
			break;
		case 'o':
			add_option(optarg);
			break;
		case 'm':
			config.max_outstanding = (uint32_t)atoi(optarg);
			break;
		case 'c':
			config.max_per_client = (uint32_t)atoi(optarg);
			break;
		case 'u':
			config.upstream_max = (uint32_t)atoi(optarg);
			break;
		case 'q':
			config.upstream_qps = (uint32_t)atoi(optarg);
			break;
		case 'w':
			deadline_ms = (uint64_t)atoi(optarg);
			break;
		case 'W':
			config.upstream_timeout_ms = (uint32_t)atoi(optarg);
			break;
		case 'P':
			if (sscanf(optarg, "%hu-%hu", &config.port_first, &config.port_last) != 2)
				usage();
			break;
		case 'x':
			config.caps_for_id = true;
			break;
		default:
			usage();
		}
	}
}

static struct resolver_question *take_slot(void)
{
	struct resolver_question *q;

	if (!n_free)
		return NULL;
	q = &questions[free_slots[--n_free]];
	memset(q, 0, sizeof(*q));
	q->inbox = &inbox;
	q->qclass = DNS_CLASS_IN;
	q->deadline_ns = clock_ns() + deadline_ms * CLOCK_NS_PER_MS;
	return q;
}

static void give_slot(struct resolver_question *q)
{
	free_slots[n_free++] = (uint32_t)(q - questions);
}

static void set_client(struct resolver_question *q, const char *text)
{
	q->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	inet_pton(q->family, text, q->client);
}

static void ask(char *name)
{
	char *type = strtok(NULL, " "), *word;
	struct resolver_question *q = take_slot();
	int code = type ? proto_type_from_text(type, strlen(type)) : -1;

	if (!q || code < 0 || name_from_text(q->name, sizeof(q->name), name, strlen(name)) < 0) {
		printf("error\t%s\n", name);
		return;
	}
	q->qtype = (uint16_t)code;
	while ((word = strtok(NULL, " "))) {
		if (!strcmp(word, "cd"))
			q->checking_disabled = true;
		else if (!strcmp(word, "other"))
			q->memory = 1;
		else if (!strcmp(word, "refresh"))
			q->is_refresh = true;
		else if (!strcmp(word, "from"))
			set_client(q, strtok(NULL, " "));
	}
	resolver_submit(resolver, &q, 1);
}

/* n questions for the name, or with numbers before it. */
static void flood(uint32_t n, const char *suffix, bool numbered)
{
	struct resolver_question *burst[BURST];
	unsigned int k = 0;

	flood_n = flood_left = n;
	flood_noerror = flood_servfail = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct resolver_question *q = take_slot();
		char name[256];

		if (!q)
			exit(3);
		if (numbered)
			snprintf(name, sizeof(name), "f%u.%s", i, suffix);
		else
			snprintf(name, sizeof(name), "%s", suffix);
		if (name_from_text(q->name, sizeof(q->name), name, strlen(name)) < 0)
			exit(3);
		q->qtype = DNS_TYPE_A;
		q->user = &flood_left;
		burst[k++] = q;
		if (k == BURST || i + 1 == n) {
			resolver_submit(resolver, burst, k);
			k = 0;
		}
	}
}

static void print_counters(void)
{
	struct resolver_counters c;

	board_counters(&place.boards, config.n_threads, &c);
	c.outstanding =
		__atomic_load_n(&resolver_thread_at(resolver, 0)->limits->total, __ATOMIC_RELAXED);
	printf("counters");
#define PRINT(name, words) printf(" %s=%llu", #name, (unsigned long long)c.name);
	RESOLVER_COUNTERS(PRINT)
#undef PRINT
	printf(" outstanding=%llu\n", (unsigned long long)c.outstanding);
}

static void print_answer(const struct resolver_question *q)
{
	static const char *const security[] = { "insecure", "bogus", "secure" };
	char name[NAME_TEXT_MAX], type[PROTO_TEXT_MAX], rcode[PROTO_TEXT_MAX];

	if (name_to_text(name, sizeof(name), q->name) < 0)
		exit(3);
	proto_type_to_text(type, q->qtype);
	proto_rcode_to_text(rcode, q->rcode);
	printf("answer\t%s\t%s\t%s\t%s\t%d\t", name, type, rcode, security[q->security],
	       q->ede_code);
	for (size_t i = 0; i < q->msg_bytes; i++)
		printf("%02x", q->msg[i]);
	printf("\t%s\n", q->text ? q->text : "");
}

static void count_flooded(const struct resolver_question *q)
{
	flood_noerror += q->rcode == DNS_RCODE_NOERROR;
	flood_servfail += q->rcode == DNS_RCODE_SERVFAIL;
	if (!--flood_left)
		printf("flooded %u %u %u\n", flood_n, flood_noerror, flood_servfail);
}

static uint32_t take_completions(bool print)
{
	struct resolver_question *q = resolver_take(&inbox);
	uint32_t n = 0;

	for (; q; n++) {
		struct resolver_question *next = resolver_next(q);

		if (q->user)
			count_flooded(q);
		else if (print)
			print_answer(q);
		resolver_release(q);
		give_slot(q);
		q = next;
	}
	return n;
}

static void obey(char *line)
{
	char *word = strtok(line, " \n");

	if (!word)
		return;
	if (!strcmp(word, "counters")) {
		print_counters();
	} else if (!strcmp(word, "flood") || !strcmp(word, "same")) {
		char *n = strtok(NULL, " "), *name = strtok(NULL, " \n");

		if (n && name)
			flood((uint32_t)atoi(n), name, *word == 'f');
	} else {
		ask(word);
	}
}

static void serve(void)
{
	struct pollfd fds[2] = { { .fd = 0, .events = POLLIN },
				 { .fd = inbox.fd, .events = POLLIN } };
	char line[2048];

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() must see all that is there */
	for (;;) {
		fflush(stdout);
		if (poll(fds, 2, -1) < 0)
			return;
		if (fds[1].revents)
			take_completions(true);
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return;
		line[strcspn(line, "\n")] = 0;
		obey(line);
	}
}

static int furnish_nothing(void *user, struct resolver *r)
{
	(void)user;
	(void)r;
	return 0;
}

/* What the server shares with a resolver's process: here it is memory of this one. */
static int make_boards(void)
{
	size_t stride = board_stride(targets_n_rows(&config));
	size_t totals = (sizeof(struct resolver_totals) + 63) & ~(size_t)63;
	size_t n = totals + stride * config.n_threads;
	uint8_t *memory = aligned_alloc(64, n);

	if (!memory)
		return -ENOMEM;
	memset(memory, 0, n);
	place.boards = (struct resolver_boards){
		.totals = (struct resolver_totals *)(void *)memory,
		.first = memory + totals,
		.stride = stride,
	};
	place.furnish = furnish_nothing;
	place.told = told;
	return 0;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	char err[512] = "";
	int code;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	read_options(argc, argv);
	questions = calloc(QUESTIONS_CAP, sizeof(*questions));
	while (n_free < QUESTIONS_CAP) {
		free_slots[n_free] = QUESTIONS_CAP - 1 - n_free;
		n_free++;
	}
	code = questions ? inbox_open(&inbox) : -1;
	if (!code)
		code = make_boards();
	if (!code)
		code = resolver_start(&resolver, &config, &place, err, sizeof(err));
	if (code) {
		fprintf(stderr, "resolve: %s: %s\n", err_text(code), err);
		return 1;
	}
	puts("ready");
	serve();
	resolver_stop(resolver);
	printf("stopped %u\n", take_completions(false));
	print_counters();
	resolver_free(resolver);
	free(place.boards.totals);
	inbox_close(&inbox);
	free(questions);
	for (size_t i = 0; i < config.n_options; i++)
		free((void *)(uintptr_t)options[i].name);
	return 0;
}
