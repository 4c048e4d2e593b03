/** Tells readers, wherever they are, of frames that have just become durable. */
export abstract class FramePublisher {
  abstract publish(messageId: string, first: number, frames: readonly string[]): void;
}
