import { parseBoundedJson } from '../../../kernel/bounded-json.js';

/** Converts an argument to its declared type where possible, because models sometimes write numbers and objects as text. */
export function coerced(value: unknown, type: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof value !== 'string') return value;
  if (type === 'integer' || type === 'number') return /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (type === 'object' || type === 'array') return parsed(value, type);
  return value;
}

function parsed(text: string, type: 'object' | 'array'): unknown {
  try {
    const value = parseBoundedJson(text, 'The argument');
    return typeof value === 'object' && value !== null && Array.isArray(value) === (type === 'array') ? value : text;
  } catch {
    return text;
  }
}
