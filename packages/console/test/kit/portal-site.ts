/**
 * The key page in a page of a host: the service, a backend with a service account, and a host page of another origin and site with the
 * element, which gets its frame from an endpoint of the host.
 */
import type { Frame, Page } from 'playwright-core';
import { sendPage, WebServer } from '../../../elements/test/kit/web-server.ts';
import { until } from '../../../server/test-kit/until.ts';
import { newPortalBackend, type PortalBackend, type PortalRequest } from '../../../server/test-kit/portal.ts';
import type { ConsoleSite } from './console-site.ts';
import type { ContextOptions } from './browser-contexts.ts';
import type { Visitor } from './visitor.ts';

export interface HostedPage extends AsyncDisposable {
  readonly backend: PortalBackend;
  readonly visitor: Visitor;
  readonly page: Page;
  /** The newest one: the element replaces it for a new session. */
  readonly frame: Frame;
  /** Ids of the portal sessions, in order. */
  readonly sessions: readonly string[];
  /** `type` and `keyId` of the events of the element. */
  readonly events: () => Promise<string[]>;
  /** Sets an attribute of the element. */
  readonly set: (name: string, value: string) => Promise<void>;
  /** Loads the host page, and waits for the data of the key page. */
  readonly load: () => Promise<void>;
  readonly settle: () => Promise<void>;
  /** Waits until the newest frame shows the text. */
  readonly shows: (text: string) => Promise<void>;
}

export interface HostedOptions extends ContextOptions {
  readonly request?: PortalRequest;
  /** Of the element. */
  readonly attributes?: string;
}

const hostPage = (script: string, attributes: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width" /><title>Host</title>
<link rel="icon" href="data:," />
<script>
  window.events = [];
  for (const type of ['created', 'rotated', 'changed', 'deleted', 'ended'])
    addEventListener(type, ({ detail }) => events.push(type + (detail ? ' ' + detail.keyId : '')));
</script>
<script type="module" src="${script}"></script></head>
<body><p>Settings</p><keyreeve-keys src="/frame" ${attributes}></keyreeve-keys></body></html>`;

export async function openHosted(
  site: ConsoleSite,
  { request = {}, attributes = '', ...context }: HostedOptions = {},
): Promise<HostedPage> {
  await using started = new AsyncDisposableStack();
  const backend = await newPortalBackend(site.app);
  const sessions: string[] = [];
  const host = started.use(
    await WebServer.start(async ({ url }, response) => {
      if (url !== '/frame') return sendPage(response, hostPage(`${site.origin}/portal/keys.js`, attributes));
      const session = await backend.create({ origin: host.origin(), ...request });
      sessions.push(session.id);
      response.writeHead(302, { Location: session.url, 'Cache-Control': 'no-store' }).end();
    }),
  );
  const visitor = await site.open(context);
  visitor.expect(new RegExp(`^foreign request: ${host.origin()}/`), /^foreign request: data:/);
  const { page } = visitor;
  // The shadow root of the element is closed, so no locator of the page finds the frame.
  const find = (): Frame | undefined =>
    page.frames().findLast((frame) => frame.url().startsWith(`${site.origin}/portal/`));
  const settle = async (): Promise<void> => {
    await until('the frame loads', () => find() !== undefined);
    const frame = find()!;
    await frame.locator('main h1').waitFor();
    await frame.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  };
  const parts = started.move();
  return {
    backend,
    visitor,
    page,
    get frame() {
      const frame = find();
      if (!frame) throw new Error('the page has no frame of the key page');
      return frame;
    },
    sessions,
    events: () => page.evaluate('events'),
    set: (name, value) =>
      page.evaluate(
        `document.querySelector('keyreeve-keys').setAttribute(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
      ),
    load: async () => {
      await page.goto(`${host.origin()}/`);
      await settle();
    },
    settle,
    shows: (text) =>
      // A frame that the element removes meanwhile is an error.
      until(`the frame shows “${text}”`, async () =>
        Boolean(
          await find()
            ?.getByText(text)
            .count()
            .catch(() => 0),
        ),
      ),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
