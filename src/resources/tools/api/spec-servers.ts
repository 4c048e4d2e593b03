import { withoutTrailing } from '../../../kernel/trailing.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';

/** The base URL of an API from its description or from a part of it; empty if there is none. */
export function baseUrlOf(part: Json): string {
  const { servers } = part;
  if (Array.isArray(servers) && isJsonObject(servers[0])) return ofServer(servers[0]);
  return typeof part['host'] === 'string' ? ofSwagger(part, part['host']) : '';
}

function ofServer({ url, variables }: Json): string {
  if (typeof url !== 'string') return '';
  const known = isJsonObject(variables) ? variables : {};
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (braces, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined;
    return isJsonObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : braces;
  });
  return withoutSlash(filled);
}

function ofSwagger({ schemes, basePath }: Json, host: string): string {
  const scheme = Array.isArray(schemes) && schemes.length > 0 && !schemes.includes('https') ? String(schemes[0]) : 'https';
  return withoutSlash(`${scheme}://${host}${typeof basePath === 'string' ? basePath : ''}`);
}

/** Paths begin with a slash. */
const withoutSlash = (url: string): string => withoutTrailing(url.trim(), '/');
