import type { Rejections } from '../../platform/http/rejections.js';

export const journalRejections: Rejections = {
  'journal-expired': { status: 410, code: 'journal_expired' },
};
