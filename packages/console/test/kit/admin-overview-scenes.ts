/** The overview in its states: busy, calm, out of date, paused. */
import type { Page } from 'playwright-core';
import type { Overview } from '@keyreeve/contract';
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const as = 'administrator';
export const overviewPath = '/console/admin/overview';
/** Requests of the page's data. */
export const overviewData = '**/console/api/admin/overview';

/** Changes the responses that the page gets. */
export const changeOverview = (page: Page, change: (overview: Overview) => Partial<Overview>): Promise<unknown> =>
  page.route(overviewData, async (route) => {
    const response = await route.fetch();
    const overview = (await response.json()) as Overview;
    await route.fulfill({ response, json: { ...overview, ...change(overview) } });
  });

/** An installation that has just started. */
const emptied = ({ minutes, events }: Overview): Partial<Overview> => ({
  attention: [],
  minutes: minutes.map(({ at }) => ({ at, results: [], signIns: [] })),
  verificationMs: { p50: null, p99: null },
  outbox: [],
  events: events.slice(0, 0),
});

const [check, missing, signingKey] = ['environments', 'ins_3K9vQm1ZyT4cW8nB6pXr2L', 'TGSjXSD494v80hxit3SLzQ'] as const;

/** All that the seed does not cause. */
const troubled = ({ now, attention }: Overview): Partial<Overview> => ({
  attention: [
    { code: 'check_failed', since: null, subject: check, count: null, detail: 'orders:read' },
    ...Array.from({ length: 5 }, (_, index) => ({
      code: 'instance_missing' as const,
      since: now,
      subject: `${missing}${index}`,
      count: null,
      detail: null,
    })),
    { code: 'jobs_late', since: now, subject: 'sign_up', count: 1_200, detail: null },
    ...attention,
    { code: 'signing_key_old', since: now, subject: signingKey, count: null, detail: null },
  ],
});

const changed = (name: string, change: (overview: Overview) => Partial<Overview>): Scene => ({
  name,
  as,
  path: overviewPath,
  load: async (page, path, visitor) => {
    await changeOverview(page, change);
    await visitor.goto(path, page);
  },
});

export const overviewScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-overview', path: overviewPath, as }),
  changed('admin-overview-calm', emptied),
  changed('admin-overview-troubled', troubled),
  {
    name: 'admin-overview-out-of-date',
    as,
    path: overviewPath,
    act: async (page) => {
      await page.route(overviewData, (route) => route.abort());
      await page.locator('.live-status .badge.warning').waitFor();
      await page.locator('.notice.error').waitFor();
    },
    messages: [/net::ERR_FAILED/],
  },
  scenesAs(as)(
    'admin-overview-paused',
    overviewPath,
    opening('.live-status .button', 0, '.live-status .badge:not(.good)'),
  ),
];
