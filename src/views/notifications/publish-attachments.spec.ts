import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { LossyStoreForTests, react, reactionOver, record, notificationsOf } from '../../../test/support/user-reactions.js';
import { type AttachmentEvent, attachmentStream } from '../../resources/attachments/attachment.events.js';
import { PARSE_ATTACHMENT } from '../../resources/attachments/attachment.policy.js';
import { REASON_CHARACTERS_MAX } from '../../kernel/event-sourcing/notifications.js';
import { taskStream } from '../../work/tasks/task.events.js';

const [id, taskId] = ['a-1', 't-1'];
const attachment = attachmentStream(id);
const task = taskStream(taskId);
const payload = { attachment_id: id, filename: 'notes.md' };
const scope = { kind: 'attachment', id };

const stored: AttachmentEvent = {
  type: 'AttachmentStored',
  data: {
    attachmentId: id,
    taskId,
    ownerId: 'ann',
    filename: 'notes.md',
    mimeType: 'text/markdown',
    blob: { sha256: 'ab', size: 5 },
  },
};
const parsed: AttachmentEvent = {
  type: 'AttachmentParsed',
  data: { attachmentId: id, text: { text: 'Tea.' }, tokens: 2, isCut: false, pages: null, pictures: [] },
};
const queued = { type: 'TaskQueued', data: { taskId, kind: PARSE_ATTACHMENT, ownerId: 'ann', input: { attachmentId: id } } };
const progressed = (percent: number) => ({ type: 'TaskProgressed', data: { taskId, attempt: 1, percent } });

let store: InMemoryEventStore;
beforeEach(() => {
  store = new InMemoryEventStore();
});
const told = async () =>
  (await notificationsOf(store, 'ann')).map(({ type, scope: where, payload: what }) => ({ type, scope: where, payload: what }));

it('the owner is notified when an attachment is queued, progresses and is completed', async () => {
  const reaction = reactionOver(store);
  await record(store, attachment, stored);
  await record(store, task, queued, progressed(30), progressed(80));
  await react(reaction, store, attachment);
  await react(reaction, store, task);
  await record(store, attachment, parsed);
  await react(reaction, store, attachment, 1);
  expect(await told()).toEqual([
    { type: 'attachment.queued', scope, payload },
    { type: 'attachment.progress', scope, payload: { ...payload, current: 30, stage: 'processing' } },
    { type: 'attachment.progress', scope, payload: { ...payload, current: 80, stage: 'storing' } },
    { type: 'attachment.completed', scope, payload: { ...payload, token_count: 2, mime_type: 'text/markdown' } },
  ]);
});

it('the owner is notified of the reason of a failure, and of no progress after it', async () => {
  await record(store, attachment, stored, {
    type: 'AttachmentFailed',
    data: { attachmentId: id, reason: 'x'.repeat(REASON_CHARACTERS_MAX + 1) },
  });
  await record(store, task, queued, progressed(30));
  await react(reactionOver(store), store, attachment);
  await react(reactionOver(store), store, task);
  expect(await told()).toEqual([
    { type: 'attachment.queued', scope, payload },
    { type: 'attachment.failed', scope, payload: { ...payload, error: 'x'.repeat(REASON_CHARACTERS_MAX) } },
  ]);
});

it.each(['before', 'after'] as const)(
  'every notification is sent once if every other append fails %s its write',
  async (when) => {
    store = new LossyStoreForTests(when);
    await record(store, attachment, stored, parsed);
    for (let time = 1; time <= 2; time++) await react(reactionOver(store), store, attachment);
    expect((await told()).map(({ type }) => type)).toEqual(['attachment.queued', 'attachment.completed']);
  },
);
