/** Bars over time: a picture with a sentence, a readout for pointer and arrow keys, and a table of the same numbers. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { formatNumber } from '../format.ts';
import { Piece } from './sparkline.tsx';
import { text } from '../text/text.ts';
import { Table } from './table.tsx';

/** Two amounts, the second one drawn on top of the first one with a pattern. */
export interface Bar {
  readonly label: string;
  readonly values: readonly [number, number];
}

interface BarChartProps {
  /** Says what the picture shows. */
  readonly sentence: string;
  readonly bars: readonly Bar[];
  /** Header of the first column of the table. */
  readonly unit: string;
  readonly series: readonly [string, string];
}

const sumOf = ({ values }: Bar): number => values[0] + values[1];

/** The end of the scale: a round number whose half is whole. */
function topOf(peak: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, peak)));
  return [1, 2, 4, 6, 8, 10].map((digit) => digit * power).find((top) => top >= peak && top % 2 === 0) ?? 2;
}

export function BarChart({ sentence, bars, unit, series }: BarChartProps) {
  const stripes = useId();
  const chosen = useSignal<number>();
  const top = topOf(Math.max(...bars.map(sumOf)));
  const width = 100 / bars.length;
  const share = (value: number): number => (value / top) * 100;
  const describe = ({ label, values }: Bar): string =>
    [label, ...series.map((name, i) => `${name} ${formatNumber(values[i]!)}`)].join(' · ');
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = bars.length - 1;
    const from = chosen.value ?? (event.key === 'ArrowLeft' ? bars.length : -1);
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    chosen.value = Math.min(last, Math.max(0, to));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const { left, width: whole } = (event.currentTarget as Element).getBoundingClientRect();
    chosen.value = Math.min(bars.length - 1, Math.floor(((event.clientX - left) / whole) * bars.length));
  };
  const shown = chosen.value === undefined ? undefined : bars[chosen.value];
  // As an object: the picture is reachable by keyboard for its readout.
  const keyboard = {
    tabIndex: 0,
    onKeyDown,
    onPointerMove,
    onPointerLeave: () => void (chosen.value = undefined),
    onBlur: () => void (chosen.value = undefined),
  };
  return (
    <figure class="chart">
      <div class="chart-head">
        {series.map((name, i) => (
          <span class="chart-key" key={name}>
            <svg class="chart-swatch" aria-hidden="true">
              <rect class={i === 0 ? 'bar' : 'bar striped'} width="100%" height="100%" fill={`url(#${stripes})`} />
            </svg>
            {name}
          </span>
        ))}
        <output class="chart-readout">{shown && describe(shown)}</output>
      </div>
      <div class="chart-area">
        <div class="chart-scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{formatNumber(value)}</span>
          ))}
        </div>
        <svg role="img" aria-label={sentence} {...keyboard}>
          <pattern id={stripes} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="stripe" width="2.5" height="5" />
          </pattern>
          {[0, 50, 100].map((y) => (
            <line class="grid" x1="0" x2="100%" y1={`${y}%`} y2={`${y}%`} key={y} />
          ))}
          {shown && <rect class="chosen" x={`${chosen.value! * width}%`} width={`${width}%`} height="100%" />}
          {bars.map(({ label, values: [first, second] }, i) => (
            <g key={label}>
              <Piece at={i} width={width} from={100 - share(first)} size={share(first)} />
              <Piece
                at={i}
                width={width}
                from={100 - share(first + second)}
                size={share(second)}
                fill={`url(#${stripes})`}
              />
            </g>
          ))}
        </svg>
        <div class="chart-axis" aria-hidden="true">
          {[0, Math.floor((bars.length - 1) / 2), bars.length - 1].map((i) => (
            <span key={i}>{bars[i]?.label}</span>
          ))}
        </div>
      </div>
      <details>
        <summary>{text.general.showAsTable}</summary>
        <Table
          label={sentence}
          rows={bars}
          keyOf={({ label }) => label}
          columns={[
            { label: unit, cell: ({ label }) => label },
            ...series.map((label, i) => ({
              label,
              align: 'end' as const,
              cell: ({ values }: Bar) => formatNumber(values[i]!),
            })),
          ]}
        />
      </details>
    </figure>
  );
}
