import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { TeamQueries } from '../../../projections/teams/teams.queries.js';
import { type Family, inPath } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody, OptionalQuery, RequiredQuery } from '../../platform/http/documented.js';
import { requireAccess } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { switchDefaults, switchesOf } from '../identity/grants.policy.js';
import { CurrentUser } from '../identity/identity.http.js';
import { Reaching } from '../identity/reaching.js';
import { ChangeResourceSettings } from './resource-settings.commands.js';
import { SharedThings } from './shared-things.js';
import { EndTeamGrant, ShareWithTeam } from '../identity/teams/team.commands.js';
import { actorOf, teamNotFound } from '../identity/teams/team.policy.js';
import { familyOf, grantRecord } from './grant-record.http.js';
import { GrantBody, RESOURCE_TYPES, ResourceSettingsBody, type ResourceType } from './sharing.dto.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

const ID = inPath('id');
const EXAMPLE = { resource_type: 'agent', resource_id: '00000000-0000-4000-8000-000000000000' };

type Asked = string | undefined;

const NOT_THERE = ApiResponse({
  status: 404,
  description: 'The team or the resource does not exist, or the user has no access to it.',
});

/** Shares resources with teams, and changes what the grants of a resource allow. */
@ApiTags('Teams')
@Controller('api')
export class SharingController {
  constructor(
    private readonly commands: Commands,
    private readonly teams: TeamQueries,
    private readonly things: SharedThings,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Lists what is shared with a team' })
  @NOT_THERE
  @OptionalQuery('resource_type')
  @Access({ for: 'user', action: 'read', of: 'teams', scopes: ['teams:read'], at: ID, inTeam: 'member' })
  @Get('teams/:id/grants')
  async list(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Query('resource_type') type?: string) {
    await this.requireMember(user, id);
    const grants = await this.teams.grantsOf(id, type ? familyIn(type) : undefined);
    return { success: true, grants: grants.map((grant) => grantRecord(grant, grant.createdAt)) };
  }

  @ApiOperation({
    summary: 'Shares a resource with a team or with one of its members; if it is shared already, changes the access level',
  })
  @NOT_THERE
  @ApiResponse({ status: 409, description: 'The team has the maximum number of grants (`too_many_grants`).' })
  @DocumentedBody({ type: GrantBody }, { ...EXAMPLE, access_level: 'viewer' })
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'member' })
  @Post('teams/:id/grants')
  @HttpCode(201)
  async share(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: GrantBody,
  ) {
    await this.requireMember(user, id);
    const family = familyOf(body.resource_type);
    const found = await this.things.byId(family, body.resource_id);
    const thing = await this.reaching.reached(user, found, family, 'share', thingNotFound);
    const shared = { family, resourceId: thing.id, ownerId: thing.ownerId, name: thing.name };
    const wanted = { level: body.access_level ?? 'viewer', targetUserId: body.target_user_id || null } as const;
    const command = new ShareWithTeam(id, actorOf(user), shared, wanted, user.cause);
    const { grant, position } = await this.commands.execute(command);
    await confirm(position);
    return { success: true, grant: grantRecord({ ...grant, teamId: id }, grant.grantedAt) };
  }

  @ApiOperation({
    summary: 'Ends the grant that the query or the body names',
    description:
      'For users who may share the resource, for its owner, who need not be a member of the team, and for administrators of the team.',
  })
  @NOT_THERE
  @OptionalQuery('resource_type', 'resource_id', 'target_user_id')
  @Access({ for: 'user', action: 'change', of: 'teams', at: ID, inTeam: 'member' })
  @Delete('teams/:id/grants')
  async end(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Param('id') id: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Body() body?: Readonly<Record<string, unknown>> | null,
  ) {
    const asked = { ...body, ...query };
    const thing = await this.thingIn(asked);
    // An editor may have shared the resource with a team that its owner is not a member of.
    if (!isId(id) || !thing || !this.reaching.isOwn(user, thing)) await this.requireMember(user, id);
    const family = familyIn(asked['resource_type']);
    const resourceId = idIn(asked['resource_id']);
    const target = asked['target_user_id'];
    const grant = { family, resourceId, targetUserId: typeof target === 'string' && target !== '' ? target : null };
    const mayShare = await this.reaching.may(user, thing, family, 'share');
    const { ended, position } = await this.commands.execute(new EndTeamGrant(id, actorOf(user), grant, mayShare, user.cause));
    await confirm(position);
    return { success: ended };
  }

  @ApiOperation({ summary: 'Lists the teams and members with which a resource of the user is shared' })
  @NOT_THERE
  @ApiQuery({ name: 'resource_type', enum: RESOURCE_TYPES })
  @RequiredQuery('resource_id')
  @Access({ for: 'user', action: 'read', of: 'teams', scopes: ['teams:read'] })
  @Get('resource_shares')
  async shares(@CurrentUser() user: SignedInUser, @Query('resource_type') type: Asked, @Query('resource_id') id: Asked) {
    const { family, resourceId } = await this.owned(user, type, id);
    const shares = await this.teams.sharesOf(family, resourceId);
    const records = shares.map((share) => ({
      ...grantRecord(share, share.createdAt),
      team_name: share.teamName,
      team_slug: share.teamSlug,
    }));
    return { success: true, shares: records };
  }

  @ApiOperation({ summary: 'Returns the switches for what the grants of a resource allow' })
  @NOT_THERE
  @ApiQuery({ name: 'resource_type', enum: RESOURCE_TYPES })
  @RequiredQuery('resource_id')
  @Access({ for: 'user', action: 'read', of: 'teams', scopes: ['teams:read'] })
  @Get('resource_settings')
  async settings(@CurrentUser() user: SignedInUser, @Query('resource_type') type: Asked, @Query('resource_id') id: Asked) {
    const { family, resourceId } = await this.owned(user, type, id);
    return { success: true, settings: await this.settingsOf(family, resourceId) };
  }

  @ApiOperation({ summary: 'Changes the switches for what the grants of a resource allow' })
  @NOT_THERE
  @DocumentedBody({ type: ResourceSettingsBody }, { ...EXAMPLE, settings: { editors_can_share: true } })
  @Access({ for: 'user', action: 'change', of: 'teams' })
  @Put('resource_settings')
  async change(
    @CurrentUser() user: SignedInUser,
    @Confirms('teams') confirm: Confirm,
    @Body() { resource_type: type, resource_id: id, settings }: ResourceSettingsBody,
  ) {
    const thing = await this.owned(user, type, id);
    const switches = switchesIn(thing.family, settings);
    await confirm(await this.commands.execute(new ChangeResourceSettings(thing, switches, user.cause)));
    return { success: true, settings: await this.settingsOf(thing.family, thing.resourceId) };
  }

  private async settingsOf(family: Family, resourceId: string) {
    const now = switchesOf(family, await this.teams.switchesOf(family, resourceId));
    return Object.entries(switchDefaults(family)).map(([key, initially]) => ({ key, value: now[key]!, default: initially }));
  }

  /** The resource, which the user must own. @throws Rejection */
  private async owned(user: SignedInUser, type: Asked, id: Asked) {
    const family = familyIn(type);
    const resourceId = idIn(id);
    const thing = await this.things.byId(family, resourceId);
    await this.reaching.reached(user, thing, family, undefined, thingNotFound);
    return { family, resourceId };
  }

  /** The resource that a request names, if it exists. */
  private async thingIn({ resource_type: type, resource_id: id }: Readonly<Record<string, unknown>>) {
    const known = RESOURCE_TYPES.find((each) => each === type);
    return known && typeof id === 'string' ? this.things.byId(familyOf(known), id) : undefined;
  }

  private async requireMember(user: SignedInUser, id: string): Promise<void> {
    const [team, role] = isId(id) ? await Promise.all([this.teams.byId(id), this.teams.roleOf(id, user.userId)]) : [];
    requireAccess(user, { does: 'act-in-team', team, role, needs: 'member' }, teamNotFound);
  }
}

const thingNotFound = () => new Rejection('shared-thing-not-found', 'Not found');

const invalidResource = () => new Rejection('invalid-request', 'invalid resource');

function familyIn(type: unknown): Family {
  const known = RESOURCE_TYPES.find((each) => each === type) satisfies ResourceType | undefined;
  if (!known) throw invalidResource();
  return familyOf(known);
}

function idIn(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw invalidResource();
  return id;
}

function switchesIn(family: Family, settings: Readonly<Record<string, unknown>>): Readonly<Record<string, boolean>> {
  const known = switchDefaults(family);
  for (const [name, value] of Object.entries(settings)) {
    if (!Object.hasOwn(known, name)) throw new Rejection('invalid-request', `settings has no switch of this name: ${name}`);
    if (typeof value !== 'boolean') throw new Rejection('invalid-request', `settings.${name} must be true or false`);
  }
  return settings as Readonly<Record<string, boolean>>;
}
