import { Module } from '@nestjs/common';
import { SourcesModule } from '../sources/sources.module.js';
import { SeedDemo } from './seed-demo.js';

/** Something to ask on a fresh installation. */
@Module({ imports: [SourcesModule], providers: [SeedDemo], exports: [SeedDemo] })
export class DemoModule {}
