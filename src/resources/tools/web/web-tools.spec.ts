import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answerJson, LocalServer } from '../../../../test/support/local-server.js';
import { callTool, configuredTool } from '../../../../test/support/used-tool.js';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { GuardedHttp } from '../../../platform/outgoing/guarded-http.js';
import { ToolFailed, type ToolKind } from '../toolbox/tool-kind.port.js';
import { BraveTool } from './brave-tool.js';
import { CryptoPriceTool } from './crypto-price-tool.js';
import { DuckDuckGoTool } from './duckduckgo-tool.js';
import { NTFY_MESSAGE_CHARACTERS_MAX, NtfyTool } from './ntfy-tool.js';
import { PAGE_CHARACTERS_MAX } from './page-markdown.js';
import { ReadWebpageTool } from './read-webpage-tool.js';
import { TELEGRAM_TEXT_CHARACTERS_MAX, TelegramTool } from './telegram-tool.js';
import { QUERY_CHARACTERS_MAX, RESULTS, RESULTS_MAX } from './web-arguments.policy.js';
import { WEB_ANSWER_BYTES_MAX } from './web-call.js';
import { webEndpoints, type WebEndpoints } from './web-endpoints.js';

const BOT_TOKEN = '123456:secret-of-the-bot';

let server: LocalServer;
let http: GuardedHttp;
let endpoints: WebEndpoints;

beforeAll(async () => {
  server = await LocalServer.started();
  http = new GuardedHttp({ privateHosts: [server.host] });
  const at = `${server.url}/`;
  endpoints = webEndpoints({ brave: at, duckDuckGo: at, duckDuckGoHtml: at, ntfy: at, telegram: at, cryptoPrice: at });
});
afterEach(() => void (server.requests.length = 0));
afterAll(() => Promise.all([http.close(), server.close()]));

type Parts = Readonly<Record<string, unknown>>;
const call = async (
  kind: ToolKind,
  action: string,
  args: Parts,
  config: Parts = {},
  secrets: Readonly<Record<string, string>> = {},
) => callTool(kind, await configuredTool(kind, config, secrets), action, args);
const html = (page: string): void => {
  server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
};
const json = (value: unknown, status = 200): void => {
  server.answer = (_request, response) => answerJson(response, value, status);
};

describe('read_webpage', () => {
  const read = (url: string) => call(new ReadWebpageTool(http), 'read_webpage', { url });

  it('reads a page in the character set that only the page itself declares', async () => {
    const page = Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    expect(await read(server.url)).toMatchObject({ content: '日本' });
  });

  it('converts a page to Markdown', async () => {
    html(`<!doctype html><html><head><title> A  page </title><style>p{}</style></head><body><nav>Menu</nav>
      <h1>Title</h1><p>Some <b>bold</b> text with <a href="/next?a=1">a link</a>&amp; more.</p>
      <ul><li>one<ul><li><p>inner</p></li></ul></li><li>two <a href="#x">here</a></li></ul>
      <blockquote>said</blockquote><pre><code>a  =  1
  b</code></pre><p>with <code>code</code><br>and a break</p>
      <table><tr><th>Name</th><th>Size</th></tr><tr><td>x</td><td>1</td></tr></table>
      <img src="x.png" alt="A picture"><a href="javascript:alert(1)">no</a>
      <script>alert(1)</script><footer>Foot</footer></body></html>`);
    expect(await read(`${server.url}/dir/page`)).toEqual({
      url: `${server.url}/dir/page`,
      title: 'A page',
      content: [
        '# Title',
        '',
        `Some bold text with [a link](${server.url}/next?a=1)& more.`,
        '- one',
        '  - inner',
        '- two here',
        '',
        '> said',
        '',
        '```',
        'a  =  1',
        '  b',
        '```',
        '',
        'with `code`',
        'and a break',
        '',
        'Name | Size',
        '',
        'x | 1',
        '',
        '[A picture]no',
      ].join('\n'),
    });
  });

  it('returns other text unchanged, and refuses content that is not text', async () => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('a <b> c');
    expect(await read(server.url)).toMatchObject({ content: 'a <b> c' });
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
    await expect(read(server.url)).rejects.toThrow('The page is not text, but of type application/pdf.');
  });

  it('truncates long pages and says so', async () => {
    html(`<p>${'x'.repeat(PAGE_CHARACTERS_MAX + 1)}</p>`);
    const long = (await read(server.url)) as { content: string; note: string };
    expect(long.content).toHaveLength(PAGE_CHARACTERS_MAX);
    expect(long.note).toMatch(/cut off/);
    html(`<p>short</p><!--${'x'.repeat(WEB_ANSWER_BYTES_MAX)}-->`);
    expect(await read(server.url)).toMatchObject({ content: 'short', note: long.note });
  });

  it.each(['<a href=x>y</a>', '<td>y', '<ul><li>', '<a>', '<b>', 'y<br>', '&amp;', '<h1>y', '<blockquote>'])(
    'is not slowed down by a page full of %s',
    async (piece) => {
      html(piece.repeat(WEB_ANSWER_BYTES_MAX / piece.length));
      const began = performance.now();
      const { content } = (await read(`${server.url}/${'long/'.repeat(200)}`)) as { content: string };
      expect(content.length).toBeLessThanOrEqual(PAGE_CHARACTERS_MAX);
      expect(performance.now() - began).toBeLessThan(30_000);
    },
  );

  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'http://127.0.0.1:1/',
    'http://169.254.169.254/',
    'localhost',
  ])('refuses %s', async (url) => {
    await expect(read(url)).rejects.toThrow(ToolFailed);
  });

  it('reports the status of a missing page', async () => {
    json({}, 404);
    await expect(read(server.url)).rejects.toThrow('The page answered with HTTP status 404: it does not exist.');
  });
});

