import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import { attachment, failAttachment, parseAttachment, storeAttachment } from './attachment.decider.js';
import type { AttachmentEvent, AttachmentParsed, AttachmentStored } from './attachment.events.js';

const attachmentId = 'a-1';
const stored: AttachmentStored['data'] = {
  attachmentId,
  taskId: 't-1',
  ownerId: 'ann',
  filename: 'notes.md',
  mimeType: 'text/markdown',
  blob: { sha256: 'ab', size: 5 },
};
const parsed: AttachmentParsed['data'] = {
  attachmentId,
  text: { text: 'Tea at four.' },
  tokens: 4,
  isCut: false,
  pages: null,
  pictures: [],
};
const wasStored: AttachmentEvent = { type: 'AttachmentStored', data: stored };
const wasParsed: AttachmentEvent = { type: 'AttachmentParsed', data: parsed };
const hasFailed: AttachmentEvent = { type: 'AttachmentFailed', data: { attachmentId, reason: 'Damaged.' } };

describe('an attachment', () => {
  it('is stored once', () => {
    given(attachment, []).when(storeAttachment(stored)).then([wasStored]);
    given(attachment, [wasStored]).when(storeAttachment(stored)).thenNothing();
  });

  it('records the first result or failure and ignores later ones', () => {
    given(attachment, [wasStored]).when(parseAttachment(parsed)).then([wasParsed]);
    given(attachment, [wasStored]).when(failAttachment(attachmentId, 'Damaged.')).then([hasFailed]);
    for (const end of [wasParsed, hasFailed]) {
      given(attachment, [wasStored, end]).when(parseAttachment(parsed)).thenNothing();
      given(attachment, [wasStored, end]).when(failAttachment(attachmentId, 'Damaged.')).thenNothing();
    }
  });

  it('must be stored before it is parsed or fails', () => {
    given(attachment, []).when(parseAttachment(parsed)).thenRejected('attachment-not-found');
    given(attachment, []).when(failAttachment(attachmentId, 'Damaged.')).thenRejected('attachment-not-found');
  });
});

it('an attachment has at most one end and repeated decisions add nothing, for any sequence of decisions', () => {
  const decisions = [storeAttachment(stored), parseAttachment(parsed), failAttachment(attachmentId, 'x')];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...decisions)), (sequence) => {
      const events: AttachmentEvent[] = [wasStored];
      let state = events.reduce(attachment.evolve, attachment.initial);
      for (const decide of sequence) {
        const made = decide(state);
        events.push(...made);
        state = made.reduce(attachment.evolve, state);
        expect(decide(state)).toEqual([]);
      }
      expect(events.filter(({ type }) => type !== 'AttachmentStored').length).toBeLessThanOrEqual(1);
    }),
  );
});
