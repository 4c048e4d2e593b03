import type { LogFilter } from '../../../kernel/event-sourcing/event-store.js';

/**
 * The regular expression for the names of matching streams, in the common syntax of .NET and ECMAScript. Prefixes would miss a
 * stream with the bare name of its category, and cannot exclude. The server's own streams start with `$`.
 */
export function streamPattern({ categories, exceptCategories = [] }: LogFilter): string {
  const unwanted = ['\\$', ...exceptCategories.map(ofCategory)].join('|');
  if (!categories) return `^(?!${unwanted})`;
  return categories.length === 0 ? '(?!)' : `^(?!${unwanted})(?:${categories.map(ofCategory).join('|')})`;
}

const ofCategory = (category: string): string => `${category.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?:-|$)`;
