import { createHash } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import { DocumentBuilder, type OpenAPIObject } from '@nestjs/swagger';
import type ts from 'typescript';
import { JSON_DEPTH_MAX, JSON_ESCAPES_MAX, JSON_KEY_BYTES_MAX } from '../../../src/kernel/bounded-json.js';
import { VERSION } from '../../../src/kernel/version.js';
import { BODIES } from '../../../src/platform/http/documented.js';
import { PARAMETER_CHARACTERS_MAX } from '../../../src/platform/http/http-server.js';
import { NOT_BUILT, NOT_BUILT_FOR_ANYBODY } from '../../../src/views/start-up/not-built.http.js';
import { documentOf, type Route, routeOf } from './controllers.js';
import { type Handler, Handlers, type Sent } from './handlers.js';
import { ReachableRefusals, type Refusal } from './reachable-refusals.js';
import { REFUSAL_SCHEMAS, refusalResponses, type Response } from './refusal-responses.js';
import { generalRefusals, readsUser } from './general-refusals.js';
import { type Schema, TypeSchemas } from './type-schemas.js';

const DESCRIPTION = `Asks agents, streams their answers and replays them byte for byte.

A JSON body has at most \`BODY_MAX_BYTES\` bytes (10 MiB unless set) and \`BODY_MAX_ENTRIES\` fields and elements, on all levels
together (20,000 unless set); its keys have at most ${JSON_KEY_BYTES_MAX} bytes, and at most ${JSON_ESCAPES_MAX} of its characters are
escaped: what has more is answered 413. It is nested at most ${JSON_DEPTH_MAX} levels deep, else 400. A webhook takes JSON of any shape
within \`WEBHOOK_BODY_MAX_BYTES\` and that depth. A request may be answered before all of its body has come in.

A wrong bearer is 401 on every route, and so is a wrong agent key on those that take one; a wrong token of a webhook is 404. After
\`WRONG_CREDENTIALS_MAX_PER_MINUTE\` of them within a minute (100 unless set) an address gets 429 for wrong ones, with \`Retry-After\`; right
ones are answered as ever.

Programs show a personal access token of a user as bearer (\`POST /api/user/tokens\`). It is taken under every \`AUTH_TYPE\`, opens the routes that
name one of its scopes (\`x-token-scopes\`; empty if any token opens it), and no others: \`not_available_to_tokens\`, \`insufficient_scope\`
and \`resource_not_allowed\` are 403.

An answer of \`text/event-stream\` is described by the \`data\` of its events. A path that is nowhere is 404, another method 405 with
\`Allow\`, a part of a path that names something with more than ${PARAMETER_CHARACTERS_MAX} characters 414, a request line and headers of
more than ${maxHeaderSize} bytes 431, and 501 (\`not_built\`) what
\`x-not-built\` lists.`;

const BEARER = 'A session token, or a personal access token (`dgpt_pat_…`) where the operation names `x-token-scopes`.';

const SHARE_TOKEN = 'The `identifier` of a link to a conversation: it opens what the link shows.';

type Fields = Record<string, unknown>;

const VERBS = ['get', 'put', 'post', 'patch', 'delete'] as const;
const MEDIA = { Streamed: 'text/event-stream', Lines: 'application/x-ndjson' } as const;
const REDIRECTS = [302, 303, 307];
/** 202 is a usual response only for some operations. Where it is not, it has no body. */
const ACCEPTED = 202;

/**
 * The API reference that the code declares: requests from controllers and body classes, responses from the return types of
 * handlers, and refusals from the code that handlers may run. The program must be read and described before this module is
 * imported.
 */
