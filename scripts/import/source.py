# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of another name server as a tree of options, for all four syntaxes.

    top -> "server" -> "port" 53                  nsd.conf(5), unbound.conf(5)
    top -> "zone" -> "item" -> "domain" a.test    knot.conf(5): one item for each "- "
    top -> "zone" a.test IN -> "file" a.zone      named.conf(5)
    top -> "local-port" 53                        pdns.conf

Each parser reads a file, and each file that it includes at the place of the line that includes it.
Names of included files may have the wildcards of glob(7). A relative name is relative to the folder
of the file that includes it or, if it does not exist there, to the working directory. In named.conf
an option "directory" that comes before it goes first, as named changes to that folder at once.
"""
import glob
import os
import re
import stat

INCLUDES_MAX = 16
BRACES_MAX = 32
SIZE_MAX = 64 << 20


class Fault(Exception):
    """The file cannot be read. The text is "FILE:LINE: sentence"."""


class Node:
    """An option, its words without quotes, and the options in its block.

    `block` counts the blocks of the parent: in "deny-answer-addresses { a; } except-from { b; }"
    it is 0 for a and 1 for b.
    """

    def __init__(self, name, file, line, parent=None):
        self.name, self.file, self.line, self.parent = name, file, line, parent
        self.words, self.children, self.is_block, self.block = [], [], False, 0
        if parent is not None:
            self.block = parent.n_blocks
            parent.children.append(self)
        self.n_blocks = 0
        self.places = (None, 0, {})  # of many children: the list, its length, {name: places}

    def all(self, *names):
        """The children of these names, in their order."""
        children, n = self.children, len(self.children)
        if n < 64:
            return [child for child in children if child.name in names]
        if self.places[0] is not children or self.places[1] != n:
            self.places = (children, n, {})
            for i, child in enumerate(children):
                self.places[2].setdefault(child.name, []).append(i)
        found = [i for name in dict.fromkeys(names) for i in self.places[2].get(name, ())]
        return [children[i] for i in sorted(found)]

    def find(self, *names):
        """The last child of one of these names, which is the one that counts; or None."""
        found = self.all(*names)
        return found[-1] if found else None

    def word(self, at=0):
        return self.words[at] if at < len(self.words) else ""

    def text(self, *names):
        """The first word of that child; "" if there is none."""
        found = self.find(*names)
        return found.word() if found else ""

    def after(self, word):
        """The word behind this one: of "port" in "listen-on port 53 { }"; or None."""
        return self.words[self.words.index(word) + 1] if word in self.words[:-1] else None


def fail(file, line, sentence):
    raise Fault(f"{file}:{line}: {sentence}")


class Parser:
    """What the syntaxes share: files and the files that they include."""

    def __init__(self):
        self.top = Node("", "", 0)
        self.depth = 0
        self.seen = set()  # (device, number) of each file

    def read(self, path, place=None):
        """PLACE is (file, line) of the option that includes PATH."""
        where = f"{place[0]}:{place[1]}: " if place else ""
        if self.depth >= INCLUDES_MAX:
            raise Fault(f"{where}more than {INCLUDES_MAX} files include each other")
        try:
            self.check_kind(where, path, os.stat(path))  # to open a device may start something
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            with open(fd, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                known = os.fstat(fd)
                self.check_kind(where, path, known)
                self.seen.add((known.st_dev, known.st_ino))
                if known.st_size > SIZE_MAX:
                    raise Fault(f"{where}{path}: it is larger than {SIZE_MAX >> 20} MiB")
                text = file.read()
        except OSError as err:
            raise Fault(f"{where}{path}: {err.strerror}") from None
        if "\0" in text:
            fail(path, 1, "the file has a zero octet")
        self.depth += 1
        self.parse(str(path), text)
        self.depth -= 1

    @staticmethod
    def check_kind(where, path, known):
        if not stat.S_ISREG(known.st_mode):
            raise Fault(f"{where}{path}: it is not a regular file")

    def has_read(self, path):
        """True if PATH is one of the files that were read."""
        try:
            known = os.stat(path)
        except OSError:
            return False
        return (known.st_dev, known.st_ino) in self.seen

    def include(self, pattern, file, line):
        if not pattern:
            fail(file, line, "include needs the name of a file")
        for folder in (*self.folders(file), os.path.dirname(file), ""):
            path = os.path.join(folder, pattern)
            found = sorted(glob.glob(path))
            if found:
                break
        if os.path.isdir(path):
            found = sorted(glob.glob(os.path.join(glob.escape(path), "*")))
        elif not found and not re.search(r"[*?\[]", path):
            fail(file, line, f"{path}: No such file or directory")
        for name in found:
            if len(found) == 1 or not os.path.isdir(name):
                self.read(name, (file, line))

    def folders(self, _file):
        """Further folders to which the names of included files are relative, the first one first."""
        return ()

    def parse(self, file, text):
        raise NotImplementedError


# --- nsd.conf(5), unbound.conf(5) ------------------------------------------------------------------

SECTIONS = set("server remote-control zone pattern key tls-auth verify dnstap stub-zone forward-zone "
               "auth-zone rpz view python dynlib cachedb dnscrypt ipset".split())


class Flat(Parser):
    """ "server:" begins a section, "port: 53" is an option in it. A line may have several. The value
    may be on the next line, and nsd reads "Port:", too. A # within a word belongs to the word, as in
    forward-addr: 192.0.2.1@853#dns.example."""

    OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]*:(?=\s|$)")
    TIGHT = re.compile(r"[A-Za-z][^:\s]*:(?=\S)")  # "port:53"
    WORD = re.compile(r"""["']|[^\s"']\S*""")

    def __init__(self):
        super().__init__()
        self.section = None
        self.last = None  # the option without a value that was read last

    def parse(self, file, text):
        self.last = None
        for number, line in enumerate(text.split("\n"), 1):
            at = self.skip(line, 0)
            while at < len(line):
                match = self.OPTION.match(line, at) or self.TIGHT.match(line, at)
                if not match and self.last:
                    at = self.words(self.last, line, at, file, number)
                    continue
                if not match:
                    word, _at = self.word(line, at, file, number, "")
                    fail(file, number,
                         f"\"{word}\" is no option: a name and a colon are expected")
                at = self.option(match[0][:-1].lower(), line, match.end(), file, number)

    @staticmethod
    def skip(line, at):
        """The place of the next word, or the end of the line."""
        while at < len(line) and line[at] in " \t\r":
            at += 1
        return len(line) if line[at:at + 1] == "#" else at

    def word(self, line, at, file, number, name):
        match = self.WORD.match(line, at)
        if match[0] not in "\"'":
            return match[0], match.end()
        end = line.find(match[0], at + 1)
        if end < 0:
            fail(file, number, f"{name and name + ': '}a quote is not closed on this line")
        return line[at + 1:end], end + 1

    def words(self, node, line, at, file, number):
        """Adds the words up to the next option."""
        self.last = None
        while at < len(line) and not self.OPTION.match(line, at):
            word, at = self.word(line, at, file, number, node.name)
            node.words.append(word)
            at = self.skip(line, at)
        return at

    def option(self, name, line, at, file, number):
        read = Node(name, file, number)
        at = self.words(read, line, self.skip(line, at), file, number)
        words = read.words
        if name in ("include", "include-toplevel"):
            self.section = None if name == "include-toplevel" else self.section
            self.include(words[0] if words else "", file, number)
            self.section = None if name == "include-toplevel" else self.section
            return at
        if name in SECTIONS and not words:
            self.section = Node(name, file, number, self.top)
            self.section.is_block = True
            return at
        if not self.section:
            fail(file, number, f"{name} is in no section: \"server:\" or another section is "
                               "expected before it")
        node = Node(name, file, number, self.section)
        node.words = words
        self.last = None if words else node
        return at