describe('brave', () => {
  const search = (action: string, args: Parts) =>
    call(new BraveTool(http, endpoints), action, args, {}, { token: 'brave-secret' });

  it("searches the web with the owner's key", async () => {
    json({ web: { results: [{ title: 'T', url: 'https://t.example', description: 'D', age: 'today', more: 1 }] } });
    expect(await search('brave_web_search', { query: 'a & b', count: '3', freshness: 'PW', offset: 99 })).toEqual({
      results: [{ title: 'T', url: 'https://t.example', description: 'D', age: 'today' }],
    });
    expect(server.requests[0]).toMatchObject({
      path: '/res/v1/web/search?q=a+%26+b&count=3&offset=9&freshness=pw',
      headers: { 'x-subscription-token': 'brave-secret' },
    });
  });

  it('searches images', async () => {
    json({ results: [{ title: 'T', url: 'https://p.example', source: 's', properties: { url: 'https://i.example/x.png' } }] });
    expect(await search('brave_image_search', { query: 'cats' })).toEqual({
      results: [{ title: 'T', url: 'https://p.example', source: 's', image: 'https://i.example/x.png' }],
    });
    expect(server.requests[0]!.path).toBe(`/res/v1/images/search?q=cats&count=${RESULTS}`);
  });

  it.each([
    [401, 'Brave answered with HTTP status 401: its token is missing or wrong.'],
    [429, 'Brave answered with HTTP status 429: it has been asked too often. Try again later.'],
    [500, 'Brave answered with HTTP status 500.'],
  ])('reports status %d without the key', async (status, text) => {
    json({ token: 'brave-secret' }, status);
    await expect(search('brave_web_search', { query: 'x' })).rejects.toThrow(new ToolFailed(text));
  });

  it.each([{}, { query: '' }, { query: 'x'.repeat(QUERY_CHARACTERS_MAX + 1) }, { query: 'x', safesearch: 'maybe' }])(
    'sends no request for %j',
    async (args) => {
      await expect(search('brave_web_search', args)).rejects.toThrow(ToolFailed);
      expect(server.requests).toEqual([]);
    },
  );
});

