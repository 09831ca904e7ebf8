/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of session tickets (RFC 8446 section 4.6.1): a ticket is a session that the server has
 * encrypted and the client keeps, so a client that returns needs no signature of ours, and we keep
 * nothing for it.
 *
 *      a file     server.tls.ticket-keys: one key in each line, the same file for all servers of a
 *                 fleet. The first key makes tickets; all keys read them. A reload reads it anew
 *      no file    random keys of this process: each makes tickets for TICKET_LIFE_S, and reads them
 *                 for as long again
 *
 * A session is resumed with a new key exchange (psk_dhe_ke) and never with early data (0-RTT): an
 * attacker who learns a ticket key can read nothing that was sent.
 *
 * A key is 80 octets: 16 name it in tickets, 32 are for AES-256-CBC, 32 for HMAC-SHA256 (RFC 5077
 * section 4).
 */
#ifndef VOLLEY_PORT_TICKET_KEYS_H
#define VOLLEY_PORT_TICKET_KEYS_H

#include <openssl/types.h>
#include <stddef.h>
#include <stdint.h>

#define TICKET_KEYS_MAX 8
#define TICKET_LIFE_S   7200u /* how long a session can be resumed; RFC 8446 allows 7 days */

struct ticket_keys;

struct ticket_key {
	uint8_t name[16];
	uint8_t cipher[32];
	uint8_t mac[32];
};

/*
 * Reads a file of 1 to TICKET_KEYS_MAX lines with 160 hexadecimal digits each; empty lines and
 * lines that begin with # are ignored. 0, -ENOMEM, or ERR_CONFIG with a sentence in @err: the file
 * cannot be read, everyone can read or write it, or a line is wrong (the sentence has its number,
 * not its text). ticket_keys_put() gives *out back.
 */
int ticket_keys_read(struct ticket_keys **out, const char *path, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Makes random keys, which are replaced in time. now_ns: CLOCK_MONOTONIC. 0 or -ENOMEM. */
int ticket_keys_make(struct ticket_keys **out, uint64_t now_ns) __attribute__((warn_unused_result));

/* Finds the key with this name of 16 octets; @name NULL: the key that makes tickets at this time.
 * Returns its place, 0 for the first; -1: there is none. Any thread. */
int ticket_keys_find(struct ticket_keys *keys, const uint8_t *name, uint64_t now_ns,
		     struct ticket_key *key);

/* The server's context @ctx makes and reads tickets with these keys, and holds a reference as long
 * as it lives. 0 or -ENOMEM. */
int ticket_keys_use(struct ticket_keys *keys, SSL_CTX *ctx) __attribute__((warn_unused_result));

/* Gives back keys that were read or made. The last caller or the last context frees them. Any
 * thread. NULL is allowed. */
void ticket_keys_put(struct ticket_keys *keys);

#endif
