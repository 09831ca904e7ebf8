/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record types, one row each. A type's row determines all else: its number and mnemonic
 * (dns/proto.h), the check of its octets and the place of its names (dns/rdata.h), its text in
 * master files (zone/rdtext.h) and as printed (zone/rdprint.h). To add a type, add a row here and
 * one in tests/unit/zone/rdata_rows.h.
 *
 * 	X(number, identifier, mnemonic, names, print, min, max, source, fields...)
 *
 * names	what is done to the names in the data: enum rdata_names
 * print	how it is printed: enum rdata_print
 * min, max	octets of the data
 * source	where it is defined
 * fields	in order: enum rdata_field
 */
#ifndef VOLLEY_DNS_RDTYPES_H
#define VOLLEY_DNS_RDTYPES_H

/* Each value includes the one before it. */
enum rdata_names {
	RD_KEEP,    /* sent unchanged; letter case counts: all types that came after RFC 3597 */
	RD_FOLD,    /* letter case does not count: RFC 4034 section 6.2, RFC 6840 section 5.1 */
	RD_EXPAND,  /* the resolver accepts them compressed, as old servers send them */
	RD_RECEIVE, /* any receiver accepts them compressed: RFC 3597 section 4 */
	RD_SEND,    /* they are sent compressed: the types of RFC 1035 */
};

enum rdata_print {
	RD_TEXT_FORM, /* with the mnemonic, in the type's own form that all servers read alike */
	/* as TYPEnnn \# (RFC 3597 section 5): not all of named, nsd, knotd, ldns know it */
	RD_GENERIC,
	RD_META, /* no data has it: a type of queries or messages (RFC 6895 section 3.1) */
};

/* A field's octets and its text. Up to RD_U64 the size is fixed: rdata_fixed_bytes(). */
enum rdata_field {
	RD_END,
	RD_U8,
	RD_U16,
	RD_U32,
	RD_PERIOD,      /* 4 octets: seconds, or a sum such as 1h30m */
	RD_TIME,        /* 4 octets: YYYYMMDDHHmmSS or seconds, RFC 4034 section 3.2 */
	RD_TYPE,        /* 2 octets: a record type */
	RD_ALGORITHM,   /* 1 octet: a number or mnemonic, RFC 4034 appendix A.1 */
	RD_CERTIFICATE, /* 2 octets: a number or mnemonic, RFC 4398 section 2.1 */
	RD_SCHEME,      /* 1 octet: a number or NOTIFY, RFC 9859 section 2.1 */
	RD_IPV4,
	RD_IPV6,
	RD_EUI48,  /* 00-00-5e-00-53-2a */
	RD_EUI64,  /* 00-00-5e-ef-10-00-00-2a */
	RD_ILNP64, /* 0014:4fff:ff20:ee64, RFC 6742 section 2.1.2 */
	RD_U64,    /* a number, or its upper and lower half with a dot between them */

	RD_NAME,
	RD_STRING,     /* a length octet, and that many octets */
	RD_STRING_OPT, /* the same, as the last field; may be missing */
	RD_STRINGS,    /* one or more, to the end */

	RD_REST,       /* any octets to the end; only the generic form as text */
	RD_HEX,        /* octets to the end */
	RD_BASE64,     /* octets to the end, at least one */
	RD_BASE64_OPT, /* the same, or none, which has no text that all servers read */
	RD_QUOTED,     /* octets to the end, as one string of any length */
	RD_TAG,        /* length octet, letters and digits: RFC 8659 section 4.1 */
	RD_SALT,       /* length octet and hex, or "-": RFC 5155 section 3.3 */
	RD_HASH,       /* length octet and base32hex: RFC 5155 section 3.3 */
	RD_BITMAP, /* of types, RFC 4034 section 4.1.2; an empty one has no text that all read */
	RD_BITMAP_OPT, /* the same; an empty one is written as no text */
	RD_NXT,        /* of types below 128, RFC 2535 section 5.2 */
	RD_WKS,        /* protocol and ports, RFC 1035 section 3.4.2 */
	RD_NSAP,       /* 0x and hex with dots, RFC 1706 section 5 */
	RD_ATMA,       /* format, and an address in hex or after "+" in digits */
	RD_A6,         /* prefix length, the rest of the address, a name: RFC 2874 section 3.1 */
	RD_LOC,        /* RFC 1876 section 3 */
	RD_APL,        /* RFC 3123 section 4 */
	RD_IPSECKEY,   /* from the gateway's type on, RFC 4025 section 2.1 */
	RD_AMTRELAY,   /* from the discovery bit on, RFC 8777 section 4.2 */
	RD_HIP,        /* RFC 8005 section 5 */
	RD_SVCPARAMS,  /* RFC 9460 section 2.1 */
	RD_N_FIELDS,
};

