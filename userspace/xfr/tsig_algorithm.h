/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The algorithms of TSIG: RFC 8945 section 6. A part that names one needs nothing else of TSIG. */
#ifndef VOLLEY_XFR_TSIG_ALGORITHM_H
#define VOLLEY_XFR_TSIG_ALGORITHM_H

/*
 * identifier, folded wire name, OpenSSL's name of the digest, octets. The order is that of the
 * choices of keys[].algorithm. The last three are for servers that have no better one (RFC 8945
 * section 6); MD5 has a name of its own (RFC 2845 section 2.3).
 */
#define TSIG_ALGORITHMS(X)                        \
	X(SHA256, "\13hmac-sha256", "SHA256", 32) \
	X(SHA384, "\13hmac-sha384", "SHA384", 48) \
	X(SHA512, "\13hmac-sha512", "SHA512", 64) \
	X(SHA224, "\13hmac-sha224", "SHA224", 28) \
	X(SHA1, "\11hmac-sha1", "SHA1", 20)       \
	X(MD5, "\10hmac-md5\7sig-alg\3reg\3int", "MD5", 16)

enum tsig_algorithm {
#define TSIG_ALGORITHM(id, name, digest, bytes) TSIG_##id,
	TSIG_ALGORITHMS(TSIG_ALGORITHM)
#undef TSIG_ALGORITHM
		TSIG_N_ALGORITHMS,
};

#endif
