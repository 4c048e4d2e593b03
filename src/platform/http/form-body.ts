import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { escapesUtf8 } from './readable-url.js';

/** Maximum number of fields of a form. Larger data is uploaded or sent as JSON. */
export const FORM_FIELDS_MAX = 200;
export const FORM_BYTES_MAX = 1024 * 1024;

const AMPERSAND = 0x26;

/** Parses a URL-encoded form (`a=1&b=2`). A form with too many fields is refused before parsing. */
export function parseForm(_request: FastifyRequest, bytes: Buffer, done: (error: Error | null, fields?: unknown) => void): void {
  if (hasMoreThan(FORM_FIELDS_MAX - 1, bytes)) {
    return done(new Rejection('too-large', `The request body has more than ${FORM_FIELDS_MAX} fields.`));
  }
  if (!isUtf8(bytes) || !escapesUtf8(bytes.toString()))
    return done(new Rejection('invalid-request', 'The request body is not valid UTF-8.'));
  const fields = parse(bytes.toString());
  if (Object.hasOwn(fields, '__proto__')) {
    return done(new Rejection('invalid-request', 'The request body holds a field that is not allowed: __proto__.'));
  }
  done(null, fields);
}

function hasMoreThan(separatorsMax: number, bytes: Buffer): boolean {
  let place = -1;
  for (let count = 0; count <= separatorsMax; count++) {
    place = bytes.indexOf(AMPERSAND, place + 1);
    if (place < 0) return false;
  }
  return true;
}
