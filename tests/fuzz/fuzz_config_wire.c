/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration that the resolver's process gets from the server. The first octet says if the
 * input is all of it, or if the head, which names the build, stands before it. What is read has
 * only texts and lists that end, and writes the same octets again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/config_wire.h"
#include "tests/lib/must.h"

#define HEAD_BYTES 8 /* magic, size */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads each octet of it. */
static size_t walk_texts(const char *const *texts)
{
	size_t n = 0;

	for (; texts && *texts; texts++)
		n += strlen(*texts);
	return n;
}

static size_t walk_config(const struct resolver_config *c)
{
	size_t n = walk_texts(c->forwards) + walk_texts(c->insecure) + walk_texts(c->caps_exempt) +
		   walk_texts(c->private_addresses) + walk_texts(c->outgoing_interfaces);

	for (size_t i = 0; i < c->n_stubs; i++) {
		MUST(c->stubs[i].transport <= RESOLVER_TLS);
		n += strlen(c->stubs[i].zone) + strlen(c->stubs[i].address);
	}
	for (size_t i = 0; i < c->n_options; i++)
		n += strlen(c->options[i].name) + strlen(c->options[i].value);
	for (size_t i = 0; i < c->n_tuning; i++)
		n += strlen(c->tuning[i].name) + strlen(c->tuning[i].value);
	return n;
}

static void read_wire(const uint8_t *octets, size_t n)
{
	struct resolver_config config;
	uint8_t *again = malloc(n + 1);
	void *memory = NULL;
	int code = config_wire_read(&config, &memory, octets, n);

	MUST(again);
	if (code) {
		MUST(code == -EPROTO && !memory && !config.forwards && !config.n_stubs);
	} else {
		MUST(config.transport <= RESOLVER_TLS && walk_config(&config) <= n);
		MUST(config_wire_write(again, n, &config) == n);
		MUST(!memcmp(again, octets, n));
	}
	free(memory);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct resolver_config none;
	uint8_t *octets;

	if (!size || size > 1 << 16)
		return 0;
	if (data[0] & 1) {
		read_wire(data + 1, size - 1);
		return 0;
	}
	octets = malloc(HEAD_BYTES + size - 1);
	MUST(octets);
	(void)config_wire_write(octets, HEAD_BYTES, &none); /* no more has room */
	memcpy(octets + HEAD_BYTES, data + 1, size - 1);
	read_wire(octets, HEAD_BYTES + size - 1);
	free(octets);
	return 0;
}
