/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a message, read as a request and as each message of a reply: it is never accepted,
 * since the fuzzer does not know the key. A signature that is made here is accepted for any
 * message: as a request, as its reply, and in a stream.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "xfr/tsig_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define NOW 1700000000

static const uint8_t name[] = "\3key\4test";
static struct tsig_keys *keys;

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static uint8_t secret[32] = "a secret that nobody else knows";
	const struct tsig_key_source source = {
		.name = name,
		.secret = secret,
		.secret_bytes = sizeof(secret),
	};

	(void)argc;
	(void)argv;
	must(!tsig_keys_new(&keys, &source, 1));
	return 0;
}

static size_t sign(struct tsig *t, uint8_t *buf, const uint8_t *data, size_t size)
{
	int n;

	memcpy(buf, data, size);
	n = tsig_sign(t, buf, size, DNS_MESSAGE_MAX, NOW);
	must(n > 0 && (size_t)n >= size);
	return (size_t)n;
}

/* A message that has a TSIG gets a second one, which no verifier accepts. */
static void sign_and_verify(const uint8_t *data, size_t size)
{
	static uint8_t buf[DNS_MESSAGE_MAX];
	struct tsig client, server, parser;
	enum tsig_verdict verdict = tsig_verify_request(&parser, NULL, data, size, NOW, NULL);
	size_t n, body;

	if (verdict != TSIG_NONE || wire_load_be16(data + DNS_ARCOUNT_AT) == UINT16_MAX)
		return;
	tsig_init(&client, tsig_keys_find(keys, name));
	n = sign(&client, buf, data, size);
	must(n - size <= TSIG_MAX);
	verdict = tsig_verify_request(&server, keys, buf, n, NOW, &body);
	/* Octets behind the last record hide the record that is appended. */
	if (verdict != TSIG_OK)
		return;
	must(body == size);
	for (unsigned int i = 0; i < 3; i++) {
		n = sign(&server, buf, data, size);
		must(tsig_verify(&client, buf, n, NOW, &body) == TSIG_OK && body == size);
		buf[size - 1] ^= 1;
	}
	must(tsig_is_complete(&client));
	tsig_fini(&client);
	tsig_fini(&server);
}

static void verify_forged(const uint8_t *data, size_t size)
{
	static uint8_t buf[DNS_MESSAGE_MAX];
	static const uint8_t header[DNS_HEADER_BYTES];
	size_t len = size < 1024 ? size : 1024;
	enum tsig_verdict verdict;
	struct tsig t;

	verdict = tsig_verify_request(&t, keys, data, size, NOW, NULL);
	must(verdict != TSIG_OK && verdict != TSIG_BADTIME && verdict != TSIG_BADTRUNC);
	if (len >= DNS_HEADER_BYTES) {
		size_t n = sign(&t, buf, data, len);

		must(n - len == tsig_room(&t) && n - len <= TSIG_MAX);
	}
	tsig_fini(&t);
	tsig_init(&t, tsig_keys_find(keys, name));
	sign(&t, buf, header, sizeof(header));
	must(tsig_verify(&t, data, size, NOW, NULL) != TSIG_OK);
	tsig_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 16384)
		return 0;
	verify_forged(data, size);
	if (size >= DNS_HEADER_BYTES)
		sign_and_verify(data, size);
	return 0;
}
