import { CommandHandler } from '@nestjs/cqrs';
import type { Family } from '../../../kernel/access.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import {
  addMember,
  change,
  changeRole,
  create,
  endGrantsOf,
  grant,
  grantFor,
  remove,
  removeMember,
  revoke,
  type SharedThing,
  type Team,
  team,
  type TeamActor,
  transfer,
} from './team.decider.js';
import { type GrantLevel, type TeamEvent, type TeamGrant, type TeamRole, teamStream } from './team.events.js';
import { slugOf } from './team.policy.js';

/** Creates a team. The user becomes its owner. */
export class CreateTeam extends Command<Readonly<{ teamId: string; position: bigint | undefined }>> {
  constructor(
    readonly ownerId: string,
    readonly wanted: Readonly<{ name: string; description: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateTeam)
class CreateTeamHandler implements Handler<CreateTeam> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ ownerId, wanted, cause }: CreateTeam) {
    const teamId = newId();
    const decision = create(teamId, ownerId, { ...wanted, slug: slugOf(wanted.name, teamId) }, this.clock.now());
    const { position } = await this.streams.transact(teamStream(teamId), team, decision, cause);
    return { teamId, position };
  }
}

/** A change of an existing team. */
export type TeamWish =
  | Readonly<{ does: 'change'; name?: string; description?: string }>
  | Readonly<{ does: 'delete' }>
  | Readonly<{ does: 'add-member' | 'change-role'; userId: string; role: TeamRole }>
  | Readonly<{ does: 'remove-member' | 'transfer'; userId: string }>;

/** Changes a team. Sent by a member or by an administrator of the installation. */
export class ChangeTeam extends Command<bigint | undefined> {
  constructor(
    readonly teamId: string,
    readonly actor: TeamActor,
    readonly wish: TeamWish,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeTeam)
class ChangeTeamHandler implements Handler<ChangeTeam> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ teamId, actor, wish, cause }: ChangeTeam): Promise<bigint | undefined> {
    const decision = decisionOn(wish, actor, this.clock.now());
    return (await this.streams.transact(teamStream(teamId), team, decision, cause)).position;
  }
}

function decisionOn(wish: TeamWish, actor: TeamActor, now: Date): Decision<Team, TeamEvent> {
  switch (wish.does) {
    case 'change':
      return change(actor, wish, now);
    case 'delete':
      return remove(actor, now);
    case 'add-member':
      return addMember(actor, wish.userId, wish.role, now);
    case 'change-role':
      return changeRole(actor, wish.userId, wish.role, now);
    case 'remove-member':
      return removeMember(actor, wish.userId, now);
    case 'transfer':
      return transfer(actor, wish.userId, now);
  }
}

/** Shares a resource with a team or with one of its members. The sender has checked that the actor may share the resource. */
export class ShareWithTeam extends Command<Readonly<{ grant: TeamGrant; position: bigint | undefined }>> {
  constructor(
    readonly teamId: string,
    readonly actor: TeamActor,
    readonly thing: SharedThing,
    readonly wanted: Readonly<{ level: GrantLevel; targetUserId: string | null }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ShareWithTeam)
class ShareWithTeamHandler implements Handler<ShareWithTeam> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ teamId, actor, thing: { name, ...thing }, wanted, cause }: ShareWithTeam) {
    const decision = grant(actor, { id: newId(), ...thing, ...wanted }, this.clock.now(), name);
    const { state, position } = await this.streams.transact(teamStream(teamId), team, decision, cause);
    return { grant: grantFor(state, thing, wanted.targetUserId)!, position };
  }
}

/** Ends the grant of a resource to a team or to a member. */
export class EndTeamGrant extends Command<Readonly<{ ended: boolean; position: bigint | undefined }>> {
  constructor(
    readonly teamId: string,
    readonly actor: TeamActor,
    readonly grant: Readonly<{ family: Family; resourceId: string; targetUserId: string | null }>,
    /** Whether the actor may share the resource, and so may end the grant. */
    readonly mayShare: boolean,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndTeamGrant)
class EndTeamGrantHandler implements Handler<EndTeamGrant> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ teamId, actor, grant: { targetUserId, ...thing }, mayShare, cause }: EndTeamGrant) {
    const decision = revoke(actor, thing, targetUserId, mayShare, this.clock.now());
    const { events, position } = await this.streams.transact(teamStream(teamId), team, decision, cause);
    return { ended: events.length > 0, position };
  }
}

/** Ends all grants of a deleted resource in a team. */
export class EndGrantsOfThing extends Command<void> {
  constructor(
    readonly teamId: string,
    readonly thing: Readonly<{ family: Family; resourceId: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndGrantsOfThing)
class EndGrantsOfThingHandler implements Handler<EndGrantsOfThing> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ teamId, thing, cause }: EndGrantsOfThing): Promise<void> {
    await this.streams.transact(teamStream(teamId), team, endGrantsOf(thing, this.clock.now()), cause);
  }
}

export const teamHandlers = [
  ChangeTeamHandler,
  CreateTeamHandler,
  EndGrantsOfThingHandler,
  EndTeamGrantHandler,
  ShareWithTeamHandler,
];
