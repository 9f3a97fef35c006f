/** English texts of “Protect your API”. */
export const protect = {
  title: 'Protect your API',
  intro: 'Keyreeve verifies the key of each request to your API: for a proxy in front of it, or for your program.',
  create: 'Create service key',
  createHint: 'A program needs a service key to verify keys.',
  exampleFor: 'Example for',
  example: (name: string) => `Example for ${name}`,
  proxyHint: (address: string) =>
    `A complete configuration; its first line has the command that starts the proxy, and its lines for scopes and web pages are examples. The proxy reaches Keyreeve at ${address} and your API at 127.0.0.1:9000: replace both if they are elsewhere.`,
  proxiedHint: 'Then create an API key, and send a request with it through the proxy:',
  proxied: 'Request through the proxy',
  programHint: 'The program reads the service key from the environment variable KEYREEVE_SERVICE_KEY.',
  curlHint: 'Verifies a key as a program does. Set KEYREEVE_SERVICE_KEY to the service key and API_KEY to the key.',
  waiting: 'Waiting for the first verification…',
  verified: 'The first verification has arrived.',
  next: 'Next steps',
  invite: 'Invite people',
  setUpMail: 'Set up mail',
  testMail: 'Send a test mail',
  backUp: 'Back up the database:',
  file: 'file',
  close: 'Close this card',
};
