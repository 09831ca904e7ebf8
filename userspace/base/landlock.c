/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debian 12's linux/landlock.h ends with ABI 2. */
#define GET_VERSION 1u
#define PATH_RULE   1
#define PORT_RULE   2 /* ABI 4 */
#define ABI_TCP     4
#define ABI_SCOPES  6

#define EXECUTE      (1ull << 0)
#define WRITE_FILE   (1ull << 1)
#define READ_FILE    (1ull << 2)
#define READ_FOLDER  (1ull << 3)
#define OF_ABI_1     ((1ull << 13) - 1)
#define REFER        (1ull << 13) /* ABI 2 */
#define TRUNCATE     (1ull << 14) /* ABI 3 */
#define IOCTL_DEV    (1ull << 15) /* ABI 5 */
#define MAKE_DEVICES (1ull << 6 | 1ull << 11)

#define BIND_TCP    (1ull << 0)
#define CONNECT_TCP (1ull << 1)

#define SCOPE_SOCKETS (1ull << 0) /* abstract ones */
#define SCOPE_SIGNALS (1ull << 1)

#define OF_FILES (WRITE_FILE | READ_FILE | TRUNCATE)

struct path_rule {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

struct port_rule {
	uint64_t rights;
	uint64_t port;
};

/* A kernel of an earlier ABI takes a shorter one. */
struct handled {
	uint64_t files;
	uint64_t tcp;
	uint64_t scopes;
};

/* Of the system: libraries that are loaded late (name services), time zones, authorities of TLS.
 * /etc has files of others, so only these in it. */
static const char *const of_libraries[] = {
	"/usr",
	"/lib",
	"/lib64",
	"/dev/urandom",
	"/dev/random",
	"/etc/ssl",
	"/etc/pki",
	"/etc/ca-certificates",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/passwd",
	"/etc/group",
	"/etc/nsswitch.conf",
	"/etc/hosts",
	"/etc/resolv.conf",
	"/etc/host.conf",
	"/etc/gai.conf",
	"/etc/services",
	"/etc/protocols",
	"/etc/gnutls",
};

/* A rule for one of these would allow the host's files. */
static const char *const too_wide[] = {
	"/",     "/etc",  "/usr",     "/var",     "/dev",       "/proc", "/sys",
	"/home", "/root", "/boot",    "/bin",     "/sbin",      "/lib",  "/lib64",
	"/opt",  "/run",  "/var/lib", "/var/log", "/usr/local",
};

static uint64_t rights_of_abi(long abi)
{
	return OF_ABI_1 | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) |
	       (abi >= 5 ? IOCTL_DEV : 0);
}

static long get_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);
}

int landlock_open(enum landlock_reach reach)
{
	const long abi = get_abi();
	const bool has_tcp = reach == LANDLOCK_FILES_AND_TCP && abi >= ABI_TCP;
	const bool has_scopes = reach == LANDLOCK_FILES_AND_TCP && abi >= ABI_SCOPES;
	const struct handled handled = {
		.files = abi > 0 ? rights_of_abi(abi) : 0,
		.tcp = has_tcp ? BIND_TCP | CONNECT_TCP : 0,
		.scopes = has_scopes ? SCOPE_SOCKETS | SCOPE_SIGNALS : 0,
	};
	const size_t n = has_scopes ? sizeof(handled) :
			 has_tcp    ? offsetof(struct handled, scopes) :
				      offsetof(struct handled, tcp);
	long fd;

	if (abi < 0)
		return -errno;
	fd = syscall(SYS_landlock_create_ruleset, &handled, n, 0);
	return fd < 0 ? -errno : (int)fd;
}

int landlock_allow(int rules, const char *path, enum landlock_right right)
{
	struct path_rule rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int err = 0;

	if (rule.fd < 0)
		return -errno;
	rule.rights = right == LANDLOCK_READ ?
			      READ_FILE | READ_FOLDER :
			      rights_of_abi(get_abi()) & ~(EXECUTE | IOCTL_DEV | MAKE_DEVICES);
	if (fstat(rule.fd, &st))
		err = -errno;
	else if (!S_ISDIR(st.st_mode))
		rule.rights &= OF_FILES;
	if (!err && syscall(SYS_landlock_add_rule, rules, PATH_RULE, &rule, 0))
		err = -errno;
	close(rule.fd);
	return err;
}

void landlock_allow_libraries(int rules)
{
	static const char *const of_env[] = { "OPENSSL_CONF", "SSL_CERT_FILE", "SSL_CERT_DIR" };
	const char *path;

	for (size_t i = 0; i < sizeof(of_libraries) / sizeof(of_libraries[0]); i++)
		(void)!landlock_allow(rules, of_libraries[i], LANDLOCK_READ);
	for (size_t i = 0; i < sizeof(of_env) / sizeof(of_env[0]); i++)
		if ((path = getenv(of_env[i])))
			(void)!landlock_allow(rules, path, LANDLOCK_READ);
}

static int allow_port_rule(int rules, uint64_t right, uint16_t port)
{
	const struct port_rule rule = { .rights = right, .port = port };

	if (get_abi() < ABI_TCP)
		return 0;
	return syscall(SYS_landlock_add_rule, rules, PORT_RULE, &rule, 0) ? -errno : 0;
}

int landlock_allow_connect(int rules, uint16_t port)
{
	return allow_port_rule(rules, CONNECT_TCP, port);
}

int landlock_allow_bind(int rules, uint16_t port)
{
	return allow_port_rule(rules, BIND_TCP, port);
}

size_t landlock_folder_bytes(const char *path)
{
	size_t n = strcspn(path, "%");
	const char *slash = memrchr(path, '/', n);

	return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

bool landlock_is_too_wide(const char *folder)
{
	char real[PATH_MAX];

	if (!realpath(folder, real))
		return false;
	for (size_t i = 0; i < sizeof(too_wide) / sizeof(too_wide[0]); i++)
		if (!strcmp(real, too_wide[i]))
			return true;
	return false;
}

int landlock_enforce(int rules)
{
	int err = syscall(SYS_landlock_restrict_self, rules, 0) ? -errno : 0;

	close(rules);
	return err;
}
