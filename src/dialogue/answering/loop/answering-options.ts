/** The settings that answering uses. */
export class AnsweringOptions {
  constructor(
    readonly settings: Readonly<{
      /** Whether this process runs turns. */
      worker: boolean;
      /** Maximum number of concurrent turns of one process. */
      turnsConcurrentMax: number;
      /** Maximum number of open streams of one process, of all kinds. */
      streamsMax: number;
      /** Other processes take a producer's turns after it was silent for this long. */
      staleProducerMs: number;
      /** A turn fails if no worker is alive for this long. */
      noWorkerTurnMs: number;
      idempotencyTtlMs: number;
      /** How long a paused turn waits for decisions. */
      approvalTtlMs: number;
      messageEventsRetentionSeconds: number;
      shutdownMs: number;
      apiBaseUrl: string | null;
      /** The model that names conversations; if undefined, the model that answered. */
      titleModelId: string | undefined;
    }>,
  ) {}
}

/**
 * A lease expires this long after its last renewal. The other half of `staleProducerMs` is for detecting the loss and writing the
 * closing frames.
 */
export const producerLeaseMs = ({ settings }: AnsweringOptions): number => settings.staleProducerMs / 2;
