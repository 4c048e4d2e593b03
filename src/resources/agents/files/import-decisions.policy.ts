import { type AgentFile } from './format/agent-file.policy.js';
import { type ImportPlan, labelOf, type OwnedThings, ownModelOf, type PlannedTool, toolKey } from './import-plan.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

/** The caller's decisions about an import, not yet validated. */
export type Resolution = Readonly<Record<string, unknown>>;

/** The decision about a tool of the file. */
type ToolDecision = Readonly<
  | { does: 'use'; id: string }
  | { does: 'create'; secrets: Readonly<Record<string, string>> }
  /** The tool equals an earlier one in the file, which has this index. */
  | { does: 'share'; with: number }
  | { does: 'leave-out' }
>;

/** The decision about a model of the file. */
type ModelDecision = Readonly<{ does: 'use'; id: string } | { does: 'create'; apiKey: string } | { does: 'leave-out' }>;

export type ImportDecisions = Readonly<{
  sources: readonly string[];
  /** Maps a source's name and `ref` in the file to the id of the source here. Of several with the same name, the first. */
  sourcesByName: ReadonlyMap<string, string>;
  tools: readonly ToolDecision[];
  models: readonly ModelDecision[];
  warnings: readonly string[];
}>;

/** Whether an id belongs to a tool that the caller may attach. */
export type IsOwnTool = (id: string) => boolean;

/** Decides by the plan and the caller's resolution which resources the agent will refer to. */
export function importDecisions(
  file: AgentFile,
  plan: ImportPlan,
  resolution: Resolution,
  owned: OwnedThings,
  isOwnTool: IsOwnTool,
): ImportDecisions {
  const warnings = file.unknownKeys.map((path) => `Unknown key '${path}'; ignored`);
  return {
    ...decidedSources(file, plan, recordIn(resolution, 'sources'), owned, warnings),
    tools: decidedTools(file, plan, recordIn(resolution, 'tools'), isOwnTool, warnings),
    models: decidedModels(file, recordIn(resolution, 'models'), owned, plan, warnings),
    warnings,
  };
}

const recordIn = (given: unknown, key: string): Resolution => {
  const value = isJsonObject(given) && Object.hasOwn(given, key) ? given[key] : undefined;
  return isJsonObject(value) ? value : {};
};

function decidedSources(
  file: AgentFile,
  { sources }: ImportPlan,
  mapping: Resolution,
  owned: OwnedThings,
  warnings: string[],
): Pick<ImportDecisions, 'sources' | 'sourcesByName'> {
  const own = new Set(owned.sources.map(({ id }) => id));
  for (const name of doubled(sources.map((source) => source.name))) {
    warnings.push(`Multiple sources share the name '${name}'; a mapping by that name applies to all of them`);
  }
  const byName = new Map<string, string>();
  const ids = sources.flatMap(({ name, target_id: matched }, index) => {
    const id = decidedSource(name, matched, mapping, own, warnings);
    if (id === null) return [];
    for (const each of [name, file.sources[index]!.ref]) if (each !== '' && !byName.has(each)) byName.set(each, id);
    return [id];
  });
  return { sources: [...new Set(ids)], sourcesByName: byName };
}

function decidedSource(
  name: string,
  matched: string | null,
  mapping: Resolution,
  own: ReadonlySet<string>,
  warnings: string[],
): string | null {
  if (!Object.hasOwn(mapping, name)) {
    if (matched === null) warnings.push(`Source '${name}' not found; left unattached`);
    return matched;
  }
  const chosen = mapping[name];
  if (typeof chosen === 'string' && own.has(chosen)) return chosen;
  // Even an invalid mapping shows that the caller does not want the match by name.
  warnings.push(`Source mapping for '${name}' is not yours; ignored`);
  return null;
}

function decidedTools(
  file: AgentFile,
  plan: ImportPlan,
  chosen: Resolution,
  isOwnTool: IsOwnTool,
  warnings: string[],
): readonly ToolDecision[] {
  const first = new Map<string, number>();
  const decided: ToolDecision[] = [];
  plan.tools.forEach((planned, index) => {
    const tool = file.tools[index]!;
    if ('builtin' in planned || tool.builtin) {
      decided.push(builtinDecision(planned, warnings));
      return;
    }
    const identity = JSON.stringify([tool.type, labelOf(tool)]);
    const known = first.get(identity);
    if (known === undefined) first.set(identity, index);
    else warnings.push(`Multiple tools share the name '${labelOf(tool)}'`);
    const decision = ownToolDecision(planned, recordIn(chosen, toolKey(index)), isOwnTool, warnings);
    const isMade = known !== undefined && decided[known]!.does === 'create' && isSameTool(file, known, index);
    decided.push(decision.does === 'create' && isMade ? { does: 'share', with: known } : decision);
  });
  return decided;
}

function ownToolDecision(planned: PlannedTool, choice: Resolution, isOwnTool: IsOwnTool, warnings: string[]): ToolDecision {
  const { decision, tool_id: id } = choice;
  if (decision === 'skip') return { does: 'leave-out' };
  if (decision === 'reuse') {
    if (typeof id === 'string' && isOwnTool(id)) return { does: 'use', id };
    warnings.push(`Tool reuse id '${String(id).slice(0, 100)}' is not yours; ignored`);
  }
  if (planned.status === 'reuse' && decision !== 'create') return { does: 'use', id: planned.target_id };
  if (planned.status !== 'unavailable') return { does: 'create', secrets: textsIn(recordIn(choice, 'secrets')) };
  warnings.push(`Tool type '${planned.type}' not available on this instance; skipped`);
  return { does: 'leave-out' };
}

function builtinDecision(planned: PlannedTool, warnings: string[]): ToolDecision {
  const id = 'target_id' in planned ? planned.target_id : null;
  if (id !== null) return { does: 'use', id };
  warnings.push(`Built-in tool '${planned.type}' unavailable; skipped`);
  return { does: 'leave-out' };
}

function isSameTool({ tools }: AgentFile, one: number, other: number): boolean {
  const [a, b] = [tools[one]!, tools[other]!].map(({ ref: _, ...rest }) => JSON.stringify(rest));
  return a === b;
}

const textsIn = (given: Resolution): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== ''),
  );

function decidedModels(
  { models }: AgentFile,
  chosen: Resolution,
  owned: OwnedThings,
  plan: ImportPlan,
  warnings: string[],
): readonly ModelDecision[] {
  const names = models.flatMap((model) => (typeof model === 'string' ? [] : [model.display_name]));
  for (const name of doubled(names)) {
    warnings.push(`Multiple custom models share the display name '${name}'; a key by that name applies to all of them`);
  }
  return models.map((model, index): ModelDecision => {
    if (typeof model === 'string') {
      if (plan.models[index]?.status === 'matched') return { does: 'use', id: model };
      warnings.push(`Model '${model}' not available; skipped`);
      return { does: 'leave-out' };
    }
    const own = ownModelOf(model, owned);
    if (own !== undefined) return { does: 'use', id: own };
    const key = recordIn(chosen, model.display_name)['api_key'];
    if (typeof key === 'string' && key.trim() !== '') return { does: 'create', apiKey: key };
    warnings.push(`Custom model '${model.display_name}' needs an API key; skipped`);
    return { does: 'leave-out' };
  });
}

const doubled = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];
