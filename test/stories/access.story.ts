import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FAMILIES, type Family, type Place, type Scope, SCOPES } from '../../src/kernel/access.js';
import { newId } from '../../src/kernel/ids.js';
import { BEARER_IS_AGENT_KEY, BRINGS_OWN_CREDENTIAL } from '../../src/resources/identity/identify-request.js';
import { refusalOf } from '../../src/resources/identity/access.policy.js';
import { bearer } from '../support/access-table.js';
import { bearerOf, type MadeToken, tokenFor } from '../support/access-tokens.js';
import type { MakeBacking } from '../support/backing.js';
import { Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { type Route, routes } from '../support/routes.js';
import { YEARLY } from '../support/schedules.js';
import { ReferenceDevice } from '../support/reference-device.js';
import { addedSource } from '../support/sources.js';
import { cause } from '../support/turns.js';
import { chain, node } from '../support/workflow-graphs.js';
import { openWorld, type World } from '../support/world.js';

const GRAPH = chain(node('start', 'start'), node('end', 'end', { output_template: 'Hello.' }));

const ALL = Object.keys(SCOPES) as readonly Scope[];
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
/** Routes of features that are not built refuse every method, and are not in the reference. */
const isForAllMethods = ({ method }: Route): boolean => method === 'ALL';
const familyOf = ({ access }: Route): Family | undefined => FAMILIES.find((family) => family === access?.of);

/** The fields of all bodies except ids. Each route uses those that it knows. */
const FIELDS = {
  ...{ name: 'New', content: 'Be brief.', question: 'Why?', question_index: 0, feedback: 'like', config: {}, actions: [] },
  ...{ role: 'team_member', user_id: newId(), resource_type: 'agent', resource_id: newId(), settings: {}, shared: true },
  ...{ operation: 'remove', file_paths: ['a.md'], tab_id: 'tab-1', visible: true },
  ...{ query: 'When?', text: 'Tea is at four.', chunk_id: `${newId()}-0` },
  ...{ sync_frequency: 'daily', action: 'pause', instruction: YEARLY.instruction, displayName: 'Notes', status: true },
};

/** Sends every kind of credential to every route over HTTP, and compares the response with the access function's decision. */
export function accessStory(makeBacking: MakeBacking): void {
  let world: World;
  /** The ids of Alice's resources by kind. A missing kind gets an unknown id. */
  const things: Record<string, string> = {};

  beforeAll(async () => {
    const unlimited = {
      WRONG_CREDENTIALS_MAX_PER_MINUTE: '0',
      GENERATED_TOKENS_MAX_PER_HOUR: '0',
      REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0',
    };
    world = await openWorld(unlimited, makeBacking);
    const { alice } = world;
    const made = async (path: string, body: object) => ((await (await alice.post(path, body)).json()) as { id: string }).id;
    const agent = await world.agent();
    const asked = await alice.stream({ question: 'Why?', agent_id: agent.id });
    const schedule = await alice.post(`/api/agents/${agent.id}/schedules`, YEARLY);
    const tool = { name: 'ntfy', displayName: 'Phone', description: 'Mine', config: { token: 'secret' }, status: true };
    const model = { display_name: 'Mine', upstream_model_id: 'mine', base_url: 'https://model.invalid', api_key: 'secret' };
    Object.assign(things, {
      agents: agent.id,
      prompts: await made('/api/create_prompt', { name: 'Mine', content: 'Be brief.' }),
      sources: await addedSource(alice, 'Mine', 'Tea is at four.'),
      tools: await made('/api/create_tool', tool),
      models: await made('/api/user/models', model),
      schedules: ((await schedule.json()) as { schedule: { id: string } }).schedule.id,
      conversations: conversationIdIn(asked),
      messages: messageIdIn(asked),
      'access tokens': (await tokenFor(world, { scopes: ['chat:run'] })).id,
    });
  });
  afterAll(() => world.close());

  /** The id to send at a place. Runs and tasks get an unknown one. */
  const idAt = (route: Route, id: string, name: string): string => (name === 'runId' || name === 'taskId' ? newId() : id);
  const isInQuery = ({ in: where }: Place): boolean => where === 'query';

  /** Sends a request that names the id at every place of the route. Returns the status and, unless it is a stream, the text. */
  async function send(client: Client, route: Route, id: string): Promise<Readonly<{ status: number; text: string }>> {
    const { access } = route;
    const method = isForAllMethods(route) ? 'GET' : route.method;
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => (name === 'action' ? 'pause' : idAt(route, id, name)));
    const places = [...(access?.at ? [access.at] : []), ...(access?.refs ?? [])];
    const query = new URLSearchParams(Object.fromEntries(places.filter(isInQuery).map(({ name }) => [name, id])));
    if (route.path.endsWith('/delete_conversation')) query.set('id', id);
    if (route.path.endsWith('/share')) query.set('isPromptable', 'false');
    if (route.path.endsWith('/get_single_conversation')) query.set('id', id);
    if (route.path.endsWith('/delete_chunk')) query.set('chunk_id', FIELDS.chunk_id);
    const named = Object.fromEntries(places.map(({ name }) => [name, id]));
    // The config of a source is the whole body, and has no other fields.
    const isConfig = route.path === '/api/sources/:id/config';
    const body = JSON.stringify(isConfig ? { retrieval: { chunks: 8 } } : { ...FIELDS, id, conversation_id: id, ...named });
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
    const response = await client.request(`${path}?${query.toString()}`, {
      method,
      redirect: 'manual',
      ...(hasBody && { body, headers: { 'content-type': 'application/json' } }),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') && response.status === 200;
    if (!isStream) return { status: response.status, text: await response.text() };
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }

  const all = routes.map((route) => ({ name: nameOf(route), route }));
  const ofDevices = all.filter(({ route: { access } }) => access?.for === 'device');
  const bearersAreKeys = all.filter(({ route: { path } }) => BEARER_IS_AGENT_KEY.test(path));
  const ofKeys = bearersAreKeys.filter(({ route: { access } }) => access?.for === 'key');
  const cases = all.filter((each) => !ofDevices.includes(each) && !bearersAreKeys.includes(each));

  it('are exactly those in the reference of the running service, except those that are not built', async () => {
    const { paths } = await world.nobody.json<{ paths: Record<string, object> }>('/api/openapi.json');
    const served = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    const built = routes.filter((route) => !isForAllMethods(route));
    expect(served.toSorted()).toEqual(built.map(nameOf).toSorted());
  });

  describe('a caller without a credential', () => {
    const closed = cases.filter(({ route: { access } }) => access?.for === 'user');
    const asking = cases.filter(({ route: { access } }) => access?.for === 'caller');
    const open = cases.filter(({ route: { access } }) => access?.for === 'anyone' || access?.for === 'capability');

    it.each(closed)('is refused at $name', async ({ route }) => {
      expect((await send(world.nobody, route, newId())).status).toBe(401);
    });

    it.each(asking)('may not ask at $name', async ({ route }) => {
      const { status } = await send(world.nobody, route, newId());
      // Files are sent as a form. Without one the request is refused before its caller is checked.
      expect(status).toBe(route.path === '/api/store_attachment' ? 400 : 401);
    });

    it.each(open)('is admitted at $name', async ({ route }) => {
      expect([401, 403]).not.toContain((await send(world.nobody, route, newId())).status);
    });
  });

  describe.each(['nonsense', 'dgpt_pat_nonsense'])('the wrong bearer %s', (wrong) => {
    it.each(cases)('is refused at $name', async ({ route }) => {
      const { status } = await send(bearerOf(world.service.url, wrong), route, newId());
      // Routes with their own credential ignore the bearer. Sign-in at a provider is disabled here.
      const isRedeemed = route.path.endsWith('/redeem');
      expect(status).toBe(isRedeemed ? 400 : BRINGS_OWN_CREDENTIAL.test(route.path) ? 404 : 401);
    });
  });

  describe('a device', () => {
    let bearer: Client;
    beforeAll(async () => {
      const { user_code: code } = (await (await world.alice.post('/api/devices/pairings', {})).json()) as { user_code: string };
      const { token, id } = await ReferenceDevice.paired(world.service.url, code);
      things['devices'] = id;
      bearer = bearerOf(world.service.url, token);
    });

    it.each(ofDevices)('is admitted at $name, and no other caller is', async ({ route }) => {
      expect([401, 403]).not.toContain((await send(bearer, route, newId())).status);
      const others = [world.nobody, world.alice, (await tokenFor(world, { scopes: ALL })).client];
      for (const other of others) expect((await send(other, route, newId())).status).toBe(401);
    });

    it.each(cases)('is not admitted at $name', async ({ route }) => {
      const { path } = route;
      const { status } = await send(bearer, route, newId());
      expect(status === 401).toBe(!BRINGS_OWN_CREDENTIAL.test(path));
    });
  });

  it.each(ofKeys)('the key of an agent is admitted at $name as bearer, and no other caller is', async ({ route }) => {
    const { key } = await world.agent();
    expect([401, 403]).not.toContain((await send(bearerOf(world.service.url, key), route, newId())).status);
    const others = [world.nobody, world.alice, (await tokenFor(world, { scopes: ALL })).client];
    for (const other of others) expect((await send(other, route, newId())).status).toBe(401);
  });

  it('POST /mcp lists tools for any caller, whatever the bearer', async () => {
    const route = all.find(({ name }) => name === 'POST /mcp')!.route;
    for (const other of [world.nobody, world.alice, bearerOf(world.service.url, 'nonsense')])
      expect([401, 403]).not.toContain((await send(other, route, newId())).status);
  });

  describe('a session', () => {
    it.each(cases)('is admitted at $name', async ({ route }) => {
      const carol = await world.as('carol');
      const { status } = await send(carol, route, newId());
      const forAdministrators = route.access?.of === 'all teams';
      expect([401, 403].includes(status)).toBe(forAdministrators);
    });
  });

  describe('a resource of another user gets the response of a missing one', () => {
    const touching = cases.filter(({ route }) => {
      const { access, path } = route;
      const isNamed = access?.at !== undefined || path.includes('/:') || /delete_conversation|get_single/.test(path);
      return isNamed && access?.for !== 'capability' && !isForAllMethods(route);
    });

    it.each(touching)('$name', async ({ route }) => {
      const { path, access } = route;
      const kind = path.startsWith('/api/agents/') ? 'agents' : access!.of;
      const foreign = await send(world.bob, route, things[kind] ?? newId());
      expect(foreign.status).toBe(404);
      expect(await send(world.bob, route, newId())).toEqual(foreign);
    });
  });

  describe('with a grant of a team', () => {
    const LEVELS = ['viewer', 'editor'] as const;
    const granted = cases.flatMap(({ name, route }) => {
      const { access, path } = route;
      // Its path names a secret of its own, not a resource of the family.
      if (access?.for === 'capability' || path.endsWith('/:taskId')) return [];
      const family = access?.grantedOn ?? familyOf(route);
      const isNamed = access?.at !== undefined || path.includes('/:') || access?.grantedOn;
      return family && isNamed && !isForAllMethods(route) ? LEVELS.map((level) => ({ name, route, family, level })) : [];
    });
    const carols: Partial<Record<(typeof LEVELS)[number], Client>> = {};

    beforeAll(async () => {
      const { alice } = world;
      const workflow = await alice.post('/api/workflows', { name: 'Mine', description: '', ...GRAPH });
      things['workflows'] = ((await workflow.json()) as { data: { id: string } }).data.id;
      for (const level of LEVELS) {
        carols[level] = await world.as(level);
        const { team } = (await (await alice.post('/api/teams', { name: level })).json()) as { team: { id: string } };
        await alice.post(`/api/teams/${team.id}/members`, { user_id: await world.idOf(level) });
        for (const family of FAMILIES) {
          const grant = { resource_type: family.slice(0, -1), resource_id: things[family], access_level: level };
          expect((await alice.post(`/api/teams/${team.id}/grants`, grant)).status).toBe(201);
        }
      }
    });

    it.each(granted)('$name for a $level is answered as the access function decides', async ({ route, family, level }) => {
      const who = { kind: 'user', userId: level, roles: ['user'], credential: 'session-token', cause } as const;
      const thing = { id: things[family]!, ownerId: 'alice' };
      const grant = { level, switches: {} };
      const refusal = refusalOf(who, { does: 'reach', thing, family, grant, needs: route.access?.granted });
      const { status, text } = await send(carols[level]!, route, thing.id);
      // Some routes search only the caller's own resources, where another user's is missing.
      if (refusal) expect([status, text]).toEqual([status === 404 ? 404 : refusal.status, text]);
      else expect([status, text]).not.toEqual([403, text]);
    });
  });

  describe('in a team', () => {
    const ofTeams = cases.filter(({ route: { access } }) => access?.inTeam);
    const ROLES = ['team_member', 'team_admin'] as const;

    it.each(ofTeams.flatMap((each) => ROLES.map((role) => ({ ...each, role }))))(
      'gives a $role the response at $name that the access function decides',
      async ({ route, role }) => {
        const { team } = (await (await world.alice.post('/api/teams', { name: 'Ours' })).json()) as { team: { id: string } };
        const carol = await world.as('carol');
        await world.alice.post(`/api/teams/${team.id}/members`, { user_id: await world.idOf('carol'), role });
        const who = { kind: 'user', userId: 'carol', roles: ['user'], credential: 'session-token', cause } as const;
        const needs = route.access!.inTeam!;
        const refusal = refusalOf(who, { does: 'act-in-team', team: { ownerId: 'alice' }, role, needs });
        const { status } = await send(carol, route, team.id);
        // Members may leave, but not remove others.
        const namesAnother = route.path.endsWith('/members/:userId') && role === 'team_member';
        expect(status === 403).toBe(refusal?.status === 403 || namesAnother);
      },
    );
  });

  describe('the token of a promptable link', () => {
    let reader: Client;
    beforeAll(async () => {
      const shared = await world.alice.post('/api/share?isPromptable=true', {
        conversation_id: conversationIdIn(await world.alice.stream({ question: 'Why?' })),
      });
      const { identifier } = (await shared.json()) as { identifier: string };
      reader = new Client(world.service.url, { 'x-api-key': identifier });
    });
    const named = cases.filter(({ route: { access } }) => access?.for === 'user' || access?.for === 'caller');

    it.each(named)('$name admits it exactly if the route declares links', async ({ route }) => {
      const { status } = await send(reader, route, newId());
      if (route.path === '/api/store_attachment') expect([400, 401]).toContain(status);
      else expect(status === 401).toBe(route.access?.links !== 'too');
    });
  });

  describe('a token', () => {
    const tokens = new Map<string, MadeToken>();
    /** Tokens are made once for each set of scopes. */
    const tokenWith = async (scopes: readonly Scope[], resource_filter: Readonly<Record<string, readonly string[]>> = {}) => {
      const key = JSON.stringify([scopes, resource_filter]);
      let token = tokens.get(key);
      if (!token)
        tokens.set(key, (token = await tokenFor(world, { scopes, resource_filter }, await world.as(`owner ${tokens.size}`))));
      return token.client;
    };

    /** The access function's decision on the request that `send` makes. */
    const decided = (
      route: Route,
      id: string,
      scopes: readonly Scope[],
      resources: Partial<Record<Family, readonly string[]>> = {},
    ) => {
      if (BRINGS_OWN_CREDENTIAL.test(route.path)) return undefined;
      const act = { does: 'enter', route: route.access, named: () => [id] } as const;
      return refusalOf(bearer(scopes, resources), act)?.code.replaceAll('-', '_');
    };

    async function expectDecided(route: Route, client: Client, id: string, code: string | undefined): Promise<void> {
      const { status, text } = await send(client, route, id);
      if (code === undefined) {
        expect(status).not.toBe(401);
        expect(text).not.toMatch(/insufficient_scope|not_available_to_tokens/);
        // Questions are decided as a whole, by the resources that they name.
        if (route.access?.action !== 'ask') expect(status).not.toBe(403);
      } else {
        expect([status, text]).toEqual([403, expect.stringContaining(code)]);
      }
    }

    it.each(cases)('with all scopes is treated at $name as the access function decides', async ({ route }) => {
      const id = newId();
      await expectDecided(route, await tokenWith(ALL), id, decided(route, id, ALL));
    });

    it.each(cases)('is refused without the scopes of $name, and admitted with any of them', async ({ route }) => {
      const id = newId();
      const needed = route.access?.scopes;
      if (needed === undefined || needed === 'any-token') return;
      const others = ALL.filter((scope) => decided(route, id, [scope]) !== undefined);
      await expectDecided(route, await tokenWith(others), id, 'insufficient_scope');
      for (const scope of needed) await expectDecided(route, await tokenWith([scope]), id, undefined);
    });

    it.each(FAMILIES)('that is restricted in %s is treated at every route as the access function decides', async (family) => {
      const own = '00000000-0000-4000-8000-000000000001';
      const client = await tokenWith(ALL, { [family]: [own] });
      for (const { route } of cases) {
        for (const id of [own, newId()]) await expectDecided(route, client, id, decided(route, id, ALL, { [family]: [own] }));
      }
    });

    it('sees only the listed resources that it is restricted to', async () => {
      for (const [path, family] of [
        ['/api/get_agents', 'agents'],
        ['/api/get_prompts', 'prompts'],
        ['/api/sources', 'sources'],
        ['/api/get_tools', 'tools'],
      ] as const) {
        const mine = things[family]!;
        const [shown, hidden] = [{ [family]: [mine] }, { [family]: [newId()] }];
        expect(familyOf(routes.find((route) => route.path === path)!)).toBe(family);
        const listed = async (resource_filter: Readonly<Record<string, readonly string[]>>) =>
          (await (await tokenFor(world, { scopes: ALL, resource_filter })).client.get(path)).text();
        expect(await listed(shown)).toContain(mine);
        expect(await listed(hidden)).not.toContain(mine);
      }
    });
  });
}
