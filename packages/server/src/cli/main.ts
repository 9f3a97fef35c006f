/** The entry point of the program. */
import { tolerateClosedPipes } from './closed-pipe.ts';
import { run } from './run.ts';

let ofOutput: number | undefined;
// It can be called after the command has ended.
tolerateClosedPipes((status) => (process.exitCode = ofOutput = status));
const status = await run(process.argv.slice(2));
process.exitCode = ofOutput ?? status;
