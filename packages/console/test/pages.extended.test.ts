/** Every page and dialog in every state: accessible, readable in both colour schemes, translated, and usable in a narrow window. */
import { consoleTests } from './kit/console-site.ts';
import { dialogScenes } from './kit/dialog-scenes.ts';
import { testScenes } from './kit/page-checks.ts';
import { pageScenes } from './kit/scenes.ts';

const test = consoleTests();

testScenes(test, 'page in every state', pageScenes);
testScenes(test, 'dialog', dialogScenes);
