/** The usage chart of a key. */
import { useSignal } from '@preact/signals';
import { serverNow } from '../../clock.ts';
import { formatNumber, plural } from '../../format.ts';
import { BarChart, type Bar } from '../../parts/chart.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/section.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useResource } from '../../resource.ts';
import { config } from '../../session-state.ts';
import { locale, text } from '../../text/text.ts';
import type { KeySource, Usage } from './key-owner.ts';

const stepMs = { hour: 3_600_000, day: 86_400_000 };
const periods = [
  { name: 'day', step: 'hour', count: 24, days: 1 },
  { name: 'week', step: 'day', count: 7, days: 7 },
  { name: 'month', step: 'day', count: 30, days: 30 },
] as const;
type Period = (typeof periods)[number];

/** Days are those of UTC, as the server counts them. */
const labelOf = (at: number, step: Period['step']): string =>
  new Intl.DateTimeFormat(
    locale,
    step === 'day'
      ? { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }
      : { weekday: 'short', hour: 'numeric', minute: '2-digit' },
  ).format(at);

/** The server omits hours and days without verifications. */
function barsOf({ usage }: Usage, { step, count }: Period, from: Date): Bar[] {
  const byTime = new Map(usage.map((entry) => [Date.parse(entry.at), entry]));
  return Array.from({ length: count }, (_, i) => {
    const at = from.getTime() + i * stepMs[step];
    const { accepted = 0, refused = 0 } = byTime.get(at) ?? {};
    return { label: labelOf(at, step), values: [accepted, refused] };
  });
}

function sentenceOf(bars: readonly Bar[], period: string): string {
  const accepted = bars.reduce((sum, { values }) => sum + values[0], 0);
  const refused = bars.reduce((sum, { values }) => sum + values[1], 0);
  const peak = bars.reduce((most, bar) =>
    bar.values[0] + bar.values[1] > most.values[0] + most.values[1] ? bar : most,
  );
  const total = accepted + refused;
  return total === 0
    ? text.keys.noUsage(period)
    : text.keys.usage({
        total: plural(total, text.keys.requestsOf)(formatNumber(total)),
        refused: formatNumber(refused),
        period,
        peak: formatNumber(peak.values[0] + peak.values[1]),
        at: peak.label,
      });
}

export function KeyUsage({ owner, id }: { readonly owner: KeySource; readonly id: number }) {
  const chosen = useSignal<Period>(periods[0]);
  const keptDays = config.value?.features.usageDays ?? 0;
  const usage = useResource(async (abort) => {
    const period = chosen.value;
    const size = stepMs[period.step];
    const from = new Date((Math.floor(serverNow() / size) - period.count + 1) * size);
    const shown = await owner.usage(id, period.step, from, abort);
    return { period, bars: barsOf(shown, period, from), uncounted: shown.uncounted };
  });
  return (
    <Section
      title={text.keys.requests}
      actions={
        <Segments
          label={text.keys.period}
          options={periods
            .filter(({ days }) => days <= keptDays)
            .map(({ name }) => [name, text.keys.periods[name]] as const)}
          value={chosen.value.name}
          onChange={(name) => void (chosen.value = periods.find((period) => period.name === name)!)}
        />
      }
    >
      <Loaded of={usage} rows={4}>
        {({ period, bars, uncounted }) => {
          const sentence = sentenceOf(bars, text.keys.periods[period.name]);
          return (
            <div class="stack">
              <p class="muted">{sentence}</p>
              <BarChart
                sentence={sentence}
                bars={bars}
                unit={text.keys.times[period.step]}
                series={[text.keys.accepted, text.keys.refused]}
              />
              {uncounted > 0 && (
                <p class="muted">{text.keys.uncounted(formatNumber(uncounted), text.keys.periods[period.name])}</p>
              )}
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}
