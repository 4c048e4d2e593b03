import type { Access, ActionDefinition, ParameterDefinition } from '../toolbox/tool.events.js';

/** The parameters of one part of a request, in the format of the API. */
export type ParameterGroup = Readonly<{
  type: 'object';
  properties: Readonly<Record<string, ParameterDefinition>>;
  required?: readonly string[];
  /** The only property is the whole body, not a field of it. */
  whole?: true;
}>;

/** How a field of a body is serialized, with the keywords of OpenAPI. */
export type EncodingRule = Readonly<{ style?: string; explode?: boolean; contentType?: string }>;

/** A request that an API tool can send, as its owner describes it. */
export type ApiAction = Readonly<{
  name: string;
  description: string;
  /** Absolute; `{x}` in the path or the query is replaced by a parameter. */
  url: string;
  method: string;
  active: boolean;
  require_approval?: boolean;
  access?: Access;
  headers: ParameterGroup;
  query_params: ParameterGroup;
  body: ParameterGroup;
  body_content_type: string;
  body_encoding_rules: Readonly<Record<string, EncodingRule>>;
}>;

export type Location = 'path' | 'query' | 'header' | 'body';

/** A parameter of a request: its location, and the name of the argument by which a model fills it. */
export type Binding = Readonly<{
  location: Location;
  name: string;
  argument: string;
  definition: ParameterDefinition;
  required: boolean;
  /** The name under which its fixed value is stored among the tool's secrets. */
  secretName: string;
}>;

const ARGUMENT_CHARACTERS_MAX = 64;

const GROUPS = { query: 'query_params', header: 'headers', body: 'body' } as const;

/** The names of the placeholders in braces. */
const placeholdersOf = (url: string): readonly string[] => [
  ...new Set([...url.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!)),
];

/**
 * All parameters of an action. The argument has the name of the parameter, prefixed with the location if two parameters share the
 * name.
 */
export function bindingsOf(action: ApiAction): readonly Binding[] {
  const inUrl = placeholdersOf(action.url);
  const { properties: query } = action.query_params;
  const path = inUrl.map((name): Found => ({
    location: 'path',
    name,
    definition: own(query, name) ?? { type: 'string', description: 'A part of the address.' },
    required: true,
  }));
  const others = (['query', 'header', 'body'] as const).flatMap((location) =>
    foundIn(action[GROUPS[location]], location).filter(({ name }) => location !== 'query' || !inUrl.includes(name)),
  );
  const found = [...path, ...others];
  const taken = new Set<string>();
  return found.map((each) => {
    const isUnique = found.filter(({ name }) => name === each.name).length === 1;
    const argument = free(isUnique ? each.name : `${each.location}_${each.name}`, taken);
    return { ...each, argument, secretName: `${action.name}/${each.location}/${each.name}` };
  });
}

type Found = Omit<Binding, 'argument' | 'secretName'>;

const foundIn = ({ properties, required = [] }: ParameterGroup, location: Location): readonly Found[] =>
  Object.entries(properties).map(([name, definition]) => ({
    location,
    name,
    definition,
    required: required.includes(name) || definition.required === true,
  }));

const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** A unique argument name of the characters that model endpoints accept. */
function free(wanted: string, taken: Set<string>): string {
  const base = wanted.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, ARGUMENT_CHARACTERS_MAX - 4) || '_';
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

export const isFilledByModel = ({ filled_by_llm: filled, value, has_value: kept }: ParameterDefinition): boolean =>
  filled ?? (value === undefined && kept !== true);

const CREDENTIAL_NAME = /key$|token|secret|passw|auth|credential|signature|^sig$|session|app_?id$|^pwd?$/i;

export const isCredentialName = (name: string): boolean => CREDENTIAL_NAME.test(name);

/**
 * Whether a parameter has a fixed value that is never shown again: that of a header, or of a parameter with a name typical of
 * credentials.
 */
export const isSecret = ({ location, name, definition }: Binding): boolean =>
  !isFilledByModel(definition) && (location === 'header' || isCredentialName(name));

/** Keywords about serialization and storage, which a model does not need. */
const UNSEEN_KEYWORDS = ['style', 'explode', 'has_value', 'required'] as const;

/** The action as models and approvals see it, without secret values. */
export function definitionOf(action: ApiAction): ActionDefinition {
  const shown = bindingsOf(action).filter((binding) => !isSecret(binding));
  const { name, description, active, method, require_approval: approval, access } = action;
  return {
    name,
    description,
    active,
    method,
    ...(approval !== undefined && { require_approval: approval }),
    ...(access !== undefined && { access }),
    parameters: {
      type: 'object',
      properties: Object.fromEntries(shown.map(({ argument, definition }) => [argument, shownParameter(definition)])),
      required: shown
        .filter(({ required, definition }) => required && isFilledByModel(definition))
        .map(({ argument }) => argument),
    },
  };
}

function shownParameter(definition: ParameterDefinition): ParameterDefinition {
  const { required, ...kept } = definition;
  const shown: Record<string, unknown> = { ...kept, filled_by_llm: isFilledByModel(definition) };
  for (const keyword of UNSEEN_KEYWORDS) delete shown[keyword];
  if (shown['filled_by_llm'] === true) delete shown['value'];
  // As a list, `required` belongs to the schema of an object; as a boolean, it was about the parameter.
  return Array.isArray(required) ? { ...shown, required } : shown;
}
