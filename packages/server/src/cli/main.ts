/** The entry point of the program. */
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2));
