import type { Rejections } from '../../../platform/http/rejections.js';

export const customModelsRejections: Rejections = {
  'custom-model-not-found': { status: 404 },
  'too-many-custom-models': { status: 400 },
};
