import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type Answer, decodeAnswer, positionOf } from './answer.js';

const UINT64_MAX = 2n ** 64n - 1n;

/** Numbers of every encoded length, with the boundaries at 49, 53 and 64 bits. */
const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: UINT64_MAX }),
  fc.integer({ min: 0, max: 63 }).map((bits) => 2n ** BigInt(bits)),
  fc.constantFrom(2n ** 49n - 1n, 2n ** 49n + 1n, 2n ** 53n + 1n, UINT64_MAX),
);

const recorded = fc.record({
  id: fc.uuid(),
  stream: fc.string({ unit: 'grapheme', minLength: 1 }),
  revision: fc.maxSafeNat(),
  position: uint64,
  type: fc.string({ unit: 'grapheme' }),
  data: fc.json(),
  metadata: fc.json(),
  at: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
});

type Recorded = typeof recorded extends fc.Arbitrary<infer Value> ? Value : never;

function asSent({ id, stream, revision, position, type, data, metadata, at }: Recorded): streamsPb.ReadResp {
  const event = new streamsPb.ReadResp.ReadEvent.RecordedEvent();
  event.setId(new sharedPb.UUID().setString(id));
  event.setStreamIdentifier(new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream)));
  event.setStreamRevision(revision.toString()).setCommitPosition(position.toString()).setPreparePosition(position.toString());
  event.getMetadataMap().set('content-type', 'application/json').set('type', type);
  event.getMetadataMap().set('created', `${BigInt(at.getTime()) * 10_000n + 1234n}`);
  event.setData(Buffer.from(data)).setCustomMetadata(Buffer.from(metadata));
  return new streamsPb.ReadResp().setEvent(
    new streamsPb.ReadResp.ReadEvent().setEvent(event).setCommitPosition(position.toString()),
  );
}

const decoded = (message: streamsPb.ReadResp, tail = Buffer.alloc(0)): Answer =>
  decodeAnswer(Buffer.concat([message.serializeBinary(), tail]));

it('decodes events that the stubs encoded', () => {
  fc.assert(fc.property(recorded, (event) => expect(decoded(asSent(event))).toMatchObject({ kind: 'event', event })));
});

it('decodes checkpoints that the stubs encoded', () => {
  fc.assert(
    fc.property(
      uint64.filter((number) => number < 2n ** 64n - 1n),
      (position) => {
        const checkpoint = new streamsPb.ReadResp.Checkpoint().setCommitPosition(position.toString()).setPreparePosition('1');
        const answer = decoded(new streamsPb.ReadResp().setCheckpoint(checkpoint));
        expect(answer).toEqual({ kind: 'checkpoint', position });
        expect(positionOf(answer)).toBe(position);
      },
    ),
  );
});

it('takes the largest 64-bit number as no position', () => {
  const none = (2n ** 64n - 1n).toString();
  const checkpoint = new streamsPb.ReadResp.Checkpoint().setCommitPosition(none).setPreparePosition(none);
  expect(decoded(new streamsPb.ReadResp().setCheckpoint(checkpoint))).toEqual({ kind: 'other' });
});

it('decodes the last revision of a stream', () => {
  fc.assert(
    fc.property(fc.nat(), (revision) => {
      expect(decoded(new streamsPb.ReadResp().setLastStreamPosition(String(revision)))).toEqual({ kind: 'stream-end', revision });
    }),
  );
});

it('distinguishes the states of a subscription and decodes unknown messages as other', () => {
  const { ReadResp } = streamsPb;
  expect(decoded(new ReadResp().setCaughtUp(new ReadResp.CaughtUp()))).toEqual({ kind: 'caught-up' });
  expect(decoded(new ReadResp().setFellBehind(new ReadResp.FellBehind()))).toEqual({ kind: 'fell-behind' });
  expect(decoded(new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId('x')))).toEqual({
    kind: 'other',
  });
  expect(decoded(new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound()))).toEqual({ kind: 'other' });
  expect(decoded(new ReadResp().setFirstStreamPosition('7'))).toEqual({ kind: 'other' });
  expect(decoded(new ReadResp())).toEqual({ kind: 'other' });
});

it('skips unknown fields of every wire type', () => {
  const added = Buffer.from([
    0xf8, 0x01, 0x96, 0x01, 0xfa, 0x01, 0x02, 0x08, 0x01, 0xf9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 0x01, 1, 2, 3, 4,
  ]);
  expect(
    decodeAnswer(
      Buffer.concat([added, new streamsPb.ReadResp().setCaughtUp(new streamsPb.ReadResp.CaughtUp()).serializeBinary()]),
    ),
  ).toEqual({
    kind: 'caught-up',
  });
});

it('rejects a truncated message', () => {
  const [event] = fc.sample(recorded, 1);
  const whole = Buffer.from(asSent(event!).serializeBinary());
  expect(() => decodeAnswer(whole.subarray(0, whole.length - 3))).toThrow(RangeError);
});
