/** The settings of background jobs. */
export class JobOptions {
  constructor(
    readonly settings: Readonly<{
      enabled: boolean;
      /** A turn waits this long for a call before it tries to make a job of it, and before each further try. */
      yieldMs: number;
      /** Maximum duration of a job, from the beginning of the call. */
      jobMsMax: number;
      /** A job's lease expires this long after its process last renewed it. */
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
