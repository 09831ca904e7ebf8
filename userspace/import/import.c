/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/import.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/regular.h"
#include "base/replace.h"
#include "import/import_servers.h"
#include "import/parse.h"
#include "import/peers.h"
#include "import/yaml.h"

enum exit_code { EXIT_DONE, EXIT_LEFT_OUT, EXIT_USAGE };

static const struct server {
	const char *word;
	int (*parse)(struct import_tree *tree, const char *path);
	void (*carry)(struct import *import, const char *path);
	const char *signs; /* words that only its files have, with spaces between them */
} servers[] = {
	[IMPORT_NSD] = { "nsd", import_parse_flat, import_nsd,
			 "request-xfr: provide-xfr: zonesdir: allow-notify: zonefile: ip-address: "
			 "server-count:" },
	[IMPORT_KNOT] = { "knot", import_parse_knot, import_knot,
			  "domain: id: rundir: automatic-acl: target:" },
	[IMPORT_NAMED] = { "named", import_parse_named, import_named,
			   "options acl zone view controls logging" },
	[IMPORT_UNBOUND] = { "unbound", import_parse_flat, import_unbound,
			     "access-control: forward-zone: stub-zone: auth-zone: local-zone: "
			     "local-data: interface: include-toplevel: auto-trust-anchor-file:" },
};

#define N_SERVERS (sizeof(servers) / sizeof(servers[0]))

enum import_kind import_kind_of_word(const char *word)
{
	for (size_t i = 1; i < N_SERVERS; i++)
		if (!strcmp(word, servers[i].word))
			return (enum import_kind)i;
	return IMPORT_UNKNOWN;
}

/* Decides by the first word of the line, after "- ". */
static enum import_kind kind_of_line(char *line)
{
	char *word, *rest = line + strspn(line, " \t-");
	bool has_brace = strchr(line, '{') != NULL;

	word = strsep(&rest, " \t\r\n{");
	if (!word || !*word)
		return IMPORT_UNKNOWN;
	for (size_t i = 1; i < N_SERVERS; i++) {
		const char *at = strstr(servers[i].signs, word);
		size_t len = strlen(word);

		if (at && (at == servers[i].signs || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' ') && has_brace == (i == IMPORT_NAMED))
			return (enum import_kind)i;
	}
	return IMPORT_UNKNOWN;
}

enum import_kind import_kind_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	enum import_kind kind = IMPORT_UNKNOWN;
	char line[4096];
	FILE *in;

	for (size_t i = 1; i < N_SERVERS; i++)
		if (strstr(name, servers[i].word))
			return (enum import_kind)i;
	if (regular_fopen(&in, path, NULL))
		return IMPORT_UNKNOWN;
	while (!kind && fgets(line, sizeof(line), in))
		kind = kind_of_line(line);
	fclose(in);
	return kind;
}

static void put(FILE *out, const struct import *import, const char *path, enum import_kind kind)
{
	static const char *const sections[] = { "server", "interfaces", "cache",   "control",
						"keys",   "remotes",    "signing", "templates",
						"zones",  "recursion",  "rrl" };
	json_t *sorted = json_object();

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (json_object_get(import->out, sections[i]))
			json_object_set(sorted, sections[i],
					json_object_get(import->out, sections[i]));
	fprintf(out, "# Made by \"volleyctl import\" of the configuration of %s, ",
		servers[kind].word);
	for (const char *c = path; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, out);
	fputs(json_object_get(import->out, "keys") ?
		      ".\n# It has secrets: do not let others read it.\n" :
		      ".\n",
	      out);
	if (!json_object_get(import->out, "interfaces"))
		fputs("# To answer in the driver, name the interfaces: interfaces: [{name: "
		      "eth0}]\n",
		      out);
	import_yaml_put(out, sorted);
	json_decref(sorted);
}

