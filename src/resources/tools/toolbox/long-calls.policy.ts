/** Kinds of tools whose calls end quickly, or that are about the service itself. */
const NEVER_LONG: ReadonlySet<string> = new Set(
  'think internal_search memory notes todo_list scheduler monitor check_job'.split(' '),
);

/** Whether a call of a tool of this kind may continue as a job. */
export const mayRunLong = (toolName: string): boolean => !NEVER_LONG.has(toolName);
