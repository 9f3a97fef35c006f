/** Every page of administrators in every state: accessible, readable, translated, and usable in a narrow window. */
import { adminDialogScenes, adminPageScenes, adminScenes } from './kit/admin-scenes.ts';
import { consoleTests } from './kit/console-site.ts';
import { testAccessibility, testTexts } from './kit/page-checks.ts';

const test = consoleTests();

testAccessibility(test, 'page of administrators in every state', adminPageScenes);
testAccessibility(test, 'dialog of administrators', adminDialogScenes);
testTexts(test, 'page of administrators', adminScenes);
