import type { ConfigField } from '../toolbox/tool-kind.port.js';
import type { ActionDefinition, ParameterDefinition, ToolDefinition } from '../toolbox/tool.events.js';
import { accessOf } from '../toolbox/access.policy.js';
import { isCredentialName } from '../api/api-action.policy.js';
import type { PortableChoice } from './portable-tools.port.js';

type Fields = Readonly<Record<string, ConfigField>>;
type Json = Readonly<Record<string, unknown>>;

/** Settings that name a sign-in of one account, which no other account can use. */
const OF_ONE_ACCOUNT: ReadonlySet<string> = new Set(['oauth_task_id']);

/** The settings to export: those that a kind declares and that are not secret, in the order of the kind. */
export const portableConfig = (fields: Fields, config: Json): Json =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name, { secret }]) => !secret && !OF_ONE_ACCOUNT.has(name) && Object.hasOwn(config, name))
      .map(([name]) => [name, portableValue(config[name])]),
  );

/**
 * Removes user name, password, query and fragment from a URL, because each may hold a key. Other texts are returned unchanged.
 */
export function withoutUrlSecrets(value: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value;
  const url = URL.parse(value);
  if (!url) return '';
  if (url.username === '' && url.password === '' && url.search === '' && url.hash === '') return value;
  [url.username, url.password, url.search, url.hash] = ['', '', '', ''];
  return url.href;
}

const portableValue = (value: unknown): unknown => (typeof value === 'string' ? withoutUrlSecrets(value) : value);

/** The changes that an owner made to the actions of a tool, compared with the actions of its kind. */
export function portableChoices(
  { name: kind, actions }: Pick<ToolDefinition, 'name' | 'actions'>,
  ofKind: readonly ActionDefinition[],
): readonly PortableChoice[] {
  const byName = new Map(ofKind.map((action) => [action.name, action]));
  return actions.flatMap((action) => choiceOf(kind, action, byName.get(action.name)) ?? []);
}

function choiceOf(kind: string, action: ActionDefinition, before: ActionDefinition | undefined): PortableChoice | undefined {
  const { name, active, require_approval: approval, access } = action;
  const otherwise = before ?? { ...action, active: true, access: undefined, require_approval: undefined };
  const parameters = parametersOf(action, before);
  const choice: PortableChoice = {
    name,
    ...(active !== otherwise.active && { active }),
    ...(approval !== undefined && approval !== otherwise.require_approval && { require_approval: approval }),
    ...(access !== undefined && access !== accessOf(kind, otherwise as ActionDefinition) && { access }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  };
  return Object.keys(choice).length > 1 ? choice : undefined;
}

function parametersOf({ parameters }: ActionDefinition, before: ActionDefinition | undefined) {
  type Decided = NonNullable<PortableChoice['parameters']>[string];
  const decided = Object.entries(parameters.properties).flatMap(([name, parameter]): (readonly [string, Decided])[] => {
    const otherwise = before?.parameters.properties[name] ?? {};
    const { filled_by_llm: filled, value } = parameter;
    const isFixed = filled === false || (filled === undefined && value !== undefined);
    const wasFixed = isFixedOf(otherwise);
    if (!isFixed) return wasFixed ? [[name, { filled_by_llm: true }]] : [];
    if (wasFixed && JSON.stringify(value) === JSON.stringify(otherwise.value)) return [];
    const travels = value !== undefined && value !== null && value !== '' && !isCredentialName(name);
    return [[name, { filled_by_llm: false, ...(travels && { value: portableValue(value) }) }]];
  });
  return Object.fromEntries(decided);
}

const isFixedOf = ({ filled_by_llm: filled, value }: ParameterDefinition): boolean =>
  filled === false || (filled === undefined && value !== undefined);