# --- knot.conf(5) ---------------------------------------------------------------------------------


class Knot(Parser):
    """A word in the first column begins a section, and "- " an item. It is not YAML: a section may
    occur twice, and [127.0.0.1@53, ::1@53] and %s.zone need no quotes."""

    NAME = re.compile(r"[^: \t\r\n]+(?=:)")
    PLAIN = re.compile(r"[^, \t\r\n#]+")
    IN_LIST = re.compile(r"[^, \t\r\n\]#]+")

    def __init__(self):
        super().__init__()
        self.section = self.item = None

    def parse(self, file, text):
        self.section = self.item = None
        self.lines, self.number, self.file = text.split("\n"), 0, file
        while self.number < len(self.lines):
            self.number += 1
            self.line(self.lines[self.number - 1])

    def fail(self, sentence, line=None):
        fail(self.file, line or self.number, sentence)

    def line(self, line):
        at = Flat.skip(line, 0)
        if at == len(line):
            return
        is_first = at == 0
        is_item = line[at] == "-" and line[at + 1:at + 2] in (" ", "\t")
        if is_item:
            at, is_first = Flat.skip(line, at + 1), False
        match = self.NAME.match(line, at)
        if not match:
            self.fail(f"a name and a colon are expected, not \"{line[at:].rstrip()}\"")
        if is_first and match[0] == "include":
            saved = (self.lines, self.number, self.file)
            node = Node("include", self.file, self.number)
            self.values(node, line, match.end() + 1)
            self.include(node.word(), self.file, saved[1])
            self.lines, self.number, self.file = saved
            self.section = self.item = None
            return
        node = Node(match[0], self.file, self.number, self.place(is_first, is_item))
        if is_first:
            self.section, node.is_block = node, True
        self.values(node, line, match.end() + 1)

    def place(self, is_first, is_item):
        """The parent of this line's option: the top for a section, an item, or a section."""
        if is_first:
            self.item = None
            return self.top
        if not self.section:
            self.fail("this option is in no section")
        if is_item:
            self.item = Node("item", self.file, self.number, self.section)
            self.item.is_block = True
        return self.item or self.section

    def values(self, node, line, at):
        at = Flat.skip(line, at)
        if at == len(line):
            return
        if line[at] == "[":
            line, at = self.list(node, line, at + 1)
        else:
            at = self.value(node, line, at, self.PLAIN)
        if Flat.skip(line, at) != len(line):
            self.fail(f"{node.name}: there is more than one value: write a list in brackets")

    def value(self, node, line, at, plain):
        if line[at] != '"':
            match = plain.match(line, at)
            if not match:
                self.fail(f"{node.name}: a value is expected")
            node.words.append(match[0])
            return match.end()
        match = re.compile(r'"((?:\\.|[^"\\])*)"').match(line, at)
        if not match:
            self.fail(f"{node.name}: a quote is not closed on this line")
        node.words.append(re.sub(r"\\(.)", r"\1", match[1]))
        return match.end()

    def list(self, node, line, at):
        """Reads up to the bracket, which may be on a later line. Returns that line and place."""
        while True:
            at = Flat.skip(line, at)
            if at == len(line):
                if self.number == len(self.lines):
                    self.fail(f"{node.name}: the list is not closed", node.line)
                line, at = self.lines[self.number], 0
                self.number += 1
            elif line[at] == "]":
                return line, at + 1
            elif line[at] == ",":
                at += 1
            else:
                at = self.value(node, line, at, self.IN_LIST)


