import type { Rejections } from '../../platform/http/rejections.js';

export const documentsRejections: Rejections = {
  'document-unreadable': { status: 400 },
  'document-too-slow': { status: 400 },
  'document-too-large': { status: 413 },
  'document-type-not-accepted': { status: 415 },
};
