/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sign/keys.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/rdtext.h"
#include "zone/text.h"

#define PATH_CAP 4096
#define REVOKED  0x0080 /* RFC 5011 section 7 */
#define FIXED    4      /* octets of a DNSKEY's rdata before the public key */

/* --- The public file -------------------------------------------------------------------------- */

/* Reads the fields before the rdata. True if it is a DNSKEY record of the apex; *@at is behind. */
static bool is_dnskey_of(const struct text_reader *text, const uint8_t *apex, const char **at)
{
	struct text_token token;
	uint8_t name[256];

	*at = text->text;
	if (!text->blank_start) {
		if (!text_next(at, &token) || token.quoted)
			return false;
		if (!text_is(&token, "@") &&
		    (textname_read(&token, (const uint8_t *)"", 1, name) < 0 ||
		     !name_equal(name, apex)))
			return false;
	}
	while (text_next(at, &token)) /* TTL and class, in any order */
		if (rdtext_type(token.at, token.n) == DNS_TYPE_DNSKEY)
			return true;
		else if (!text_is(&token, "IN") && !text_is(&token, "CLASS1") &&
			 !(token.n && *token.at >= '0' && *token.at <= '9'))
			return false;
	return false;
}

static bool is_public_of(const struct rdtext *rd, const struct sign_key *key)
{
	return rd->len == key->dnskey_bytes && rd->rdata[3] == key->algorithm &&
	       !memcmp(rd->rdata + FIXED, key->dnskey + FIXED, rd->len - FIXED);
}

/* Finds the key's record, and its flags. Other records may stand in the file. */
static int read_flags(struct text_reader *text, struct rdtext *rd, const uint8_t *apex,
		      const struct sign_key *key, uint16_t *flags, const char **why)
{
	const char *at;
	int code;

	*why = "it has no DNSKEY record of this zone";
	while ((code = text_read(text, why)) > 0) {
		if (!is_dnskey_of(text, apex, &at))
			continue;
		*why = "its DNSKEY record is malformed";
		if (rdtext_parse(rd, DNS_TYPE_DNSKEY, at) || rd->len < FIXED)
			return ERR_FORMAT;
		if (is_public_of(rd, key)) {
			*flags = wire_load_be16(rd->rdata);
			return 0;
		}
		*why = "its DNSKEY record is not of the private key beside it";
	}
	return code ? code : ERR_FORMAT;
}

static int read_public(const char *path, const uint8_t *apex, const struct sign_key *key,
		       uint16_t *flags, char *err, size_t err_cap)
{
	struct rdtext *rd;
	struct text_reader text;
	const char *why = NULL;
	FILE *f;
	int code = regular_fopen(&f, path, NULL);

	if (code == -ENOENT)
		return code;
	rd = code ? NULL : malloc(sizeof(*rd));
	if (!code && !rd)
		code = -ENOMEM;
	if (rd) {
		rdtext_init(rd);
		text_reader_init(&text, f);
		code = read_flags(&text, rd, apex, key, flags, &why);
		text_reader_fini(&text);
		rdtext_fini(rd);
		free(rd);
	}
	if (f)
		fclose(f);
	if (code)
		snprintf(err, err_cap, "%s: %s", path, why ? why : err_text(code));
	return code == -ENOENT ? -EIO : code;
}

/* --- Without a public file -------------------------------------------------------------------- */

/* "…+013+12345.private" */
static int flags_by_tag(const char *path, const struct sign_key *key, uint16_t *flags)
{
	static const uint16_t known[] = { SIGN_DNSKEY_ZONE, SIGN_DNSKEY_ZONE | SIGN_DNSKEY_SEP,
					  SIGN_DNSKEY_ZONE | REVOKED,
					  SIGN_DNSKEY_ZONE | SIGN_DNSKEY_SEP | REVOKED };
	const char *plus = strrchr(path, '+');
	unsigned long tag = plus ? strtoul(plus + 1, NULL, 10) : ULONG_MAX;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (sign_key_tag_with(key, known[i]) == tag) {
			*flags = known[i];
			return 0;
		}
	return ERR_FORMAT;
}

static int find_flags(const char *path, int stem, const uint8_t *apex, const struct sign_key *key,
		      uint16_t *flags, char *err, size_t err_cap)
{
	char public[PATH_CAP];
	int code;

	snprintf(public, sizeof(public), "%.*s.key", stem, path);
	code = read_public(public, apex, key, flags, err, err_cap);
	if (code == -ENOENT) {
		code = flags_by_tag(path, key, flags);
		if (code)
			snprintf(
				err, err_cap,
				"%s: there is no .key file beside it, and its name has another tag "
				"than %u (a ZSK) or %u (a KSK or CSK): give it the right one",
				path, sign_key_tag_with(key, SIGN_DNSKEY_ZONE),
				sign_key_tag_with(key, SIGN_DNSKEY_ZONE | SIGN_DNSKEY_SEP));
	}
	if (!code && (*flags & ~REVOKED & ~SIGN_DNSKEY_SEP) != SIGN_DNSKEY_ZONE) {
		code = ERR_FORMAT;
		snprintf(err, err_cap, "%s: the flags of a zone's key are 256 or 257, not %u",
			 public, *flags);
	}
	return code;
}

