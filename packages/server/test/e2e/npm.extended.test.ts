/** SIGTERM to the documented commands: those that npm.test.ts does not run. */
import { checkSigterm } from './npm-commands.ts';

checkSigterm(['npx', '--no-install', 'keyreeve', 'serve']);
