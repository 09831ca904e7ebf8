/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Master files as text: entries and tokens, names, $GENERATE.
 *
 * Splits master files (RFC 1035 section 5.1) into entries, which may span many lines in
 * parentheses, and into tokens. Comments are removed, parentheses and line ends become blanks,
 * quotes and escapes stay.
 */
#ifndef VOLLEY_ZONE_TEXT_H
#define VOLLEY_ZONE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* 64 KiB of rdata, each octet as \DDD, and as much again for owner, quotes and blanks. */
#define TEXT_ENTRY_MAX (512 * 1024)

struct text_reader {
	FILE *fp;
	uint32_t line; /* of the next character, from 1 */
	/* the entry, NUL-terminated, without blanks before it; valid until the next read */
	char *text;
	size_t n;
	char *own; /* buffer for entries that are not one plain line */
	size_t own_cap;
	char *buffer; /* of the file: [at, end) is not read yet */
	size_t at, end, cap;
	uint64_t n_read;     /* octets of the file so far */
	char last;           /* the last of these octets */
	uint32_t entry_line; /* line where the entry begins; after an error, of the fault */
	bool blank_start;    /* it begins with a blank: it has the owner of the last record */
	uint32_t column;     /* of its first character, from 1; 0: it has several lines */
};

/* @fp must stay open until text_reader_fini(), which does not close it. */
void text_reader_init(struct text_reader *r, FILE *fp);
/* The file has so many octets, or other ones if it is changed meanwhile: for a smaller buffer. */
void text_reader_expect(struct text_reader *r, uint64_t n_bytes);
void text_reader_fini(struct text_reader *r);

/*
 * Reads the next entry that is not empty. Returns 1, 0 at the end of the file, ERR_ZONE with *@why,
 * -ENOMEM or -EIO.
 */
int text_read(struct text_reader *r, const char **why) __attribute__((warn_unused_result));

struct text_token {
	const char *at; /* without the quotes */
	size_t n;
	bool quoted;
};

/* Reads the token at *@cursor and moves the cursor past it; false at the end of the entry. */
bool text_next(const char **cursor, struct text_token *token);

bool text_is(const struct text_token *token, const char *word); /* in any letter case */

/* The same for seconds or a sum such as 1w2d3h4m5s. */
int text_to_period(const struct text_token *token, uint32_t max, uint32_t *seconds)
	__attribute__((warn_unused_result));

/* The same for a TTL of 32 bits; if its top bit is set, it is 0 (RFC 2181 section 8). */
int text_to_ttl(const struct text_token *token, uint32_t *seconds)
	__attribute__((warn_unused_result));

/* Domain names in master files: absolute, relative to the origin, or "@" for the origin itself. */

/*
 * Writes the name in @token to @out, in wire form; @origin is a checked name of @origin_bytes. "@"
 * alone is the origin, "\@" and "\064" are labels. Returns the length, an error of
 * name_from_text(), or ERR_NAME for quoted text. Pure.
 */
int textname_read(const struct text_token *token, const uint8_t *origin, unsigned origin_bytes,
		  uint8_t out[static 256]) __attribute__((warn_unused_result));

/*
 * The same for a name at *@cursor, up to a blank or the end of the text, with only letters, digits,
 * "-", "_" and "*", as most names; the cursor moves past it. Returns the length, or 0 for any other
 * name, with the cursor unchanged. Pure.
 */
unsigned textname_read_plain(const char **cursor, const uint8_t *origin, unsigned origin_bytes,
			     uint8_t out[static 256]);

/*
 * $GENERATE of master files, as in BIND: a range, and a line that is read once for each number of
 * it.
 *
 *	$GENERATE 1-254 host-$ A 192.0.2.$
 *	$GENERATE 0-15/2 ${0,2,x} PTR host-${16,3,d}
 *
 * "$" is the number. "${OFFSET,WIDTH,BASE}" is the number plus OFFSET, padded with zeros to WIDTH.
 * BASE is d, o, x, X, or n or N: hex digits, the last first, with dots between. "$$" and "\$" are
 * dollar signs.
 */

#define GENERATE_MAX      65536u /* lines of one directive */
#define GENERATE_LINE_MAX 4096u  /* characters of one of them */

struct generate_range {
	uint32_t first, last, step;
};

/* "1-10" or "1-10/2", at most GENERATE_MAX numbers. Returns 0, or ERR_ZONE with *@why. Pure. */
int generate_read_range(struct generate_range *range, const struct text_token *token,
			const char **why) __attribute__((warn_unused_result));

/* Writes @text with @number in it to @dst, with a NUL. Returns 0, or ERR_ZONE with *@why. Pure. */
int generate_line(char dst[GENERATE_LINE_MAX], const char *text, uint32_t number, const char **why)
	__attribute__((warn_unused_result));

#endif
