/** What is set about jobs, as the jobs need it. */
export class JobOptions {
  constructor(
    readonly settings: Readonly<{
      enabled: boolean;
      /** How long a turn waits for a call before that becomes a job, and again before it asks for that once more. */
      yieldMs: number;
      /** From the beginning of the call. */
      jobMsMax: number;
      /** How long a job outlives the last sign of life of its process. */
      staleMs: number;
      perConversationMax: number;
      perUserMax: number;
      perProcessMax: number;
      autoResume: boolean;
      retentionMs: number;
      shutdownMs: number;
    }>,
  ) {}
}
