/** What needs attention, each with a link to the page that helps. Screen readers announce only changes of this list. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../../../format.ts';
import { announce } from '../../../parts/announce.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Section } from '../../../parts/section.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { jobKindLabel } from '../jobs/job-kind.ts';
import type { Overview } from './overview.ts';
import { root } from '../../../root.ts';

type Item = Overview['attention'][number];

interface Entry {
  readonly key: string;
  readonly isUrgent: boolean;
  readonly sentence: string;
  readonly since: string | null;
  readonly details: ComponentChildren;
  readonly link: { readonly href: string; readonly label: string };
}

/** Items of these codes are one entry. */
const groupedCodes: readonly string[] = ['check_failed', 'check_warning', 'instance_missing'] satisfies Item['code'][];
/** More would hide the other entries. */
const detailsMax = 3;

export function AttentionSection({ items }: { readonly items: readonly Item[] }) {
  const entries = entriesOf(items);
  useAnnouncements(entries);
  const texts = adminText.overview;
  if (entries.length === 0)
    return (
      <p class="all-well">
        <Icon name="success" />
        {texts.nothing}
      </p>
    );
  return (
    <Section title={texts.attention}>
      <ul class="attention">
        {entries.map(({ key, isUrgent, sentence, since, details, link }) => (
          <li class={isUrgent ? 'urgent' : ''} key={key}>
            <Icon name={isUrgent ? 'error' : 'warning'} />
            <div class="attention-text">
              <p>
                <span class="strong">{sentence}</span>
                {since !== null && (
                  <span class="muted">
                    {' '}
                    {texts.since} <Time at={since} as="dateTime" />
                  </span>
                )}
              </p>
              {details}
            </div>
            <a class="button plain small" href={link.href}>
              {link.label}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function useAnnouncements(entries: readonly Entry[]): void {
  const known = useRef<readonly string[] | undefined>(undefined);
  const sentences = entries.map(({ sentence }) => sentence);
  const all = sentences.join('\n');
  useLayoutEffect(() => {
    const added = sentences.filter((sentence) => !known.current?.includes(sentence));
    // The first list is content of the page, which screen readers read with it.
    if (known.current && added.length > 0) announce(`${adminText.overview.attention}: ${added.join(' ')}`);
    else if (known.current && known.current.length > 0 && sentences.length === 0) announce(adminText.overview.nothing);
    known.current = sentences;
    // oxlint-disable-next-line react/exhaustive-deps -- `all` has the same content
  }, [all]);
}

function entriesOf(items: readonly Item[]): Entry[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = groupedCodes.includes(item.code) ? item.code : `${item.code} ${item.subject}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups].map(([key, group]) => ({
    key,
    since: group.length === 1 ? group[0]!.since : null,
    details: <Details items={group} />,
    isUrgent: group[0]!.code !== 'check_warning' && group[0]!.code !== 'signing_key_old',
    ...contentOf(group[0]!, group.length),
  }));
}

function contentOf({ code, subject, count }: Item, items: number): Pick<Entry, 'sentence' | 'link'> {
  const texts = adminText.overview;
  const settings = { href: `${root}/admin/settings`, label: adminText.general.settings };
  const processes = { href: '#processes', label: adminText.overview.processes };
  const jobs = (query: string) => ({
    href: `${root}/admin/jobs?kind=${encodeURIComponent(subject)}${query}`,
    label: adminText.general.jobs,
  });
  const number = formatNumber(count ?? 0);
  switch (code) {
    case 'check_failed':
      return { sentence: texts.checksFailed(items), link: settings };
    case 'check_warning':
      return { sentence: texts.checkWarnings(items), link: settings };
    case 'instance_missing':
      return { sentence: texts.processesMissing(items), link: processes };
    case 'jobs_failing':
      return { sentence: texts.jobsFailing(number, jobKindLabel(subject)), link: jobs('&state=failing') };
    case 'jobs_late':
      return { sentence: texts.jobsLate(number, jobKindLabel(subject)), link: jobs('') };
    case 'webhook_failing':
      return {
        sentence: texts.webhookFailing,
        link: { href: `${root}/admin/webhooks/${encodeURIComponent(subject)}`, label: adminText.webhooks.one },
      };
    case 'signing_key_old':
      return {
        sentence: texts.signingKeyOld,
        link: { href: `${root}/admin/signing-keys`, label: adminText.general.signingKeys },
      };
    default:
      // Of a later version.
      return { sentence: texts.other, link: settings };
  }
}

/** Jobs are described by their sentence. */
const Details = ({ items }: { readonly items: readonly Item[] }) => (
  <>
    {items.slice(0, detailsMax).map(({ code, subject, detail }) =>
      code === 'jobs_failing' || code === 'jobs_late' ? null : (
        <p class="muted hint" key={`${subject} ${detail}`}>
          {detail === null ? <span class="code wrap">{subject}</span> : <ServerText>{detail}</ServerText>}
        </p>
      ),
    )}
    {items.length > detailsMax && <p class="muted hint">+{formatNumber(items.length - detailsMax)}</p>}
  </>
);
