/** Labels with values, for example the properties of a key. */
import type { ComponentChildren } from 'preact';

export type Fact = readonly [label: string, value: ComponentChildren];

interface FactsProps {
  /** Facts with the value `undefined` are left out. */
  readonly facts: readonly Fact[];
}

export const Facts = ({ facts }: FactsProps) => (
  <dl class="facts">
    {facts.map(
      ([label, value]) =>
        value !== undefined && (
          <>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </>
        ),
    )}
  </dl>
);
