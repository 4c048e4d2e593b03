/** Notifies the readers in all processes of new durable frames. */
export abstract class FramePublisher {
  abstract publish(messageId: string, first: number, frames: readonly string[]): void;
}
