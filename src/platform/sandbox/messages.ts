export type Asked<Question> = Readonly<{ id: number; question: Question }> | Readonly<{ cancel: number }>;

/** A message of a guarded program: `ready` first, then one answer per question, also for cancelled ones. */
export type Said<Answer> = 'ready' | Readonly<{ id: number; answer: Answer }> | Readonly<{ id: number; failed: string }>;