export function apiDocument(program: ts.Program): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Verbatim')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: BEARER })
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'agent-key')
    .addApiKey({ type: 'apiKey', in: 'query', name: 'share_token', description: SHARE_TOKEN }, 'share-token')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'The token that a device got when it was paired.' }, 'device');
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(({ isDeclarationFile }) => !isDeclarationFile);
  const handlers = new Handlers(files, checker);
  const reachable = new ReachableRefusals(checker, files);
  const schemas = new TypeSchemas(checker);
  const general = generalRefusals(reachable, files);
  const document = documentOf(builder);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const verb of VERBS) {
      const operation = item[verb];
      if (!operation) continue;
      const route = routeOf(operation.operationId!);
      const handler = handlers.at(route);
      const refusals = [...general(path, verb, operation, route), ...handler.roots().flatMap((root) => reachable.from(root))];
      const told = operation.responses as Responses;
      const refused = withHand(refusalResponses(path, relevantTo(path, route, refusals), schemas), told);
      operation.responses = { ...refused, ...answersOf(handler, route, told, refused, schemas) } as never;
      operation.operationId = `${verb}${path.replaceAll(/\W+/g, '_')}`.replace(/_$/, '');
      operation.parameters = operation.parameters?.map(asText) ?? [];
      tellBodies(operation);
      operation.security = [...new Set((operation.security ?? []).flatMap(Object.keys))].map((scheme) => ({ [scheme]: [] }));
      operation.summary ??= '';
    }
  }
  shareResponses(document);
  const known = document.components!.schemas!;
  for (const name of Object.keys(schemas.named)) if (name in known) throw new Error(`Two schemas are named ${name}.`);
  document.components!.schemas = sorted({ ...known, ...schemas.named, ...REFUSAL_SCHEMAS }) as typeof known;
  document.paths = sorted(document.paths);
  return { ...document, 'x-not-built': notBuilt() } as OpenAPIObject;
}

const TOKEN_CODES = ['not-available-to-tokens', 'insufficient-scope', 'resource-not-allowed'];

/**
 * The refusals that apply to the route. Those of tokens depend on the route's declaration, not on where the deciding code is
 * called.
 */
function relevantTo(path: string, { access }: Route, refusals: readonly Refusal[]) {
  const possible = !readsUser(path) ? [] : access?.scopes === undefined ? TOKEN_CODES.slice(0, 1) : TOKEN_CODES.slice(1);
  const own = refusals.filter(({ code }) => !TOKEN_CODES.includes(code));
  const texts: Readonly<Record<string, string>> = {
    'not-available-to-tokens': 'The operation is closed to personal access tokens.',
    'insufficient-scope': `The personal access token has none of the scopes that open this: ${[access?.scopes ?? []].flat().join(', ')}.`,
    'resource-not-allowed': 'The personal access token is restricted to other resources.',
  };
  const isOpenToAll = access?.scopes === 'any-token';
  return [
    ...own,
    ...possible.filter((code) => !(isOpenToAll && code === 'insufficient-scope')).map((code) => ({ code, text: texts[code]! })),
  ];
}

/** Merges refusals. What a controller declares about a refusal takes precedence. */
function withHand(found: Readonly<Record<string, Response>>, told: Readonly<Record<string, Response>>) {
  const result: Record<string, Response> = { ...found };
  for (const [status, { description, content, headers }] of Object.entries(told)) {
    if (Number(status) < 400) continue;
    const base = result[status];
    result[status] = {
      ...base,
      description: description || base?.description || '',
      ...(content && { content }),
      ...(headers && { headers }),
    };
  }
  return result;
}

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & { [BODIES]?: Record<string, object> };
type Parameter = NonNullable<Operation['parameters']>[number];

/** A parameter that the controller parses itself is a string. */
const asText = (parameter: Parameter): Parameter =>
  'schema' in parameter && Object.keys(parameter.schema).length === 0 ? { ...parameter, schema: { type: 'string' } } : parameter;

/** Describes each content type of a body, where the controller declares it. */
function tellBodies(operation: Operation): void {
  const { [BODIES]: content } = operation;
  if (!content) return;
  operation.requestBody = { required: true, content };
  delete operation[BODIES];
}

