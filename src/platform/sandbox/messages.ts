/** What a guarded program is told. */
export type Asked<Question> = Readonly<{ id: number; question: Question }> | Readonly<{ cancel: number }>;

/** What a guarded program says: first that it is there, then one answer for each question, also for one that was cancelled. */
export type Said<Answer> = 'ready' | Readonly<{ id: number; answer: Answer }> | Readonly<{ id: number; failed: string }>;
