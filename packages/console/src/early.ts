/** Runs before the page is painted, so that its first picture has the chosen theme, and the skeleton of the page that follows. */
import { applyTheme } from './theme.ts';
import { stored } from './stored.ts';

applyTheme();
if (stored('session')) document.documentElement.dataset['session'] = '';
