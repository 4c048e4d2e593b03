const REASONS_MAX = 3;
const CHARACTERS_MAX = 2_000;

/** An error with its causes, shortened for a column and a screen. */
export function describeFault(fault: unknown): string {
  const reasons: string[] = [];
  for (
    let error = fault;
    error !== undefined && reasons.length < REASONS_MAX;
    error = error instanceof Error ? error.cause : undefined
  )
    if (!isListed(error, reasons))
      reasons.push(error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error));
  return reasons.join(' <- ').replaceAll('\0', '\uFFFD').slice(0, CHARACTERS_MAX);
}

/** Whether the previous error, whose cause this one is, already contains its message. */
const isListed = (error: unknown, reasons: readonly string[]): boolean =>
  error instanceof Error && error.message !== '' && (reasons.at(-1)?.includes(error.message) ?? false);
