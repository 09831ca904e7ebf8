/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of DNS: types (one for each row of dns/rdtypes.h), classes, rcodes, opcodes, header
 * bits and limits, with the names of the IANA registries. Masks are for host order: load the field
 * with wire_load_be16() first.
 */
#ifndef VOLLEY_DNS_PROTO_H
#define VOLLEY_DNS_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/rdtypes.h"

#define DNS_NAME_MAX             255    /* octets of a wire name, root included: RFC 1035 2.3.4 */
#define DNS_LABEL_MAX            63     /* octets of a label: RFC 1035 section 2.3.4 */
#define DNS_LABELS_MAX           127    /* labels of a name, root not counted */
#define DNS_HEADER_BYTES         12     /* RFC 1035 section 4.1.1 */
#define DNS_UDP_MIN              512    /* payload size without EDNS: RFC 1035 section 4.2.1 */
#define DNS_MESSAGE_MAX          65535  /* TCP's length field: RFC 1035 section 4.2.2 */
#define DNS_RR_FIXED_BYTES       10     /* type, class, TTL, RDLENGTH after the owner */
#define DNS_QUESTION_FIXED_BYTES 4      /* type, class after the name */
#define DNS_POINTER_BITS         0xc0   /* in a pointer's first octet: RFC 1035 section 4.1.4 */
#define DNS_POINTER_MAX          0x3fff /* last offset of a compression pointer */
#define DNS_TTL_MAX              0x7fffffff /* RFC 2181 section 8 */

/* Offsets of the header's fields. */
#define DNS_ID_AT      0
#define DNS_FLAGS_AT   2
#define DNS_QDCOUNT_AT 4
#define DNS_ANCOUNT_AT 6
#define DNS_NSCOUNT_AT 8
#define DNS_ARCOUNT_AT 10

/* The second 16 bits of the header: RFC 1035 section 4.1.1, AD and CD: RFC 4035 section 3.2. */
#define DNS_FLAG_QR      0x8000
#define DNS_FLAG_AA      0x0400
#define DNS_FLAG_TC      0x0200
#define DNS_FLAG_RD      0x0100
#define DNS_FLAG_RA      0x0080
#define DNS_FLAG_Z       0x0040
#define DNS_FLAG_AD      0x0020
#define DNS_FLAG_CD      0x0010
#define DNS_OPCODE_MASK  0x7800
#define DNS_OPCODE_SHIFT 11
#define DNS_RCODE_MASK   0x000f

/* number, mnemonic. An rcode above 15 needs OPT, which has its upper 8 bits. */
#define DNS_RCODE_LIST(X) \
	X(0, NOERROR)     \
	X(1, FORMERR)     \
	X(2, SERVFAIL)    \
	X(3, NXDOMAIN)    \
	X(4, NOTIMP)      \
	X(5, REFUSED)     \
	X(6, YXDOMAIN)    \
	X(7, YXRRSET)     \
	X(8, NXRRSET)     \
	X(9, NOTAUTH)     \
	X(10, NOTZONE)    \
	X(16, BADVERS)    \
	X(17, BADKEY)     \
	X(18, BADTIME)    \
	X(19, BADMODE)    \
	X(20, BADNAME)    \
	X(21, BADALG)     \
	X(22, BADTRUNC)   \
	X(23, BADCOOKIE)

enum dns_rcode {
#define DNS_RCODE(number, name) DNS_RCODE_##name = number,
	DNS_RCODE_LIST(DNS_RCODE)
#undef DNS_RCODE
		DNS_RCODE_BADSIG = 16, /* in TSIG; the same number as BADVERS in OPT */
};

#define DNS_OPCODE_LIST(X) \
	X(0, QUERY)        \
	X(1, IQUERY)       \
	X(2, STATUS)       \
	X(4, NOTIFY)       \
	X(5, UPDATE)       \
	X(6, DSO)

enum dns_opcode {
#define DNS_OPCODE(number, name) DNS_OPCODE_##name = number,
	DNS_OPCODE_LIST(DNS_OPCODE)
#undef DNS_OPCODE
};

