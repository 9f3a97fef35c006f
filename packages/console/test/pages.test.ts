/** Every page in every state: accessible, readable in both colour schemes, and usable in a narrow window. */
import { consoleTests } from './kit/console-site.ts';
import { dialogScenes } from './kit/dialog-scenes.ts';
import { testAccessibility } from './kit/page-checks.ts';
import { pageScenes } from './kit/scenes.ts';

const test = consoleTests();

testAccessibility(test, 'page in every state', pageScenes);
testAccessibility(test, 'dialog', dialogScenes);
