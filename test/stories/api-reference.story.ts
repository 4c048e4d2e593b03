import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { ReferenceDevice } from '../support/reference-device.js';
import { openWorld, type World } from '../support/world.js';

type Parameter = Readonly<{
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema?: Readonly<{ enum?: readonly string[] }>;
}>;
type Schema = Readonly<{ properties?: Readonly<Record<string, { format?: string; items?: { format?: string } }>> }>;
type Body = Readonly<
  Record<string, { schema: Schema; examples?: { example?: { value: Readonly<Record<string, unknown>> | string } } }>
>;
type Operation = Readonly<{
  parameters: readonly Parameter[];
  requestBody?: { content: Body };
  security?: readonly Readonly<Record<string, unknown>>[];
}>;
type Documented = Readonly<{ title: string; method: string; path: string; operation: Operation }>;

type Sent = Readonly<{
  leaveOut?: Parameter;
  credential?: Readonly<Record<string, string>>;
  /** One of the types that the body may have; the first unless told. */
  type?: string | undefined;
}>;

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** Without a key in its body the search says which field is missing, as its clients expect. */
const NAMES_THE_KEY_AS_MISSING = 'POST /api/search';
/** Everybody else is refused. */
const FOR_ADMINISTRATORS = 'GET /api/admin/teams';
/** A page for browsers that come back from a sign-in: it says 400 of one that was never begun. */
const NO_SIGN_IN = 'GET /api/mcp_server/callback';
/** Setting a tool server up asks it for its tools, and there is none. */
const NO_TOOL_SERVER = 'POST /api/mcp_server/save';
/** Takes the token of a session that began at a provider, where users sign in at one. */
const RENEWS_A_SESSION = 'POST /api/auth/oidc/refresh';
/** Where one of several parameters is needed. */
const ONE_OF_SEVERAL = new Map([
  ['GET /api/delete_old', ['source_id']],
  ['GET /api/traces', ['id']],
]);

