/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "config/value.h"
#include "config/words.h"

#define COUNT_DEFAULT   10000
#define SECONDS_DEFAULT 60
#define PAUSE_NS        50000000
#define PCAP_MAGIC_NS   0xa1b23c4du /* times are nanoseconds; in host order */
#define LINKTYPE_RAW    101u        /* packets begin with the IP header */
#define SNAP_BYTES      65535u

enum { STATUS_DONE, STATUS_REFUSED, STATUS_USAGE };

/* https://www.tcpdump.org/manpages/pcap-savefile.5.html */
struct pcap_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy;
	uint32_t snap_bytes, link_type;
};

struct capture {
	const struct capture_call *call;
	const char *path;
	uint64_t count, seconds;
	json_t *begin; /* arguments for the daemon */
	const char *id;
	int fd;
	FILE *out;
	bool is_unwritable; /* the file cannot be written; an error message was printed */
	uint64_t n_packets, n_lost, n_not_udp;
};

static volatile sig_atomic_t ends;

static void on_capture_signal(int number)
{
	(void)number;
	ends = 1;
}

/* --- Arguments -------------------------------------------------------------------------------- */

static int read_capture_option(struct capture *c, const char *option, const char *value)
{
	static const struct words_key count = { .type = WORDS_COUNT, .min = 1, .max = 1000000000 };
	static const struct words_key time = { .type = WORDS_COUNT, .min = 1, .max = 86400 };

	if (!strcmp(option, "-w")) {
		c->path = value;
		return 0;
	}
	if (!strcmp(option, "-n"))
		return value_read_number(&count, value, &c->count);
	if (!strcmp(option, "-t"))
		return value_read_number(&time, value, &c->seconds);
	json_array_append_new(c->begin, json_string(option));
	return json_array_append_new(c->begin, json_string(value)) ? -EINVAL : 0;
}

static int read_capture_words(struct capture *c, int n, char *const *words)
{
	char text[24];

	c->begin = json_pack("[s, s]", "begin", "");
	for (int i = 0; i < n; i += 2)
		if (i + 1 == n || read_capture_option(c, words[i], words[i + 1]))
			return -EINVAL;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)c->count);
	json_array_set_new(c->begin, 1, json_string(text));
	return c->path ? 0 : -EINVAL;
}

/* --- The daemon ------------------------------------------------------------------------------- */

/* Sends a request and returns its result, a new reference; or NULL after it has printed an error
 * message and set *status. */
static json_t *ask_capture(const struct capture *c, const json_t *args, int *status)
{
	const struct capture_call *call = c->call;
	json_t *reply = NULL, *result;
	int err = call_run(c->fd, "capture", args, call->wait_ms, &reply);
	const char *error = json_string_value(json_object_get(reply, "error"));

	*status = STATUS_REFUSED;
	if (err) {
		fprintf(call->errors, "volleyctl: no reply from volleyd on %s: %s\n", call->socket,
			err_text(err));
		return NULL;
	}
	result = json_incref(json_object_get(reply, "result"));
	if (!json_is_object(result)) {
		fprintf(call->errors, "volleyctl: capture: %s\n", error ? error : "it failed");
		if (call_is_usage(json_string_value(json_object_get(reply, "code"))))
			*status = STATUS_USAGE;
		result = NULL;
	}
	json_decref(reply);
	return result;
}

static uint64_t capture_number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static int write_capture_records(struct capture *c, const json_t *result)
{
	const char *text = json_string_value(json_object_get(result, "records"));
	const size_t most = capture_number(result, "bytes");
	uint8_t *records = malloc(most + 1);
	size_t n;
	int err = records && text ? 0 : -ENOMEM;

	if (!err && most)
		err = value_read_base64(text, most, most, records, &n);
	if (!err && most && fwrite(records, 1, most, c->out) != most)
		err = -errno;
	if (!err && fflush(c->out))
		err = -errno;
	free(records);
	return err;
}

static int refuse_capture_file(struct capture *c, int err)
{
	fprintf(c->call->errors, "volleyctl: capture: %s: %s\n", c->path, err_text(err));
	c->is_unwritable = true;
	return STATUS_REFUSED;
}

