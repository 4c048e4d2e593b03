import { isBeyondNumbers, parseExactJson } from '../../exact-json.policy.js';

/**
 * Converts an argument to its declared type where possible, because models sometimes write numbers and objects as text. A whole
 * number that JavaScript would round becomes a bigint.
 */
export function coerced(value: unknown, type: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof value !== 'string') return value;
  if (type === 'integer' || type === 'number')
    return isBeyondNumbers(value) ? BigInt(value) : /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
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