/** The document at /api/openapi.json, held against the service that it describes. */
export function apiReferenceStory(makeBacking: MakeBacking): void {
  let world: World;
  let operations: readonly Documented[];
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    const { paths } = await world.nobody.json<{ paths: Record<string, Record<string, Operation>> }>('/api/openapi.json');
    operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const verb = method.toUpperCase();
        return { title: `${verb} ${path}`, method: verb, path, operation };
      }),
    );
  });
  afterAll(() => world.close());

  /** A request as the reference shows it: what is required, and the example of the body. */
  async function statusOf({ title, method, path, operation }: Documented, client: Client, more: Sent = {}): Promise<number> {
    const { leaveOut, credential, type } = more;
    const oneOf = ONE_OF_SEVERAL.get(title) ?? [];
    const given = operation.parameters.filter(
      (each) => (each.required || oneOf.includes(each.name)) && each.in === 'query' && each !== leaveOut,
    );
    const query = new URLSearchParams(
      given.map(({ name, schema }): [string, string] => [name, schema?.enum?.[0] ?? UNKNOWN]),
    ).toString();
    const url = `${path.replaceAll(/\{\w+\}/g, UNKNOWN)}${query && `?${query}`}`;
    const body = bodyOf(operation, type);
    const headers = { ...(typeof body === 'string' && { 'content-type': sentTypeOf(operation, type) }), ...credential };
    const { status, body: stream } = await client.request(url, { method, headers, redirect: 'manual', ...(body && { body }) });
    await stream?.cancel();
    return status;
  }

  const failing = async (check: (documented: Documented) => Promise<unknown>) => {
    const found: Record<string, unknown> = {};
    for (const documented of operations) {
      const problem = await check(documented);
      if (problem !== undefined) found[documented.title] = problem;
    }
    return found;
  };

  it('has every operation say which credentials it takes, and only those without any are open', async () => {
    expect(operations.length).toBeGreaterThan(80);
    const found = await failing(async (documented) => {
      const { security } = documented.operation;
      if (security === undefined) return 'It has no security.';
      if (documented.title === RENEWS_A_SESSION) return security[0]?.['bearer'] ? undefined : security;
      const status = await statusOf(documented, world.nobody);
      if (documented.title === NAMES_THE_KEY_AS_MISSING) return undefined;
      return (status === 401) === security.length > 0 ? undefined : { status, security };
    });
    expect(found).toEqual({});
  });

  it('shows requests that work: what is required is enough, and the example of each body is taken', async () => {
    const { key } = await world.agent();
    const pairing = await world.alice.post('/api/devices/pairings', {});
    const { user_code: code } = (await pairing.json()) as { user_code: string };
    const { token } = await ReferenceDevice.paired(world.service.url, code);
    const found = await failing(async (documented) => {
      const { operation } = documented;
      if (operation.requestBody && exampleOf(operation) === undefined) return 'Its body has no example.';
      const takesKeyAlone = operation.security?.every((each) => 'agent-key' in each) && operation.security.length > 0;
      const takesDevice = operation.security?.some((each) => 'device' in each);
      const keyIsBearer = documented.path.startsWith('/v1/');
      const ofKey = keyIsBearer ? { authorization: `Bearer ${key}` } : { 'x-api-key': key };
      const credential = takesKeyAlone ? ofKey : takesDevice ? { authorization: `Bearer ${token}` } : {};
      const problems: Record<string, number> = {};
      for (const type of typesOf(operation)) {
        const status = await statusOf(documented, world.alice, { credential, type });
        if (!isTaken(documented, status)) problems[type ?? 'without a body'] = status;
      }
      return Object.keys(problems).length > 0 ? problems : undefined;
    });
    expect(found).toEqual({});
  });

  it('calls required what a request is refused without, and names each parameter once', async () => {
    const found = await failing(async (documented) => {
      const { parameters } = documented.operation;
      const names = parameters.map(({ name, in: where }) => `${where} ${name.toLowerCase()}`);
      if (new Set(names).size < names.length) return names;
      const inPath = [...documented.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name!.toLowerCase()}`);
      if (names.filter((name) => name.startsWith('path')).join() !== inPath.join()) return names;
      for (const parameter of parameters.filter(({ required, in: where }) => required && where !== 'path')) {
        const status = await statusOf(documented, world.alice, { leaveOut: parameter });
        if (status !== 400) return { [parameter.name]: status };
      }
      return undefined;
    });
    expect(found).toEqual({});
  });

  describe('names for a signed-in user', () => {
    it.each([
      ['/api/get_conversations', 'get', ['before', 'before_id', 'limit']],
      ['/api/audit/events', 'get', ['actor', 'after', 'correlation', 'from', 'limit', 'stream', 'to', 'type']],
      ['/api/get_chunks', 'get', ['id', 'page', 'path', 'per_page', 'search']],
      ['/api/messages/{messageId}/events', 'get', ['Last-Event-ID', 'last_event_id', 'messageId']],
      ['/stream', 'post', ['Idempotency-Key']],
    ])('%s the parameters that it reads', (path, method, names) => {
      const found = operations.find((each) => each.path === path && each.method === method.toUpperCase());
      expect(found!.operation.parameters.map(({ name }) => name).sort()).toEqual(names);
    });
  });
}

function isTaken({ title, path }: Documented, status: number): boolean {
  if (title === FOR_ADMINISTRATORS) return status === 403;
  if ([NO_SIGN_IN, NO_TOOL_SERVER].includes(title)) return status === 400;
  // No model of the endpoint is named for speech, and web push is not configured.
  if (status === 501 || path === '/api/push/subscriptions') return true;
  // What is named is not there, or not any more.
  return status < 400 || status === 404 || status === 410;
}

/** The types that a body may have; none of them where there is no body. */
const typesOf = ({ requestBody }: Operation): readonly (string | undefined)[] =>
  requestBody ? Object.keys(requestBody.content) : [undefined];

const exampleOf = ({ requestBody }: Operation, type?: string) =>
  (type === undefined ? Object.values(requestBody?.content ?? {})[0] : requestBody?.content[type])?.examples?.example?.value;

/** A range of types is sent as one of them. */
const sentTypeOf = (operation: Operation, type = typesOf(operation)[0]!): string => type.replace('*', 'cloudevents');

function bodyOf(operation: Operation, type = typesOf(operation)[0]): string | FormData | undefined {
  const example = exampleOf(operation, type);
  if (example === undefined || typeof example === 'string') return example;
  if (type === 'application/x-www-form-urlencoded') return new URLSearchParams(example as Record<string, string>).toString();
  if (type !== 'multipart/form-data') return JSON.stringify(example);
  const { properties } = operation.requestBody!.content[type]!.schema;
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) {
    const { format, items } = properties?.[name] ?? {};
    if ((items?.format ?? format) === 'binary') form.set(name, new Blob([String(value)]), `${name}.txt`);
    else form.set(name, String(value));
  }
  return form;
}
