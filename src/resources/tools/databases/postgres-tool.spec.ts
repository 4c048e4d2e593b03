import { describe, expect, it } from '@jest/globals';
import { callTool, usedTool } from '../../../../test/support/tool-calls.js';
import { cause } from '../../../../test/support/turns.js';
import { ForeignDatabaseFailed, ForeignDatabases, type ForeignQuery, type ForeignRows } from './foreign-database.port.js';
import { PostgresTool } from './postgres-tool.js';

class DatabasesForTests extends ForeignDatabases {
  readonly asked: (readonly [string, ForeignQuery])[] = [];
  constructor(private readonly answer: ForeignRows | ForeignDatabaseFailed) {
    super();
  }
  async check(connectionString: string) {
    if (!connectionString.startsWith('postgresql://')) throw new ForeignDatabaseFailed('The connection string is none.');
    return Promise.resolve();
  }
  async query(connectionString: string, query: ForeignQuery) {
    this.asked.push([connectionString, query]);
    if (this.answer instanceof Error) throw this.answer;
    return Promise.resolve(this.answer);
  }
}

const rows: ForeignRows = { columns: ['id'], rows: [[1]], command: 'SELECT', count: 1, truncated: false };
const token = 'postgresql://alice:secret@db.example/shop';
const asked = async (sql: string, config = {}, databases = new DatabasesForTests(rows)) => {
  const kind = new PostgresTool(databases);
  const result = await callTool(
    kind,
    'postgres_execute_sql',
    { sql_query: sql },
    { tool: usedTool(kind, { config }, { token }) },
  );
  return { result, databases };
};

describe('a Postgres tool', () => {
  it('returns rows', async () => {
    expect((await asked('select id from shop')).result).toEqual({
      command: 'SELECT',
      row_count: 1,
      columns: ['id'],
      rows: [[1]],
    });
    const cut = await asked('select id from shop', {}, new DatabasesForTests({ ...rows, truncated: true }));
    expect(cut.result).toMatchObject({ truncated: true, note: expect.stringContaining('Not everything') });
  });
  it.each([
    [{}, false],
    [{ allow_writes: false }, false],
    [{ allow_writes: 'true' }, false],
    [{ allow_writes: true }, true],
  ])('with the configuration %j is called with mayWrite = %j', async (config, mayWrite) => {
    const { databases } = await asked('select sell()', config);
    expect(databases.asked).toMatchObject([[token, { statement: 'select sell()', mayWrite }]]);
  });
  it('sends no writing statement to the database if it may only read', async () => {
    const databases = new DatabasesForTests(rows);
    await expect(asked('delete from shop', {}, databases)).rejects.toThrow(/DELETE is refused/);
    expect(databases.asked).toEqual([]);
    await expect(asked('delete from shop', { allow_writes: true }, databases)).resolves.toBeDefined();
  });
  it('reads the schema in a read-only transaction, even if it may write', async () => {
    const databases = new DatabasesForTests(rows);
    const kind = new PostgresTool(databases);
    await callTool(kind, 'postgres_get_schema', {}, { tool: usedTool(kind, { config: { allow_writes: true } }, { token }) });
    expect(databases.asked[0]![1]).toMatchObject({ mayWrite: false, statement: expect.stringContaining('pg_catalog.pg_class') });
  });
  it('fails with the message of the database', async () => {
    const failure = asked('select 1', {}, new DatabasesForTests(new ForeignDatabaseFailed('The database cannot be reached.')));
    await expect(failure).rejects.toMatchObject({ name: 'ToolFailed', message: 'The database cannot be reached.' });
  });
  it('cannot be set up with an invalid connection string', async () => {
    const kind = new PostgresTool(new DatabasesForTests(rows));
    await expect(kind.configure({}, { token: 'db.example' }, 'alice', cause)).rejects.toMatchObject({ code: 'tool-invalid' });
    await expect(kind.configure({ allow_writes: true, other: 1 }, { token }, 'alice', cause)).resolves.toMatchObject({
      config: { allow_writes: true },
      secrets: { token },
    });
  });
});
