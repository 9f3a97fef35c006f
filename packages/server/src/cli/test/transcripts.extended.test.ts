/** The transcripts of the command line on PostgreSQL. */
import { testTranscripts, transcriptsFor } from './transcript-suite.ts';

testTranscripts({ postgres: transcriptsFor('postgres') });
