import type { Logger } from 'pino';
import { newId } from '../../src/kernel/ids.js';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { serviceForTests, type TestService } from './service.js';

export type Json = Record<string, unknown>;
export type Reply = Readonly<{ status: number; body: Json; headers: Headers; text: string }>;
export type User = Readonly<{ authorization: string; id: string }>;

/** A service that imports agent files, and users who upload them. */
export class FilesService {
  private constructor(readonly running: TestService) {}

  static async start(settings: Readonly<Record<string, string>> = {}, log?: Logger): Promise<FilesService> {
    const environment = { AUTH_TYPE: 'session_jwt', ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ...settings };
    return new FilesService(await serviceForTests(environment, undefined, log));
  }

  /** A new user without any data. */
  async newUser(name: string): Promise<User> {
    const tokens = this.running.service.app.get(SessionTokens, { strict: false });
    const id = `${name}-${newId()}`;
    return { id, authorization: `Bearer ${await tokens.issue({ subject: id, roles: [] })}` };
  }

  async send(
    as: User,
    method: string,
    path: string,
    body?: string | Buffer | FormData | object,
    headers: Json = {},
  ): Promise<Reply> {
    const isPlain = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof FormData;
    const type = body === undefined || isPlain ? {} : { 'content-type': 'application/json' };
    const response = await fetch(this.running.url + path, {
      method,
      headers: { authorization: as.authorization, ...type, ...(headers as Record<string, string>) },
      ...(body !== undefined && { body: isPlain ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as Json) : {} };
  }

  plan(as: User, yaml: string | Buffer): Promise<Reply> {
    return this.send(as, 'POST', '/api/import_agent/plan', yaml, { 'content-type': 'application/yaml' });
  }

  import(as: User, yaml: string, resolution: object = {}, headers: Json = {}): Promise<Reply> {
    return this.send(as, 'POST', '/api/import_agent', { yaml, resolution }, headers);
  }

  async export(as: User, agentId: unknown): Promise<string> {
    return (await this.send(as, 'GET', `/api/export_agent?id=${String(agentId)}`)).text;
  }

  async agent(as: User, agentId: unknown): Promise<Json> {
    return (await this.send(as, 'GET', `/api/get_agent?id=${String(agentId)}`)).body;
  }

  /** Creates an agent with these fields. Returns its id. */
  async makeAgent(as: User, fields: object): Promise<string> {
    const agent = { name: 'Guide', description: 'Knows', status: 'draft', ...fields };
    return (await this.send(as, 'POST', '/api/create_agent', agent)).body['id'] as string;
  }

  /** The number of events in the log, except seals of the log and those that record the use of an idempotency key. */
  async events(): Promise<number> {
    const { sql } = this.running.database;
    const rows =
      await sql`select count(*)::int as n from event_store.event where type not in ('IdempotencyKeyUsed', 'LogSealed')`;
    return rows[0]!['n'] as number;
  }

  /** Every row of every table, as text. */
  async everything(): Promise<string> {
    const { sql } = this.running.database;
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`;
    const texts = await Promise.all(tables.map(({ name }) => sql.unsafe(`select t::text as row from ${name} t`)));
    return texts.flatMap((rows) => rows.map((row) => row['row'] as string)).join('\n');
  }

  close(): Promise<void> {
    return this.running.close();
  }
}

/** An agent file with this specification, as YAML on one line. */
export const agentFile = (spec: object, metadata: object = {}): string =>
  JSON.stringify({ apiVersion: 'docsgpt.arc53.com/v1', kind: 'Agent', metadata, spec: { name: 'Guide', ...spec } });
