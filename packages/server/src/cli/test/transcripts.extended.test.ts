/** The transcripts of the command line on PostgreSQL. */
import { useOwnPostgres } from '../../../test-kit/postgres/running.ts';
import { testTranscripts, transcriptsFor } from './transcript-suite.ts';

useOwnPostgres();

testTranscripts({ postgres: transcriptsFor('postgres') });
