/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of keys. ldns reads and writes BIND's format of private keys. This file adds the times and
 * the role, and replaces files as a whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <ldns/ldns.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "dns/name.h"
#include "sign/keys.h"

#define PATH_CAP 4096

struct time_field {
	const char *word;
	size_t at;
};

static const struct time_field time_fields[] = {
	{ "Created", offsetof(struct sign_key, created_s) },
	{ "Publish", offsetof(struct sign_key, published_s) },
	{ "Activate", offsetof(struct sign_key, active_s) },
	{ "Inactive", offsetof(struct sign_key, retired_s) },
	{ "Delete", offsetof(struct sign_key, removed_s) },
	{ "SyncPublish", offsetof(struct sign_key, cds_s) },
	{ "DSPublish", offsetof(struct sign_key, ds_seen_s) },
};

static uint64_t *field_of(struct sign_key *key, const struct time_field *field)
{
	return (uint64_t *)((char *)key + field->at);
}

/* "example.com."; the text form escapes a slash in a label as BIND's tools do. */
static int base_name(const struct sign_keys *keys, const struct sign_key *key, const char *folder,
		     const char *suffix, char *out, size_t cap)
{
	char name[NAME_TEXT_MAX];
	int n = name_to_text(name, sizeof(name), keys->apex);

	if (n < 0)
		return n;
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '%';
	n = snprintf(out, cap, "%s/K%s+%03u+%05u%s", folder, name, key->algorithm, key->tag,
		     suffix);
	return n >= 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void read_key_file_time(struct sign_key *key, const char *line)
{
	for (size_t i = 0; i < sizeof(time_fields) / sizeof(time_fields[0]); i++) {
		size_t n = strlen(time_fields[i].word);
		struct tm tm = { 0 };

		if (strncmp(line, time_fields[i].word, n) != 0 || line[n] != ':')
			continue;
		if (strptime(line + n + 1, " %Y%m%d%H%M%S", &tm))
			*field_of(key, &time_fields[i]) = (uint64_t)timegm(&tm);
	}
}

static enum sign_role role_of(const char *line)
{
	if (!strncmp(line, "Role: KSK", 9))
		return SIGN_KSK;
	return !strncmp(line, "Role: CSK", 9) ? SIGN_CSK : SIGN_ZSK;
}

/* Reads the times, and the role into the key. Files of other signers have no role: false. */
static bool read_fields(struct sign_key *key, FILE *f)
{
	bool has_role = false;
	char line[8192];

	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		read_key_file_time(key, line);
		if (!strncmp(line, "Role: ", 6)) {
			key->role = role_of(line);
			has_role = true;
		}
	}
	return has_role;
}

/* Makes @key from the private key, which it takes. */
static int set_key(const uint8_t *apex, struct sign_key *key, const ldns_key *from, FILE *f,
		   const char *path, char *err, size_t err_cap)
{
	const enum sign_algorithm algorithm = (enum sign_algorithm)ldns_key_algorithm(from);
	EVP_PKEY *pkey = ldns_key_evp_key(from);
	int code = pkey && EVP_PKEY_up_ref(pkey) ? 0 : ERR_FORMAT;
	bool has_role;

	if (code)
		return code;
	*key = (struct sign_key){ 0 };
	has_role = read_fields(key, f);
	code = sign_key_set(key, key->role, algorithm, pkey);
	if (code)
		snprintf(err, err_cap,
			 "%s: its algorithm %u, or its size, is not supported: 8 (RSA up to 4096 "
			 "bits), 13, 14 and 15 are",
			 path, algorithm);
	if (!code && !has_role) {
		code = key_given_role(apex, key, path, err, err_cap);
		if (!code)
			code = sign_key_set(key, key->role, algorithm, pkey);
	}
	if (code)
		EVP_PKEY_free(pkey);
	return code;
}

/* It is written under this name, so with another one it would be there twice. */
static int check_name(const struct sign_keys *keys, const struct sign_key *key, const char *folder,
		      const char *path, char *err, size_t err_cap)
{
	char right[PATH_CAP];

	if (base_name(keys, key, folder, ".private", right, sizeof(right)) || !strcmp(right, path))
		return 0;
	snprintf(err, err_cap, "%s: rename it, and its .key file, to %s, by its tag and zone", path,
		 strrchr(right, '/') + 1);
	return ERR_FORMAT;
}

