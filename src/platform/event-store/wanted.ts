import type { LogFilter } from '../../kernel/event-sourcing/event-store.js';

/** The category of frames: nearly all of the log, and what none of those who follow it wants. */
export const FRAMES = 'message';

/** Whether a filter lets a category through. */
export const isWanted = ({ categories, exceptCategories }: LogFilter, category: string): boolean =>
  (!categories || categories.includes(category)) && !exceptCategories?.includes(category);
