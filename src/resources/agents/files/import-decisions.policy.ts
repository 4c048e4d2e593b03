import { type AgentFile, isRecord } from './agent-file.policy.js';
import { type ImportPlan, labelOf, type OwnedThings, type PlannedTool, toolKey } from './import-plan.policy.js';

/** What the caller decides about an import, as it came. Whatever is no object decides nothing. */
export type Resolution = Readonly<Record<string, unknown>>;

/** What becomes of a tool of the file. */
type ToolDecision = Readonly<
  | { does: 'use'; id: string }
  | { does: 'create'; secrets: Readonly<Record<string, string>> }
  /** The file has the same tool before. */
  | { does: 'share'; with: number }
  | { does: 'leave-out' }
>;

export type ImportDecisions = Readonly<{
  sources: readonly string[];
  tools: readonly ToolDecision[];
  models: readonly string[];
  defaultModelId: string;
  warnings: readonly string[];
}>;

/** Whether an id is that of a tool that the caller may attach. */
export type IsOwnTool = (id: string) => boolean;

/** Decides, by the plan and by what the caller says, what the agent is to refer to. */
export function importDecisions(
  file: AgentFile,
  plan: ImportPlan,
  resolution: Resolution,
  owned: OwnedThings,
  here: Readonly<{ isOwnTool: IsOwnTool; models: ReadonlySet<string> }>,
): ImportDecisions {
  const warnings = file.unknownKeys.map((path) => `Unknown key '${path}'; ignored`);
  return {
    sources: decidedSources(plan, recordIn(resolution, 'sources'), owned, warnings),
    tools: decidedTools(file, plan, recordIn(resolution, 'tools'), here.isOwnTool, warnings),
    ...decidedModels(file, plan, here.models, warnings),
    warnings,
  };
}

const recordIn = (given: unknown, key: string): Resolution => {
  const value = isRecord(given) && Object.hasOwn(given, key) ? given[key] : undefined;
  return isRecord(value) ? value : {};
};

function decidedSources({ sources }: ImportPlan, mapping: Resolution, owned: OwnedThings, warnings: string[]): readonly string[] {
  const own = new Set(owned.sources.map(({ id }) => id));
  const names = sources.map(({ name }) => name);
  for (const name of doubled(names)) {
    warnings.push(`Multiple sources share the name '${name}'; a mapping by that name applies to all of them`);
  }
  const ids = sources.flatMap(({ name, target_id: matched }) => {
    if (Object.hasOwn(mapping, name)) {
      const chosen = mapping[name];
      if (typeof chosen === 'string' && own.has(chosen)) return [chosen];
      // A mapping that is wrong says that the match by name is not meant.
      warnings.push(`Source mapping for '${name}' is not yours; ignored`);
      return [];
    }
    if (matched === null) warnings.push(`Source '${name}' not found; left unattached`);
    return matched === null ? [] : [matched];
  });
  return [...new Set(ids)];
}

function decidedTools(
  file: AgentFile,
  plan: ImportPlan,
  chosen: Resolution,
  isOwnTool: IsOwnTool,
  warnings: string[],
): readonly ToolDecision[] {
  const before = new Map<string, number>();
  return plan.tools.map((planned, index): ToolDecision => {
    const tool = file.tools[index]!;
    if ('builtin' in planned || tool.builtin) return builtinDecision(planned, warnings);
    const identity = JSON.stringify([tool.type, labelOf(tool)]);
    const known = before.get(identity);
    if (known === undefined) before.set(identity, index);
    else warnings.push(`Multiple tools share the name '${labelOf(tool)}'`);
    const choice = recordIn(chosen, toolKey(index));
    if (choice['decision'] === 'skip') return { does: 'leave-out' };
    if (choice['decision'] === 'reuse') {
      const id = choice['tool_id'];
      if (typeof id === 'string' && isOwnTool(id)) return { does: 'use', id };
      warnings.push(`Tool reuse id '${String(id).slice(0, 100)}' is not yours; ignored`);
    }
    const secrets = textsIn(recordIn(choice, 'secrets'));
    const wantsNew = choice['decision'] === 'create';
    if (planned.status === 'reuse' && !wantsNew) return { does: 'use', id: planned.target_id };
    if (planned.status === 'unavailable') {
      warnings.push(`Tool type '${planned.type}' not available on this instance; skipped`);
      return { does: 'leave-out' };
    }
    if (known !== undefined && isSameTool(file, known, index)) return { does: 'share', with: known };
    return { does: 'create', secrets };
  });
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
  { defaultModel }: AgentFile,
  plan: ImportPlan,
  served: ReadonlySet<string>,
  warnings: string[],
): Pick<ImportDecisions, 'models' | 'defaultModelId'> {
  const models = plan.models.flatMap((planned) => {
    if ('id' in planned) {
      if (planned.status === 'matched') return [planned.id];
      warnings.push(`Model '${planned.id}' not available; skipped`);
      return [];
    }
    warnings.push(`Custom model '${planned.display_name}' is not available on this instance; skipped`);
    return [];
  });
  const isServed = defaultModel === '' || served.has(defaultModel);
  if (!isServed) warnings.push(`Default model '${defaultModel}' not resolved`);
  return { models: [...new Set(models)], defaultModelId: isServed ? defaultModel : '' };
}

const doubled = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];
