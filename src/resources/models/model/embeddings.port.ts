/** Turns texts into vectors whose nearness is nearness of meaning. */
export abstract class Embeddings {
  /** Vectors of different models are never compared. */
  abstract readonly model: string;
  /** A vector for each text, in order, all of one length. */
  abstract embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}
