/** A key in mail. */

interface ShownKey {
  readonly id: number;
  readonly nickname: string;
  readonly hint: string | null;
}

/** Language-independent: `laptop (4830184710273911, krv_…x7Qa)`. */
export const describeKey = ({ id, nickname, hint }: ShownKey): string =>
  `${nickname} (${hint === null ? id : `${id}, ${hint}`})`;
