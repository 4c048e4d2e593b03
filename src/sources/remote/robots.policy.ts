/** How this service calls itself where sites say what robots may read. */
export const ROBOT_NAME = 'verbatim';

const RULES_MAX = 1_000;

type Rule = Readonly<{ allows: boolean; pattern: string }>;

/** What a site asks robots not to read, of the rules for this one or else for all; the longest that fits counts. */
export function robotsRules(text: string): (path: string) => boolean {
  const groups = new Map<string, Rule[]>();
  let names: string[] = [];
  let isNaming = false;
  let count = 0;
  for (const line of text.split(/\r?\n|\r/)) {
    const [, field, value] = /^\s*([a-z-]+)\s*:\s*([^#]*?)\s*(?:#|$)/i.exec(line) ?? [];
    const word = field?.toLowerCase();
    if (word === 'user-agent') {
      if (!isNaming) names = [];
      isNaming = true;
      names.push(value!.toLowerCase());
      for (const name of names) groups.set(name, groups.get(name) ?? []);
    } else if (word === 'allow' || word === 'disallow') {
      isNaming = false;
      if (value === '' || ++count > RULES_MAX) continue;
      for (const name of names) groups.get(name)!.push({ allows: word === 'allow', pattern: value! });
    }
  }
  const rules = groups.get(ROBOT_NAME) ?? groups.get('*') ?? [];
  return (path) => {
    const fitting = rules.filter(({ pattern }) => fits(pattern, path));
    const longest = Math.max(...fitting.map(({ pattern }) => pattern.length));
    const deciding = fitting.filter(({ pattern }) => pattern.length === longest);
    return deciding.length === 0 || deciding.some(({ allows }) => allows);
  };
}

/** `*` stands for anything, `$` at the end for the end. Each piece is looked for once, so that no pattern takes long. */
function fits(pattern: string, path: string): boolean {
  const endsThere = pattern.endsWith('$');
  const [first, ...others] = (endsThere ? pattern.slice(0, -1) : pattern).split('*') as [string, ...string[]];
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
