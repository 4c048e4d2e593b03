import type { LogFilter } from '../../kernel/event-sourcing/event-store.js';

/** The category of frames. They are most of the log, and no follower of the log wants them. */
export const FRAMES = 'message';

/** Whether a filter matches a category. */
export const isWanted = ({ categories, exceptCategories }: LogFilter, category: string): boolean =>
  (!categories || categories.includes(category)) && !exceptCategories?.includes(category);
