import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Sql } from 'postgres';
import { Pool } from '../../postgres/pool.js';
import { GroupCommit, SECOND_APPENDS_MIN } from './group-commit.js';
import { SEPARATOR } from './storable.js';

/** A server whose statements the test answers. Each append of a statement is written. */
class Server {
  readonly statements: { streams: readonly string[]; answer: () => void }[] = [];
  private position = 0;
  onStatement = (): unknown => undefined;

  readonly sql = {
    unsafe: (_: string, [streams]: readonly string[]) => ({ values: () => this.receive(streams!.split(SEPARATOR)) }),
  } as unknown as Sql;

  private receive(streams: readonly string[]): Promise<unknown> {
    this.onStatement();
    return new Promise((resolve) => {
      const answer = () => resolve(streams.map((_, index) => [index + 1, 0, String(this.position++), new Date(), true]));
      this.statements.push({ streams, answer });
    });
  }

  get sizes(): readonly number[] {
    return this.statements.map(({ streams }) => streams.length);
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('group commit', () => {
  let server: Server;
  let commits: GroupCommit;
  let committed: string[];
  beforeEach(() => {
    server = new Server();
    committed = [];
    commits = new GroupCommit(new Pool(() => server.sql, 2_500), 5_000, (appends) =>
      committed.push(...appends.map(([event]) => event!.stream)),
    );
  });

  afterEach(async () => {
    const closed = commits.close();
    for (let answered = 0; answered < server.statements.length; answered++) await answer(answered);
    await closed;
  });

  const append = (count: number, name: string) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        commits.append(`${name}-${n}`, 'none', [{ id: randomUUID(), type: 'Counted', data: '{}', metadata: '{}' }]),
      ),
    );
  const answer = async (statement: number) => {
    server.statements[statement]!.answer();
    await nextTurn();
    await nextTurn();
  };

  it('sends the appends of one turn of the event loop in one statement', async () => {
    const appended = append(3, 'a');
    await nextTurn();
    expect(server.sizes).toEqual([3]);
    await answer(0);
    expect((await appended).map(({ position }) => position)).toEqual([0n, 1n, 2n]);
  });

  it('gathers the appends that arrive while a statement is in progress into the next one', async () => {
    void append(1, 'a');
    await nextTurn();
    void append(SECOND_APPENDS_MIN - 2, 'b');
    await nextTurn();
    void append(1, 'c');
    await nextTurn();
    expect(server.sizes).toEqual([1]);
    await answer(0);
    expect(server.sizes).toEqual([1, SECOND_APPENDS_MIN - 1]);
  });

  it('sends a second statement before the first is answered when many appends wait, and no third', async () => {
    void append(1, 'a');
    await nextTurn();
    void append(SECOND_APPENDS_MIN, 'b');
    await nextTurn();
    void append(SECOND_APPENDS_MIN, 'c');
    await nextTurn();
    expect(server.sizes).toEqual([1, SECOND_APPENDS_MIN]);
  });

  it('splits many appends that arrive together, so that the server and this process work at the same time', async () => {
    void append(2 * SECOND_APPENDS_MIN + 1, 'a');
    await nextTurn();
    expect(server.sizes).toEqual([SECOND_APPENDS_MIN, SECOND_APPENDS_MIN + 1]);
    void append(SECOND_APPENDS_MIN, 'b');
    await answer(0);
    expect(server.sizes.slice(2)).toEqual([SECOND_APPENDS_MIN]);
  });

  it('hands on the events of two statements in log order', async () => {
    void append(2 * SECOND_APPENDS_MIN, 'a');
    await nextTurn();
    server.statements.forEach((statement) => statement.answer());
    await nextTurn();
    await nextTurn();
    expect(committed).toEqual(server.statements.flatMap(({ streams }) => streams));
  });

  it('hands on the events of a statement after the appends with which their writers continue are sent', async () => {
    const handedOnBeforeSent: number[] = [];
    const going = append(1, 'a').then(() => append(1, 'b'));
    await nextTurn();
    server.onStatement = () => handedOnBeforeSent.push(committed.length);
    await answer(0);
    expect([handedOnBeforeSent, committed]).toEqual([[0], ['a-0']]);
    await answer(1);
    await going;
  });

  it('has a timer only while appends are open', async () => {
    jest.useFakeTimers({
      doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
    });
    try {
      const quiet = new GroupCommit(new Pool(() => server.sql, 2_500), 5_000, () => undefined);
      expect(jest.getTimerCount()).toBe(0);
      for (const statement of [0, 1]) {
        const appended = quiet.append('a', 'none', [{ id: randomUUID(), type: 'Counted', data: '{}', metadata: '{}' }]);
        await nextTurn();
        expect(jest.getTimerCount()).toBe(1);
        await answer(statement);
        await appended;
        jest.advanceTimersByTime(100);
        expect(jest.getTimerCount()).toBe(0);
      }
    } finally {
      jest.useRealTimers();
    }
  });
});
