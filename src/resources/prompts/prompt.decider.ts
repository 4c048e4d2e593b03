import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { promptCodec } from './prompt.codec.js';
import type { PromptEvent } from './prompt.events.js';

/** The state of a prompt, as far as its decisions need it. */
export type Prompt = Readonly<{
  id: string;
  status: 'none' | 'there' | 'deleted';
  ownerId: string;
  name: string;
  content: string;
  updatedAt: string;
}>;

const initial: Prompt = { id: '', status: 'none', ownerId: '', name: '', content: '', updatedAt: '' };

export const prompt: Aggregate<Prompt, PromptEvent> = { initial, evolve, codec: promptCodec };

function evolve(state: Prompt, event: PromptEvent): Prompt {
  switch (event.type) {
    case 'PromptCreated': {
      const { promptId, ownerId, name, content, createdAt } = event.data;
      return { id: promptId, status: 'there', ownerId, name, content, updatedAt: createdAt };
    }
    case 'PromptUpdated': {
      const { name = state.name, content = state.content, updatedAt } = event.data;
      return { ...state, name, content, updatedAt };
    }
    case 'PromptDeleted':
      return { ...state, status: 'deleted' };
  }
}

type Decide = Decision<Prompt, PromptEvent>;

/** Also the answer to a caller who may not know whether the prompt exists. */
export const promptNotFound = () => new Rejection('prompt-not-found', 'Prompt not found');

function refuseStranger(state: Prompt, ownerId: string): void {
  if (state.status === 'none' || state.ownerId !== ownerId) throw promptNotFound();
}

export const create =
  (promptId: string, ownerId: string, { name, content, importId, now }: NewPrompt): Decide =>
  (state) => {
    if (state.status !== 'none') return [];
    const created = { promptId, ownerId, name, content, createdAt: now.toISOString() };
    return [{ type: 'PromptCreated', data: { ...created, ...(importId !== undefined && { importId }) } }];
  };

export type NewPrompt = Readonly<{ name: string; content: string; importId?: string | undefined; now: Date }>;

export type PromptChange = Readonly<{ name: string; content: string; expectedUpdatedAt?: Date | undefined; now: Date }>;

export const update =
  (ownerId: string, { name, content, expectedUpdatedAt, now }: PromptChange): Decide =>
  (state) => {
    refuseStranger(state, ownerId);
    if (state.status === 'deleted') throw promptNotFound();
    if (expectedUpdatedAt && expectedUpdatedAt.getTime() !== Date.parse(state.updatedAt)) {
      throw new Rejection('prompt-stale-write', 'Prompt was modified by someone else');
    }
    const changes = { ...(name !== state.name && { name }), ...(content !== state.content && { content }) };
    if (Object.keys(changes).length === 0) return [];
    const updatedAt = new Date(Math.max(now.getTime(), Date.parse(state.updatedAt) + 1)).toISOString();
    return [{ type: 'PromptUpdated', data: { promptId: state.id, ...changes, updatedAt } }];
  };

export const remove =
  (ownerId: string): Decide =>
  (state) => {
    refuseStranger(state, ownerId);
    return state.status === 'deleted' ? [] : [{ type: 'PromptDeleted', data: { promptId: state.id } }];
  };
