/** What answering needs to know of the configuration. */
export class AnsweringOptions {
  constructor(
    readonly settings: Readonly<{
      /** Whether this process runs turns. */
      worker: boolean;
      /** Turns that one process runs at once. */
      turnsConcurrentMax: number;
      /** Streams that one process has open at once, whatever they carry. */
      streamsMax: number;
      /** How long a producer may be silent before its turns are taken from it. */
      staleProducerMs: number;
      /** How long a turn waits for a worker while none is alive. */
      noWorkerTurnMs: number;
      idempotencyTtlMs: number;
      /** How long a paused turn waits for decisions. */
      approvalTtlMs: number;
      messageEventsRetentionSeconds: number;
      shutdownMs: number;
      apiBaseUrl: string | null;
      /** The model that names conversations; the one that answered where it is undefined. */
      titleModelId: string | undefined;
    }>,
  ) {}
}

/** How long a producer's lease outlives its last renewal. The rest of the time is for finding out, and for the closing frames. */
export const producerLeaseMs = ({ settings }: AnsweringOptions): number => settings.staleProducerMs / 2;
