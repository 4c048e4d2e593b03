import { ToolFailed } from '../toolbox/tool-kind.port.js';
import { type ApiAction, type Binding, bindingsOf, isFilledByModel, isSecret } from './api-action.policy.js';
import type { Secrets } from './api-secrets.policy.js';
import { coerced } from './coerced-argument.policy.js';
import { type Field, pairsOf, plainText, writtenBody } from './request-body.policy.js';

/** A request ready to be sent. */
export type ApiRequest = Readonly<{
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}>;

type Filled = Binding & Readonly<{ value: unknown }>;

/** The request for a call of an action. @throws ToolFailed if arguments are missing or cannot be sent */
export function apiRequest(action: ApiAction, args: Readonly<Record<string, unknown>>, secrets: Secrets): ApiRequest {
  const filled = bindingsOf(action).flatMap((binding): Filled[] => {
    const value = valueOf(binding, args, secrets);
    return value === undefined ? [] : [{ ...binding, value }];
  });
  const at = (location: Binding['location']) => filled.filter((each) => each.location === location);
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' };
  for (const header of at('header')) headers[header.name.toLowerCase()] = headerValue(header);
  const written = bodyOf(action, at('body'));
  if (written && (headers['content-type'] === undefined || written.contentType.startsWith('multipart/'))) {
    headers['content-type'] = written.contentType;
  }
  return { url: urlOf(action.url, at('path'), at('query')), method: action.method, headers, body: written?.body };
}

function valueOf(binding: Binding, args: Readonly<Record<string, unknown>>, secrets: Secrets): unknown {
  const { argument, definition, name, required, secretName } = binding;
  const given = Object.hasOwn(args, argument) ? args[argument] : undefined;
  const value = isSecret(binding) ? secrets[secretName] : (given ?? definition.default);
  // An empty fixed value counts as missing.
  const isThere = value !== undefined && value !== null && (value !== '' || isFilledByModel(definition));
  if (isThere) return coerced(value, definition);
  if (required && isFilledByModel(definition)) throw new ToolFailed(`The argument \`${argument}\` must be given.`);
  if (required) throw new ToolFailed(`The owner of this tool has yet to set a value for ${name}.`);
  return undefined;
}

/** Fills in the URL. A value can neither begin another part of the URL nor leave its own. */
function urlOf(template: string, path: readonly Filled[], query: readonly Filled[]): string {
  const values = new Map(path.map((each) => [each.name, pathText(each)]));
  const url = new URL(template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => values.get(name) ?? ''));
  if (url.origin !== new URL(template).origin) throw new ToolFailed('The address cannot be made of these arguments.');
  for (const { name, value, definition } of query) {
    const { style, explode } = definition as { style?: string; explode?: boolean };
    const rule = { ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) };
    for (const [key, text] of pairsOf({ name, value, rule })) url.searchParams.append(key, text);
  }
  return url.href;
}

function pathText({ value, argument }: Filled): string {
  const text = Array.isArray(value) ? value.map(plainText).join(',') : plainText(value);
  if (text === '' || text === '.' || text === '..') {
    throw new ToolFailed(`The argument \`${argument}\` cannot be a part of the address.`);
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw new ToolFailed(`The argument \`${argument}\` is not well-formed text.`);
  }
}

function headerValue({ value, argument, name }: Filled): string {
  const text = (Array.isArray(value) ? value.map(plainText).join(',') : plainText(value)).trim();
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new ToolFailed(`The argument \`${argument}\` holds characters that the header ${name} cannot.`);
}

function bodyOf({ body, body_content_type: mediaType, body_encoding_rules: rules }: ApiAction, filled: readonly Filled[]) {
  if (filled.length === 0) return undefined;
  const fields = filled.map(({ name, value }): Field => ({ name, value, rule: rules[name] ?? {} }));
  return writtenBody(mediaType, fields, body.whole === true && Object.keys(body.properties).length === 1);
}
