/** The metadata storage of class-transformer's decorators. The package exports it without types at this path. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}
