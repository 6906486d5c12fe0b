"""Small plausible changes to C++ sources, for scripts/mutate.py.

The kinds are those that mutation tools have found to be enough (Offutt's selective operators, PIT's defaults: relations, logic, arithmetic, conditions,
dropped statements, return values), and a few mistakes that this code invites: the wrong end of a range, any for all, a lock that is not taken.
Sources are read as tokens, not parsed: what a change makes of them need not compile. Nothing is changed in comments, strings, preprocessor lines,
STOWAGE_CHECK and static_assert (they only abort), calls of reserve (which only save time) and named constants (which are tuning).
"""

import bisect
import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
      | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<name>[A-Za-z_]\w*)
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<sign><=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|[-+*/%&|^=!<>]=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(OPENING.values())
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
LOGIC = {"&&": "||", "||": "&&"}
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "any_of": "all_of", "all_of": "any_of", "none_of": "any_of",
         "lower_bound": "upper_bound", "upper_bound": "lower_bound", "front": "back", "back": "front", "lower": "upper", "upper": "lower"}
MEMBERS = {"front", "back", "lower", "upper"}  # changed only behind a dot
LOCKS = {"lock_guard", "scoped_lock", "unique_lock", "shared_lock"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
NO_EXPRESSION = {"auto", "break", "case", "class", "const", "constexpr", "continue", "default", "delete", "do", "else", "enum", "for", "goto", "if",
                 "namespace", "new", "private", "protected", "public", "return", "static", "static_assert", "struct", "switch", "template", "throw",
                 "try", "typedef", "union", "using", "while", "STOWAGE_TRY"}
UNTOUCHED_CALLS = {"STOWAGE_CHECK", "static_assert", "alignas", "noexcept", "reserve", "decltype", "sizeof"}


@dataclasses.dataclass(frozen=True)
class Change:
    """Characters [begin, end) of a file are replaced by a text."""

    file: str
    begin: int
    end: int
    text: str
    kind: str
    line: int    # of `begin`, from 1
    before: str  # the lines concerned, as one line with single blanks; identifies the change when lines move
    after: str

    def apply(self, source):
        return source[:self.begin] + self.text + source[self.end:]


@dataclasses.dataclass
class Token:
    text: str
    begin: int
    end: int
    kind: str
    partner: int = -1      # of a bracket: the index of the other one
    parent: int = -1       # the index of the bracket around it
    is_code: bool = False  # of "{": begins statements


def one_line(text):
    return " ".join(text.split())


def changes_of(file, source):
    """All changes of a source, in order of position; none of them changes what the compiler sees as blanks only."""
    return Finder(file, source).run()


class Finder:
    def __init__(self, file, source):
        self.file, self.source = file, source
        self.lines = [match.start() for match in re.finditer(r"^", source, re.MULTILINE)]
        self.tokens = [Token(m[0], m.start(), m.end(), m.lastgroup if m.lastgroup != "mark" else "string")
                       for m in TOKEN.finditer(source) if m.lastgroup != "skip"]
        self.found = {}
        self.pair_brackets()
        self.skipped = self.find_skipped()

    def run(self):
        for at, token in enumerate(self.tokens):
            if self.is_skipped(at):
                continue
            if token.kind == "sign":
                self.change_sign(at)
            elif token.kind == "number":
                self.change_number(at)
            elif token.kind == "name":
                self.change_word(at)
            if self.begins_statement(at):
                self.drop_statement(at)
        return sorted(self.found.values(), key=lambda change: (change.begin, change.end, change.text))

    # ------------------------------------------------------------------------------------------------------- structure

    def text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def pair_brackets(self):
        stack = []
        for at, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in CLOSING and stack:
                token.partner = stack.pop()
                self.tokens[token.partner].partner = at
            token.parent = stack[-1] if stack else -1
            if token.kind == "sign" and token.text in OPENING:
                token.is_code = token.text == "{" and self.opens_code(at)
                stack.append(at)

    def opens_code(self, at):
        """Whether the brace begins a block of statements, not a type, a namespace or an initialiser."""
        parent = self.tokens[at].parent
        in_code = parent >= 0 and self.tokens[parent].is_code
        before = self.text(at - 1)
        if before in (")", "]", "else", "do", "try", "noexcept", "mutable", "override"):
            return True
        if before in (";", "{", ":"):
            return in_code
        if before == "}":
            return in_code or self.tokens[self.tokens[at - 1].partner].is_code is False and parent >= 0
        return self.follows_signature(at)

    def follows_signature(self, at):
        """Whether `) const`, or `) -> type`, comes before the brace."""
        for back in range(at - 1, max(at - 20, -1), -1):
            if self.text(back) in (";", "{", "}", "=", "(", "return", "class", "struct", "enum", "namespace", "union"):
                return False
            if self.text(back) == ")":
                return self.text(back + 1) in ("->", "const", "noexcept", "override", "final")
        return False

    def find_skipped(self):
        """Ranges of token indices in which nothing is changed."""
        ranges = []
        for at, token in enumerate(self.tokens):
            if token.text in UNTOUCHED_CALLS and self.text(at + 1) == "(":
                ranges.append((at, self.tokens[at + 1].partner))
            elif token.text == "[" and self.text(at + 1) == "[":
                ranges.append((at, token.partner))
            elif token.text in ("template", "operator", "enum", "using") or self.is_tuning(at):
                ranges.append((at, self.end_of_head(at)))
        return ranges

    def is_tuning(self, at):
        """Whether a constant is named here. That a depth is 15 instead of 16 is no mistake that a test should find."""
        return self.text(at) == "constexpr" and any(re.fullmatch(r"k[A-Z]\w*", self.text(k)) and self.text(k + 1) in ("=", "{", "[", "(")
                                                    for k in range(at, min(at + 12, len(self.tokens))))

    def end_of_head(self, at):
        if self.text(at) == "operator":
            return at + 2
        depth = 0
        for ahead in range(at + 1, len(self.tokens)):
            text = self.text(ahead)
            depth += (text == "<") - (text == ">") - 2 * (text == ">>")
            if text == ";" or (self.text(at) == "template" and text in (">", ">>") and depth <= 0):
                return ahead
            if text == "{" and self.text(at) != "constexpr":
                return self.tokens[ahead].partner if self.text(at) == "enum" else ahead
        return len(self.tokens)

    def is_skipped(self, at):
        return any(first <= at <= last for first, last in self.skipped)

    def is_apart(self, at):
        """Whether blanks surround the token, as they do binary operators, and no template brackets."""
        token = self.tokens[at]
        return self.source[token.begin - 1].isspace() and self.source[token.end:token.end + 1].isspace()

    # --------------------------------------------------------------------------------------------------------- changes

    def add(self, begin, end, text, kind):
        if self.source[begin:end].split() == text.split():
            return
        first = self.lines[bisect.bisect_right(self.lines, begin) - 1]
        last = self.source.find("\n", max(end - 1, begin))
        last = len(self.source) if last < 0 else last
        before = self.source[first:last]
        after = self.source[first:begin] + text + self.source[end:last]
        line = bisect.bisect_right(self.lines, begin)
        self.found.setdefault((begin, end, text), Change(self.file, begin, end, text, kind, line, one_line(before), one_line(after)))

    def replace(self, at, text, kind):
        self.add(self.tokens[at].begin, self.tokens[at].end, text, kind)

    def change_sign(self, at):
        text = self.text(at)
        if text in RELATIONS and self.is_apart(at):
            self.replace(at, RELATIONS[text], "relation")
        elif text in LOGIC and self.is_apart(at):
            self.change_logic(at)
        elif text == "?":
            begin = self.operand_begin(at)
            self.add(begin, self.tokens[at - 1].end, f"!({self.source[begin:self.tokens[at - 1].end]})", "condition")
        elif text in ("++", "--") and self.text(self.tokens[at].parent - 1) != "for":
            self.replace(at, ARITHMETIC[text], "arithmetic")
        elif text in ARITHMETIC and text not in ("++", "--") and self.is_apart(at):
            self.replace(at, ARITHMETIC[text], "arithmetic")

    def change_number(self, at):
        text = self.text(at)
        if not re.fullmatch(r"(0|[1-9][\d']*)[uUlLzZ]*", text):
            return
        if self.text(at - 1) == "=" and self.text(at - 2) in (")", "const", "noexcept", "override"):
            return  # a pure virtual function
        digits = re.match(r"[\d']+", text)[0]
        value, suffix = int(digits.replace("'", "")), text[len(digits):]
        self.replace(at, f"{value + 1}{suffix}", "constant")
        if value > 0:
            self.replace(at, f"{value - 1}{suffix}", "constant")

    def change_word(self, at):
        text = self.text(at)
        if text in WORDS and (text not in MEMBERS or self.text(at - 1) == "."):
            self.replace(at, WORDS[text], "word")
        elif text == "if" and self.text(at + 1) == "(":
            self.change_condition(at + 1)
        elif text == "return":
            self.change_return(at)

    def change_condition(self, opening):
        """A condition is negated, or never true."""
        closing = self.tokens[opening].partner
        first = opening + 1
        for at in range(first, closing):
            if self.tokens[at].parent == opening and self.text(at) == ";":
                first = at + 1
        inside = [self.text(at) for at in range(first, closing) if self.tokens[at].parent == opening]
        if "=" in inside or first >= closing:
            return  # a declaration
        begin, end = self.tokens[first].begin, self.tokens[closing - 1].end
        condition = self.source[begin:end]
        self.add(begin, end, f"!({condition})", "condition")
        self.add(begin, end, f"false && ({condition})", "never")

    def change_return(self, at):
        """Returns a default value instead."""
        end = at + 1
        while end < len(self.tokens) and not (self.text(end) == ";" and self.tokens[end].parent == self.tokens[at].parent):
            end += 1
        value = one_line(self.source[self.tokens[at + 1].begin:self.tokens[end - 1].end]) if end > at + 1 else ""
        if value in ("", "{}", "true", "false", "0", "nullptr", "std::nullopt", "*this", "Done{}") or value.startswith("Error{"):
            return
        self.add(self.tokens[at + 1].begin, self.tokens[end - 1].end, "{}", "return")

    # ----------------------------------------------------------------------------------------------------------- logic

    def is_boundary(self, at):
        return self.text(at) in ("(", "{", "[", ")", "}", "]", ",", ";", "?", ":", "=", "return", "", "|=", "&=") and self.tokens[at].kind != "string"

    def operand_begin(self, at):
        """Where the expression on the left of an operator begins that a logical operator or a condition belongs to."""
        back = at - 1
        while back >= 0:
            token = self.tokens[back]
            if token.kind == "sign" and token.text in CLOSING and token.partner >= 0:
                back = token.partner - 1
                continue
            if self.is_boundary(back):
                break
            back -= 1
        return self.tokens[back + 1].begin

    def chain(self, at):
        """(begin, end, operators) of the operands around a logical operator that equal operators join."""
        operators, ends = [at], []
        for step in (-1, 1):
            here = at + step
            while 0 <= here < len(self.tokens):
                token = self.tokens[here]
                if token.kind == "sign" and token.text in (CLOSING if step < 0 else OPENING) and token.partner >= 0:
                    here = token.partner + step
                    continue
                if self.is_boundary(here) or (token.text in LOGIC and token.text != self.text(at)):
                    break
                if token.text == self.text(at) and token.kind == "sign":
                    operators.append(here)
                here += step
            ends.append(here)
        return self.tokens[ends[0] + 1].begin, self.tokens[ends[1] - 1].end, sorted(operators)

    def change_logic(self, at):
        """Two operands: the other operator. In any case each operand is dropped; once per operator, its right one."""
        begin, end, operators = self.chain(at)
        token = self.tokens[at]
        if len(operators) == 1:
            self.replace(at, LOGIC[token.text], "logic")
        if at == operators[0]:
            self.add(begin, self.tokens[at + 1].begin, "", "operand")
        following = [each for each in operators if each > at]
        self.add(self.tokens[at - 1].end, self.tokens[following[0] - 1].end if following else end, "", "operand")

    # ------------------------------------------------------------------------------------------------------ statements

    def begins_statement(self, at):
        token = self.tokens[at]
        if token.parent < 0 or not self.tokens[token.parent].is_code:
            return False
        before = self.text(at - 1)
        if before in (";", "{", "}", "else"):
            return True
        if before != ")":
            return False
        opening = self.tokens[at - 1].partner
        keyword = self.text(opening - 1)
        return keyword in ("if", "for", "while") or (keyword == "constexpr" and self.text(opening - 2) == "if")

    def drop_statement(self, at):
        end = at
        while end < len(self.tokens) and not (self.text(end) == ";" and self.tokens[end].parent == self.tokens[at].parent):
            if self.text(end) == "}" and self.tokens[end].parent != self.tokens[at].parent and self.tokens[end].partner < at:
                return
            end += 1
        if end >= len(self.tokens):
            return
        words = [self.text(k) for k in range(at, end) if self.tokens[k].parent == self.tokens[at].parent]
        if not words or self.is_skipped(end - 1) or "reserve" in words:
            return
        if LOCKS & set(words) and "=" not in words:
            self.add(self.tokens[at].begin, self.tokens[end].end, "{}", "lock")
        elif words in (["break"], ["continue"]):
            self.add(self.tokens[at].begin, self.tokens[end].end, "{}", "statement")
        elif words[0] not in NO_EXPRESSION and self.is_expression(at, end):
            kind = "lock" if len(words) > 1 and words[-3:] in (["lock", "(", ")"], ["unlock", "(", ")"]) else "statement"
            self.add(self.tokens[at].begin, self.tokens[end].end, "{}", kind)

    def is_expression(self, at, end):
        """Whether the tokens are a call, an assignment or an increment, not a declaration."""
        while self.text(at) in ("*", "++", "--"):
            if self.text(at) in ("++", "--"):
                return True
            at += 1
        here, was_name = at, False
        while here < end:
            token = self.tokens[here]
            if token.text in ASSIGNMENTS or token.text in ("++", "--"):
                return True
            if token.text in OPENING and token.text != "{":
                here, was_name = token.partner + 1, False
                continue
            if token.text == "<" and self.closes_template(here, end) > 0:
                here, was_name = self.closes_template(here, end) + 1, True
                continue
            is_name = token.kind == "name"
            if (is_name and was_name) or not (is_name or token.text in (".", "->", "::")):
                return False
            here, was_name = here + 1, is_name
        return self.text(end - 1) == ")"

    def closes_template(self, at, end):
        """The index of the matching ">", or -1."""
        depth = 0
        for ahead in range(at, end):
            depth += (self.text(ahead) == "<") - (self.text(ahead) == ">") - 2 * (self.text(ahead) == ">>")
            if depth == 0:
                return ahead
            if self.text(ahead) in (";", "&&", "||"):
                return -1
        return -1