enum dns_class {
	DNS_CLASS_IN = 1,
	DNS_CLASS_CH = 3,
	DNS_CLASS_HS = 4,
	DNS_CLASS_NONE = 254,
	DNS_CLASS_ANY = 255,
};

/* The preprocessor does not expand an argument after ##, so NULL is a name like any other. */
enum dns_type {
#define DNS_TYPE(number, name, ...) DNS_TYPE_##name = number,
	DNS_TYPE_LIST(DNS_TYPE)
#undef DNS_TYPE
};

/* EDNS: RFC 6891. */
#define DNS_OPT_FIXED_BYTES    11 /* root owner and the fixed fields, without options */
#define DNS_OPTION_FIXED_BYTES 4
#define DNS_EDNS_DO            0x8000 /* in the low 16 bits of OPT's TTL */
#define DNS_EDNS_VERSION       0

enum dns_option {
	DNS_OPTION_NSID = 3,       /* RFC 5001 */
	DNS_OPTION_ECS = 8,        /* RFC 7871 */
	DNS_OPTION_EXPIRE = 9,     /* RFC 7314 */
	DNS_OPTION_COOKIE = 10,    /* RFC 7873 */
	DNS_OPTION_KEEPALIVE = 11, /* RFC 7828 */
	DNS_OPTION_PADDING = 12,   /* RFC 7830 */
	DNS_OPTION_EDE = 15,       /* RFC 8914 */
};

/* Extended DNS errors that we send: RFC 8914 section 4. */
enum dns_ede {
	DNS_EDE_OTHER = 0,
	DNS_EDE_UNSUPPORTED_KEY = 1,
	DNS_EDE_UNSUPPORTED_DIGEST = 2,
	DNS_EDE_STALE_ANSWER = 3,
	DNS_EDE_DNSSEC_BOGUS = 6,
	DNS_EDE_SIGNATURE_EXPIRED = 7,
	DNS_EDE_SIGNATURE_NOT_YET_VALID = 8,
	DNS_EDE_DNSKEY_MISSING = 9,
	DNS_EDE_RRSIGS_MISSING = 10,
	DNS_EDE_NO_ZONE_KEY_BIT = 11,
	DNS_EDE_NSEC_MISSING = 12,
	DNS_EDE_CACHED_ERROR = 13,
	DNS_EDE_NOT_READY = 14,
	DNS_EDE_BLOCKED = 15,
	DNS_EDE_PROHIBITED = 18,
	DNS_EDE_STALE_NXDOMAIN = 19,
	DNS_EDE_NOT_AUTHORITATIVE = 20,
	DNS_EDE_NOT_SUPPORTED = 21,
	DNS_EDE_NO_REACHABLE_AUTHORITY = 22,
	DNS_EDE_NETWORK_ERROR = 23,
	DNS_EDE_INVALID_DATA = 24,
};

/* Room for any type or rcode as text with its NUL: "NSEC3PARAM", "TYPE65535", "RCODE4095". */
#define PROTO_TEXT_MAX 16

/* Writes a type's mnemonic, or TYPE12345 if it has none (RFC 3597 section 5), with its NUL. Returns
 * the length without NUL. dst holds PROTO_TEXT_MAX bytes. */
int proto_type_to_text(char dst[PROTO_TEXT_MAX], uint16_t type);

/* The type number for a mnemonic or TYPEnnn, in any letter case; text has n_bytes and needs no NUL.
 * ERR_TYPE for anything else. */
int proto_type_from_text(const char *text, size_t n_bytes) __attribute__((warn_unused_result));

/* True for errors that say that an answer is bogus: RFC 8914 sections 4.2, 4.3, 4.7 to 4.13. */
bool proto_ede_is_bogus(int ede_code);

/* The registry's words for an extended DNS error: "DNSSEC Bogus"; NULL: it has none. Static. */
const char *proto_ede_text(uint16_t code);

/* The rcode's mnemonic, or RCODE12 if it has none. As proto_type_to_text(). */
int proto_rcode_to_text(char dst[PROTO_TEXT_MAX], uint16_t rcode);

#endif
