import type { Seeded } from '../../support/seeded.js';

type ToolName = 'look' | 'send' | 'pay';

/** The model's behaviour for a question: it calls these tools one after another and then sends this many pieces. */
export type Plan = Readonly<{ name: string; tools: readonly ToolName[]; pieces: number; fails: boolean }>;

const TOOLS: readonly ToolName[] = ['look', 'send', 'pay'];

export function planOf(name: string, random: Seeded): Plan {
  const tools = Array.from({ length: random.oneIn(2) ? random.between(1, 2) : 0 }, () => TOOLS[random.between(0, 2)]!);
  return { name, tools, pieces: random.between(1, 4), fails: random.oneIn(15) };
}

/** Writes the plan into the question, so that any process that answers it finds the plan. */
export const questionOf = ({ name, tools, pieces, fails }: Plan): string =>
  `${name} tools=${tools.join('+')} pieces=${pieces} fails=${fails}`;

/** The plan of an automatic turn. */
const UNASKED: Plan = { name: 'unasked', tools: [], pieces: 1, fails: false };

export function planIn(question: string): Plan {
  const found = /(\S+) tools=(\S*) pieces=(\d+) fails=(\w+)/.exec(question);
  if (!found) return UNASKED;
  const [, name, tools, pieces, fails] = found;
  return {
    name: name!,
    tools: tools === '' ? [] : (tools!.split('+') as ToolName[]),
    pieces: Number(pieces),
    fails: fails === 'true',
  };
}
