import type { Rejections } from '../../../platform/http/rejections.js';

export const agentFoldersRejections: Rejections = {
  'folder-in-itself': { status: 400 },
  'too-many-folders': { status: 409, code: 'too_many_folders' },
};
