import type { LogFilter } from '../../../kernel/event-sourcing/event-store.js';

/**
 * The regular expression, in what .NET and ECMAScript have in common, that the names of wanted streams match. Not
 * prefixes: they would miss a stream named like its category, and cannot exclude. Streams of the server begin with `$`.
 */
export function streamPattern({ categories, exceptCategories = [] }: LogFilter): string {
  const unwanted = ['\\$', ...exceptCategories.map(ofCategory)].join('|');
  if (!categories) return `^(?!${unwanted})`;
  return categories.length === 0 ? '(?!)' : `^(?!${unwanted})(?:${categories.map(ofCategory).join('|')})`;
}

const ofCategory = (category: string): string => `${category.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?:-|$)`;
