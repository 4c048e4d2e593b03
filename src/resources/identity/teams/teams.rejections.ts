import type { Rejections } from '../../../platform/http/rejections.js';

export const teamsRejections: Rejections = {
  'team-not-found': { status: 404 },
  'team-member-not-found': { status: 404 },
  'team-user-not-found': { status: 404 },
  'team-forbidden': { status: 403, code: 'not_allowed' },
  'team-last-admin': { status: 409, code: 'last_team_admin' },
  'team-owner-stays': { status: 409, code: 'team_owner' },
  'team-full': { status: 409, code: 'team_full' },
  'team-grants-full': { status: 409, code: 'too_many_grants' },
  'team-new-owner-unknown': { status: 400 },
  'team-target-unknown': { status: 400 },
};
