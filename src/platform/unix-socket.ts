const CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'EAGAIN']);

/** Whether connecting to a Unix socket failed because it is absent or its backlog is full. For files the same codes mean other things. */
export function isSocketAway(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as Readonly<{ code?: unknown; syscall?: unknown }>;
  return syscall === 'connect' && CODES.has(code);
}
