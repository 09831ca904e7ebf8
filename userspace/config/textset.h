/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds texts that are there twice among a million: a hash table of numbers of texts, which the
 * caller has. FNV-1a: the operator writes the texts, so nobody can make them collide.
 */
#ifndef VOLLEY_CONFIG_TEXTSET_H
#define VOLLEY_CONFIG_TEXTSET_H

#include <stddef.h>
#include <stdint.h>

#define TEXTSET_NEW UINT32_MAX

typedef const char *textset_text_fn(const void *user, uint32_t at);

struct textset {
	uint64_t *slots; /* half of a hash and a number from 1; 0: free */
	size_t mask;
	textset_text_fn *text;
	const void *user;
};

/* For up to n texts; text() gives that of a number. 0 or -ENOMEM. */
int textset_init(struct textset *set, uint32_t n, textset_text_fn *text, const void *user)
	__attribute__((warn_unused_result));
void textset_fini(struct textset *set);

/* Adds text number AT, unless the same text is there: then returns its number, else TEXTSET_NEW. */
uint32_t textset_put(struct textset *set, uint32_t at);

#endif