describe('duckduckgo', () => {
  const search = (action: string, args: Parts) => call(new DuckDuckGoTool(http, endpoints), action, args);
  const result = (href: string, title = 'Title') =>
    `<div class="result"><h2><a rel="nofollow" class="result__a" href="${href}">${title} <b>bold</b></a></h2><a class="result__snippet" href="${href}">What it\n says</a></div>`;

  it('reads the results of a page without scripts, and omits advertisements', async () => {
    html(
      result('//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&amp;rut=abc') +
        result('https://duckduckgo.com/y.js?ad_domain=ad.example', 'Ad') +
        result('//duckduckgo.com/l/?uddg=javascript%3Aalert(1)', 'Trick') +
        result('https://b.example/', 'Other'),
    );
    expect(await search('ddg_web_search', { query: 'cats', region: 'de-de', safesearch: 'off', timelimit: 'w' })).toEqual({
      results: [
        { title: 'Title bold', url: 'https://a.example/x?y=1', description: 'What it says' },
        { title: 'Other bold', url: 'https://b.example/', description: 'What it says' },
      ],
    });
    expect(server.requests[0]!.path).toBe('/html/?q=cats&kl=de-de&kp=-2&df=w');
  });

  it('returns the wanted number of results up to a maximum, and none if there are none', async () => {
    html(Array.from({ length: 30 }, (_, n) => result(`https://p${n}.example/`)).join(''));
    const count = async (args: Parts) =>
      ((await search('ddg_web_search', { query: 'x', ...args })) as { results: unknown[] }).results.length;
    expect([await count({}), await count({ max_results: 2 }), await count({ max_results: 1000 })]).toEqual([
      RESULTS,
      2,
      RESULTS_MAX,
    ]);
    html('<div class="no-results">Nothing</div>');
    expect(await count({})).toBe(0);
    html('<form id="challenge-form">Are you a person?</form>');
    await expect(count({})).rejects.toThrow(ToolFailed);
  });

  it('searches images and news with the token from the search page', async () => {
    server.answer = ({ path }, response) => {
      if (path.startsWith('/i.js'))
        answerJson(response, {
          results: [
            { title: 'I', url: 'https://p.example', image: 'https://i.example', source: 'Bing', width: 1, height: 2, x: 1 },
          ],
        });
      else if (path.startsWith('/news.js'))
        answerJson(response, { results: [{ title: 'N', url: 'https://n.example', excerpt: 'E', source: 'S', date: 0 }] });
      else response.end('<script>vqd="4-123_abc"</script>');
    };
    expect(await search('ddg_image_search', { query: 'cats' })).toEqual({
      results: [{ title: 'I', url: 'https://p.example', image: 'https://i.example', source: 'Bing', width: 1, height: 2 }],
    });
    expect(await search('ddg_news_search', { query: 'cats' })).toEqual({
      results: [{ title: 'N', url: 'https://n.example', description: 'E', source: 'S', date: '1970-01-01T00:00:00.000Z' }],
    });
    expect(server.requests.filter(({ path }) => path.includes('vqd=4-123_abc'))).toHaveLength(2);
    html('no token');
    await expect(search('ddg_news_search', { query: 'cats' })).rejects.toThrow(ToolFailed);
  });
});

describe('ntfy', () => {
  const kind = () => new NtfyTool(http, endpoints);
  const message = { topic: 'alerts', message: 'Grüße\r\n2' };

  it("publishes to a topic with the owner's token", async () => {
    json({ id: 'abc' });
    expect(
      await call(kind(), 'ntfy_send_message', { ...message, title: 'T', priority: '9' }, {}, { token: 'tk_secret' }),
    ).toEqual({
      sent: true,
      topic: 'alerts',
      id: 'abc',
    });
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/', headers: { authorization: 'Bearer tk_secret' } });
    expect(JSON.parse(server.requests[0]!.body)).toEqual({ ...message, message: 'Grüße\r\n2', title: 'T', priority: 5 });
  });

  it("publishes to the owner's server, which a model cannot choose", async () => {
    json({ id: 'abc' });
    await call(
      kind(),
      'ntfy_send_message',
      { ...message, server_url: 'https://evil.example' },
      { server_url: `${server.url}/own/` },
    );
    expect(server.requests[0]).toMatchObject({ path: '/own/' });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    await expect(kind().configure({ server_url: 'http://169.254.169.254' }, {})).rejects.toThrow(Rejection);
  });

  it.each([
    { topic: 'a/b', message: 'x' },
    { topic: 'a', message: 'x'.repeat(NTFY_MESSAGE_CHARACTERS_MAX + 1) },
    { message: 'x' },
  ])('publishes nothing with an invalid topic or message', async (args) => {
    await expect(call(kind(), 'ntfy_send_message', args)).rejects.toThrow(ToolFailed);
    expect(server.requests).toEqual([]);
  });
});

