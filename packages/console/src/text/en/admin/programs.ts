/** English texts of the page about programs that sign in people from a command line. */
export const programs = {
  title: 'Programs',
  intro: 'Command lines and devices that send people to the console, and get an API key when they approve.',
  none: 'No programs yet',
  noneIntro: 'Declare your command line, so that its users can sign in without copying a secret.',
  add: 'Add program',
  change: 'Change program',
  id: 'ID',
  idHint: 'The client_id of its requests, such as acme-cli. It never changes.',
  name: 'Name',
  nameHint: 'What people see when they approve it, and the suggested nickname of its keys.',
  lifetime: 'Longest lifetime',
  lifetimeOfKeys: 'Longest lifetime of its keys',
  lapsed: 'A restore has removed its settings. People can approve it again after you save them.',
  lapsedBadge: 'Settings missing',
  keys: 'Keys',
  keyCount: (keys: number, count: string) => (keys === 1 ? '1\u00A0key' : `${count}\u00A0keys`),
  actionsOf: (name: string) => `Actions for ${name}`,
  narrowing:
    'Fewer scopes or a shorter lifetime apply to new keys, also to those that people have approved but the program has not fetched. Other keys do not change.',
  saved: (name: string) => `The program ${name} has been saved.`,
  remove: 'Remove program',
  removeTitle: 'Remove the program?',
  made: (keys: number, count: string) =>
    keys === 0 ? 'It has no API keys.' : keys === 1 ? 'It has made 1 API key.' : `It has made ${count} API keys.`,
  removeIntro: 'It cannot sign in people any more, and its outstanding requests end immediately.',
  deleteKeys: 'Also delete its API keys',
  deleteKeysHint:
    'Each of them is rejected immediately, on every instance. Otherwise they stay valid until they expire. You can also delete them later.',
  removed: 'The program has been removed.',
  removedBadge: 'Removed',
  /** A removed program is in the list until its keys have ended. */
  ofRemoved: {
    remove: 'Delete API keys',
    removeTitle: 'Delete the API keys?',
    removeIntro: 'Each of them is rejected immediately, on every instance.',
    removed: 'The API keys have been deleted.',
  },
};