/* --- BIND's state ----------------------------------------------------------------------------- */

static bool says_yes(const char *line, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(line, word, n) && !strncmp(line + n + strspn(line + n, " \t"), "yes", 3);
}

/* True if the file tells. */
static bool read_state(const char *path, int stem, bool *ksk, bool *zsk)
{
	char state[PATH_CAP], line[1024];
	FILE *f;

	*ksk = *zsk = false;
	snprintf(state, sizeof(state), "%.*s.state", stem, path);
	if (regular_fopen(&f, state, NULL))
		return false;
	while (fgets(line, sizeof(line), f)) {
		*ksk |= says_yes(line, "KSK:");
		*zsk |= says_yes(line, "ZSK:");
	}
	fclose(f);
	return *ksk || *zsk;
}

int key_given_role(const uint8_t *apex, struct sign_key *key, const char *path, char *err,
		   size_t err_cap)
{
	int stem = (int)(strlen(path) - strlen(".private")), code;
	uint16_t flags = 0;
	bool ksk, zsk;

	code = find_flags(path, stem, apex, key, &flags, err, err_cap);
	if (code)
		return code;
	if (flags & REVOKED)
		return -EOWNERDEAD;
	key->origin = SIGN_GIVEN_BY_FLAGS;
	key->role = flags & SIGN_DNSKEY_SEP ? SIGN_KSK : SIGN_ZSK;
	if (key->role == SIGN_KSK && read_state(path, stem, &ksk, &zsk)) {
		key->origin = SIGN_GIVEN;
		key->role = ksk && zsk ? SIGN_CSK : SIGN_KSK;
	}
	return 0;
}

/* --- Plans ------------------------------------------------------------------------------------ */

static bool is_main(const struct sign_key *key)
{
	return key->role != SIGN_ZSK;
}

static bool has_ended(const struct sign_key *key, uint64_t now_s)
{
	return (key->retired_s && key->retired_s <= now_s) ||
	       (key->removed_s && key->removed_s <= now_s);
}

/* A single key of BIND and of PowerDNS has the flags of a KSK, and signs all. */
static void make_csks(struct sign_keys *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->keys[i].role != SIGN_KSK || keys->keys[i].origin != SIGN_GIVEN_BY_FLAGS)
			return;
	for (size_t i = 0; i < keys->n; i++)
		keys->keys[i].role = SIGN_CSK;
}

static void drop_end(struct sign_key *key, uint64_t now_s, char *note, size_t note_cap)
{
	if (key->origin == SIGN_OURS || !is_main(key) || has_ended(key, now_s) ||
	    (!key->retired_s && !key->removed_s))
		return;
	key->retired_s = key->removed_s = 0;
	snprintf(note, note_cap,
		 "the key %u stays behind the end that its file plans (Inactive, Delete): it goes "
		 "after zone ds-seen of its successor",
		 key->tag);
}

/* True if a key of this part has begun to sign. */
static bool has_key_given_begun(const struct sign_keys *keys, bool is_of_main, uint64_t now_s)
{
	for (size_t i = 0; i < keys->n; i++) {
		const struct sign_key *key = &keys->keys[i];

		if (is_main(key) == is_of_main && !has_ended(key, now_s) && key->published_s &&
		    key->published_s <= now_s && key->active_s && key->active_s <= now_s)
			return true;
	}
	return false;
}

/* Caches may hold signatures of any ZSK, so all are published; one signs, and the last one takes
 * over from it (rollover.c). Each KSK may be the one that the parent knows, so all of them sign. */
static void begin_key_given(struct sign_keys *keys, bool is_of_main, uint64_t now_s)
{
	bool is_first = true;

	if (has_key_given_begun(keys, is_of_main, now_s))
		return;
	for (size_t i = 0; i < keys->n; i++) {
		struct sign_key *key = &keys->keys[i];

		if (is_main(key) != is_of_main || key->origin == SIGN_OURS || has_ended(key, now_s))
			continue;
		key->published_s = now_s;
		key->active_s = is_of_main || is_first ? now_s : 0;
		is_first = false;
	}
}

bool key_given_adopt(struct sign_keys *keys, uint64_t now_s, char *note, size_t note_cap)
{
	bool is_any = false;

	*note = '\0';
	make_csks(keys);
	for (size_t i = 0; i < keys->n; i++) {
		is_any |= keys->keys[i].origin != SIGN_OURS;
		drop_end(&keys->keys[i], now_s, note, note_cap);
	}
	begin_key_given(keys, true, now_s);
	begin_key_given(keys, false, now_s);
	return is_any;
}
