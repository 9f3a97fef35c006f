/** The most important numbers in a row. */
import { formatNumber } from '../../../format.ts';
import { adminText } from '../../../text/admin-text.ts';
import { locale } from '../../../text/text.ts';
import { isAccepted, sumOf, totalOf } from './minutes.ts';
import type { Overview } from './overview.ts';

/** The largest bound of the server's histogram stands for all durations above this one. */
const durationMsMax = 1_000;

export function Figures({
  overview: { minutes, verificationMs, databaseMs, hashing },
}: {
  readonly overview: Overview;
}) {
  const texts = adminText.overview;
  const total = totalOf(minutes);
  const refused = totalOf(minutes, (result) => !isAccepted(result));
  const rate = sumOf(minutes.at(-1)?.results ?? []) / 60;
  const signIns = minutes.flatMap((minute) => minute.signIns);
  const acceptedSignIns = sumOf(signIns, (result) => result === 'accepted');
  return (
    <dl class="card figures">
      <Figure label={texts.rate} value={formatRate(rate)} note={texts.inHour(formatNumber(total))} />
      <Figure
        label={texts.refusedShare}
        value={formatShare(total === 0 ? 0 : refused / total)}
        note={texts.ofAll(formatNumber(refused), formatNumber(total))}
      />
      <Durations label={texts.verificationTime} of={verificationMs} />
      <Durations label={texts.databaseTime} of={databaseMs} />
      <Figure
        label={texts.signIns}
        value={formatNumber(acceptedSignIns)}
        note={texts.refusedSignIns(formatNumber(sumOf(signIns) - acceptedSignIns))}
      />
      <Figure
        label={texts.hashesWaiting}
        value={formatNumber(hashing.waiting)}
        note={texts.hashes(formatNumber(hashing.running), formatNumber(sumOf(hashing.results, isRefusedHash)))}
      />
    </dl>
  );
}

const isRefusedHash = (result: string): boolean => result === 'refused';

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

const Figure = ({ label, value, note }: FigureProps) => (
  <div class="figure">
    <dt class="muted hint">{label}</dt>
    <dd class="figure-value">{value}</dd>
    <dd class="muted hint number">{note}</dd>
  </div>
);

const Durations = ({ label, of: { p50, p99 } }: { readonly label: string; readonly of: Overview['databaseMs'] }) => (
  <Figure
    label={label}
    value={formatBound(p50)}
    note={p99 === null ? adminText.overview.noDuration : adminText.overview.p99(formatBound(p99))}
  />
);

/** Upper bounds, as the server has only those. */
function formatBound(ms: number | null): string {
  if (ms === null) return '–';
  const isAbove = ms > durationMsMax;
  const duration = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond', unitDisplay: 'short' }).format(
    isAbove ? durationMsMax : ms,
  );
  return isAbove ? adminText.overview.above(duration) : adminText.overview.atMost(duration);
}

const formatRate = (rate: number): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: rate < 10 ? 1 : 0 }).format(rate);

const formatShare = (share: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(share);
