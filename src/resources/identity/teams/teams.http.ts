import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { TeamQueries, type TeamRecord } from '../../../../projections/teams/teams.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { momentIn } from '../../../platform/http/moments.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import { requireAccess } from '../access.policy.js';
import type { SignedInUser } from '../caller.js';
import { CurrentUser } from '../identity.http.js';
import { UserAccounts } from '../accounts/user-accounts.port.js';
import { ChangeTeam, CreateTeam, type TeamWish } from './team.commands.js';
import type { NeededInTeam } from '../grants.policy.js';
import { actorOf, teamNotFound } from './team.policy.js';
import { listedTeam, memberRecord, teamRecord } from './team-record.http.js';
import { MemberRole, NewMember, NewOwner, NewTeamBody, TeamEdit, TeamsQuery } from './teams.dto.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inPath } from '../../../kernel/access.js';

const ID = inPath('id');
const SOMEBODY = '00000000-0000-4000-8000-000000000000';

const NO_MEMBER = ApiResponse({ status: 404, description: 'The team does not exist, or the user is not a member of it.' });
const KEPT = ApiResponse({
  status: 409,
  description: 'The owner (`team_owner`) and the last administrator (`last_team_admin`) of a team cannot be removed or demoted.',
});
const FULL = ApiResponse({ status: 409, description: 'The team has the maximum number of members (`team_full`).' });

/** Null has the same effect as leaving a field out. */
const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

/** Lists, creates, changes and deletes teams and their members. */
@ApiTags('Teams')
@Controller('api')
export class TeamsController {
  constructor(
    private readonly commands: Commands,
    private readonly teams: TeamQueries,
    private readonly accounts: UserAccounts,
  ) {}

  @ApiOperation({ summary: 'Lists the teams of the user, oldest first' })
  @Access({ for: 'user', action: 'list', of: 'teams', scopes: ['teams:read'] })
  @Get('teams')
  async list(@CurrentUser() user: SignedInUser) {
    return { success: true, teams: (await this.teams.ofMember(user.userId)).map(listedTeam) };
  }

  @ApiOperation({ summary: 'Lists all teams or a page of them, oldest first, for administrators of the installation' })
  @Access({ for: 'user', action: 'list', of: 'all teams' })
  @Get('admin/teams')
  async all(@CurrentUser() user: SignedInUser, @Query() { limit, after, after_id: afterId }: TeamsQuery) {
    requireAccess(user, { does: 'see-all' });
    if ((after === undefined) !== (afterId === undefined))
      throw new Rejection('invalid-request', 'after and after_id belong together');
    const page = { limit, after: after === undefined ? undefined : momentIn('after', after), afterId };
    return { success: true, teams: (await this.teams.all(user.userId, page)).map(listedTeam) };
  }

  @ApiOperation({ summary: 'Creates a team; the user is its owner and its first administrator' })
  @DocumentedBody({ type: NewTeamBody }, { name: 'Support', description: 'Who answers customers.' })
  @Access({ for: 'user', action: 'create', of: 'teams' })
  @Post('teams')
  @HttpCode(201)
  async create(@CurrentUser() user: SignedInUser, @Confirms('teams') confirm: Confirm, @Body() body: NewTeamBody) {
    const wanted = { name: body.name.trim(), description: body.description ?? '' };
    const { teamId, position } = await this.commands.execute(new CreateTeam(user.userId, wanted, user.cause));
    await confirm(position);
    const team = await this.teams.byId(teamId);
    return { success: true, team: { ...teamRecord(team!), member_role: 'team_admin' } };
  }

