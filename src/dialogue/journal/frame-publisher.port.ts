/** Notifies the readers in all processes of frames that have just become durable. */
export abstract class FramePublisher {
  abstract publish(messageId: string, first: number, frames: readonly string[]): void;
}
