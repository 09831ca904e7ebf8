/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_records.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/value.h"
#include "dns/name.h"
#include "dns/proto.h"

static const char *const actions[] = {
	[VOLLEY_BLOCK_NONE] = "none",     [VOLLEY_BLOCK_DROP] = "drop",
	[VOLLEY_BLOCK_REFUSE] = "refuse", [VOLLEY_BLOCK_TRUNCATE] = "truncate",
	[VOLLEY_BLOCK_UP] = "up",         [VOLLEY_BLOCK_ALLOW] = "allow",
};

const char *block_words_action(enum volley_block_action action)
{
	return actions[action];
}

int block_words_read_action(const char *word)
{
	for (int i = VOLLEY_BLOCK_DROP; i < VOLLEY_BLOCK_N_ACTIONS; i++)
		if (!strcmp(word, actions[i]))
			return i;
	return -EINVAL;
}

static int read_prefix(const char *what, struct volley_block_key *key, char *text)
{
	struct config_prefix p;
	char address[INET6_ADDRSTRLEN];

	if (value_read_prefix(what, &p))
		return -EINVAL;
	*key = block_key_prefix(p.family == AF_INET6, p.addr, p.bits);
	inet_ntop(p.family, p.addr, address, sizeof(address));
	if (text)
		snprintf(text, BLOCK_WORDS_CAP, "%s/%u", address, p.bits);
	return 0;
}

static int read_block_word_type(const char *what, struct volley_block_key *key, char *text)
{
	char name[PROTO_TEXT_MAX];
	int type = proto_type_from_text(what, strlen(what));

	if (type < 0)
		return -EINVAL;
	*key = block_key_type((uint16_t)type);
	proto_type_to_text(name, (uint16_t)type);
	if (text)
		snprintf(text, BLOCK_WORDS_CAP, "%s", name);
	return 0;
}

static int read_block_word_name(const char *what, const struct volley_block_head *secrets,
				struct volley_block_key *key, char *text)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int n = name_from_text(wire, sizeof(wire), what, strlen(what));

	if (n <= 0)
		return -EINVAL;
	name_fold(folded, wire, (unsigned int)n);
	*key = block_key_name(secrets, folded, (unsigned int)n);
	if (text)
		name_to_text(text, BLOCK_WORDS_CAP, folded);
	return 0;
}

int block_words_read(const char *what, const struct volley_block_head *secrets,
		     struct volley_block_key *key, char *text)
{
	if (!read_prefix(what, key, text))
		return 0;
	if (strchr(what, ':') || strchr(what, '/') || !*what)
		return -EINVAL;
	if (!strchr(what, '.') && !read_block_word_type(what, key, text))
		return 0;
	return read_block_word_name(what, secrets, key, text);
}
