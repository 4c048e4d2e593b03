import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ClearWatchedMarks } from './clear-watched-marks.reaction.js';
import { PresenceController } from './presence.http.js';
import { WatchedConversations } from './watched-conversations.js';

const REACTIONS = [ClearWatchedMarks];

/** Tracks which conversations are being viewed. New answers there are not marked. */
@Module({
  controllers: [PresenceController],
  providers: [...REACTIONS, ConversationQueries, WatchedConversations],
  exports: [...REACTIONS],
})
export class PresenceModule {
  static readonly reactions = REACTIONS;
}
