import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';

/** Objects and arrays may be nested this deep: far more than anybody writes, far less than recursion survives. */
export const JSON_DEPTH_MAX = 100;

type Done = (error: Error | null, value?: unknown) => void;
/** The texts of bodies as they were sent, for as long as anybody knows their requests. */
const texts = new WeakMap<FastifyRequest, string>();

/** A JSON body as it was sent; undefined where there was none. */
export const jsonTextOf = (request: FastifyRequest): string | undefined => texts.get(request);

export type JsonParser = (request: FastifyRequest, text: string, done: Done) => unknown;

/**
 * Parses JSON bodies. An empty body is no body, `null` is refused, and so is text that is no JSON, with the reason; `parse` is
 * one of Fastify's parsers, which refuse what would reach a prototype unless they are told that it is only data.
 */
export const jsonBodyParser =
  (parse: JsonParser) =>
  (request: FastifyRequest, bytes: Buffer, done: Done): void => {
    const text = bytes.toString('utf8');
    if (text.trim() === '') return done(null, undefined);
    if (isDeeperThan(text, JSON_DEPTH_MAX)) return done(refused(`is nested deeper than ${JSON_DEPTH_MAX} levels.`));
    parse(request, text, (error, value) => {
      if (error) return done(refused(problemWith(text)));
      if (value === null) return done(refused('must not be null.'));
      texts.set(request, text);
      done(null, value);
    });
  };

const refused = (problem: string) => new Rejection('invalid-request', `The request body ${problem}`);

function problemWith(text: string): string {
  try {
    JSON.parse(text);
    return 'holds a key that is not allowed: __proto__ or constructor.prototype.';
  } catch (error) {
    return `is not valid JSON: ${(error as Error).message}`;
  }
}

/** Counts brackets outside of strings, before anything recursive sees the text. */
function isDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (quoted) {
      if (character === BACKSLASH) index++;
      else if (character === QUOTE) quoted = false;
    } else if (character === QUOTE) quoted = true;
    else if (character === BRACE || character === BRACKET) {
      if (++depth > max) return true;
    } else if (character === BRACE_END || character === BRACKET_END) depth--;
  }
  return false;
}

const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
