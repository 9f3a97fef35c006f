/** Every page with data is accessible and fits into a narrow window. The extended lane tests all states, themes and dialogs. */
import { adminPageScenes } from './kit/admin-scenes.ts';
import { consoleTests } from './kit/console-site.ts';
import { testFilledPages } from './kit/page-checks.ts';
import { pageScenes } from './kit/scenes.ts';

const test = consoleTests();

testFilledPages(test, 'page', pageScenes);
testFilledPages(test, 'page of administrators', adminPageScenes);
