/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
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
	size_t at, end;
	uint64_t n_read;     /* octets of the file so far */
	char last;           /* the last of these octets */
	uint32_t entry_line; /* line where the entry begins; after an error, of the fault */
	bool blank_start;    /* it begins with a blank: it has the owner of the last record */
	uint32_t column;     /* of its first character, from 1; 0: it has several lines */
};

/* @fp must stay open until text_reader_fini(), which does not close it. */
void text_reader_init(struct text_reader *r, FILE *fp);
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

/* Reads a token that is a decimal number up to @max. Returns 0 or ERR_ZONE. */
int text_to_number(const struct text_token *token, uint32_t max, uint32_t *value)
	__attribute__((warn_unused_result));

/* The same for seconds or a sum such as 1w2d3h4m5s. */
int text_to_period(const struct text_token *token, uint32_t max, uint32_t *seconds)
	__attribute__((warn_unused_result));

/* The same for a TTL of 32 bits; if its top bit is set, it is 0 (RFC 2181 section 8). */
int text_to_ttl(const struct text_token *token, uint32_t *seconds)
	__attribute__((warn_unused_result));

#endif