/* Fetches packets. WORD is "next" or "end". */
static int take_capture(struct capture *c, const char *word)
{
	json_t *args = json_pack("[s, s]", word, c->id), *result;
	int status, err;

	result = ask_capture(c, args, &status);
	json_decref(args);
	if (!result)
		return status;
	err = write_capture_records(c, result);
	c->n_packets = capture_number(result, "packets");
	c->n_lost = capture_number(result, "lost");
	c->n_not_udp = capture_number(result, "not_udp");
	json_decref(result);
	return err ? refuse_capture_file(c, err) : STATUS_DONE;
}

/* Ends the capture in the daemon at once, and throws away the packets that it still has. */
static void give_up_capture(const struct capture *c)
{
	json_t *args = json_pack("[s, s]", "end", c->id);
	int status;

	json_decref(ask_capture(c, args, &status));
	json_decref(args);
}

/* --- The file --------------------------------------------------------------------------------- */

/* Opens the file for its owner alone, since queries are private, even if the file exists. The mode
 * of a pipe or a device stays. */
static FILE *open_capture_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;
	FILE *out = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || !fchmod(fd, 0600)))
		out = fdopen(fd, "wb");
	if (!out)
		close(fd);
	return out;
}

static int open_capture_file(struct capture *c)
{
	const struct pcap_head head = { PCAP_MAGIC_NS, 2, 4, 0, 0, SNAP_BYTES, LINKTYPE_RAW };

	c->out = strcmp(c->path, "-") != 0 ? open_capture_path(c->path) : stdout;
	if (c->out && fwrite(&head, sizeof(head), 1, c->out) == 1 && !fflush(c->out))
		return STATUS_DONE;
	return refuse_capture_file(c, -errno);
}

static int close_capture_file(struct capture *c)
{
	if (!c->out || c->out == stdout || !fclose(c->out) || c->is_unwritable)
		return STATUS_DONE;
	return refuse_capture_file(c, -errno);
}

static void tell_capture(const struct capture *c)
{
	if (c->call->is_json && c->out != stdout) {
		printf("{\n  \"packets\": %llu,\n  \"lost\": %llu,\n  \"not_udp\": %llu\n}\n",
		       (unsigned long long)c->n_packets, (unsigned long long)c->n_lost,
		       (unsigned long long)c->n_not_udp);
		return;
	}
	if (c->call->is_json)
		return;
	fprintf(stderr, "%llu packets\n%llu lost: there was no room\n",
		(unsigned long long)c->n_packets, (unsigned long long)c->n_lost);
	if (c->n_not_udp)
		fprintf(stderr, "%llu answers over TCP or TLS left out\n",
			(unsigned long long)c->n_not_udp);
}

/* No SA_RESTART: a signal ends a pause at once, and also open() of a pipe without a reader. */
static void catch_capture_signals(void)
{
	const struct sigaction action = { .sa_handler = on_capture_signal };

	signal(SIGPIPE, SIG_IGN); /* if the reader of a pipe ends, write() fails */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int run_capture_call(struct capture *c)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const uint64_t until_ns = clock_ns() + c->seconds * CLOCK_NS_PER_S;
	json_t *begun;
	int status, ended;

	catch_capture_signals();
	begun = ask_capture(c, c->begin, &status);
	if (!begun)
		return status;
	c->id = json_string_value(json_object_get(begun, "id"));
	status = open_capture_file(c);
	while (!status && !ends && c->n_packets < c->count && clock_ns() < until_ns) {
		nanosleep(&pause, NULL);
		status = take_capture(c, "next");
	}
	ended = status ? status : take_capture(c, "end");
	if (status && c->is_unwritable)
		give_up_capture(c);
	json_decref(begun);
	return ended;
}

int capture_call(const struct capture_call *call, int n, char *const *words)
{
	struct capture c = { .call = call, .count = COUNT_DEFAULT, .seconds = SECONDS_DEFAULT };
	int status, closed;

	if (read_capture_words(&c, n, words)) {
		fprintf(call->errors,
			"usage: volleyctl capture [name NAME] [type TYPE] [client PREFIX] "
			"[rcode RCODE] [-n COUNT] [-t SECONDS] -w FILE\n");
		json_decref(c.begin);
		return STATUS_USAGE;
	}
	c.fd = call_open(call->socket);
	if (c.fd < 0) {
		json_decref(c.begin);
		return c.fd;
	}
	status = run_capture_call(&c);
	closed = close_capture_file(&c);
	status = status ? status : closed;
	if (!status)
		tell_capture(&c);
	json_decref(c.begin);
	close(c.fd);
	return status;
}
