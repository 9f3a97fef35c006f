/** Every page in pseudo languages: every text is translated, and longer or mirrored texts fit into a narrow window. */
import assert from 'node:assert/strict';
import { consoleTests } from './kit/console-site.ts';
import { findOverflow } from './kit/layout.ts';
import { untranslatedTexts } from './kit/pseudo-texts.ts';
import { lookAtScenes } from './kit/scenes.ts';
import { directionText, hostileTexts, hostileUserAgent, type Seeded } from './kit/seed.ts';

const test = consoleTests();

/** Texts without a translation: of the account, of the installation, of browsers, and of the formats of the API. */
const dataOf = ({ email, keys }: Seeded): readonly (string | RegExp)[] => [
  `${email} backend`,
  email,
  ...Object.keys(keys),
  ...Object.values(hostileTexts),
  directionText,
  hostileUserAgent,
  'Keyreeve',
  'Example',
  'orders:read',
  'orders:write',
  /\b(?:krv|acc|ses)_[\w…]+/,
  /Mozilla[/ ]5\.0.*/,
  // `Intl` formats dates and names of languages. In right-to-left tests it does so in Arabic.
  /\p{Script=Arabic}+/u,
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|AM|PM|English|German)\b/,
  /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/,
];

for (const [locale, direction] of [
  ['en-XA', 'ltr'],
  ['ar-XB', 'rtl'],
] as const) {
  test(
    `every text of every page is translated and fits into a narrow window, in ${locale}`,
    async (site) => {
      const faults = await lookAtScenes(site, { locale, width: 320, height: 640 }, async (page, seeded) => {
        const found = await findOverflow(page);
        if ((await page.evaluate('document.dir')) !== direction) found.push('wrong direction');
        return [...found, ...(await untranslatedTexts(page, dataOf(seeded)))];
      });
      assert.deepEqual(faults, {});
    },
    { databases: ['sqlite'] },
  );
}
