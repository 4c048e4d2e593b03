import { Rejection } from '../../../kernel/rejection.js';
import type { ParameterDefinition } from '../toolbox/tool.events.js';
import {
  type ApiAction,
  bindingsOf,
  isFilledByModel,
  isSecret,
  type Location,
  type ParameterGroup,
} from './api-action.policy.js';

export const API_SECRET_CHARACTERS_MAX = 8192;

/** Values that are never shown again, by the secret names of their parameters. */
export type Secrets = Readonly<Record<string, string>>;

const refused = (text: string) => new Rejection('tool-invalid', text);

/** Splits actions into the part that is stored and shown, and the secrets. @throws Rejection tool-invalid */
export function apartFromSecrets(
  given: readonly ApiAction[],
  old: Secrets,
): Readonly<{ actions: readonly ApiAction[]; secrets: Secrets }> {
  const secrets: Record<string, string> = {};
  const actions = given.map(withCredentialsAsParameters).map((action) => {
    const hidden = bindingsOf(action).filter(isSecret);
    for (const { definition, name, secretName } of hidden) {
      const value = secretValue(definition, old[secretName]);
      if (value === undefined && definition['has_value'] === true) {
        throw refused(`${action.name}: the value of ${name} is no longer stored and has to be given again.`);
      }
      if (value !== undefined) secrets[secretName] = checkedSecret(value, name);
    }
    const isKept = (location: Location, name: string) =>
      hidden.find((each) => each.location === location && each.name === name)?.secretName;
    const shown = (group: ParameterGroup, ...locations: readonly Location[]): ParameterGroup => ({
      ...group,
      properties: Object.fromEntries(
        Object.entries(group.properties).map(([name, definition]) => {
          const secretName = locations.map((location) => isKept(location, name)).find((found) => found !== undefined);
          return [name, secretName === undefined ? asShown(definition) : withoutValue(definition, secretName in secrets)];
        }),
      ),
    });
    return {
      ...action,
      headers: shown(action.headers, 'header'),
      query_params: shown(action.query_params, 'query', 'path'),
      body: shown(action.body, 'body'),
    };
  });
  return { actions, secrets };
}

/** Moves query parameters with names typical of credentials from the URL into parameters with fixed values. */
function withCredentialsAsParameters(action: ApiAction): ApiAction {
  const [address, query] = action.url.split(/\?(.*)/s);
  if (!query) return action;
  const fixed: Record<string, ParameterDefinition> = {};
  const kept = query.split('&').filter((pair) => {
    const [name, value] = [...new URLSearchParams(pair)][0] ?? [];
    if (!name || !value || /[{}]/.test(pair)) return true;
    const definition: ParameterDefinition = { type: 'string', filled_by_llm: false, value };
    if (!isSecret({ location: 'query', name, definition, argument: name, required: false, secretName: name })) return true;
    fixed[name] = definition;
    return false;
  });
  return {
    ...action,
    url: kept.length > 0 ? `${address}?${kept.join('&')}` : address!,
    query_params: { ...action.query_params, properties: { ...action.query_params.properties, ...fixed } },
  };
}

/** The value to store. An empty value keeps the old one, because forms send secrets back without their values. */
function secretValue({ value, default: otherwise }: ParameterDefinition, old: string | undefined): string | undefined {
  const given = [value, otherwise].find((each) => each !== undefined && each !== null && each !== '');
  if (given === undefined) return old;
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function checkedSecret(value: string, name: string): string {
  if (value.length > API_SECRET_CHARACTERS_MAX) throw refused(`The value of ${name} is too long.`);
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
    throw refused(`The value of ${name} holds characters that cannot be sent.`);
  return value;
}

/** Drops the value of a parameter that the model fills: it has no effect, and it may be a secret from before. */
const asShown = (definition: ParameterDefinition): ParameterDefinition => {
  const { has_value: _, value, ...shown } = definition;
  if (isFilledByModel(definition)) return { ...shown, filled_by_llm: true };
  return { ...shown, ...(value !== undefined && { value }), filled_by_llm: false };
};

function withoutValue(definition: ParameterDefinition, isKept: boolean): ParameterDefinition {
  const { value: _value, default: _default, enum: _enum, example: _example, has_value: _kept, ...shown } = definition;
  return { ...shown, filled_by_llm: false, ...(isKept && { has_value: true }) };
}
