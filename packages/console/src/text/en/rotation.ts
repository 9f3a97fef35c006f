/** English texts about the rotation of secrets. */
export const rotation = {
  /** For a key with a trust, which has no secret. */
  rotateTrust: 'Change trust',
  overlaps: { day: 'In 24 hours', hour: 'In 1 hour', week: 'In 7 days', now: 'Now' },
  rotated: 'The new secret',
  rotateIntro: 'The key keeps its settings and gets a new secret. Current secret:',
  oldEnds: 'The old secret ends',
  onlyCompromised: 'Only if it is compromised: programs that use it are rejected immediately.',
  overlapInProgress: (end: string) =>
    `The secret before the last rotation is valid until ${end}. This rotation ends it immediately.`,
  lost: 'No program has the current secret: replace only that one, and keep the one before it.',
  newSecret: 'New secret',
  oldSecret: 'Old secret',
  validUntil: (end: string) => `valid until ${end}`,
  hasEnded: 'has ended',
};
