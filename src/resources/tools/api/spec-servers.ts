import { Rejection } from '../../../kernel/rejection.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';

/** Addresses are not longer anywhere. A short address may name a variable with a long value many times. */
const BASE_URL_CHARACTERS_MAX = 2048;

/** The base URL of an API from its description or from a part of it; empty if there is none. @throws Rejection invalid-request */
export function baseUrlOf(part: Json): string {
  const { servers } = part;
  if (Array.isArray(servers) && isJsonObject(servers[0])) return ofServer(servers[0]);
  return typeof part['host'] === 'string' ? ofSwagger(part, part['host']) : '';
}

function ofServer({ url, variables }: Json): string {
  if (typeof url !== 'string') return '';
  const known = isJsonObject(variables) ? variables : {};
  refuseLong(url);
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (braces, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined;
    const value = isJsonObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : braces;
    refuseLong(value);
    return value;
  });
  refuseLong(filled);
  return withoutSlash(filled);
}

function ofSwagger({ schemes, basePath }: Json, host: string): string {
  const scheme = Array.isArray(schemes) && schemes.length > 0 && !schemes.includes('https') ? String(schemes[0]) : 'https';
  const url = `${scheme}://${host}${typeof basePath === 'string' ? basePath : ''}`;
  refuseLong(url);
  return withoutSlash(url);
}

function refuseLong(url: string): void {
  if (url.length <= BASE_URL_CHARACTERS_MAX) return;
  throw new Rejection('invalid-request', `The address of a server is longer than ${BASE_URL_CHARACTERS_MAX} characters.`);
}

/** Paths begin with a slash. */
const withoutSlash = (url: string): string => withoutTrailing(url.trim(), '/');
