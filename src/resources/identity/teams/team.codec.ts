import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { TeamEvent } from './team.events.js';

export const teamCodec: Codec<TeamEvent> = {
  TeamCreated: [],
  TeamChanged: [],
  TeamMemberAdded: [],
  TeamMemberRoleChanged: [],
  TeamMemberRemoved: [],
  TeamTransferred: [],
  TeamGrantMade: [],
  TeamGrantChanged: [],
  TeamGrantEnded: [],
  TeamDeleted: [],
};
