import { Rejection } from '../../../kernel/rejection.js';
import type { AgentPolicy } from '../agent.events.js';
import { normalPolicy } from '../agent.policy.js';
import type { GuardrailCheck } from '../../guardrails/guardrail.policy.js';
import { readGuardrails } from '../../guardrails/guardrail-config.policy.js';
import { toolKey } from './import-plan.policy.js';

type Json = Readonly<Record<string, unknown>>;

/** The parts of a policy. The fields of a part are valid only together. */
const PARTS: readonly (readonly (keyof AgentPolicy)[])[] = [
  ['guardrails'],
  ['api_write_allowlist'],
  ['restrict_origins', 'allowed_origins'],
];

const TOOL_KEY = /^tool-(\d+)$/;

export type ConfigOfFile = Readonly<{
  config: Json;
  /** The ids of the file's tools here, in the order of the file. Null for a tool that is not attached. */
  toolIds: readonly (string | null)[];
  /** The ids that the file's tools had on the service that exported it. */
  refs: readonly string[];
}>;

/**
 * The valid parts of a file's policy. An invalid part gets a warning, and the agent keeps its own, so that no file opens what its
 * owner has restricted.
 */
export function importedPolicy(
  { config, ...tools }: ConfigOfFile,
  { current, checks }: Readonly<{ current: AgentPolicy; checks: ReadonlySet<GuardrailCheck> }>,
  warnings: string[],
): AgentPolicy {
  const known = new Set<string>(PARTS.flat());
  for (const key of Object.keys(config))
    if (!known.has(key)) warnings.push(`Unknown key 'spec.config.${key.slice(0, 100)}'; ignored`);
  const policy = PARTS.map((names) => {
    const given = Object.fromEntries(names.map((name) => [name, config[name]]));
    const mapped = {
      ...given,
      api_write_allowlist: ownEntries(given['api_write_allowlist'], tools, warnings),
      ...(Boolean(given['guardrails']) && { guardrails: validParts(given['guardrails'], checks, warnings) }),
    };
    try {
      return normalPolicy(mapped, checks, current);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      warnings.push(`${error.message} The rest of the file was taken without it.`);
      return Object.fromEntries(names.flatMap((name) => (name in current ? [[name, current[name]]] : [])));
    }
  });
  return Object.assign({}, ...policy) as AgentPolicy;
}

/** The valid parts of the guardrails. Adds a warning for each invalid part. */
function validParts(guardrails: unknown, checks: ReadonlySet<GuardrailCheck>, warnings: string[]): unknown {
  const { kept, problems } = readGuardrails(guardrails, checks, 'spec.config.guardrails');
  warnings.push(...problems.map((problem) => `${problem} The rest of the guardrails was taken without it.`));
  return kept;
}

/** Converts `tool-N:action` to `<tool id>:<action>`. Older files have the tool's original id instead of `tool-N`. */
function ownEntries(given: unknown, { toolIds, refs }: Omit<ConfigOfFile, 'config'>, warnings: string[]): unknown {
  if (!Array.isArray(given)) return given;
  return given.flatMap((entry: unknown) => {
    if (typeof entry !== 'string') return [entry];
    const [, tool = '', action = ''] = /^([^:]+):(.+)$/s.exec(entry) ?? [];
    if (tool === '') return [entry];
    const index = Number(TOOL_KEY.exec(tool.trim())?.[1] ?? refs.indexOf(tool.trim()));
    const id = toolIds[index];
    if (id) return [`${id}:${action}`];
    warnings.push(`Allowed write '${entry.slice(0, 100)}' names no tool that is attached; dropped`);
    return [];
  });
}

/** The policy in the form of a file: tools are named by their position in the file, and entries are sorted. */
export function portablePolicy(config: AgentPolicy, toolIds: readonly string[]): Json {
  const { guardrails, api_write_allowlist: allowlist, restrict_origins: restrict, allowed_origins: origins } = config;
  const allowed = allowlist?.flatMap((entry) => {
    const colon = entry.indexOf(':');
    const index = toolIds.indexOf(entry.slice(0, colon));
    return index < 0 ? [] : [`${toolKey(index)}${entry.slice(colon)}`];
  });
  return {
    ...(guardrails && { guardrails: sorted(guardrails) }),
    ...(allowed && { api_write_allowlist: allowed.toSorted() }),
    ...(restrict !== undefined && { restrict_origins: restrict }),
    ...(origins && { allowed_origins: origins }),
  };
}

/** Sorts the keys of all objects, because stored JSON does not keep their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
