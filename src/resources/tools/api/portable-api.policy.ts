import type { ParameterDefinition } from '../toolbox/tool.events.js';
import { type ApiAction, isCredentialName, isFilledByModel, type Location, type ParameterGroup } from './api-action.policy.js';
import { isJsonObject, type JsonObject } from '../../json-object.policy.js';

/** The place of a fixed value in an action, and the name of its secret. */
export type FixedValue = Readonly<{ action: string; group: Group; name: string; secretName: string }>;

const GROUPS = ['query_params', 'headers', 'body'] as const;
type Group = (typeof GROUPS)[number];

const LOCATIONS: Readonly<Record<Group, Location>> = { query_params: 'query', headers: 'header', body: 'body' };

/** The actions of an API tool without fixed values, and without the queries of their URLs, which may hold keys. */
export const portableActions = (actions: Readonly<Record<string, ApiAction>>): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, portableAction(action)]));

function portableAction(given: ApiAction): JsonObject {
  const action = withQueryAsParameters(given);
  const { name, description, method, active, require_approval: approval, access, url } = action;
  return {
    name,
    description,
    method,
    active,
    ...(approval !== undefined && { require_approval: approval }),
    ...(access !== undefined && { access }),
    body_content_type: action.body_content_type,
    body_encoding_rules: action.body_encoding_rules,
    url,
    query_params: withoutValues(action.query_params),
    headers: withoutValues(action.headers),
    body: withoutValues(action.body),
  };
}

/** Turns the query of the URL into parameters. Placeholders are filled by the model, other values are fixed. */
function withQueryAsParameters(action: ApiAction): ApiAction {
  const { url, query_params: query } = action;
  const [address = '', text] = url.split(/\?(.*)/s);
  if (!text) return { ...action, url: withoutUser(address) };
  const properties: Record<string, ParameterDefinition> = { ...query.properties };
  const required = new Set(query.required);
  for (const pair of text.split('&')) {
    const placeholder = /\{([^{}]+)\}/.exec(pair)?.[1];
    const name = placeholder ?? [...new URLSearchParams(pair).keys()][0];
    if (!name) continue;
    if (placeholder !== undefined) required.add(name);
    if (Object.hasOwn(properties, name)) continue;
    properties[name] =
      placeholder === undefined
        ? { type: 'string', filled_by_llm: false }
        : { type: 'string', description: 'A part of the address.', filled_by_llm: true };
  }
  const group: ParameterGroup = { ...query, properties, ...(required.size > 0 && { required: [...required] }) };
  return { ...action, url: withoutUser(address), query_params: group };
}

const withoutUser = (address: string): string => address.replace(/^(https?:\/\/)[^/@]*@/i, '$1');

const withoutValues = (group: ParameterGroup): ParameterGroup => ({
  ...group,
  properties: Object.fromEntries(Object.entries(group.properties).map(([name, each]) => [name, withoutValue(name, each)])),
});

/**
 * A parameter without values. A default, enum or example stays only if the model fills the parameter and its name is not typical
 * of credentials.
 */
function withoutValue(name: string, definition: ParameterDefinition): ParameterDefinition {
  const isFilled = isFilledByModel(definition);
  const { value: _value, has_value: _kept, default: otherwise, enum: allowed, example, ...shown } = definition;
  const open = isFilled && !isCredentialName(name);
  return {
    ...shown,
    filled_by_llm: isFilled,
    ...(open && otherwise !== undefined && { default: otherwise }),
    ...(open && allowed !== undefined && { enum: allowed }),
    ...(open && example !== undefined && { example }),
  };
}

/** The fixed values that the actions of a file need. */
export const fixedValues = (actions: JsonObject): readonly FixedValue[] =>
  Object.entries(actions).flatMap(([action, given]) =>
    GROUPS.flatMap((group) =>
      Object.entries(propertiesOf(given, group)).flatMap(([name, definition]) =>
        isJsonObject(definition) && definition['filled_by_llm'] === false && !isFilledIn(definition)
          ? [{ action, group, name, secretName: `${action}/${LOCATIONS[group]}/${name}` }]
          : [],
      ),
    ),
  );

const isFilledIn = ({ value }: JsonObject): boolean => value !== undefined && value !== null && value !== '';

/** Whether requests may be refused without this value: headers, and parameters with a name typical of credentials. */
export const isNeeded = ({ group, name }: FixedValue): boolean => group === 'headers' || isCredentialName(name);

/** The actions, filled with the given fixed values. */
export function withFixedValues(actions: JsonObject, values: Readonly<Record<string, string>>): JsonObject {
  const filled = structuredClone(actions) as Record<string, Record<string, { properties: Record<string, object> }>>;
  for (const { action, group, name, secretName } of fixedValues(actions)) {
    const value = Object.hasOwn(values, secretName) ? values[secretName] : undefined;
    if (value === undefined) continue;
    const { properties } = filled[action]![group]!;
    properties[name] = { ...properties[name], value };
  }
  return filled;
}

function propertiesOf(action: unknown, group: Group): JsonObject {
  const parameters = isJsonObject(action) ? action[group] : undefined;
  const properties = isJsonObject(parameters) ? parameters['properties'] : undefined;
  return isJsonObject(properties) ? properties : {};
}
