/** The live overview: what needs attention, and what the installation did in the last hour. */
import { nameAccounts } from '../../../account-names.ts';
import { call } from '../../../api.ts';
import { secondsUntil } from '../../../clock.ts';
import { formatTime } from '../../../format.ts';
import { useLive, type Live } from '../../../live.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { lazyPart } from '../../../parts/lazy-page.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { accountsOf } from '../audit/event-accounts.tsx';
import { AttentionSection } from './attention-section.tsx';
import { Figures } from './figures.tsx';
import { EventsSection, JobsSection, ProcessesSection } from './installation-sections.tsx';
import { AcceptedSection, RefusalsSection, SignInsSection, VerificationsSection } from './minute-sections.tsx';
import type { Overview } from './overview.ts';

/** Its code is not part of the other pages, because few installations show it. */
const ProtectCard = lazyPart(async () => (await import('../../protect/protect-card.tsx')).ProtectCard);

/** Several requests without a success. */
const outdatedMs = 20_000;

export function OverviewPage() {
  const overview = useLive(async (request) => {
    const loaded = await call('GET /admin/overview', request);
    await nameAccounts(accountsOf(loaded.events), request.signal, request.isBackground);
    return loaded;
  });
  const texts = adminText.overview;
  return (
    <Page title={adminText.general.overview} intro={texts.intro} actions={<Status of={overview} />}>
      <ProtectCard />
      <Loaded of={overview} rows={10}>
        {(loaded) => (
          <div class="sections">
            <AttentionSection items={loaded.attention} />
            <Figures overview={loaded} />
            <VerificationsSection minutes={loaded.minutes} />
            <div class="overview-columns">
              <RefusalsSection minutes={loaded.minutes} />
              <div class="sections">
                <AcceptedSection minutes={loaded.minutes} />
                <SignInsSection minutes={loaded.minutes} />
                <JobsSection jobs={loaded.outbox} />
              </div>
            </div>
            <ProcessesSection instances={loaded.instances} />
            <EventsSection events={loaded.events} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether the values are current, and the button that stops their updates (WCAG 2.2.2). */
function Status({ of: { loadedAt, problem, isPaused, pause } }: { readonly of: Live<Overview> }) {
  const texts = adminText.overview;
  if (loadedAt === undefined) return null;
  const isOutdated = problem !== undefined || secondsUntil(loadedAt + outdatedMs) === 0;
  return (
    <div class="live-status">
      {isPaused ? (
        <Badge>{texts.paused}</Badge>
      ) : isOutdated ? (
        <Badge tone="warning">{texts.outdated}</Badge>
      ) : (
        <Badge tone="good">{texts.live}</Badge>
      )}
      <span class="muted hint number">{texts.asOf(formatTime(loadedAt))}</span>
      <Button isSmall onClick={() => pause(!isPaused)}>
        {isPaused ? texts.resume : texts.pause}
      </Button>
    </div>
  );
}
