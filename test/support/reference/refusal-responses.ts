import { HttpStatus } from '@nestjs/common';
import * as nest from '@nestjs/common';
import { REJECTIONS } from '../../../src/app/rejections.js';
import { renderError } from '../../../src/platform/http/error-bodies.js';
import type { Failure } from '../../../src/platform/http/errors.js';
import type { Refusal } from './reachable-refusals.js';
import type { Schema, TypeSchemas } from './type-schemas.js';

type Body = Readonly<{ schema: Schema; example?: unknown }>;
export type Response = Readonly<{
  description: string;
  headers?: Readonly<Record<string, unknown>>;
  content?: Readonly<Record<string, Body>>;
  'x-codes'?: readonly string[];
  'x-codes-are-open'?: true;
}>;

type Told = Readonly<{ failure: Failure; details: Schema | undefined }>;

/** The bodies of refusals, one per family of routes. */
export const REFUSAL_SCHEMAS: Readonly<Record<string, Schema>> = {
  Refusal: {
    type: 'object',
    required: ['success', 'message'],
    properties: {
      success: { const: false },
      message: { type: 'string', description: 'For people; its words may change.' },
      error: { type: 'string', description: 'For programs; not every refusal has one.' },
    },
  },
  AnswerRefusal: {
    type: 'object',
    required: ['error'],
    properties: {
      error: { type: 'string', description: 'For people; its words may change.' },
      code: { type: 'string', description: 'For programs.' },
    },
  },
  StreamRefusal: {
    type: 'object',
    description: 'The only frame of a stream that does not begin.',
    required: ['type', 'error'],
    properties: { type: { const: 'error' }, error: { type: 'string' }, code: { type: 'string' } },
  },
  McpRefusal: {
    type: 'object',
    required: ['jsonrpc', 'id', 'error'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          data: { type: 'object', properties: { code: { type: 'string' } } },
        },
      },
    },
  },
  OpenAiRefusal: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'code', 'param'],
        properties: {
          message: { type: 'string' },
          type: {
            enum: [
              'authentication_error',
              'permission_error',
              'not_found_error',
              'rate_limit_error',
              'server_error',
              'invalid_request_error',
            ],
          },
          code: { type: ['string', 'null'] },
          param: { type: ['string', 'null'] },
        },
      },
    },
  },
};

/** The refusal responses of an operation by status. */
export function refusalResponses(
  path: string,
  refusals: readonly Refusal[],
  schemas: TypeSchemas,
): Readonly<Record<string, Response>> {
  const byStatus = new Map<number, Told[]>();
  for (const refusal of refusals) {
    const failure = failureOf(refusal);
    const details = refusal.details && schemas.of(refusal.details);
    byStatus.set(failure.status, [...(byStatus.get(failure.status) ?? []), { failure, details }]);
  }
  const sorted = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(sorted.map(([status, told]) => [status, responseOf(path, status, told)]));
}

function failureOf({ code, text }: Refusal): Failure {
  if (code === 'internal') return { status: 500, code: 'internal_error', message: text };
  const exception = (nest as unknown as Record<string, new () => { getStatus(): number }>)[code];
  if (exception) return { status: new exception().getStatus(), message: text };
  return { ...(REJECTIONS[code] ?? { status: 400 }), message: text };
}

function responseOf(path: string, status: number, told: readonly Told[]): Response {
  const codes = [...new Set(told.flatMap(({ failure }) => failure.code ?? []))].sort();
  const content: Record<string, Body> = {};
  for (const { failure } of told) {
    const { headers, body } = renderError(path, { ...failure, message: failure.message || nameOf(status) });
    const type = headers['content-type'].split(';', 1)[0]!;
    const example: unknown = JSON.parse(type === 'text/event-stream' ? body.slice('data: '.length) : body);
    content[type] ??= { schema: schemaOf(example, told), example: type === 'text/event-stream' ? body : example };
  }
  const retry = told.find(({ failure }) => failure.retryAfterSeconds !== undefined);
  const seconds = { schema: { type: 'integer', minimum: 1 }, description: 'In how many seconds to ask again.' };
  return {
    description: descriptionOf(status, told),
    ...(retry && { headers: { 'Retry-After': seconds } }),
    content,
    ...(codes.length > 0 && { 'x-codes': codes }),
    ...(told.some(bringsCode) && { 'x-codes-are-open': true }),
  };
}

/** Whether the code is that of another failure, such as a model's. Then the list of codes cannot be complete. */
const bringsCode = ({ details }: Told): boolean => 'code' in ((details as { properties?: object } | undefined)?.properties ?? {});

function schemaOf(example: unknown, told: readonly Told[]): Schema {
  const name = familyOf(example as Readonly<Record<string, unknown>>);
  const family = { $ref: `#/components/schemas/${name}` };
  const properties = Object.assign(
    {},
    ...told.map(({ details }) => (details as { properties?: object } | undefined)?.properties),
  ) as object;
  const hasDetails = Object.keys(properties).length > 0 && (name === 'Refusal' || name === 'AnswerRefusal');
  return hasDetails ? { allOf: [family, { type: 'object', properties }] } : family;
}

function familyOf({ success, type, error, jsonrpc }: Readonly<Record<string, unknown>>): string {
  if (jsonrpc !== undefined) return 'McpRefusal';
  if (success === false) return 'Refusal';
  if (type === 'error') return 'StreamRefusal';
  return typeof error === 'object' ? 'OpenAiRefusal' : 'AnswerRefusal';
}

const nameOf = (status: number): string => HttpStatus[status]!.toLowerCase().replaceAll('_', ' ');

/** The possible causes, one per line if there are several. */
function descriptionOf(status: number, told: readonly Told[]): string {
  const known = told.filter(({ failure: { code, message } }) => message !== '' && !(message === 'Not found' && !code));
  const shown = known.length > 0 ? told.filter((each) => known.includes(each) || isNew(each, known)) : told;
  const lines = shown.map(
    ({ failure: { code, message } }) =>
      [code && `\`${code}\``, message].filter(Boolean).join(': ') ||
      `${nameOf(status)[0]!.toUpperCase()}${nameOf(status).slice(1)}`,
  );
  const different = [...new Set(lines)].sort();
  return different.length === 1 ? different[0]! : different.map((line) => `- ${line}`).join('\n');
}

/** Whether no other refusal has this code. A refusal whose message depends on the request is listed only then. */
const isNew = ({ failure: { code } }: Told, known: readonly Told[]): boolean =>
  code !== undefined && !known.some(({ failure }) => failure.code === code);
