import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_SOURCE_CONFIG } from '../../src/resources/sources/source/source-config.policy.js';
import { Chromium } from '../support/chromium.js';
import { answerIn, Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { pageServer } from '../support/page-server.js';
import { broken, call, say, type Step, until } from '../support/scripted-model-server.js';
import { SeverableProxy } from '../support/severable-proxy.js';
import { addedSource } from '../support/sources.js';
import { WebPage } from '../support/web-page.js';
import { openWorld, type World } from '../support/world.js';

type Stored = Readonly<{ queries: readonly Readonly<{ prompt: string; response: string; status: string }>[] }>;

const QUESTION = 'When does the garage open?';

let site: LocalServer;
let shop: LocalServer;
let world: World;
let proxy: SeverableProxy;
let browser: Chromium;
let web: WebPage;
/** The user as whom the page signed in. */
let user: Client;

beforeAll(async () => {
  browser = await Chromium.start();
  site = await pageServer();
  shop = await LocalServer.started((_request, response) => answerJson(response, { sent: true }));
  world = await openWorld({ ALLOWED_ORIGINS: site.url, ALLOWED_PRIVATE_HOSTS: shop.host });
  proxy = await SeverableProxy.to(world.service.url);
  web = await WebPage.open(browser, site.url, proxy.url);
  user = new Client(world.service.url, { authorization: `Bearer ${await web.token()}` });
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await world?.close();
  await Promise.all([site?.close(), shop?.close()]);
});
beforeEach(async () => {
  world.model.reset();
  shop.requests.length = 0;
  await web.begin();
});
afterEach(async () => expect(await web.allProblems()).toEqual([]));

const conversationId = () => /#\/c\/(.+)$/.exec(web.page.url())?.[1];
const stored = async () => (await user.json<Stored>(`/api/get_single_conversation?id=${conversationId()}`)).queries;
const messageId = (index: number) => web.query(index).getAttribute('data-message');
/** The text of an answer, from its journal. */
const journaled = async (index: number) => answerIn(await user.resume((await messageId(index))!));
const choose = async (name: string) => {
  await web.page.locator('#agents button', { hasText: name }).click();
  await web.page.locator('body[data-agent]').waitFor();
};

/** An answer that pauses in the middle until the test continues it. */
function heldAnswer(...rest: readonly Step[]): () => void {
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  world.model.next([...say('The ', 'garage '), until(held), ...rest]);
  return goOn;
}

it('starts with a new token, and loads everything it needs', async () => {
  expect(await web.page.getAttribute('body', 'data-state')).toBe('started');
  expect(await user.json('/api/user/me')).toMatchObject({ success: true });
  expect(await web.page.locator('#sources li').allInnerTexts()).toEqual([expect.stringContaining('Default')]);
});

it('gets nothing from an origin that is not allowed', async () => {
  const elsewhere = await pageServer();
  const refused = await WebPage.open(browser, elsewhere.url, proxy.url);
  expect(await refused.page.getAttribute('body', 'data-state')).toBe('refused');
  expect(refused.problems.join()).toContain('blocked by CORS policy');
  await refused.page.close();
  await elsewhere.close();
});

describe('a source', () => {
  it('is uploaded with the whole config, followed to its end and listed', async () => {
    await web.page.fill('#source-name', 'Handbook');
    const buffer = Buffer.from('# Parking\n\nThe garage opens at six in the morning.');
    await web.page.setInputFiles('#file', { name: 'handbook.md', mimeType: 'text/markdown', buffer });
    await web.page.click('#upload button');
    await web.page.locator('#uploads [data-status=SUCCESS][data-event="source.ingest.completed"]').waitFor();
    expect(await web.page.locator('#uploads li').getAttribute('data-warnings')).toBe('0');
    await web.page.locator('#sources li', { hasText: 'Handbook' }).waitFor();
    const listed = await user.json<{ name: string; config: unknown }[]>('/api/sources');
    expect(listed.at(-1)).toMatchObject({ name: 'Handbook', config: DEFAULT_SOURCE_CONFIG });
  });

  it('is configured again, and settings without effect are named', async () => {
    const id = await addedSource(user, 'Configured', 'The garage has three floors.');
    await web.reload();
    const item = web.page.locator(`#sources [data-id="${id}"]`);
    await item.locator('button').click();
    await web.page.locator(`#sources [data-id="${id}"][data-warnings^="graph has no effect here"]`).waitFor();
    const listed = await user.json<{ id?: string; config: unknown }[]>('/api/sources');
    expect(listed.find((source) => source.id === id)?.config).toEqual({
      ...DEFAULT_SOURCE_CONFIG,
      graph: { ...DEFAULT_SOURCE_CONFIG.graph, gleanings: 1 },
    });
  });
});

it('an agent answers from its sources, and they are shown', async () => {
  const source = await addedSource(user, 'House', 'The garage opens at six in the morning.');
  const { id } = await world.agent({ name: 'Porter', source }, user);
  await web.reload();
  await choose('Porter');
  await web.ask(QUESTION);
  expect(await web.answer(0)).toBe('Hello from the script.');
  expect(await web.query(0).locator('cite').allInnerTexts()).toEqual([expect.stringContaining('The garage opens at six')]);
  expect(web.sent('/stream').at(-1)?.body).toMatchObject({ agent_id: id, isNoneDoc: true, conversation_id: null });
  expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('The garage opens at six');
});

describe('a question', () => {
  const retry = () => web.page.click('#retry');
  const lastTwo = () => web.sent('/stream').slice(-2);

  it('that did not arrive is retried without a conversation, and asked once', async () => {
    proxy.cut();
    await web.ask(QUESTION);
    expect(await web.answer(0, 'failed')).toBe('');
    proxy.mend();
    await retry();
    expect(await web.answer(0)).toBe('Hello from the script.');
    const [first, second] = lastTwo();
    expect(second!.body).toEqual({ ...first!.body, index: 0, conversation_id: null });
    expect(second!.key).toBe(first!.key);
    expect(await stored()).toMatchObject([{ prompt: QUESTION, response: 'Hello from the script.', status: 'complete' }]);
    web.problems.length = 0;
  });

  it('that arrived but whose answer did not is not asked twice', async () => {
    const goOn = heldAnswer(...say('opens.'));
    const asked = world.model.completions.length;
    await web.page.route('**/stream', async (route) => {
      const { 'idempotency-key': key = '' } = route.request().headers();
      const arrived = user.post('/stream', route.request().postDataJSON(), { 'idempotency-key': key });
      await eventually(() => world.model.completions.length > asked);
      await route.abort('connectionreset');
      await (await arrived).body!.cancel();
    });
    await web.ask(QUESTION);
    expect(await web.answer(0, 'failed')).toBe('');
    await web.page.unroute('**/stream');
    await retry();
    await web.shows(0, 'The garage ');
    goOn();
    expect(await web.answer(0)).toBe('The garage opens.');
    expect(world.model.completions.length).toBe(asked + 1);
    expect(await stored()).toHaveLength(1);
    web.problems.length = 0;
  });

  it('whose answer failed is retried in its place, with its key', async () => {
    world.model.next([...say('Half'), broken]);
    await web.ask(QUESTION);
    expect(await web.answer(0, 'failed')).toBe('Half');
    await retry();
    expect(await web.answer(0)).toBe('Hello from the script.');
    const [first, second] = lastTwo();
    expect(second!.body).toEqual({ ...first!.body, index: 0, conversation_id: conversationId() });
    expect(second!.key).toBe(first!.key);
    expect(await stored()).toMatchObject([{ prompt: QUESTION, response: 'Hello from the script.', status: 'complete' }]);
  });
});

describe('an approval', () => {
  const waits = () => web.query(0).locator('code[data-status=awaiting_approval]').waitFor();
  const ends = (status: string) => web.query(0).locator(`code[data-status=${status}]`).waitFor();
  const decide = (text: 'Approve' | 'Deny') => web.page.locator('article button', { hasText: text }).click();
  const toast = () => web.page.locator(`#toasts [data-conversation="${conversationId()}"]`);

  beforeAll(async () => {
    const action = {
      name: 'send_card',
      method: 'POST',
      url: `${shop.url}/send_card`,
      description: 'Sends a card',
      active: true,
      require_approval: true,
      body: { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } },
    };
    const tool = { name: 'api_tool', displayName: 'Cards', description: 'Sends', config: { actions: { send_card: action } } };
    const response = await user.post('/api/create_tool', { ...tool, status: true });
    await world.agent({ name: 'Sender', tools: [((await response.json()) as { id: string }).id] }, user);
  });
  beforeEach(async () => {
    await web.reload();
    await choose('Sender');
    world.model.next([...say('Let me see. '), call('c1', 'send_card', { text: 'hello' })], say('Done.'));
    await web.ask('Send a card?');
    await waits();
    await toast().waitFor();
    expect(shop.requests).toEqual([]);
  });

  it('runs the call once, and the answer continues', async () => {
    await decide('Approve');
    await ends('completed');
    expect(await web.answer(0)).toBe('Let me see. Done.');
    expect(shop.requests.map(({ path }) => path)).toEqual(['/send_card']);
    await toast().waitFor({ state: 'detached' });
    const actions = [{ call_id: 'c1', decision: 'approved' }];
    expect(web.sent('/stream').at(-1)?.body).toEqual({ conversation_id: conversationId(), tool_actions: actions });
    expect(await stored()).toMatchObject([{ response: 'Let me see. Done.', status: 'complete' }]);
  });

  it('that is denied runs no call, and the model gets the reason', async () => {
    await decide('Deny');
    await ends('denied');
    expect(await web.answer(0)).toBe('Let me see. Done.');
    expect(shop.requests).toEqual([]);
    expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('Not today.');
  });

  it('may be given after a reload', async () => {
    await web.reload();
    await waits();
    await decide('Approve');
    expect(await web.answer(0)).toBe('Let me see. Done.');
    expect(shop.requests).toHaveLength(1);
  });
});