# --- named.conf(5) --------------------------------------------------------------------------------

# a semicolon must follow the closed brace of one of these
BLOCKS = set("acl controls dnssec-policy http key logging masters options primaries server tls view "
             "zone key-store template remote-servers parental-agents".split())


class Named(Parser):
    """Words, braces and semicolons, three kinds of comments. An include is also a node."""

    TOKEN = re.compile(r"""(?P<space>[ \t\r\n]+|(?:\#|//)[^\n]*|/\*.*?\*/)
                       |(?P<quoted>"(?:\\"|[^"\n])*")|(?P<mark>[{};!])
                       |(?P<word>(?:(?!/[/*])[^ \t\r\n{};"!])(?:(?!/[/*])[^ \t\r\n{};"])*)
                       |(?P<open>/\*|")""", re.X | re.S)

    def __init__(self):
        super().__init__()
        self.place = self.top

    def folders(self, file):
        options = self.top.find("options")
        folder = options.text("directory") if options else ""
        return (os.path.join(os.path.dirname(file), folder),) if folder else ()

    def parse(self, file, text):
        outer, node, depth, line, at = self.place, None, 0, 1, 0
        while at < len(text):
            match = self.TOKEN.match(text, at)
            kind, token = match.lastgroup, match[0]
            if kind == "open":
                fail(file, line, "the comment is not closed" if token == "/*" else
                     "a quote is not closed on this line")
            if kind == "mark" and token == "}":
                if node:
                    fail(file, line, "a semicolon is expected before the brace")
                if not depth:
                    fail(file, line, "a brace is closed, but none is open")
                depth -= 1
                node, self.place = self.place, self.place.parent
            elif kind == "mark" and token == ";":
                if node and node.name == "include" and not node.is_block:
                    self.include(node.word(), file, node.line)
                node = None
            elif kind != "space":
                self.check_end(node, file, line)
                if token == "{":
                    depth += 1
                    if depth > BRACES_MAX:
                        fail(file, line, f"more than {BRACES_MAX} braces are open")
                    node = node or Node("", file, line, self.place)
                    node.n_blocks += node.is_block
                    node.is_block = True
                    self.place, node = node, None
                else:
                    word = token[1:-1].replace('\\"', '"') if kind == "quoted" else token
                    if node:
                        node.words.append(word)
                    else:
                        node = Node(word.lower() if kind == "word" else word, file, line,
                                    self.place)  # named reads "Options" and "ANY", too
            line += token.count("\n")
            at = match.end()
        if depth:
            fail(file, self.place.line, f"the brace of \"{self.place.name}\" is not closed")
        if node:
            fail(file, node.line, f"a semicolon is expected after \"{node.name}\"")
        self.place = outer

    def check_end(self, node, file, line):
        """After a closed brace more words may follow, as in "response-policy { ... } log no;"."""
        if node and node.is_block and node.name in BLOCKS and \
                (self.place is self.top or self.place.name == "view"):
            fail(file, line, f"a semicolon is expected after the brace of \"{node.name}\"")


