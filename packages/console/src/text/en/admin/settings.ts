/** English texts of the page about the settings. */
export const settings = {
  intro: 'Only the operator can change settings: in the environment of the server, before its start.',
  version: (version: string) => `Keyreeve ${version}`,
  checks: 'Checks',
  checksIntro: 'On the machine of the server, keyreeve doctor runs further checks.',
  check: 'Check',
  detail: 'Detail',
  states: { ok: 'OK', note: 'Note', warning: 'Warning', failed: 'Failed' },
  values: 'Settings in force',
  name: 'Setting',
  value: 'Value',
  source: 'Source',
  sources: { default: 'Default', environment: 'Environment', file: 'File' },
  secret: 'set, not shown',
  unset: 'not set',
  onlyChanged: 'Only settings that the operator has set',
};
