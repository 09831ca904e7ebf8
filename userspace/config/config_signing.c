/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether the keys below signing go together. */
#include <string.h>

#include "config/reader.h"

static void check_denial(struct reader *reader, const struct config_signing *signing,
			 const struct yamltree *node)
{
	static const char *const leaves[] = { "nsec3-iterations", "nsec3-salt-length",
					      "nsec3-opt-out" };

	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		if (yamltree_child(node, leaves[i]) && signing->denial != CONFIG_DENIAL_NSEC3)
			document_fail(
				&reader->document, node, leaves[i],
				"is for denial: nsec3, and denial is nsec: say denial: nsec3, or "
				"leave it out");
}

static void check_signing_signatures(struct reader *reader, const struct config_signing *signing,
				     const struct yamltree *node)
{
	const char *leaf = yamltree_child(node, "refresh") ? "refresh" :
			   yamltree_child(node, "jitter")  ? "jitter" :
							     "signature-lifetime";

	if ((uint64_t)signing->refresh_s + signing->jitter_s >= signing->signature_s)
		document_fail(&reader->document, node, leaf,
			      "refresh %u s and jitter %u s do not fit into signature-lifetime %u "
			      "s: a signature would be renewed as soon as it is made",
			      signing->refresh_s, signing->jitter_s, signing->signature_s);
}

/* A key must live longer than its replacement takes (RFC 7583 sections 3.2 and 3.3). */
static void check_lifetime(struct reader *reader, const struct yamltree *node, const char *leaf,
			   uint32_t lifetime_s, uint64_t rollover_s)
{
	if (lifetime_s && lifetime_s <= rollover_s)
		document_fail(&reader->document, node, leaf,
			      "is %u s, and a rollover takes %llu s and the longest TTL of a zone: "
			      "give more",
			      lifetime_s, (unsigned long long)rollover_s);
}

static void check_lifetimes(struct reader *reader, const struct config_signing *signing,
			    const struct yamltree *node)
{
	static const char zsk[] = "zsk-lifetime";
	uint64_t zsk_s = (uint64_t)signing->dnskey_ttl_s + 2ull * signing->propagation_s;
	uint64_t ksk_s = zsk_s + signing->parent_ttl_s + signing->parent_propagation_s;

	if (!signing->single_key)
		check_lifetime(reader, node, zsk, signing->zsk_lifetime_s, zsk_s);
	else if (yamltree_child(node, zsk))
		document_fail(&reader->document, node, zsk,
			      "is for keys: ksk-zsk, and there is one key: give ksk-lifetime");
	check_lifetime(reader, node, "ksk-lifetime", signing->ksk_lifetime_s, ksk_s);
}

void reader_check_signing(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "signing");
	const struct yamltree *node = list ? list->first : NULL;
	const struct config_signing *signing = reader->config->signing;

	for (; node && !reader->document.failed; signing++, node = node->next) {
		if (!strcmp(signing->name, "none"))
			document_fail(
				&reader->document, node, "name",
				"none is the word for a zone without a policy: give another name");
		check_denial(reader, signing, node);
		check_signing_signatures(reader, signing, node);
		check_lifetimes(reader, signing, node);
	}
}