function answersOf(handler: Handler, route: Route, told: Responses, refusals: Responses, schemas: TypeSchemas): Responses {
  const content = contentOf(handler.sent(), route, schemas);
  if (handler.isRefused()) return {};
  const byHand = Object.entries(told).filter(([status, { description }]) => Number(status) < 400 && description !== '');
  const named = [...handler.statuses(), ...byHand.map(([status]) => Number(status))];
  const isAnswered = named.every((status) => !REDIRECTS.includes(status));
  const statuses = [...new Set([...(isAnswered ? [route.status] : []), ...named])].sort((one, other) => one - other);
  const answers: Record<string, Response> = {};
  for (const status of statuses) {
    const [given, refused] = [told[status], refusals[status]];
    const isBodiless = status === ACCEPTED && status !== route.status;
    const own = given?.content ?? (isBodiless ? undefined : content);
    const shown = REDIRECTS.includes(status) ? undefined : bothOf(own, refused?.content);
    answers[status] = {
      ...refused,
      description: given?.description || refused?.description || DESCRIPTIONS[status] || 'It is done.',
      ...(REDIRECTS.includes(status) && { headers: { Location: { schema: { type: 'string' } } } }),
      ...(shown && { content: shown }),
    };
  }
  return answers;
}

type Responses = Readonly<Record<string, Response>>;
type Content = NonNullable<Response['content']>;

/** The content of a status that both the handler and refusals use. */
function bothOf(own: Content | undefined, refused: Content | undefined): Content | undefined {
  if (!own || !refused) return own ?? refused;
  const types = [...new Set([...Object.keys(own), ...Object.keys(refused)])];
  const schemaOf = (type: string) => {
    const [one, other] = [own[type], refused[type]];
    return one && other ? { schema: { anyOf: [one.schema, other.schema] } } : (one ?? other)!;
  };
  return Object.fromEntries(types.map((type) => [type, schemaOf(type)]));
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  201: 'It is made.',
  202: 'It is accepted.',
  302: 'The browser goes on to `Location`.',
  400: 'It did not come about.',
};

function contentOf(sent: readonly Sent[], { types }: Route, schemas: TypeSchemas): Content | undefined {
  const content: Record<string, Content[string]> = {};
  for (const { as, type } of sent) {
    if (isFile(type)) {
      for (const each of types.length > 0 ? types : ['application/octet-stream']) content[each] = { schema: {} };
      continue;
    }
    const schema = schemas.of(type);
    if (schema === undefined) continue;
    const usual = isText(schema) ? 'text/html' : 'application/json';
    content[as === 'body' || as === 'Sent' ? (types[0] ?? usual) : MEDIA[as]] = { schema };
  }
  return Object.keys(content).length > 0 ? content : undefined;
}

const isFile = (type: ts.Type): boolean => (type.isUnion() ? type.types.some(isFile) : type.symbol?.name === 'StreamableFile');

const isText = (schema: Schema): boolean => schema !== true && schema['type'] === 'string';

const notBuilt = (): readonly string[] =>
  Object.values({ ...NOT_BUILT, ...NOT_BUILT_FOR_ANYBODY })
    .flat()
    .map((path) => `/api/${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .sort();

/** The number of operations from which an identical response is described once and referenced. */
const SHARED_MIN = 4;

function shareResponses(document: OpenAPIObject): void {
  const operations = Object.values(document.paths).flatMap((item) => VERBS.flatMap((verb) => item[verb] ?? []));
  const counts = new Map<string, number>();
  const refusals = operations.flatMap(({ responses }) => Object.entries(responses).filter(([status]) => Number(status) >= 400));
  for (const [status, response] of refusals) {
    const text = `${status} ${JSON.stringify(response)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const shared: Fields = {};
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const text = `${status} ${JSON.stringify(response)}`;
      if ((counts.get(text) ?? 0) < SHARED_MIN) continue;
      const name = `Refusal${status}_${createHash('sha256').update(text).digest('hex').slice(0, 6)}`;
      shared[name] = response;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  document.components!.responses = sorted(shared) as never;
}

const sorted = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))) as T;
