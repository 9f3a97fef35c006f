/**
 * `npm run console:screens -- <folder> [name part]…` takes screenshots of every page in every state, in both colour schemes,
 * several widths and both languages, for people who review the pages. It starts a service with data of its own.
 * `npm run console:screens -- docs/images readme` takes those of the README.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launchBrowser } from '../../server/test/e2e/browser.ts';
import { buildIfChanged } from '../../../scripts/build.ts';
import { adminScenes } from './kit/admin-scenes.ts';
import { BrowserContexts } from './kit/browser-contexts.ts';
import { ConsoleSite, originOf } from './kit/console-site.ts';
import { newInstallation } from './kit/installation.ts';
import { takeReadmePictures } from './kit/readme-pictures.ts';
import type { Scene } from './kit/scene.ts';
import { scenes, Stage } from './kit/scenes.ts';

const widths = [320, 768, 1280, 1920];
const colorSchemes = ['light', 'dark'] as const;
const locales = ['en-US', 'de-DE'] as const;

/** @param prefix of the names of the files */
async function photograph(stage: Stage, scene: Scene, prefix: string): Promise<void> {
  const { page } = await stage.open(scene);
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 500 ? 640 : 900 });
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${prefix}${scene.name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}

async function takeAll(site: ConsoleSite, folder: string, names: readonly string[]): Promise<void> {
  const wanted = [...scenes, ...adminScenes].filter(
    (scene) => names.length === 0 || names.some((name) => scene.name.includes(name)),
  );
  for (const locale of locales) {
    const stage = new Stage(site, { locale });
    for (const scene of wanted) {
      try {
        await photograph(stage, scene, join(folder, `${locale.slice(0, 2)}-`));
        process.stdout.write(`${locale} ${scene.name}\n`);
      } catch (error) {
        // A page that fails does not prevent the pictures of the others.
        process.stderr.write(`${locale} ${scene.name}: ${String(error)}\n`);
        process.exitCode = 1;
      }
    }
  }
}

const [target, ...names] = process.argv.slice(2);
const browser = await launchBrowser();
if (target === undefined || !browser) {
  process.stderr.write(
    target === undefined ? 'the folder for the pictures is missing\n' : 'Chromium is not installed\n',
  );
  process.exitCode = 64;
} else {
  await buildIfChanged('console');
  const folder = resolve(target);
  mkdirSync(folder, { recursive: true });
  if (names.includes('readme')) await takeReadmePictures(browser, folder);
  else {
    await using installation = await newInstallation();
    await using contexts = new BrowserContexts(browser, originOf(installation));
    await using site = new ConsoleSite(installation, contexts);
    await takeAll(site, folder, names);
  }
}
await browser?.close();