  @ApiOperation({ summary: 'Returns a team with its members' })
  @NO_MEMBER
  @Access({ for: 'user', action: 'read', of: 'teams', scopes: ['teams:read'], at: ID, inTeam: 'member' })
  @Get('teams/:id')
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const { team, role } = await this.joined(user, id);
    const members = await this.membersOf(team);
    return { success: true, team: { ...teamRecord(team), members, member_role: role } };
  }

  @ApiOperation({ summary: 'Changes the name or the description of a team' })
  @NO_MEMBER
  @DocumentedBody({ type: TeamEdit }, { name: 'Customer support' })
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'team_admin' })
  @Put('teams/:id')
  async change(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Body() { name, description }: TeamEdit,
  ) {
    const wish = { ...(isGiven(name) && { name: name.trim() }), ...(isGiven(description) && { description }) };
    if (Object.keys(wish).length === 0) throw new Rejection('invalid-request', 'nothing to update');
    return this.changed(user, confirm, id, { does: 'change', ...wish });
  }

  @ApiOperation({ summary: 'Deletes a team and ends its grants' })
  @NO_MEMBER
  @Access({ for: 'user', action: 'delete', of: 'teams', at: ID, inTeam: 'owner' })
  @Delete('teams/:id')
  delete(@CurrentUser() user: SignedInUser, @Confirms('teams') confirm: Confirm, @Param('id') id: string) {
    return this.changed(user, confirm, id, { does: 'delete' });
  }

  @ApiOperation({ summary: 'Lists the members of a team' })
  @NO_MEMBER
  @Access({ for: 'user', action: 'read', of: 'teams', scopes: ['teams:read'], at: ID, inTeam: 'member' })
  @Get('teams/:id/members')
  async members(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const { team } = await this.joined(user, id);
    return { success: true, members: await this.membersOf(team) };
  }

  @ApiOperation({ summary: 'Adds a user of this service to a team, by id or e-mail address' })
  @NO_MEMBER
  @FULL
  @DocumentedBody({ type: NewMember }, { user_id: SOMEBODY, role: 'team_member' })
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'team_admin' })
  @Post('teams/:id/members')
  @HttpCode(200)
  async addMember(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Body() { email, user_id: given, role }: NewMember,
  ) {
    if (!isGiven(email) && !isGiven(given)) throw new Rejection('invalid-request', 'email or user_id required');
    await this.joined(user, id, 'team_admin');
    const added = await this.accounts.find(isGiven(given) ? { userId: given } : { email: email! });
    if (added === undefined) throw new Rejection('team-user-not-found', 'User not found');
    return this.changed(user, confirm, id, { does: 'add-member', userId: added, role: role ?? 'team_member' });
  }

  @ApiOperation({ summary: 'Changes the role of a member' })
  @NO_MEMBER
  @KEPT
  @DocumentedBody({ type: MemberRole }, { role: 'team_admin' })
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'team_admin' })
  @Put('teams/:id/members/:userId')
  changeRole(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Param('userId') userId: string,
    @Body() { role }: MemberRole,
  ) {
    return this.changed(user, confirm, id, { does: 'change-role', userId, role });
  }

  @ApiOperation({ summary: 'Removes a member; members may remove themselves' })
  @NO_MEMBER
  @KEPT
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'member' })
  @Delete('teams/:id/members/:userId')
  removeMember(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Param('userId') userId: string,
  ) {
    return this.changed(user, confirm, id, { does: 'remove-member', userId });
  }

  @ApiOperation({ summary: 'Makes another member the owner of a team' })
  @NO_MEMBER
  @DocumentedBody({ type: NewOwner }, { user_id: SOMEBODY })
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'owner' })
  @Post('teams/:id/transfer_owner')
  @HttpCode(200)
  transfer(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Body() { user_id: userId }: NewOwner,
  ) {
    return this.changed(user, confirm, id, { does: 'transfer', userId });
  }

  /** The team, if the user has the position `needs` in it. @throws Rejection */
  private async joined(user: SignedInUser, id: string, needs: NeededInTeam = 'member') {
    const [team, role] = isId(id) ? await Promise.all([this.teams.byId(id), this.teams.roleOf(id, user.userId)]) : [];
    requireAccess(user, { does: 'act-in-team', team, role, needs }, teamNotFound);
    return { team: team!, role: role! };
  }

  private async membersOf(team: TeamRecord) {
    const members = await this.teams.membersOf(team.id);
    const labels = await this.accounts.labelsOf(members.map(({ userId }) => userId));
    return members.map((member) => memberRecord(member, labels.get(member.userId)?.email ?? null));
  }

  /** Changes a team. The decider checks what the user may do, because it sees the team's current state. */
  private async changed(user: SignedInUser, confirm: Confirm, id: string, wish: TeamWish) {
    if (!isId(id)) throw teamNotFound();
    await confirm(await this.commands.execute(new ChangeTeam(id, actorOf(user), wish, user.cause)));
    return { success: true };
  }
}
