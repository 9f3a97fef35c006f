/** English texts of the page about signing keys. */
export const signingKeys = {
  intro: 'These keys sign access tokens. Services fetch the public keys to verify the tokens.',
  kid: 'Key ID',
  alg: 'Algorithm',
  states: { next: 'Next', active: 'Active', retired: 'Retired' },
  signsFrom: 'Signs from',
  rotate: 'Rotate',
  rotateTitle: 'Rotate the signing keys?',
  rotateIntro:
    'A new key is published now and signs in 10 minutes, when services have fetched it. The current key stays valid until its last access token has expired.',
  rotated: 'The next signing key is published and signs in 10 minutes.',
  rotateNow: 'Rotate now…',
  rotateNowTitle: 'Replace all signing keys now?',
  rotateNowIntro:
    'Only for a key that may have leaked. All access tokens end immediately, and clients need to refresh them. Services that cached the public keys reject new access tokens until they fetch the keys again. Sessions of the console continue.',
  rotateNowSubmit: 'Replace all keys',
  rotatedNow: 'A new key signs. All earlier access tokens have ended.',
};
