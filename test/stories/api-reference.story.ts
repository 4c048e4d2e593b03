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
  /** A content type of the body. The first one by default. */
  type?: string | undefined;
}>;

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** Without a key in its body the search reports the missing field, as its clients expect. */
const NAMES_THE_KEY_AS_MISSING = 'POST /api/search';
/** Other callers are refused. */
const FOR_ADMINISTRATORS = 'GET /api/admin/teams';
/** A page for browsers that return from a sign-in. It answers 400 for a sign-in that was never started. */
const NO_SIGN_IN = 'GET /api/mcp_server/callback';
/** Saving a tool server lists its tools, and there is no server. */
const NO_TOOL_SERVER = 'POST /api/mcp_server/save';
/** Accepts the token of a session that started at a provider. */
const RENEWS_A_SESSION = 'POST /api/auth/oidc/refresh';
/** Operations that need one of several parameters. */
const ONE_OF_SEVERAL = new Map([
  ['GET /api/delete_old', ['source_id']],
  ['GET /api/traces', ['id']],
]);

/** Compares the document at /api/openapi.json with the running service. */
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

  /** Sends a request as documented: the required parameters and the example body. Returns the status. */
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

  it('states the credentials of every operation, and only those without any are open', async () => {
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

  it('shows requests that work: the required parameters suffice, and each example body is accepted', async () => {
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

  it('marks a parameter as required if a request is refused without it, and names each parameter once', async () => {
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

  describe('lists for a signed-in user', () => {
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
  // The endpoint has no speech model, and web push is not configured.
  if (status === 501 || path === '/api/push/subscriptions') return true;
  // The named resource does not exist, or no longer.
  return status < 400 || status === 404 || status === 410;
}

/** The content types of a body. One undefined type if there is no body. */
const typesOf = ({ requestBody }: Operation): readonly (string | undefined)[] =>
  requestBody ? Object.keys(requestBody.content) : [undefined];

const exampleOf = ({ requestBody }: Operation, type?: string) =>
  (type === undefined ? Object.values(requestBody?.content ?? {})[0] : requestBody?.content[type])?.examples?.example?.value;

/** A wildcard type is sent as one of its types. */
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
