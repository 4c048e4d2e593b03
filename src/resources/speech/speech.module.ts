import { Module } from '@nestjs/common';
import { SourcesModule } from '../sources/sources.module.js';
import { LiveTranscripts } from './live-transcripts.js';
import { SpeechController } from './speech.http.js';
import { speechRejections } from './speech.rejections.js';

/** Transcribes recordings, also while they are being made, and reads texts aloud. */
@Module({ imports: [SourcesModule], controllers: [SpeechController], providers: [LiveTranscripts] })
export class SpeechModule {
  static readonly rejections = speechRejections;
}
