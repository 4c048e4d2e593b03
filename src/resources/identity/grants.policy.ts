import type { Family, ResourceAction } from '../../kernel/access.js';

/** What a team's grant lets a user do with a thing that belongs to somebody else. */
export type Grant = Readonly<{
  level: 'viewer' | 'editor';
  /** What the owner of the thing has switched; the defaults stand for the others. */
  switches: Readonly<Record<string, boolean>>;
  /** It is no team's: the user came by a link. */
  byLink?: true;
}>;

/** What somebody who came by the link of an agent may do with it. */
export const BY_LINK: Grant = { level: 'viewer', switches: {}, byLink: true };

/** The switches of a thing with their defaults: each opens some actions to viewers or editors. */
const SWITCHES: Readonly<Record<Family, Readonly<Record<string, boolean>>>> = {
  agents: {
    editors_can_share: false,
    editors_can_delete: false,
    editors_can_manage_access_details: true,
    viewers_can_see_logs: false,
  },
  sources: { editors_can_share: false, editors_can_delete: false, viewers_can_see_config: true },
  tools: { editors_can_change_credentials: true, editors_can_share: false, viewers_can_use_in_agents: true },
  prompts: { editors_can_share: false, viewers_can_duplicate: true },
  workflows: {},
};

/** An action, and the switch that has to be on for it. */
type Permission = ResourceAction | Readonly<{ action: ResourceAction; when: string }>;

const when = (name: string, action: ResourceAction): Permission => ({ action, when: name });

/** What viewers and editors may do with a thing of each family. Editors may do what viewers may; owners may do everything. */
const PERMISSIONS: Readonly<Record<Family, Readonly<{ viewer: readonly Permission[]; editor: readonly Permission[] }>>> = {
  agents: {
    viewer: ['use', 'pin', when('viewers_can_see_logs', 'view_logs')],
    editor: [
      'view',
      'edit',
      'publish',
      'edit_policy',
      'view_logs',
      'manage_schedules',
      'export',
      when('editors_can_manage_access_details', 'manage_access_details'),
      when('editors_can_share', 'share'),
      when('editors_can_delete', 'delete'),
    ],
  },
  sources: {
    viewer: ['use', 'view', when('viewers_can_see_config', 'view_config')],
    editor: ['view_config', 'edit', when('editors_can_share', 'share'), when('editors_can_delete', 'delete')],
  },
  tools: {
    viewer: ['view', when('viewers_can_use_in_agents', 'use')],
    editor: ['use', 'edit', when('editors_can_change_credentials', 'change_credentials'), when('editors_can_share', 'share')],
  },
  // Who may read the text of a prompt can keep a copy of it.
  prompts: {
    viewer: ['use', when('viewers_can_duplicate', 'view')],
    editor: ['view', 'edit', when('editors_can_share', 'share')],
  },
  workflows: { viewer: ['use', 'view'], editor: ['edit'] },
};

/** The switches of a thing as they stand, in a fixed order. */
export const switchesOf = (family: Family, set: Readonly<Record<string, boolean>>): Readonly<Record<string, boolean>> =>
  Object.fromEntries(Object.entries(SWITCHES[family]).map(([name, initially]) => [name, set[name] ?? initially]));

/** The names of the switches of a family, with their defaults. */
export const switchDefaults = (family: Family): Readonly<Record<string, boolean>> => SWITCHES[family];

/** What a grant allows, sorted. */
export function actionsOf(family: Family, { level, switches }: Grant): readonly ResourceAction[] {
  const { viewer, editor } = PERMISSIONS[family];
  const on = switchesOf(family, switches);
  const permissions = level === 'editor' ? [...viewer, ...editor] : viewer;
  const allowed = permissions.flatMap((each) => (typeof each === 'string' ? each : on[each.when] ? each.action : []));
  return [...new Set(allowed)].sort();
}

export const grantAllows = (family: Family, grant: Grant, action: ResourceAction): boolean =>
  actionsOf(family, grant).includes(action);

/** Of two grants of the same thing the one that allows more. */
export const wider = (one: Grant | undefined, other: Grant): Grant => (one?.level === 'editor' ? one : other);

/** How listings tell somebody's own things from those of others. */
export const ownershipOf = (grant: Grant | undefined) =>
  grant && !grant.byLink ? { ownership: 'team', team_access: grant.level } : { ownership: 'user', team_access: null };

/** What somebody is in a team. `isAdmin`: an administrator of the installation. */
export type TeamStanding = Readonly<{ role: 'team_admin' | 'team_member' | undefined; isOwner: boolean; isAdmin: boolean }>;

/** What somebody needs to be for what is done in a team. */
export type NeededInTeam = 'member' | 'team_admin' | 'owner';

/** What stands in somebody's way in a team: it is unknown to those who are no members. What owners do administrators may do. */
export function lackingInTeam(
  { role, isOwner, isAdmin }: TeamStanding,
  needs: NeededInTeam,
): 'unknown' | 'forbidden' | undefined {
  if (needs === 'owner' && isAdmin) return undefined;
  if (!role) return 'unknown';
  const suffices = { member: true, team_admin: role === 'team_admin', owner: isOwner }[needs];
  return suffices ? undefined : 'forbidden';
}
