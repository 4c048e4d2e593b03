/** Turns texts into vectors. Texts of similar meaning have vectors that are close to each other. */
export abstract class Embeddings {
  /** The model's id. Vectors of different models must not be compared. */
  abstract readonly model: string;
  /** Returns one vector per text, in the same order and all of the same length. */
  abstract embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}
