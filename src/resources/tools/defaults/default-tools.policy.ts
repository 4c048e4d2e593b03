import { deterministicId } from '../../../kernel/ids.js';

/** What default tools are called, by the names of their kinds. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  memory: 'Memory',
  read_webpage: 'Read Webpage',
  scheduler: 'Scheduler',
  monitor: 'Monitor',
};

/** The kinds of tools that need nothing set up and that every user has, where the service knows them. */
export const DEFAULT_TOOLS: readonly string[] = Object.keys(DISPLAY_NAMES);

export const defaultToolDisplayName = (name: string): string => DISPLAY_NAMES[name] ?? name;

/** For everybody the same: agents refer to it. */
export const defaultToolId = (name: string): string => deterministicId('default-tool', name);

const names: ReadonlyMap<string, string> = new Map(DEFAULT_TOOLS.map((name) => [defaultToolId(name), name]));

/** The kind that an id of a default tool stands for; undefined for every other id. */
export const defaultToolOf = (toolId: string): string | undefined => names.get(toolId);

/** What they begin goes on as the owner, with all that the owner may, long after the caller is gone. */
const FOR_OWNERS_ONLY: ReadonlySet<string> = new Set(['scheduler', 'monitor'].map(defaultToolId));

/** Whether a tool is not for bearers of an agent's key who are not its owner. */
export const isForOwnersOnly = (toolId: string): boolean => FOR_OWNERS_ONLY.has(toolId);

const BUILT_IN = 'builtin:';

/** The tool of a kind that the service hands out itself. */
export const builtInToolId = (name: string): string => `${BUILT_IN}${name}`;

export const isBuiltIn = (toolId: string): boolean => toolId.startsWith(BUILT_IN);

/** What agents that look things up themselves are given beside their tools. */
export const AGENTIC_TOOLS: readonly Readonly<{ name: string; needsSources: boolean }>[] = [
  { name: 'think', needsSources: false },
  { name: 'internal_search', needsSources: true },
];
