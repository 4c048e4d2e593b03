import { isObject, refused } from './refusals.policy.js';

/** Any object is JSON as it was asked for before there were schemas. */
const ANY_OBJECT = { type: 'object' } as const;

/**
 * The schema that an answer has to fit; undefined where it is text. `within`: the field of the format that holds name and schema; the
 * format itself does where it is missing. @throws Rejection invalid-request
 */
export function formatIn(format: unknown, place: string, within?: string): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(format)) throw refused(place, 'must be an object.');
  switch (format['type']) {
    case 'text':
      return undefined;
    case 'json_object':
      return ANY_OBJECT;
    case 'json_schema': {
      const holder = within === undefined ? format : format[within];
      const at = within === undefined ? place : `${place}.${within}`;
      const schema = isObject(holder) ? holder['schema'] : undefined;
      if (!isObject(schema)) throw refused(`${at}.schema`, 'must be a JSON Schema.');
      return schema;
    }
    default:
      throw refused(`${place}.type`, 'must be text, json_object or json_schema.');
  }
}
