import type { Event } from '../../kernel/event-sourcing/events.js';

export type PromptId = string;

export type PromptCreated = Event<
  'PromptCreated',
  {
    promptId: PromptId;
    ownerId: string;
    name: string;
    content: string;
    createdAt: string;
    /** The import of an agent that made it: it is listed once the agent says that the import was applied. */
    importId?: string;
  }
>;
/** Holds what changed, whole. `updatedAt` only ever grows. */
export type PromptUpdated = Event<'PromptUpdated', { promptId: PromptId; name?: string; content?: string; updatedAt: string }>;
export type PromptDeleted = Event<'PromptDeleted', { promptId: PromptId }>;

export type PromptEvent = PromptCreated | PromptUpdated | PromptDeleted;

export const promptStream = (promptId: PromptId): string => `prompt-${promptId}`;
