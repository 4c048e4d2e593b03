import { isJsonObject, type JsonObject } from '../../json-object.policy.js';
import { isBeyondNumbers, parseExactJson } from '../../exact-json.policy.js';

/** Converts an argument to its declared type where possible, because models sometimes write numbers and objects as text. */
export const coerced = (value: unknown, schema: JsonObject): unknown => exactNumbers(ofType(value, schema['type']), schema);

function ofType(value: unknown, type: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof value !== 'string' || isBeyondNumbers(value)) return value;
  if (type === 'integer' || type === 'number') return /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (type === 'object' || type === 'array') return parsed(value, type);
  return value;
}

function parsed(text: string, type: 'object' | 'array'): unknown {
  try {
    const value = parseExactJson(text, 'The argument');
    return typeof value === 'object' && value !== null && Array.isArray(value) === (type === 'array') ? value : text;
  } catch {
    return text;
  }
}

/** Replaces whole numbers that JavaScript would round, which are texts, by bigints where the schema takes numbers. */
function exactNumbers(value: unknown, schema: unknown): unknown {
  const { type, items, properties }: JsonObject = isJsonObject(schema) ? schema : {};
  const isNumber = [type].flat().some((each) => each === 'integer' || each === 'number');
  if (typeof value === 'string') return isNumber && isBeyondNumbers(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return isJsonObject(items) ? value.map((each) => exactNumbers(each, items)) : value;
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exactNumbers(each, schemaOf(name))]));
}