describe('during an answer', () => {
  it('a broken connection is continued, and the text is the same', async () => {
    const goOn = heldAnswer(...say('opens ', 'at six.'));
    await web.ask(QUESTION);
    await web.shows(0, 'The garage ');
    const reconnected = web.page.waitForRequest(/\/api\/messages\/[^/]+\/events\?last_event_id=\d+$/);
    proxy.breakConnections();
    await reconnected;
    goOn();
    expect(await web.answer(0)).toBe('The garage opens at six.');
    expect(await journaled(0)).toBe('The garage opens at six.');
    expect(world.model.completions).toHaveLength(1);
    web.problems.length = 0;
  });

  it('a reloaded page polls until the answer is complete, and shows the same text', async () => {
    await web.ask('Is there a garage?');
    await web.answer(0);
    const goOn = heldAnswer(...say('opens ', 'at six.'));
    await web.ask(QUESTION);
    await web.shows(1, 'The garage ');
    await web.reload();
    await web.shows(1, 'The garage ');
    expect(await web.query(1).getAttribute('data-state')).toBe('loading');
    goOn();
    expect(await web.answer(1)).toBe('The garage opens at six.');
    expect(await journaled(1)).toBe('The garage opens at six.');
    await web.reload();
    expect(await web.answer(1)).toBe('The garage opens at six.');
    expect(await web.answer(0)).toBe('Hello from the script.');
  });

  it('a page that is reloaded before it knows the conversation finds it in the list', async () => {
    const goOn = heldAnswer(...say('opens ', 'at six.'));
    await web.ask('When, on Sundays?');
    await web.shows(0, 'The garage ');
    expect(conversationId()).toBeUndefined();
    await web.reload();
    await web.page.locator('#conversations button', { hasText: 'When, on Sundays?' }).click();
    await web.shows(0, 'The garage ');
    goOn();
    expect(await web.answer(0)).toBe('The garage opens at six.');
    expect(await journaled(0)).toBe('The garage opens at six.');
  });
});