#define RD_MAX 65535

/* clang-format off */
#define DNS_TYPE_LIST(X) \
	X(1, A, "A", RD_KEEP, RD_TEXT_FORM, 4, 4, "RFC 1035 section 3.4.1", RD_IPV4) \
	X(2, NS, "NS", RD_SEND, RD_TEXT_FORM, 1, 255, "RFC 1035 section 3.3.11", RD_NAME) \
	X(3, MD, "MD", RD_SEND, RD_GENERIC, 1, 255, "RFC 1035 section 3.3.4", RD_NAME) \
	X(4, MF, "MF", RD_SEND, RD_GENERIC, 1, 255, "RFC 1035 section 3.3.5", RD_NAME) \
	X(5, CNAME, "CNAME", RD_SEND, RD_TEXT_FORM, 1, 255, "RFC 1035 section 3.3.1", RD_NAME) \
	X(6, SOA, "SOA", RD_SEND, RD_TEXT_FORM, 22, 530, "RFC 1035 section 3.3.13", \
	  RD_NAME, RD_NAME, RD_U32, RD_PERIOD, RD_PERIOD, RD_PERIOD, RD_PERIOD) \
	X(7, MB, "MB", RD_SEND, RD_GENERIC, 1, 255, "RFC 1035 section 3.3.3", RD_NAME) \
	X(8, MG, "MG", RD_SEND, RD_GENERIC, 1, 255, "RFC 1035 section 3.3.6", RD_NAME) \
	X(9, MR, "MR", RD_SEND, RD_GENERIC, 1, 255, "RFC 1035 section 3.3.8", RD_NAME) \
	X(10, NULL, "NULL", RD_KEEP, RD_GENERIC, 0, RD_MAX, "RFC 1035 section 3.3.10", RD_REST) \
	X(11, WKS, "WKS", RD_KEEP, RD_GENERIC, 5, 8197, "RFC 1035 section 3.4.2", \
	  RD_IPV4, RD_WKS) \
	X(12, PTR, "PTR", RD_SEND, RD_TEXT_FORM, 1, 255, "RFC 1035 section 3.3.12", RD_NAME) \
	X(13, HINFO, "HINFO", RD_KEEP, RD_TEXT_FORM, 2, 512, "RFC 1035 section 3.3.2", \
	  RD_STRING, RD_STRING) \
	X(14, MINFO, "MINFO", RD_SEND, RD_TEXT_FORM, 2, 510, "RFC 1035 section 3.3.7", \
	  RD_NAME, RD_NAME) \
	X(15, MX, "MX", RD_SEND, RD_TEXT_FORM, 3, 257, "RFC 1035 section 3.3.9", \
	  RD_U16, RD_NAME) \
	X(16, TXT, "TXT", RD_KEEP, RD_TEXT_FORM, 1, RD_MAX, "RFC 1035 section 3.3.14", RD_STRINGS) \
	X(17, RP, "RP", RD_RECEIVE, RD_TEXT_FORM, 2, 510, "RFC 1183 section 2.2", \
	  RD_NAME, RD_NAME) \
	X(18, AFSDB, "AFSDB", RD_RECEIVE, RD_TEXT_FORM, 3, 257, "RFC 1183 section 1", \
	  RD_U16, RD_NAME) \
	X(19, X25, "X25", RD_KEEP, RD_GENERIC, 1, 256, "RFC 1183 section 3.1", RD_STRING) \
	X(20, ISDN, "ISDN", RD_KEEP, RD_GENERIC, 1, 512, "RFC 1183 section 3.2", \
	  RD_STRING, RD_STRING_OPT) \
	X(21, RT, "RT", RD_RECEIVE, RD_TEXT_FORM, 3, 257, "RFC 1183 section 3.3", \
	  RD_U16, RD_NAME) \
	X(22, NSAP, "NSAP", RD_KEEP, RD_GENERIC, 1, RD_MAX, "RFC 1706 section 5", RD_NSAP) \
	X(23, NSAP_PTR, "NSAP-PTR", RD_KEEP, RD_GENERIC, 1, 255, "RFC 1348", RD_NAME) \
	X(24, SIG, "SIG", RD_FOLD, RD_GENERIC, 20, RD_MAX, "RFC 2535 section 4.1", RD_TYPE, \
	  RD_ALGORITHM, RD_U8, RD_PERIOD, RD_TIME, RD_TIME, RD_U16, RD_NAME, RD_BASE64) \
	X(25, KEY, "KEY", RD_KEEP, RD_TEXT_FORM, 4, RD_MAX, "RFC 2535 section 3.1", \
	  RD_U16, RD_U8, RD_ALGORITHM, RD_BASE64_OPT) \
	X(26, PX, "PX", RD_RECEIVE, RD_GENERIC, 4, 512, "RFC 2163 section 4", \
	  RD_U16, RD_NAME, RD_NAME) \
	X(27, GPOS, "GPOS", RD_KEEP, RD_GENERIC, 3, 768, "RFC 1712 section 3", \
	  RD_STRING, RD_STRING, RD_STRING) \
	X(28, AAAA, "AAAA", RD_KEEP, RD_TEXT_FORM, 16, 16, "RFC 3596 section 2.2", RD_IPV6) \
	X(29, LOC, "LOC", RD_KEEP, RD_TEXT_FORM, 1, RD_MAX, "RFC 1876 section 2", RD_LOC) \
	X(30, NXT, "NXT", RD_FOLD, RD_GENERIC, 2, 271, "RFC 2535 section 5.2", RD_NAME, RD_NXT) \
	X(31, EID, "EID", RD_KEEP, RD_GENERIC, 1, RD_MAX, "draft-ietf-nimrod-dns", RD_HEX) \
	X(32, NIMLOC, "NIMLOC", RD_KEEP, RD_GENERIC, 1, RD_MAX, "draft-ietf-nimrod-dns", RD_HEX) \
	X(33, SRV, "SRV", RD_RECEIVE, RD_TEXT_FORM, 7, 261, "RFC 2782", \
	  RD_U16, RD_U16, RD_U16, RD_NAME) \
	X(34, ATMA, "ATMA", RD_KEEP, RD_GENERIC, 2, RD_MAX, "ATM Name System 1.0", RD_ATMA) \
	X(35, NAPTR, "NAPTR", RD_RECEIVE, RD_TEXT_FORM, 8, 1027, "RFC 3403 section 4.1", \
	  RD_U16, RD_U16, RD_STRING, RD_STRING, RD_STRING, RD_NAME) \
	X(36, KX, "KX", RD_EXPAND, RD_TEXT_FORM, 3, 257, "RFC 2230 section 3", RD_U16, RD_NAME) \
	X(37, CERT, "CERT", RD_KEEP, RD_TEXT_FORM, 5, RD_MAX, "RFC 4398 section 2", \
	  RD_CERTIFICATE, RD_U16, RD_ALGORITHM, RD_BASE64_OPT) \
	X(38, A6, "A6", RD_KEEP, RD_GENERIC, 2, 272, "RFC 2874 section 3", RD_A6) \
	X(39, DNAME, "DNAME", RD_EXPAND, RD_TEXT_FORM, 1, 255, "RFC 6672 section 2.1", RD_NAME) \
	X(40, SINK, "SINK", RD_KEEP, RD_GENERIC, 3, RD_MAX, "draft-eastlake-kitchen-sink", \
	  RD_U8, RD_U8, RD_U8, RD_BASE64_OPT) \
	X(41, OPT, "OPT", RD_KEEP, RD_META, 0, RD_MAX, "RFC 6891 section 6.1", RD_REST) \
	X(42, APL, "APL", RD_KEEP, RD_TEXT_FORM, 0, RD_MAX, "RFC 3123 section 4", RD_APL) \
	X(43, DS, "DS", RD_KEEP, RD_TEXT_FORM, 5, RD_MAX, "RFC 4034 section 5.1", \
	  RD_U16, RD_ALGORITHM, RD_U8, RD_HEX) \
	X(44, SSHFP, "SSHFP", RD_KEEP, RD_TEXT_FORM, 2, RD_MAX, "RFC 4255 section 3.1", \
	  RD_U8, RD_U8, RD_HEX) \
	X(45, IPSECKEY, "IPSECKEY", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 4025 section 2", \
	  RD_U8, RD_IPSECKEY) \
	X(46, RRSIG, "RRSIG", RD_FOLD, RD_TEXT_FORM, 20, RD_MAX, "RFC 4034 section 3.1", RD_TYPE, \
	  RD_ALGORITHM, RD_U8, RD_PERIOD, RD_TIME, RD_TIME, RD_U16, RD_NAME, RD_BASE64) \
	X(47, NSEC, "NSEC", RD_KEEP, RD_TEXT_FORM, 1, RD_MAX, "RFC 4034 section 4.1", \
	  RD_NAME, RD_BITMAP) \
	X(48, DNSKEY, "DNSKEY", RD_KEEP, RD_TEXT_FORM, 5, RD_MAX, "RFC 4034 section 2.1", \
	  RD_U16, RD_U8, RD_ALGORITHM, RD_BASE64) \
	X(49, DHCID, "DHCID", RD_KEEP, RD_TEXT_FORM, 1, RD_MAX, "RFC 4701 section 3.1", RD_BASE64) \
	X(50, NSEC3, "NSEC3", RD_KEEP, RD_TEXT_FORM, 7, RD_MAX, "RFC 5155 section 3.2", \
	  RD_U8, RD_U8, RD_U16, RD_SALT, RD_HASH, RD_BITMAP_OPT) \
	X(51, NSEC3PARAM, "NSEC3PARAM", RD_KEEP, RD_TEXT_FORM, 5, 260, "RFC 5155 section 4.2", \
	  RD_U8, RD_U8, RD_U16, RD_SALT) \
	X(52, TLSA, "TLSA", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 6698 section 2.1", \
	  RD_U8, RD_U8, RD_U8, RD_HEX) \
	X(53, SMIMEA, "SMIMEA", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 8162 section 2", \
	  RD_U8, RD_U8, RD_U8, RD_HEX) \
	X(55, HIP, "HIP", RD_KEEP, RD_GENERIC, 6, RD_MAX, "RFC 8005 section 5", RD_HIP) \
	X(56, NINFO, "NINFO", RD_KEEP, RD_GENERIC, 1, RD_MAX, "draft-reid-dnsext-zs", RD_STRINGS) \
	X(57, RKEY, "RKEY", RD_KEEP, RD_GENERIC, 5, RD_MAX, "draft-reid-dnsext-rkey", \
	  RD_U16, RD_U8, RD_ALGORITHM, RD_BASE64) \
	X(58, TALINK, "TALINK", RD_KEEP, RD_GENERIC, 2, 510, \
	  "draft-wijngaards-dnsop-trust-history", RD_NAME, RD_NAME) \
	X(59, CDS, "CDS", RD_KEEP, RD_TEXT_FORM, 5, RD_MAX, "RFC 7344 section 3.1", \
	  RD_U16, RD_ALGORITHM, RD_U8, RD_HEX) \
	X(60, CDNSKEY, "CDNSKEY", RD_KEEP, RD_TEXT_FORM, 5, RD_MAX, "RFC 7344 section 3.2", \
	  RD_U16, RD_U8, RD_ALGORITHM, RD_BASE64) \
	X(61, OPENPGPKEY, "OPENPGPKEY", RD_KEEP, RD_TEXT_FORM, 1, RD_MAX, "RFC 7929 section 2.1", \
	  RD_BASE64) \
	X(62, CSYNC, "CSYNC", RD_KEEP, RD_TEXT_FORM, 6, RD_MAX, "RFC 7477 section 2.1.1", \
	  RD_U32, RD_U16, RD_BITMAP) \
	X(63, ZONEMD, "ZONEMD", RD_KEEP, RD_TEXT_FORM, 7, RD_MAX, "RFC 8976 section 2.2", \
	  RD_U32, RD_U8, RD_U8, RD_HEX) \
	X(64, SVCB, "SVCB", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 9460 section 2.2", \
	  RD_U16, RD_NAME, RD_SVCPARAMS) \
	X(65, HTTPS, "HTTPS", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 9460 section 9", \
	  RD_U16, RD_NAME, RD_SVCPARAMS) \
	X(66, DSYNC, "DSYNC", RD_KEEP, RD_GENERIC, 6, 260, "RFC 9859 section 2.1", \
	  RD_TYPE, RD_SCHEME, RD_U16, RD_NAME) \
	X(67, HHIT, "HHIT", RD_KEEP, RD_GENERIC, 1, RD_MAX, "RFC 9886 section 5.1", RD_BASE64) \
	X(68, BRID, "BRID", RD_KEEP, RD_GENERIC, 1, RD_MAX, "RFC 9886 section 5.2", RD_BASE64) \
	X(99, SPF, "SPF", RD_KEEP, RD_GENERIC, 1, RD_MAX, "RFC 7208 section 14.1", RD_STRINGS) \
	X(100, UINFO, "UINFO", RD_KEEP, RD_GENERIC, 0, RD_MAX, "IANA", RD_REST) \
	X(101, UID, "UID", RD_KEEP, RD_GENERIC, 0, RD_MAX, "IANA", RD_REST) \
	X(102, GID, "GID", RD_KEEP, RD_GENERIC, 0, RD_MAX, "IANA", RD_REST) \
	X(103, UNSPEC, "UNSPEC", RD_KEEP, RD_GENERIC, 0, RD_MAX, "IANA", RD_REST) \
	X(104, NID, "NID", RD_KEEP, RD_TEXT_FORM, 10, 10, "RFC 6742 section 2.1", \
	  RD_U16, RD_ILNP64) \
	X(105, L32, "L32", RD_KEEP, RD_TEXT_FORM, 6, 6, "RFC 6742 section 2.2", RD_U16, RD_IPV4) \
	X(106, L64, "L64", RD_KEEP, RD_TEXT_FORM, 10, 10, "RFC 6742 section 2.3", \
	  RD_U16, RD_ILNP64) \
	X(107, LP, "LP", RD_KEEP, RD_TEXT_FORM, 3, 257, "RFC 6742 section 2.4", RD_U16, RD_NAME) \
	X(108, EUI48, "EUI48", RD_KEEP, RD_TEXT_FORM, 6, 6, "RFC 7043 section 3", RD_EUI48) \
	X(109, EUI64, "EUI64", RD_KEEP, RD_TEXT_FORM, 8, 8, "RFC 7043 section 4", RD_EUI64) \
	X(128, NXNAME, "NXNAME", RD_KEEP, RD_META, 0, 0, "RFC 9824 section 2", RD_END) \
	X(249, TKEY, "TKEY", RD_KEEP, RD_META, 0, RD_MAX, "RFC 2930 section 2", RD_REST) \
	X(250, TSIG, "TSIG", RD_KEEP, RD_META, 0, RD_MAX, "RFC 8945 section 4.2", RD_REST) \
	X(251, IXFR, "IXFR", RD_KEEP, RD_META, 0, RD_MAX, "RFC 1995 section 3", RD_REST) \
	X(252, AXFR, "AXFR", RD_KEEP, RD_META, 0, RD_MAX, "RFC 5936 section 2.1", RD_REST) \
	X(253, MAILB, "MAILB", RD_KEEP, RD_META, 0, RD_MAX, "RFC 1035 section 3.2.3", RD_REST) \
	X(254, MAILA, "MAILA", RD_KEEP, RD_META, 0, RD_MAX, "RFC 1035 section 3.2.3", RD_REST) \
	X(255, ANY, "ANY", RD_KEEP, RD_META, 0, RD_MAX, "RFC 1035 section 3.2.3", RD_REST) \
	X(256, URI, "URI", RD_KEEP, RD_TEXT_FORM, 4, RD_MAX, "RFC 7553 section 4.5", \
	  RD_U16, RD_U16, RD_QUOTED) \
	X(257, CAA, "CAA", RD_KEEP, RD_TEXT_FORM, 3, RD_MAX, "RFC 8659 section 4.1", \
	  RD_U8, RD_TAG, RD_QUOTED) \
	X(258, AVC, "AVC", RD_KEEP, RD_GENERIC, 1, RD_MAX, "IANA", RD_STRINGS) \
	X(259, DOA, "DOA", RD_KEEP, RD_GENERIC, 10, RD_MAX, "draft-durand-doa-over-dns", \
	  RD_U32, RD_U32, RD_U8, RD_STRING, RD_BASE64_OPT) \
	X(260, AMTRELAY, "AMTRELAY", RD_KEEP, RD_GENERIC, 2, RD_MAX, "RFC 8777 section 4.2", \
	  RD_U8, RD_AMTRELAY) \
	X(261, RESINFO, "RESINFO", RD_KEEP, RD_GENERIC, 1, RD_MAX, "RFC 9606 section 4", \
	  RD_STRINGS) \
	X(262, WALLET, "WALLET", RD_KEEP, RD_GENERIC, 1, RD_MAX, "IANA", RD_STRINGS) \
	X(263, CLA, "CLA", RD_KEEP, RD_GENERIC, 1, RD_MAX, "draft-johnson-dns-ipn-cla", \
	  RD_STRINGS) \
	X(264, IPN, "IPN", RD_KEEP, RD_GENERIC, 8, 8, "draft-johnson-dns-ipn-cla", RD_U64) \
	X(32768, TA, "TA", RD_KEEP, RD_GENERIC, 5, RD_MAX, "IANA", \
	  RD_U16, RD_ALGORITHM, RD_U8, RD_HEX) \
	X(32769, DLV, "DLV", RD_KEEP, RD_GENERIC, 5, RD_MAX, "RFC 4431 section 3", \
	  RD_U16, RD_ALGORITHM, RD_U8, RD_HEX)
/* clang-format on */

#endif
