const CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'EAGAIN']);

/** Whether an error says that a Unix socket is not there, or takes no more who wait. Of a file the same codes say something else. */
export function isSocketAway(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as Readonly<{ code?: unknown; syscall?: unknown }>;
  return syscall === 'connect' && CODES.has(code);
}
