import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import type { AuditEvent } from '../../../projections/audit-log/audit-event.js';
import type { AuditFilter, AuditLogQueries } from '../../../projections/audit-log/audit-log.queries.js';
import { LateReadModel } from '../../../test/support/late-read-model.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { AuditController } from './audit.http.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'c', causationId: 'c' } as const;
const ann: SignedInUser = { kind: 'user', userId: 'ann', roles: ['user'], credential: 'session-token', cause };

const WRITTEN: AuditEvent = {
  ...{ position: 7n, id: 'e', stream: 'conversation-1', revision: 0, type: 'TurnAsked', at: new Date(0), data: '{}' },
  ...{ actor: 'user:ann', credential: 'session-token', correlationId: 'c', causationId: 'c' },
};

/** A double of the reply that keeps the body sent to it. */
class Reply {
  sent: unknown;
  header(): this {
    return this;
  }
  send(body: unknown): Promise<void> {
    this.sent = body;
    return Promise.resolve();
  }
}

describe('the audit shows users their latest writes', () => {
  function audit(): AuditController {
    const readModel = new LateReadModel('audit-log');
    const lastWrites = new LastWrites();
    lastWrites.note('ann', WRITTEN.position);
    const known = () => (readModel.shows(WRITTEN.position) ? [WRITTEN] : []);
    const queries = {
      located: (filter: AuditFilter) => Promise.resolve(filter),
      page: () => Promise.resolve({ events: known(), next: undefined }),
      chain: () => Promise.resolve(known()),
      actorsOf: () => Promise.resolve(['user:ann']),
      correlationOf: () => Promise.resolve(known()[0]?.correlationId),
    };
    return new AuditController(queries as unknown as AuditLogQueries, readModel, lastWrites);
  }

  it.each([
    ['as a page', undefined],
    ['as lines', 'application/x-ndjson'],
  ])('%s', async (_, accept) => {
    const reply = new Reply();
    await audit().events(ann, {}, accept, reply as unknown as FastifyReply);
    const sent = accept ? await text(reply.sent as NodeJS.ReadableStream) : (reply.sent as string);
    expect(sent).toContain('"TurnAsked"');
  });

  it('as a trace', async () => {
    expect(await audit().trace(ann, 'c')).toMatchObject({ correlation_id: 'c', events: 1 });
  });
});

it('an export hands over a page of large events piece by piece, so that a slow client holds few of their lines', async () => {
  const data = JSON.stringify('x'.repeat(100_000));
  const events = Array.from({ length: 50 }, (_, index) => ({ ...WRITTEN, position: BigInt(index), data }));
  const queries = {
    located: (filter: AuditFilter) => Promise.resolve(filter),
    page: () => Promise.resolve({ events, next: undefined }),
  };
  const audit = new AuditController(queries as unknown as AuditLogQueries, new LateReadModel('audit-log'), new LastWrites());
  const reply = new Reply();
  await audit.events({ ...ann, roles: ['admin'] }, {}, 'application/x-ndjson', reply as unknown as FastifyReply);
  const pieces: string[] = [];
  for await (const piece of reply.sent as AsyncIterable<string>) pieces.push(piece);
  expect(pieces.join('').trimEnd().split('\n')).toHaveLength(50);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000);
});

it('a trace whose events are purged while it is read is not found', async () => {
  const queries = { chain: () => Promise.resolve([]), correlationOf: () => Promise.resolve('c') };
  const audit = new AuditController(queries as unknown as AuditLogQueries, new LateReadModel('audit-log'), new LastWrites());
  await expect(audit.trace({ ...ann, roles: ['admin'] }, 'c')).rejects.toThrow('Not found');
});
