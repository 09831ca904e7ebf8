/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/ticket_keys.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/hex.h"

#define LINE_CAP 512 /* octets; a line of a key is shorter */

struct ticket_keys {
	unsigned int refs; /* atomic */
	/* protects the following members: handshakes run in several threads */
	pthread_mutex_t turn;
	uint64_t made_ns; /* when the first key was made; 0: the keys are a file's, and stay */
	unsigned int n;
	struct ticket_key keys[TICKET_KEYS_MAX]; /* the first makes tickets */
};

/* ---- Their place in a context ---------------------------------------------------------------- */

static void on_context_end(void *parent, void *keys, CRYPTO_EX_DATA *data, int at, long argl,
			   void *argp)
{
	(void)parent, (void)data, (void)at, (void)argl, (void)argp;
	ticket_keys_put(keys);
}

static int the_place = -1;

static void make_ticket_keys_place(void)
{
	the_place = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_end);
}

/* The index of our pointer in a context; -1: no memory. */
static int place(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_ticket_keys_place);
	return the_place;
}

/* ---- One ticket ------------------------------------------------------------------------------ */

static int make_ticket_keys(struct ticket_key *key)
{
	return RAND_bytes((unsigned char *)key, sizeof(*key)) == 1 ? 0 : -ENOMEM;
}

/* Makes a new first key if the present one is old enough. Only that one is kept beside it. */
static void rotate_ticket_keys(struct ticket_keys *keys, uint64_t now_ns)
{
	const uint64_t life_ns = TICKET_LIFE_S * CLOCK_NS_PER_S;
	struct ticket_key fresh;

	/* A thread that has waited for the mutex may have a time before made_ns. */
	if (!keys->made_ns || now_ns < keys->made_ns + life_ns || make_ticket_keys(&fresh))
		return;
	keys->keys[1] = keys->keys[0];
	keys->n = now_ns - keys->made_ns < 2 * life_ns ? 2 : 1;
	keys->keys[0] = fresh;
	keys->made_ns = now_ns;
	explicit_bzero(&fresh, sizeof(fresh));
}

int ticket_keys_find(struct ticket_keys *keys, const uint8_t *name, uint64_t now_ns,
		     struct ticket_key *key)
{
	int at = -1;

	pthread_mutex_lock(&keys->turn);
	rotate_ticket_keys(keys, now_ns);
	for (unsigned int i = 0; i < keys->n && at < 0; i++)
		if (!name || !memcmp(keys->keys[i].name, name, sizeof(key->name)))
			at = (int)i;
	if (at >= 0)
		*key = keys->keys[at];
	pthread_mutex_unlock(&keys->turn);
	return at;
}

static bool set_mac(EVP_MAC_CTX *mac, struct ticket_key *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac, sizeof(key->mac)),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(mac, params) == 1;
}

/*
 * Returns for OpenSSL: -1 an error; 0 the ticket cannot be used; 1 it is made; 2 it is read and a
 * new one follows. A client should use each ticket once, else an observer can tell that two
 * connections come from the same client (RFC 8446 appendix C.4).
 */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
		     EVP_MAC_CTX *mac, int is_new)
{
	struct ticket_keys *keys = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), place());
	struct ticket_key key;
	int at = ticket_keys_find(keys, is_new ? NULL : name, clock_ns(), &key);
	bool is_set = true;

	if (at < 0)
		return 0;
	if (is_new) {
		memcpy(name, key.name, sizeof(key.name));
		is_set = RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1;
	}
	is_set = is_set &&
		 EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv, is_new) == 1 &&
		 set_mac(mac, &key);
	explicit_bzero(&key, sizeof(key));
	return !is_set ? -1 : is_new ? 1 : 2;
}

/* ---- Keys and contexts ----------------------------------------------------------------------- */