int import_run(FILE *out, FILE *notes, const char *path, enum import_kind kind)
{
	struct import import = { .notes = notes,
				 .out = json_object(),
				 .said = json_object(),
				 .lost_keys = json_object() };
	int ret = servers[kind].parse(&import.tree, path);

	if (ret) {
		fprintf(notes, "%s\n", import.tree.error);
	} else {
		servers[kind].carry(&import, path);
		import_finish_zones(&import);
		ret = import.has_no_memory || !import.out ? -ENOMEM : (int)import.n_lost;
		if (ret >= 0 && import.is_not_utf8) {
			ret = -EILSEQ;
			fprintf(notes, "%s: a name in it is not UTF-8\n", path);
		} else if (ret >= 0)
			put(out, &import, path, kind);
		else
			fprintf(notes, "%s: %s\n", path, err_text(ret));
	}
	import_tree_free(&import.tree);
	json_decref(import.out);
	json_decref(import.said);
	json_decref(import.lost_keys);
	return ret;
}

/* --- The command ------------------------------------------------------------------------------ */

struct wish {
	const char *file, *from, *output;
};

static bool read_words(struct wish *wish, int n, char **words)
{
	for (int i = 0; i < n; i++) {
		bool is_from = !strcmp(words[i], "--from"), is_output = !strcmp(words[i], "-o");

		if ((is_from || is_output) && i + 1 == n)
			return false;
		if (is_from)
			wish->from = words[++i];
		else if (is_output)
			wish->output = words[++i];
		else if (*words[i] == '-' || wish->file)
			return false;
		else
			wish->file = words[i];
	}
	return wish->file != NULL;
}

/* Replaces the file PATH by TEXT. Only this user may read it. */
static int write_file(const char *path, const char *text, size_t n)
{
	char target[PATH_MAX], *tmp = NULL;
	int fd, ret = replace_find(path, target, sizeof(target));

	if (ret)
		return ret;
	if (asprintf(&tmp, "%s.new", target) < 0)
		return -ENOMEM;
	fd = replace_open(tmp);
	ret = fd < 0 ? fd : replace_clear(fd);
	for (size_t done = 0; !ret && done < n;) {
		ssize_t step = write(fd, text + done, n - done);

		if (step < 0 && errno != EINTR)
			ret = -errno;
		else if (step > 0)
			done += (size_t)step;
	}
	if (!ret && fsync(fd))
		ret = -errno;
	if (!ret)
		ret = replace_finish(tmp, target);
	if (ret && fd >= 0)
		replace_drop(fd, tmp);
	if (fd >= 0)
		close(fd);
	free(tmp);
	return ret;
}

static int run_to_file(const struct wish *wish, FILE *errors, enum import_kind kind)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	int ret = out ? import_run(out, errors, wish->file, kind) : -ENOMEM, err = 0;

	if (out && fclose(out))
		ret = -ENOMEM;
	if (ret >= 0)
		err = write_file(wish->output, text, n);
	if (text)
		explicit_bzero(text, n);
	free(text);
	if (err)
		fprintf(errors, "volleyctl: %s: %s%s\n", wish->output, err_text(err),
			err == ERR_NOT_REGULAR ?
				": without -o the configuration goes to the standard output" :
				"");
	return err ? err : ret;
}

int import_command(FILE *out, FILE *errors, int n, char **words)
{
	struct wish wish = { 0 };
	enum import_kind kind;
	int ret;

	if (!read_words(&wish, n, words)) {
		fputs("usage: volleyctl import FILE [--from nsd|knot|named|unbound] [-o FILE]\n",
		      errors);
		return EXIT_USAGE;
	}
	kind = wish.from ? import_kind_of_word(wish.from) : import_kind_of_file(wish.file);
	if (kind == IMPORT_UNKNOWN) {
		fprintf(errors,
			"volleyctl: import: %s: it is not clear of which server it is: give --from "
			"nsd, knot, named or unbound\n",
			wish.file);
		return EXIT_USAGE;
	}
	ret = wish.output ? run_to_file(&wish, errors, kind) :
			    import_run(out, errors, wish.file, kind);
	return ret ? EXIT_LEFT_OUT : EXIT_DONE;
}
