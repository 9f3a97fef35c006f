/** Verifications and sign-ins of the last hour: a chart, and tables by result. */
import { formatNumber } from '../../../format.ts';
import { BarChart, type Bar } from '../../../parts/chart.tsx';
import { Section } from '../../../parts/section.tsx';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { locale } from '../../../text/text.ts';
import { courseOf, isAccepted, sumOf, unknownResults, type Minutes } from './minutes.ts';

interface MinutesProps {
  readonly minutes: Minutes;
}

export function VerificationsSection({ minutes }: MinutesProps) {
  const texts = adminText.overview;
  const format = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
  const bars = minutes.map(({ at, results }): Bar => ({
    label: format.format(new Date(at)),
    values: [sumOf(results, isAccepted), sumOf(results, (result) => !isAccepted(result))],
  }));
  const sentence = sentenceOf(bars);
  return (
    <Section title={texts.verifications} description={sentence}>
      <BarChart sentence={sentence} bars={bars} unit={texts.minute} series={[text.keys.accepted, text.keys.refused]} />
    </Section>
  );
}

function sentenceOf(bars: readonly Bar[]): string {
  const refused = bars.reduce((sum, { values }) => sum + values[1], 0);
  const totals = bars.map(({ values }) => values[0] + values[1]);
  const total = totals.reduce((sum, count) => sum + count, 0);
  const peak = Math.max(...totals);
  return total === 0
    ? adminText.overview.noVerifications
    : adminText.overview.usage(
        formatNumber(total),
        formatNumber(refused),
        formatNumber(peak),
        bars[totals.indexOf(peak)]!.label,
      );
}

export const AcceptedSection = ({ minutes }: MinutesProps) => (
  <ResultsSection
    minutes={minutes}
    of="results"
    title={adminText.overview.acceptedCredentials}
    column={adminText.overview.credential}
    labels={adminText.overview.credentials}
    isIncluded={isAccepted}
  />
);

export const RefusalsSection = ({ minutes }: MinutesProps) => (
  <ResultsSection
    minutes={minutes}
    of="results"
    title={adminText.overview.refusals}
    column={adminText.overview.reason}
    labels={adminText.overview.reasons}
    isIncluded={(result) => !isAccepted(result)}
  />
);

export const SignInsSection = ({ minutes }: MinutesProps) => (
  <ResultsSection
    minutes={minutes}
    of="signIns"
    title={adminText.overview.signIns}
    column={adminText.overview.result}
    labels={adminText.overview.signInResults}
  />
);

interface ResultsProps extends MinutesProps {
  readonly of: 'results' | 'signIns';
  readonly title: string;
  /** Header of the first column. */
  readonly column: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isIncluded?: (result: string) => boolean;
}

interface ResultRow {
  readonly result: string;
  /** Undefined for a result of a later version. */
  readonly label: string | undefined;
  /** By minute. */
  readonly course: readonly number[];
  readonly count: number;
}

/** All results in a fixed order, also those that did not occur: rows do not move while the values change. */
function ResultsSection({ minutes, of, title, column, labels, isIncluded = () => true }: ResultsProps) {
  const unknown = unknownResults(minutes, of, (result) => Object.hasOwn(labels, result) || !isIncluded(result));
  const rows = [...Object.keys(labels), ...unknown].map((result): ResultRow => {
    const course = courseOf(minutes, of, result);
    return {
      result,
      label: Object.hasOwn(labels, result) ? labels[result] : undefined,
      course,
      count: course.reduce((sum, count) => sum + count, 0),
    };
  });
  return (
    <Section title={title}>
      <Table label={title} rows={rows} keyOf={({ result }) => result} columns={resultColumns(column)} />
    </Section>
  );
}

function resultColumns(column: string): readonly Column<ResultRow>[] {
  const texts = adminText.overview;
  return [
    { label: column, cell: ({ result, label }) => label ?? <span class="code">{result}</span> },
    {
      label: texts.course,
      priority: 'medium',
      cell: ({ result, label, course }) => <Sparkline sentence={texts.courseOf(label ?? result)} values={course} />,
    },
    {
      label: texts.count,
      align: 'end',
      cell: ({ count }) => <span class={count === 0 ? 'muted' : ''}>{formatNumber(count)}</span>,
    },
  ];
}
