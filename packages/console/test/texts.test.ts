/** Every page in pseudo languages: every text is translated, and longer or mirrored texts fit into a narrow window. */
import { consoleTests } from './kit/console-site.ts';
import { testTexts } from './kit/page-checks.ts';
import { scenes } from './kit/scenes.ts';

testTexts(consoleTests(), 'page', scenes);