static int take_key_file_key(struct sign_keys *keys, FILE *f, const char *folder, const char *path,
			     char *err, size_t err_cap)
{
	struct sign_key *key = &keys->keys[keys->n];
	ldns_key *from = NULL;
	int code;

	if (ldns_key_new_frm_fp(&from, f) != LDNS_STATUS_OK)
		return ERR_FORMAT;
	code = set_key(keys->apex, key, from, f, path, err, err_cap);
	ldns_key_deep_free(from);
	if (code)
		return code == -EOWNERDEAD ? 0 : code;
	code = check_name(keys, key, folder, path, err, err_cap);
	if (code)
		EVP_PKEY_free(key->pkey);
	keys->n += !code;
	return code;
}

static int read_one(struct sign_keys *keys, const char *folder, const char *path, char *err,
		    size_t err_cap)
{
	struct stat st;
	FILE *f;
	int code = regular_fopen(&f, path, &st);

	*err = '\0';
	if (!code && st.st_mode & 077)
		code = -EPERM;
	if (!code && keys->n == SIGN_KEYS_MAX)
		code = ERR_LIMIT;
	if (!code)
		code = take_key_file_key(keys, f, folder, path, err, err_cap);
	if (f)
		fclose(f);
	if (code == -EPERM)
		snprintf(err, err_cap, "%s: others may read it: chmod 600", path);
	else if (code && !*err)
		snprintf(err, err_cap, "%s: %s", path, err_text(code));
	return code;
}

/* Some tools keep the letter case in which the zone's name was given. */
static bool is_of_zone(const char *name, const char *prefix, const char *suffix)
{
	size_t n = strlen(name), end = strlen(suffix);

	return !strncasecmp(name, prefix, strlen(prefix)) && n > end &&
	       !strcmp(name + n - end, suffix);
}

/* Knot DNS names its files of keys by 40 hexadecimal digits. */
static bool is_pem_of_knot(const char *name)
{
	return strspn(name, "0123456789abcdef") == 40 && !strcmp(name + 40, ".pem");
}

/* As opendir(), also by the helper of base/files.h. NULL: *code says why. */
static DIR *open_key_folder(const char *folder, int *code)
{
	int fd = regular_open_folder(folder);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	*code = fd < 0 ? fd : dir ? 0 : -errno;
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* There is no private key of the zone. A new one would not be the one that the parent knows, if a
 * file shows that there is one. */
static int check_others(const char *folder, const char *prefix, char *err, size_t err_cap)
{
	struct dirent *file;
	int code;
	DIR *dir = open_key_folder(folder, &code);

	code = 0; /* a folder that is not there has no others */
	while (dir && !code && (file = readdir(dir))) {
		if (is_of_zone(file->d_name, prefix, ".key")) {
			code = -ENOKEY;
			snprintf(err, err_cap,
				 "%s/%s has no .private file beside it: put that there, or take "
				 "this file away if the parent has no DS of it",
				 folder, file->d_name);
		} else if (is_pem_of_knot(file->d_name)) {
			code = -ENOKEY;
			snprintf(err, err_cap,
				 "%s/%s is a key of Knot DNS: volleyd reads keys in the format of "
				 "BIND's tools: convert them, or give another key-folder if the "
				 "parent has no DS",
				 folder, file->d_name);
		}
	}
	if (dir)
		closedir(dir);
	return code;
}

int sign_keys_read(struct sign_keys *keys, const uint8_t *apex, const char *folder, char *err,
		   size_t err_cap)
{
	char prefix[PATH_CAP], path[PATH_CAP];
	struct sign_key none = { 0 };
	struct dirent *file;
	int code;
	DIR *dir;

	*keys = (struct sign_keys){ 0 };
	memcpy(keys->apex, apex, name_bytes(apex));
	if (base_name(keys, &none, "", "", prefix, sizeof(prefix)))
		return -ENAMETOOLONG;
	*strrchr(prefix, '+') = 0;
	*(strrchr(prefix, '+') + 1) = 0; /* "/Kexample.com.+" */
	dir = open_key_folder(folder, &code);
	if (!dir) {
		code = code == -ENOENT ? 0 : code;
		snprintf(err, err_cap, "%s: %s", folder, err_text(code));
		return code;
	}
	while (!code && (errno = 0, file = readdir(dir))) {
		if (!is_of_zone(file->d_name, prefix + 1, ".private"))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, file->d_name) < (int)sizeof(path))
			code = read_one(keys, folder, path, err, err_cap);
		else
			code = -ENAMETOOLONG;
	}
	if (!code && errno) { /* the folder may hold a key that was not listed */
		code = -errno;
		snprintf(err, err_cap, "%s: %s", folder, err_text(code));
	}
	closedir(dir);
	if (!code && !keys->n)
		code = check_others(folder, prefix + 1, err, err_cap);
	if (!code && !keys->n &&
	    snprintf(path, sizeof(path), "%s/keys", folder) < (int)sizeof(path))
		code = check_others(path, prefix + 1, err, err_cap); /* where Knot DNS has them */
	if (code)
		sign_keys_fini(keys);
	return code;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void print_time(FILE *f, const char *before, const char *word, uint64_t at)
{
	time_t t = (time_t)at;
	struct tm tm;
	char text[32];

	if (!at)
		return;
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	fprintf(f, "%s%s: %s\n", before, word, text);
}

