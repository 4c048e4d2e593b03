import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import { auditEventOf, auditLine } from './audit-event.js';

const CAUSE = { actor: 'user:ann', credential: 'session-token', correlationId: 'request-1', causationId: 'request-1' } as const;

const stored = (data: string, metadata = encodeMetadata(CAUSE)): StoredEvent => ({
  ...{ position: 7n, id: 'e1', stream: 'agent-1', revision: 3, type: 'AgentChanged', at: new Date(0), data, metadata },
});
const lineOf = (event: StoredEvent) => auditLine(auditEventOf(event));

describe('the line of an event', () => {
  it('has the bytes that seals were made of', () =>
    expect(lineOf(stored('{"name": "A \\"b\\" é"}'))).toBe(
      '{"position":"7","id":"e1","stream":"agent-1","revision":3,"type":"AgentChanged","actor":"user:ann",' +
        '"credential":"session-token","at":"1970-01-01T00:00:00.000Z","correlation_id":"request-1","causation_id":"request-1",' +
        '"data":{"name": "A \\"b\\" é"}}',
    ));

  it.each([
    ['no JSON', 'plain', '"plain"'],
    ['JSON on two lines', '{\n}', '"{\\n}"'],
    ['a NUL, which Postgres cannot store', 'a\0b', '"a\uFFFDb"'],
  ])('shows data that is %s as a string', (_, data, shown) => expect(lineOf(stored(data))).toContain(`,"data":${shown}}`));

  it('has no cause if the metadata cannot be read', () =>
    expect(lineOf(stored('{}', 'plain'))).toContain('"actor":null,"credential":null,'));
});
