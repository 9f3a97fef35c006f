/** The same as `pages.extended.test.ts` for the pages and dialogs of administrators. */
import { adminDialogScenes, adminPageScenes } from './kit/admin-scenes.ts';
import { consoleTests } from './kit/console-site.ts';
import { testScenes } from './kit/page-checks.ts';

const test = consoleTests();

testScenes(test, 'page of administrators in every state', adminPageScenes);
testScenes(test, 'dialog of administrators', adminDialogScenes);
