/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The input is a type by its position in a list, then the text of its rdata. What the fast way takes,
 * ldns must take, and make the same octets of it. But for names that begin with an escaped "@": ldns
 * puts the origin there, so for those it is no judge.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/proto.h"
#include "zone/rdfast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libldns"; /* where it refuses text */
}

static const uint16_t types[] = {
	DNS_TYPE_A,  DNS_TYPE_AAAA,  DNS_TYPE_NS,   DNS_TYPE_MX,    DNS_TYPE_SRV,    DNS_TYPE_TXT,
	DNS_TYPE_DS, DNS_TYPE_RRSIG, DNS_TYPE_NSEC, DNS_TYPE_NSEC3, DNS_TYPE_DNSKEY,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rdtext fast, slow;
	static const uint8_t origin[] = "\7example\3com";
	uint16_t type;
	char *text;

	if (!size || size > 4096 || memchr(data, '\0', size) || memchr(data, '\n', size))
		return 0;
	type = types[data[0] % (sizeof(types) / sizeof(types[0]))];
	text = malloc(size);
	if (!text || rdtext_set_origin(&fast, origin) || rdtext_set_origin(&slow, origin))
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (rdfast_parse(&fast, type, text) && !strstr(text, "\\@") &&
	    (rdtext_parse_ldns(&slow, type, text) || fast.len != slow.len ||
	     memcmp(fast.rdata, slow.rdata, slow.len)))
		abort();
	free(text);
	return 0;
}
