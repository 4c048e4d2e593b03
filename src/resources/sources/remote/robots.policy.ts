/** The name of this service in robots.txt. */
const ROBOT_NAME = 'verbatim';

/** The number of rules that are read for one robot. */
const RULES_MAX = 1_000;
/** A longer pattern is ignored. People do not write such patterns. */
const PATTERN_CHARACTERS_MAX = 500;

type Rule = Readonly<{ allows: boolean; length: number; pieces: readonly [string, ...string[]]; endsThere: boolean }>;

/**
 * Parses robots.txt to a check of paths. The rules for this robot apply, else those for all. The longest matching rule decides.
 */
export function robotsRules(text: string): (path: string) => boolean {
  const groups = new Map<string, Rule[]>();
  let named: Rule[][] = [];
  let isNaming = false;
  for (const line of text.split(/\r?\n|\r/)) {
    const [field, value] = statementIn(line);
    if (field === 'user-agent') {
      if (!isNaming) named = [];
      isNaming = true;
      const name = value.toLowerCase();
      if (name !== ROBOT_NAME && name !== '*') continue;
      const group = groups.get(name) ?? [];
      groups.set(name, group);
      if (!named.includes(group)) named.push(group);
    } else if (field === 'allow' || field === 'disallow') {
      isNaming = false;
      if (value === '' || value.length > PATTERN_CHARACTERS_MAX) continue;
      const rule = ruleOf(field === 'allow', value);
      for (const group of named) if (group.length < RULES_MAX) group.push(rule);
    }
  }
  const rules = groups.get(ROBOT_NAME) ?? groups.get('*') ?? [];
  return (path) => {
    const fitting = rules.filter((rule) => fits(rule, path));
    const longest = Math.max(...fitting.map(({ length }) => length));
    const deciding = fitting.filter(({ length }) => length === longest);
    return deciding.length === 0 || deciding.some(({ allows }) => allows);
  };
}

/** Does not use a regular expression, which could take very long on a hostile line of spaces. */
function statementIn(line: string): readonly [field: string, value: string] {
  const statement = line.split('#', 1)[0]!;
  const colon = statement.indexOf(':');
  return colon === -1 ? ['', ''] : [statement.slice(0, colon).trim().toLowerCase(), statement.slice(colon + 1).trim()];
}

/** `*` matches anything, and a final `$` matches the end. */
function ruleOf(allows: boolean, pattern: string): Rule {
  const endsThere = pattern.endsWith('$');
  const pieces = (endsThere ? pattern.slice(0, -1) : pattern).split('*') as [string, ...string[]];
  return { allows, length: pattern.length, pieces, endsThere };
}

/** Searches each piece of the pattern once, so that no pattern takes long. */
function fits({ pieces: [first, ...others], endsThere }: Rule, path: string): boolean {
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = endsThere ? others.pop() : undefined;
  for (const piece of others) {
    const found = path.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  if (!endsThere) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}
