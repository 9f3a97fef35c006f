/** SIGTERM to the documented commands: those that npm.test.ts does not run. */
import { checkSigterm } from './npm-commands.ts';

checkSigterm(['npm', 'start'], '2');
checkSigterm(['npx', 'keyreeve', 'serve'], '1');
checkSigterm(['npx', 'keyreeve', 'serve'], '2');
