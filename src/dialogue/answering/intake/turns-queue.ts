/** The queue on which turns wait for a runner. */
export const TURNS_QUEUE = 'turns';
