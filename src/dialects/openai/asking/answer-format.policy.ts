import { refused } from './refusals.policy.js';
import { isJsonObject } from '../../../resources/json-object.policy.js';

/** The schema for `json_object`, which allows any object. */
const ANY_OBJECT = { type: 'object' } as const;

/** The schema in DocsGPT's `response_schema`: the field itself, or its `schema`. @throws Rejection invalid-request */
export function schemaIn(given: unknown, place: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(given)) throw refused(place, 'must be a JSON Schema.');
  const { schema } = given;
  return isJsonObject(schema) ? schema : given;
}

/**
 * The schema that the answer must match. Undefined if the answer is text. `within`: the field of the format that holds the name
 * and the schema. If it is missing, the format itself holds them. @throws Rejection invalid-request
 */
export function formatIn(format: unknown, place: string, within?: string): Readonly<Record<string, unknown>> | undefined {
  if (!isJsonObject(format)) throw refused(place, 'must be an object.');
  switch (format['type']) {
    case 'text':
      return undefined;
    case 'json_object':
      return ANY_OBJECT;
    case 'json_schema': {
      const holder = within === undefined ? format : format[within];
      const at = within === undefined ? place : `${place}.${within}`;
      const schema = isJsonObject(holder) ? holder['schema'] : undefined;
      if (!isJsonObject(schema)) throw refused(`${at}.schema`, 'must be a JSON Schema.');
      return schema;
    }
    default:
      throw refused(`${place}.type`, 'must be text, json_object or json_schema.');
  }
}
