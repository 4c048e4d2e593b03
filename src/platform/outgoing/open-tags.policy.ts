import type { Parser } from 'htmlparser2';

/** The methods of an array that the parser calls on the names of its open tags, the newest of which is the first. */
type Stack = Pick<string[], 'indexOf' | 'includes' | 'shift'> & { unshift(name: string): number };

/**
 * Counts the open tags of a new parser by their names. The parser searches them for every closing tag, so a name that is not
 * there must be told without comparing it with all of them. The parser has no option for it, so its private stack is replaced.
 */
export function countOpenTags(parser: Parser): void {
  const counts = new Map<string, number>();
  const names: string[] = [];
  // A subclass would be slow, because V8 moves elements quickly only in plain arrays.
  const { indexOf, shift, unshift } = Array.prototype as string[];
  const stack: Stack = {
    unshift(name) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return unshift.call(names, name);
    },
    shift() {
      const name = shift.call(names);
      const left = name === undefined ? undefined : counts.get(name)! - 1;
      if (left === 0) counts.delete(name!);
      else if (left !== undefined) counts.set(name!, left);
      return name;
    },
    indexOf: (name) => (counts.has(name) ? indexOf.call(names, name) : -1),
    includes: (name) => counts.has(name),
  };
  Object.assign(parser, { stack: Object.assign(names, stack) });
}
