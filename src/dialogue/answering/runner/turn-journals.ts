import type { JournalAccess } from '../../journal/message.events.js';
import type { MessageDigest } from '../../journal/message.policy.js';
import { encodeMetadata } from '../../../kernel/event-sourcing/codec.js';
import type { Ids } from '../../../kernel/ids.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../../kernel/timing.js';
import type { FramePublisher } from '../../journal/frame-publisher.port.js';
import { BatchClock } from '../../../kernel/event-sourcing/batch-clock.js';
import { Journal } from '../../journal/journal.js';
import { TextPace } from '../../journal/text-pace.js';
import type { Transcript } from '../loop/transcript.js';

/** Opens the journals of turns for writing, after the last frame of a digest. */
export class TurnJournals {
  private readonly clock: BatchClock;
  private readonly pace = new TextPace();

  constructor(
    private readonly streams: Streams,
    private readonly publisher: FramePublisher,
    timing: Timing,
    private readonly ids: Ids,
  ) {
    this.clock = new BatchClock(timing);
  }

  /** All producers that name the same `firstWriter` write the same first frame. Later frames carry the name of their `writer`. */
  open({ asked, ownerId, cause }: Transcript, digest: MessageDigest, firstWriter?: string, writer = this.ids.next()): Journal {
    const { agentId, agentKeyId, accessTokenId } = asked.settings;
    const access: JournalAccess = {
      conversationId: asked.conversationId,
      ownerId,
      agentKeyId,
      agentId,
      ...(accessTokenId && { accessTokenId }),
    };
    const metadata = encodeMetadata(cause);
    const firstMetadata = JSON.stringify({ ...(JSON.parse(metadata) as object), ...access });
    const options = { messageId: asked.turnId, digest, writer, firstWriter: firstWriter ?? writer, metadata, firstMetadata };
    return new Journal(this.streams, this.publisher, this.clock, this.pace, options);
  }
}
