import { deterministicId } from '../../../kernel/ids.js';

/** The display names of the default tools, by the names of their kinds. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  memory: 'Memory',
  read_webpage: 'Read Webpage',
  scheduler: 'Scheduler',
  monitor: 'Monitor',
};

/** The kinds of tools that need no setup and that every user has, if the service has the kind. */
export const DEFAULT_TOOLS: readonly string[] = Object.keys(DISPLAY_NAMES);

export const defaultToolDisplayName = (name: string): string => DISPLAY_NAMES[name] ?? name;

const idOf = (name: string): string => deterministicId('default-tool', name);
const ids: ReadonlyMap<string, string> = new Map(DEFAULT_TOOLS.map((name) => [name, idOf(name)]));

/** The same id for all users, because agents refer to it. */
export const defaultToolId = (name: string): string => ids.get(name) ?? idOf(name);

const names: ReadonlyMap<string, string> = new Map([...ids].map(([name, id]) => [id, name]));

/** The kind of a default tool; undefined for any other id. */
export const defaultToolOf = (toolId: string): string | undefined => names.get(toolId);

/** What these tools start runs with the owner's permissions, long after the call. */
const FOR_OWNERS_ONLY: ReadonlySet<string> = new Set(['scheduler', 'monitor'].map(defaultToolId));

/** Whether callers with an agent's API key may not use the tool unless they are the agent's owner. */
export const isForOwnersOnly = (toolId: string): boolean => FOR_OWNERS_ONLY.has(toolId);

const BUILT_IN = 'builtin:';

/** The id of the tool of a kind that the service itself provides. */
export const builtInToolId = (name: string): string => `${BUILT_IN}${name}`;

export const isBuiltIn = (toolId: string): boolean => toolId.startsWith(BUILT_IN);

/** Tools that `agentic` agents get in addition to their own; some only if the turn has sources. */
export const AGENTIC_TOOLS: readonly Readonly<{ name: string; needsSources: boolean }>[] = [
  { name: 'think', needsSources: false },
  { name: 'internal_search', needsSources: true },
];
