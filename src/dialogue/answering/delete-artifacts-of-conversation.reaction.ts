import { Injectable } from '@nestjs/common';
import { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { artifactCodec } from '../../resources/artifacts/artifact.codec.js';
import { DeleteArtifact } from '../../resources/artifacts/artifact.commands.js';
import type { ArtifactCreated } from '../../resources/artifacts/artifact.events.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import type { ConversationDeleted, ConversationPurged } from '../conversation/conversation.events.js';

type Followed = ConversationDeleted | ConversationPurged | ArtifactCreated;

/**
 * Deletes the artifacts of a deleted conversation. When a conversation is deleted: wait until the read model lists all earlier artifacts,
 * then delete each. When an artifact is created: wait until the read model has all earlier deletions, then delete the artifact if its
 * conversation is gone. After a crash the remaining artifacts are deleted.
 */
@Injectable()
export class DeleteArtifactsOfConversation implements Reaction<Followed> {
  readonly name = 'delete-artifacts-of-conversation';
  readonly categories = ['conversation', 'artifact'];
  readonly codec: Codec<Followed> = { ...conversationCodec, ...artifactCodec };
  readonly on = {
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.deleteAll(event),
    ConversationPurged: (event: Recorded<ConversationPurged>) => this.deleteAll(event),
    ArtifactCreated: (event: Recorded<ArtifactCreated>) => this.deleteIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly artifacts: ArtifactQueries,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
  ) {}

  private async deleteAll(event: Recorded<ConversationDeleted | ConversationPurged>): Promise<void> {
    await requireReached(this.freshness, ['artifacts'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const { id, ownerId } of await this.artifacts.ofConversation(event.data.conversationId))
      await this.commands.execute(new DeleteArtifact(id, ownerId, cause));
  }

  private async deleteIfAlone(event: Recorded<ArtifactCreated>): Promise<void> {
    const { artifactId, ownerId, parent } = event.data;
    if (parent.conversationId === null) return;
    await requireReached(this.freshness, ['conversations'], event.position);
    if (await this.conversations.isThere(parent.conversationId)) return;
    await this.commands.execute(new DeleteArtifact(artifactId, ownerId, causedBy(event, `system:${this.name}`)));
  }
}