static int print_private(FILE *f, const struct sign_key *key)
{
	static const char *const roles[] = { "ZSK", "KSK", "CSK" };
	ldns_key *to = ldns_key_new();

	if (!to)
		return -ENOMEM;
	ldns_key_set_algorithm(to, (ldns_signing_algorithm)key->algorithm);
	ldns_key_set_evp_key(to, key->pkey); /* borrowed: only the ldns_key itself is freed */
	ldns_key_print(f, to);
	ldns_key_free(to);
	for (size_t i = 0; i < sizeof(time_fields) / sizeof(time_fields[0]); i++)
		print_time(f, "", time_fields[i].word,
			   *field_of((struct sign_key *)key, &time_fields[i]));
	fprintf(f, "Role: %s\n", roles[key->role]);
	return 0;
}

static int print_public(FILE *f, const struct sign_keys *keys, const struct sign_key *key)
{
	char name[NAME_TEXT_MAX];
	uint8_t text[4 * SIGN_DNSKEY_MAX / 3 + 8];
	int n = name_to_text(name, sizeof(name), keys->apex);

	if (n < 0)
		return n;
	fprintf(f, "; keyid %u\n", key->tag);
	for (size_t i = 0; i < sizeof(time_fields) / sizeof(time_fields[0]) - 1; i++)
		print_time(f, "; ", time_fields[i].word,
			   *field_of((struct sign_key *)key, &time_fields[i]));
	EVP_EncodeBlock(text, key->dnskey + 4, key->dnskey_bytes - 4);
	fprintf(f, "%s IN DNSKEY %u 3 %u %s\n", name,
		key->role == SIGN_ZSK ? SIGN_DNSKEY_ZONE : SIGN_DNSKEY_ZONE | SIGN_DNSKEY_SEP,
		key->algorithm, text);
	return 0;
}

static int print_key_file(FILE *f, const struct sign_keys *keys, const struct sign_key *key,
			  bool is_secret)
{
	int err = is_secret ? print_private(f, key) : print_public(f, keys, key);

	if (!err && !is_secret && fchmod(fileno(f), 0644))
		err = -errno;
	if (!err && (fflush(f) || ferror(f) || fsync(fileno(f))))
		err = errno ? -errno : -EIO;
	return err;
}

static int write_key_file(const struct sign_keys *keys, const struct sign_key *key,
			  const char *folder, bool is_secret)
{
	char name[PATH_CAP], path[PATH_CAP], tmp[PATH_CAP + 8];
	int fd, err = base_name(keys, key, folder, is_secret ? ".private" : ".key", name,
				sizeof(name));
	FILE *f;

	if (!err)
		err = replace_find(name, path, sizeof(path));
	if (err)
		return err;
	snprintf(tmp, sizeof(tmp), "%s.new", path);
	fd = replace_open(tmp);
	if (fd < 0)
		return fd;
	f = fdopen(fd, "w");
	err = f ? replace_clear(fd) : -ENOMEM;
	if (!err)
		err = print_key_file(f, keys, key, is_secret);
	if (!err)
		err = replace_finish(tmp, path);
	if (err)
		replace_drop(fd, tmp);
	if (f)
		fclose(f); /* all of it is on the disk */
	else
		close(fd);
	return err;
}

/* After this, a removed file does not come back after a crash. */
static int sync_key_file_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fsync(fd) ? -errno : 0;
	close(fd);
	return err;
}

int sign_key_write(const struct sign_keys *keys, const struct sign_key *key, const char *folder)
{
	int err;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	err = write_key_file(keys, key, folder, true);
	return err ? err : write_key_file(keys, key, folder, false);
}

int sign_key_erase(const struct sign_keys *keys, const struct sign_key *key, const char *folder)
{
	static const char *const suffixes[] = { ".private", ".key" };
	char path[PATH_CAP];
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		err = base_name(keys, key, folder, suffixes[i], path, sizeof(path));
		if (!err && unlink(path) && errno != ENOENT)
			err = -errno;
	}
	return err ? err : sync_key_file_folder(folder);
}