describe('telegram', () => {
  const send = (action: string, args: Parts) => call(new TelegramTool(http, endpoints), action, args, {}, { token: BOT_TOKEN });

  it("sends texts and images as the owner's bot", async () => {
    json({ ok: true, result: { message_id: 7 } });
    expect(await send('telegram_send_message', { text: 'hello', chat_id: 42 })).toEqual({ sent: true, message_id: 7 });
    await send('telegram_send_image', { image_url: 'https://i.example/x.png', chat_id: '@channel' });
    expect(server.requests.map(({ path, body }) => [path, JSON.parse(body) as unknown])).toEqual([
      [`/bot${BOT_TOKEN}/sendMessage`, { text: 'hello', chat_id: '42' }],
      [`/bot${BOT_TOKEN}/sendPhoto`, { photo: 'https://i.example/x.png', chat_id: '@channel' }],
    ]);
  });

  it('reports the reason of a failure without the token', async () => {
    json({ ok: false, description: `Bad Request: chat not found for ${BOT_TOKEN}` }, 400);
    await expect(send('telegram_send_message', { text: 'x', chat_id: '1' })).rejects.toThrow(
      new ToolFailed('Telegram answered with HTTP status 400. Bad Request: chat not found for [secret]'),
    );
    server.answer = (_request, response) => response.destroy();
    const failure = await send('telegram_send_message', { text: 'x', chat_id: '1' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailed);
    expect((failure as Error).message).not.toContain('secret');
  });

  it('refuses invalid tokens and texts that are too long', async () => {
    await expect(new TelegramTool(http, endpoints).configure({}, { token: '../x' })).rejects.toThrow(Rejection);
    await expect(
      send('telegram_send_message', { text: 'x'.repeat(TELEGRAM_TEXT_CHARACTERS_MAX + 1), chat_id: '1' }),
    ).rejects.toThrow(ToolFailed);
    await expect(send('telegram_send_image', { image_url: 'file:///x', chat_id: '1' })).rejects.toThrow(ToolFailed);
  });

  it('is not idempotent', () => {
    expect(new TelegramTool(http, endpoints).actions.map(({ access, idempotent }) => [access, idempotent])).toEqual([
      ['write', false],
      ['write', false],
    ]);
  });
});

describe('cryptoprice', () => {
  const price = (args: Parts) => call(new CryptoPriceTool(http, endpoints), 'cryptoprice_get', args);

  it('returns a price', async () => {
    json({ USD: 12.5 });
    expect(await price({ symbol: 'btc', currency: 'usd' })).toEqual({ symbol: 'BTC', currency: 'USD', price: 12.5 });
    expect(server.requests[0]!.path).toBe('/data/price?fsym=BTC&tsyms=USD');
  });

  it('reports a missing price and an unreadable response', async () => {
    json({ Response: 'Error', Message: 'no such coin' });
    await expect(price({ symbol: 'x', currency: 'y' })).rejects.toThrow('There is no price of X in Y.');
    html('<html>');
    await expect(price({ symbol: 'x', currency: 'y' })).rejects.toThrow('CryptoCompare gave an answer that cannot be read.');
    json({ Y: 1, others: Array(JSON_ENTRIES_MAX).fill(0) });
    await expect(price({ symbol: 'x', currency: 'y' })).rejects.toThrow('CryptoCompare gave an answer that cannot be read.');
  });
});
