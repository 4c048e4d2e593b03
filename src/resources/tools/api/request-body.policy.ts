import { randomUUID } from 'node:crypto';
import type { EncodingRule } from './api-action.policy.js';

/** A body field that has a value, with the rule for its serialization. */
export type Field = Readonly<{ name: string; value: unknown; rule: EncodingRule }>;

export type Written = Readonly<{ contentType: string; body: string }>;

type BodyForm = 'json' | 'form' | 'multipart' | 'text';

/** The form in which bodies of a media type are serialized; undefined if it is not supported. */
export function bodyFormOf(mediaType: string): BodyForm | undefined {
  const type = mediaType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  if (/^text\/[\w.+-]+$/.test(type) || /^application\/(xml|octet-stream|yaml|graphql|[\w.-]+\+xml)$/.test(type)) return 'text';
  return undefined;
}

/** Serializes the body of a request. With `whole`, the only field is the whole body. */
export function writtenBody(mediaType: string, fields: readonly Field[], whole: boolean): Written {
  switch (bodyFormOf(mediaType)) {
    case 'form':
      return { contentType: mediaType, body: new URLSearchParams(fields.flatMap(pairsOf)).toString() };
    case 'multipart':
      return multipart(fields);
    case 'text':
      return { contentType: mediaType, body: asText(fields) };
    case 'json':
    case undefined:
      return { contentType: mediaType, body: jsonOf(whole ? fields[0]?.value : Object.fromEntries(fields.map(entryOf))) };
  }
}

const entryOf = ({ name, value }: Field): [string, unknown] => [name, value];

const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

/** Names and values for forms and queries. A list repeats its name unless its rule joins it into one value. */
export function pairsOf({ name, value, rule: { style = 'form', explode = style === 'form' } }: Field): [string, string][] {
  if (Array.isArray(value)) {
    const texts = value.map(plainText);
    return explode ? texts.map((text) => [name, text]) : [[name, texts.join(SEPARATORS[style] ?? ',')]];
  }
  if (style === 'deepObject' && typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, each]) => [`${name}[${key}]`, plainText(each)]);
  }
  return [[name, plainText(value)]];
}

/** A value as text; JSON unless it is a string. */
export const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : jsonOf(value);

/** JSON in which a bigint is a number with all its digits. */
function jsonOf(value: unknown): string {
  const mark = randomUUID();
  const json = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${mark}${each}` : each));
  return json.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

function multipart(fields: readonly Field[]): Written {
  const boundary = `verbatim-${randomUUID()}`;
  const parts = fields.flatMap(({ name, value, rule }) =>
    (Array.isArray(value) && rule.explode !== false ? (value as unknown[]) : [value]).map((each) => {
      const type = rule.contentType ?? (typeof each === 'object' && each !== null ? 'application/json' : undefined);
      const head = `Content-Disposition: form-data; name="${quoted(name)}"${type ? `\r\nContent-Type: ${type}` : ''}`;
      return `--${boundary}\r\n${head}\r\n\r\n${plainText(each)}\r\n`;
    }),
  );
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` };
}

const quoted = (name: string): string => name.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));

const asText = (fields: readonly Field[]): string =>
  fields.length === 1 ? plainText(fields[0]!.value) : fields.map(({ name, value }) => `${name}: ${plainText(value)}`).join('\n');
