import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { JSON_DEPTH_MAX, JSON_LIMITS } from '../../kernel/bounded-json.js';
import { Rejection } from '../../kernel/rejection.js';
import { FORM_BYTES_MAX, parseForm } from './form-body.js';
import { jsonBodyParser, type JsonBodyRules } from './bodies/json-body.js';
import { type BodyBounds, receiveBody } from './bodies/received-body.js';

export type BodyLimits = Readonly<{
  /** Maximum size of a request body, except uploads. */
  bodyBytesMax: number;
  /** Maximum number of fields and elements of a JSON body, except those of webhooks. */
  bodyEntriesMax: number;
  webhookBodyBytesMax: number;
}>;

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];
/** Content types that clients send for files of a type they do not know, such as YAML. */
const UNTOLD_TYPES = ['text/plain', 'application/octet-stream'];
/** The route whose body may be YAML with any of these content types. */
const RAW_YAML_PATH = /^\/api\/import_agent(\/|\?|$)/;

/** Routes that accept any JSON, because they only store the body. */
export const ANY_JSON_PATH = /^\/api\/webhooks\//;

/** The route that receives raw, possibly compressed bodies, and decompresses them within limits. */
const RAW_BODY_PATH = /^\/api\/devices\/sessions\/[^/?]+\/invocations\/[^/?]+\/output(\/|\?|$)/;

/** The route that a library serves, which describes each wrong entry at length: 25 µs of processor time for each. */
const MCP_PATH = /^\/mcp(\/|\?|$)/;
/** Far more than the arguments of a tool need. */
export const MCP_ENTRIES_MAX = 2_000;

export const isAcceptedEncoding = (encoding: string, url: string): boolean =>
  encoding === 'identity' || (encoding === 'gzip' && RAW_BODY_PATH.test(url));

/** Further JSON content types, such as `application/problem+json`. */
const JSON_LIKE_TYPE = /^application\/[\w.!#$&^-]+\+json(?=\s*(?:;|$))/;

/** The limits of such bodies. The limit of bytes allows any shape. */
const DATA_LIMITS = {
  depthMax: JSON_DEPTH_MAX,
  entriesMax: Infinity,
  keyBytesMax: Infinity,
  escapesMax: Infinity,
  bareBytesMax: Infinity,
};

/** Registers the parsers: JSON, forms and uploads for all routes, raw bodies for some. Other content types get 415. */
export function parseBodies(
  fastify: FastifyInstance,
  { bodyBytesMax: bodyLimit, bodyEntriesMax: entriesMax, webhookBodyBytesMax }: BodyLimits,
) {
  const notAccepted = () => new Rejection('media-type-not-accepted', 'A request body of this Content-Type is not accepted here.');
  const usual: JsonBodyRules = { bytesMax: bodyLimit, limits: { ...JSON_LIMITS, entriesMax }, isOnlyData: false };
  const anyJson: JsonBodyRules = { bytesMax: webhookBodyBytesMax, limits: DATA_LIMITS, isOnlyData: true };
  const mcp: JsonBodyRules = { ...usual, limits: { ...usual.limits, entriesMax: Math.min(entriesMax, MCP_ENTRIES_MAX) } };
  const parseJson = jsonBodyParser(({ url }) => (ANY_JSON_PATH.test(url) ? anyJson : MCP_PATH.test(url) ? mcp : usual));
  fastify.addContentTypeParser('application/json', async (request: FastifyRequest, body: Readable) =>
    RAW_BODY_PATH.test(request.url) ? receiveBody(body, boundsOf(request, bodyLimit), () => undefined) : parseJson(request, body),
  );
  fastify.addContentTypeParser(JSON_LIKE_TYPE, async (request: FastifyRequest, body: Readable) => {
    if (!ANY_JSON_PATH.test(request.url)) throw notAccepted();
    return parseJson(request, body);
  });
  const form = { parseAs: 'buffer', bodyLimit: Math.min(bodyLimit, FORM_BYTES_MAX) } as const;
  fastify.addContentTypeParser('application/x-www-form-urlencoded', form, (request, body: Buffer, done) =>
    // Some clients send this content type for every body.
    RAW_YAML_PATH.test(request.url) ? readRaw(body, done) : parseForm(request, body, done),
  );
  fastify.addContentTypeParser(
    [...YAML_TYPES, ...UNTOLD_TYPES, '*'],
    { parseAs: 'buffer', bodyLimit },
    (request, body: Buffer, done) => {
      const type = request.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
      if (RAW_BODY_PATH.test(request.url)) return done(null, body);
      if (body.length === 0 && type === undefined) return done(null, undefined);
      const isYaml = type === undefined || YAML_TYPES.includes(type) || UNTOLD_TYPES.includes(type);
      if (isYaml && RAW_YAML_PATH.test(request.url)) readRaw(body, done);
      else if (type === 'text/plain') done(null, body.toString());
      else done(notAccepted(), undefined);
    },
  );
}

type Done = (error: Error | null, body?: unknown) => void;

function readRaw(body: Buffer, done: Done): void {
  if (isUtf8(body)) done(null, body.toString());
  else done(new Rejection('invalid-request', 'The request body is not valid UTF-8.'));
}

const boundsOf = ({ headers: { 'content-length': length } }: FastifyRequest, bytesMax: number): BodyBounds => ({
  bytesMax,
  declared: length === undefined ? undefined : Number(length),
});
