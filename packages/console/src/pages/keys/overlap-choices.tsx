/** The choice of when the old secret or trust of a rotated key ends. */
import { Choice, Choices } from '../../parts/choice.tsx';
import { rotationText } from '../../text/rotation-text.ts';

const hour = 3_600;
const overlaps = [
  ['hour', hour],
  ['day', 24 * hour],
  ['week', 7 * 24 * hour],
  ['now', 0],
] as const;

interface OverlapChoicesProps {
  readonly legend: string;
  /** What it means to end the old one now. */
  readonly nowHint: string;
}

/** The field `overlap` has the seconds. */
export const OverlapChoices = ({ legend, nowHint }: OverlapChoicesProps) => (
  <Choices legend={legend}>
    {overlaps.map(([name, seconds]) => (
      <Choice
        type="radio"
        name="overlap"
        value={seconds}
        defaultChecked={name === 'day'}
        label={rotationText.overlaps[name]}
        hint={seconds === 0 && nowHint}
        key={seconds}
      />
    ))}
  </Choices>
);
