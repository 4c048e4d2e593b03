/** Whether a text can be an id, a name or a filter: Postgres stores no NUL, and UTF-8 no half of a surrogate pair. */
export const isNameable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
