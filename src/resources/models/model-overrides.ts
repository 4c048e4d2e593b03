import { load } from 'js-yaml';
import type { ModelDescription } from './model/language-model.port.js';
import { isJsonObject } from '../json-object.policy.js';

/** The operator's description of a model, which takes precedence over the endpoint's. */
export type ModelOverride = Partial<Omit<ModelDescription, 'id' | 'provider' | 'baseUrl'>>;

const text = (value: unknown) => typeof value === 'string';
const flag = (value: unknown) => typeof value === 'boolean';
const texts = (value: unknown) => Array.isArray(value) && value.every(text);
const count = (value: unknown) => Number.isInteger(value) && (value as number) > 0;

/** The fields of the file, named as in `GET /api/models`, with their types. */
const FIELDS: Readonly<Record<string, readonly [keyof ModelOverride, string, (value: unknown) => boolean]>> = {
  display_name: ['displayName', 'text', text],
  description: ['description', 'text', text],
  supported_attachment_types: ['attachmentTypes', 'a list of MIME types', texts],
  supports_tools: ['tools', 'true or false', flag],
  supports_structured_output: ['structuredOutput', 'true or false', flag],
  supports_streaming: ['streaming', 'true or false', flag],
  context_window: ['contextWindow', 'a whole number above 0', count],
  reasoning_effort: ['reasoningEffort', 'text', text],
};

/**
 * Reads a file of the form `models: { <id>: { context_window: 32000, supports_tools: false } }`.
 * @throws Error with a message that names the faulty place
 */
export function modelOverridesIn(yaml: string): Readonly<Record<string, ModelOverride>> {
  const file = load(yaml, { maxAliases: 0 });
  const models = isJsonObject(file) ? file['models'] : undefined;
  if (!isJsonObject(models)) throw new Error('has to hold a map named models');
  return Object.fromEntries(Object.entries(models).map(([id, fields]) => [id, overrideOf(id, fields)]));
}

function overrideOf(id: string, fields: unknown): ModelOverride {
  if (!isJsonObject(fields)) throw new Error(`has to hold a map at models.${id}`);
  const entries = Object.entries(fields).map(([name, value]) => {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (!field) throw new Error(`has an unknown field: models.${id}.${name}`);
    const [property, expected, accepts] = field;
    if (!accepts(value)) throw new Error(`has to hold ${expected} at models.${id}.${name}`);
    return [property, value] as const;
  });
  return Object.fromEntries(entries);
}