# --- pdns.conf ------------------------------------------------------------------------------------


class Pdns(Parser):
    """ "name=value", and "name+=value", which adds to a list: then is_added is true. A name alone is
    a switch that is on. A backslash at the end of a line continues it, and a # begins a comment if
    nothing or a space is before it. The files of include-dir are read behind the file that names
    it, so their settings count."""

    LINE = re.compile(r"([A-Za-z0-9-]+)\s*(?:(\+?=)\s*(.*))?", re.S)

    def parse(self, file, text):
        first, line = 0, ""
        for number, part in enumerate(text.split("\n"), 1):
            first, part = first if line else number, part.rstrip()
            if part.endswith("\\"):
                line += part[:-1]
                continue
            self.line(file, first, re.sub(r"(^|\s)#.*", "", line + part, flags=re.S).strip())
            line = ""
        if self.depth == 1:
            self.include_folder()

    def line(self, file, number, line):
        match = self.LINE.fullmatch(line)
        if match:
            node = Node(match[1], file, number, self.top)
            node.words, node.is_added = [match[3] or ""], match[2] == "+="
        elif line:
            fail(file, number, "the name of a setting and = are expected")

    def include_folder(self):
        node = self.top.find("include-dir")
        if node is None or not node.word():
            return
        try:
            names = os.listdir(node.word())
        except OSError as err:
            fail(node.file, node.line, f"{node.word()}: {err.strerror}")
        for name in sorted(names, key=str.lower):
            if name.endswith(".conf") and name[0] != ".":
                self.read(os.path.join(node.word(), name), (node.file, node.line))