int ticket_keys_use(struct ticket_keys *keys, SSL_CTX *ctx)
{
	if (place() < 0 || !SSL_CTX_set_ex_data(ctx, place(), keys))
		return -ENOMEM;
	__atomic_fetch_add(&keys->refs, 1, __ATOMIC_RELAXED);
	/* The client keeps the session in its ticket, so the server needs no cache. */
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_timeout(ctx, TICKET_LIFE_S);
	return SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket) ? 0 : -ENOMEM;
}

static int new (struct ticket_keys **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->refs = 1;
	pthread_mutex_init(&(*out)->turn, NULL);
	return 0;
}

void ticket_keys_put(struct ticket_keys *keys)
{
	if (!keys || __atomic_sub_fetch(&keys->refs, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_mutex_destroy(&keys->turn);
	explicit_bzero(keys, sizeof(*keys));
	free(keys);
}

int ticket_keys_make(struct ticket_keys **out, uint64_t now_ns)
{
	int code = new (out);

	if (!code)
		code = make_ticket_keys(&(*out)->keys[0]);
	if (code) {
		ticket_keys_put(*out);
		*out = NULL;
		return code;
	}
	(*out)->n = 1;
	(*out)->made_ns = now_ns;
	return 0;
}

/* ---- Files of keys --------------------------------------------------------------------------- */

static void trim_ticket_keys(char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = 0;
}

/* Adds the key of a line. Returns what is wrong with the line, or NULL. */
static const char *add_ticket_keys(struct ticket_keys *keys, char *line)
{
	trim_ticket_keys(line);
	if (!*line || *line == '#')
		return NULL;
	if (keys->n == TICKET_KEYS_MAX)
		return "there are more than 8 keys";
	if (hex_read(line, (uint8_t *)&keys->keys[keys->n], sizeof(keys->keys[0])))
		return "160 hexadecimal digits are wanted, as openssl rand -hex 80 makes them";
	keys->n++;
	return NULL;
}

static int read_ticket_keys_lines(struct ticket_keys *keys, FILE *file, const char *path, char *err,
				  size_t cap)
{
	const char *wrong = NULL;
	unsigned int number = 0;
	size_t line_cap = LINE_CAP;
	char *line = malloc(line_cap); /* a line with a key needs no more, so it leaves no copy */

	if (!line) {
		snprintf(err, cap, "server.tls.ticket-keys: out of memory");
		return -ENOMEM;
	}
	while (!wrong && getline(&line, &line_cap, file) >= 0) {
		number++;
		wrong = add_ticket_keys(keys, line);
	}
	explicit_bzero(line, line_cap);
	free(line);
	if (!wrong && ferror(file))
		wrong = "cannot be read";
	if (wrong)
		snprintf(err, cap, "server.tls.ticket-keys: %s:%u: %s", path, number, wrong);
	else if (!keys->n)
		snprintf(err, cap, "server.tls.ticket-keys: %s: there is no key in it", path);
	return wrong || !keys->n ? ERR_CONFIG : 0;
}

int ticket_keys_read(struct ticket_keys **out, const char *path, char *err, size_t err_cap)
{
	struct stat st;
	FILE *file;
	int code = regular_fopen(&file, path, &st);

	*out = NULL;
	if (code) {
		snprintf(err, err_cap, "server.tls.ticket-keys: %s: %s", path, err_text(code));
		return code == -ENOMEM ? code : ERR_CONFIG;
	}
	setvbuf(file, NULL, _IONBF, 0); /* else keys would stay in its buffer */
	if (st.st_mode & (S_IROTH | S_IWOTH)) {
		snprintf(
			err, err_cap,
			"server.tls.ticket-keys: everyone can read or write %s: chmod o-rw it, and "
			"make new keys",
			path);
		code = ERR_CONFIG;
	}
	code = code ? code : new (out);
	code = code ? code : read_ticket_keys_lines(*out, file, path, err, err_cap);
	fclose(file);
	if (code) {
		ticket_keys_put(*out);
		*out = NULL;
	}
	return code;
}
