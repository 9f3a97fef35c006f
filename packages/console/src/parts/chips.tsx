/** Short values beside each other, for example scopes. */
interface ChipsProps {
  readonly values: readonly string[];
  /** Shown if there are none. */
  readonly none: string;
}

export const Chips = ({ values, none }: ChipsProps) =>
  values.length === 0 ? (
    <span class="muted">{none}</span>
  ) : (
    <ul class="chips">
      {values.map((value) => (
        <li class="chip" key={value}>
          {value}
        </li>
      ))}
    </ul>
  );
