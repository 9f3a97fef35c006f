/** A small picture of bars inside a row. */
interface PieceProps {
  readonly at: number;
  readonly width: number;
  readonly from: number;
  readonly size: number;
  readonly fill?: string;
}

/** One part of a bar. Lengths in percent, so that patterns keep their form at every size. */
export const Piece = ({ at, width, from, size, fill }: PieceProps) =>
  size > 0 ? (
    <rect
      class={fill ? 'bar striped' : 'bar'}
      x={`${(at + 0.15) * width}%`}
      width={`${width * 0.7}%`}
      y={`${from}%`}
      height={`${size}%`}
      {...(fill && { fill })}
    />
  ) : null;

export function Sparkline({ sentence, values }: { readonly sentence: string; readonly values: readonly number[] }) {
  const peak = Math.max(1, ...values);
  return (
    <svg class="sparkline" role="img" aria-label={sentence}>
      <line class="grid" x1="0" x2="100%" y1="100%" y2="100%" />
      {values.map((value, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- the days have no other identity than their place
        <Piece
          at={i}
          width={100 / values.length}
          from={100 - (value / peak) * 100}
          size={(value / peak) * 100}
          key={i}
        />
      ))}
    </svg>
  );
}
