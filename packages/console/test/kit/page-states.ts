/** The states of a page with data: filled, empty, loading, failed. */
import type { Scene } from './scene.ts';

const data = '**/console/api/**';

/** The data never arrives. */
const loading: Pick<Scene, 'load'> = {
  load: async (page, path) => {
    await page.route(data, () => undefined);
    await page.goto(path);
    await page.locator('.skeleton:not(.invisible)').first().waitFor();
  },
};

/** The connection breaks for requests of data. */
const failing: Pick<Scene, 'load' | 'messages'> = {
  load: async (page, path) => {
    await page.route(data, (route) => route.abort());
    await page.goto(path);
    await page.locator('.notice.error').first().waitFor();
  },
  messages: [/net::ERR_FAILED/],
};

export interface DataPage {
  readonly name: string;
  readonly path: Scene['path'];
  /** Default: `filled`. */
  readonly as?: Scene['as'];
  readonly hasEmpty?: boolean;
}

export const ofDataPage = ({ name, path, as = 'filled', hasEmpty = false }: DataPage): Scene[] => [
  { name: `${name}-filled`, as, path },
  ...(hasEmpty ? [{ name: `${name}-empty`, as: 'empty', path } as const] : []),
  { name: `${name}-loading`, as, path, ...loading },
  { name: `${name}-error`, as, path, ...failing },
];
