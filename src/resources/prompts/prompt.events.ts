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
    /** The import of an agent that created it. Listings show the prompt once the import has been applied to the agent. */
    importId?: string;
  }
>;
/** Holds only the fields that changed, with their complete new values. `updatedAt` always grows. */
export type PromptUpdated = Event<'PromptUpdated', { promptId: PromptId; name?: string; content?: string; updatedAt: string }>;
export type PromptDeleted = Event<'PromptDeleted', { promptId: PromptId }>;

export type PromptEvent = PromptCreated | PromptUpdated | PromptDeleted;

export const promptStream = (promptId: PromptId): string => `prompt-${promptId}`;
