import { beforeEach, describe, expect, it } from '@jest/globals';
import { SHARED_CALLS_MAX, SHARED_REQUESTS_MAX, SharedCalls } from './shared-calls.js';

/** A server whose statements the test answers. */
class Server {
  readonly statements: { requests: readonly string[]; timeoutMs: number; answer: () => void; fail: (error: Error) => void }[] =
    [];
  readonly calls = new SharedCalls<string, string>((requests, timeoutMs) => this.called(requests, timeoutMs), {
    concernsOne: (error) => !(error as { code?: string }).code,
  });

  get sent(): readonly (readonly string[])[] {
    return this.statements.map(({ requests }) => requests);
  }

  private called(requests: readonly string[], timeoutMs: number): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const answer = () => resolve(requests.map((request) => `found ${request}`));
      this.statements.push({ requests, timeoutMs, answer, fail: reject });
    });
  }
}

const soon = () => performance.now() + 60_000;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `request ${n}`);

describe('reads that share statements', () => {
  let server: Server;
  const find = (request: string, deadline = soon()) => server.calls.call(request, deadline);
  beforeEach(() => {
    server = new Server();
  });

  it('sends the reads of one turn of the event loop together and gives each its own result', async () => {
    const found = Promise.all([find('a'), find('b')]);
    await nextTurn();
    expect(server.sent).toEqual([['a', 'b']]);
    server.statements[0]!.answer();
    expect(await found).toEqual(['found a', 'found b']);
  });

  it('puts at most SHARED_REQUESTS_MAX reads into a statement', async () => {
    numbered(SHARED_REQUESTS_MAX + 1).forEach((request) => void find(request));
    await nextTurn();
    await nextTurn();
    expect(server.sent.map(({ length }) => length)).toEqual([SHARED_REQUESTS_MAX, 1]);
  });

  it('gathers the reads that arrive while SHARED_CALLS_MAX statements are running into the next one', async () => {
    for (const request of numbered(SHARED_CALLS_MAX)) {
      void find(request);
      await nextTurn();
    }
    void find('late');
    await nextTurn();
    void find('later');
    await nextTurn();
    expect(server.sent).toHaveLength(SHARED_CALLS_MAX);
    server.statements[0]!.answer();
    await nextTurn();
    await nextTurn();
    expect(server.sent.slice(SHARED_CALLS_MAX)).toEqual([['late', 'later']]);
  });

  it('gives a statement the remaining time of all its reads, so that one that has waited for long does not fail the others', async () => {
    void find('first', performance.now());
    void find('second', performance.now() + 60_000);
    await nextTurn();
    expect(server.statements[0]!.timeoutMs).toBeGreaterThan(30_000);
    expect(server.statements[0]!.timeoutMs).toBeLessThanOrEqual(60_000);
  });

  it('fails all reads of a statement when the server is unavailable, and sends later ones', async () => {
    const failed = Promise.allSettled([find('a'), find('b')]);
    await nextTurn();
    server.statements[0]!.fail(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const found = find('c');
    await nextTurn();
    server.statements[1]!.answer();
    expect(await found).toBe('found c');
  });

  it('fails only the read that the server refuses', async () => {
    const outcomes = Promise.allSettled([find('good'), find('bad'), find('fine')]);
    await nextTurn();
    server.statements[0]!.fail(new Error('one of them is bad'));
    for (let sent = 1; sent <= 3; sent++) {
      await nextTurn();
      const [request] = server.statements[sent]!.requests;
      if (request === 'bad') server.statements[sent]!.fail(new Error('it is bad'));
      else server.statements[sent]!.answer();
    }
    expect(await outcomes).toEqual([
      { status: 'fulfilled', value: 'found good' },
      { status: 'rejected', reason: new Error('it is bad') },
      { status: 'fulfilled', value: 'found fine' },
    ]);
  });
});
