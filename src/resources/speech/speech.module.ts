import { Module } from '@nestjs/common';
import { SourcesModule } from '../sources/sources.module.js';
import { LiveTranscripts } from './live-transcripts.js';
import { SpeechController } from './speech.http.js';
import { speechRejections } from './speech.rejections.js';

/** Recordings written down, also while they are made, and texts read aloud. */
@Module({ imports: [SourcesModule], controllers: [SpeechController], providers: [LiveTranscripts] })
export class SpeechModule {
  static readonly rejections = speechRejections;
}
