/** English texts of the page on which a person approves the sign-in of a program. */
export const enApproval = {
  title: 'Approve a program',
  typeIntro: 'Enter the code that the program shows in your terminal.',
  compareIntro: 'Compare this code with the one in your terminal.',
  warning:
    'Continue only if you have just started this sign-in yourself. If another person gave you this code or link, close this page: that person would get the API key. No other person and no other website will ever ask you for this code.',
  code: 'Code',
  isSame: 'My terminal shows this code',
  isOther: 'It does not show this code',
  another: 'Enter another code',
  problems: {
    approval_not_found:
      'No program is waiting with this code. Compare it with the one in your terminal. A code is valid for 10 minutes, and for one sign-in.',
    approval_decided: 'The program has been approved or denied already.',
  },
  unavailable: 'The service cannot reach its database. Try again in a moment. You can repeat each step of this page.',
  reviewTitle: (program: string) => `Approve ${program}?`,
  reviewIntro: (email: string) => `The program asks for an API key of your account ${email}.`,
  request: 'Request',
  program: 'Program',
  clientRange: 'Client IP range',
  ownRange: 'same as this browser',
  otherRange:
    'The program has another client IP range than this browser. This is expected over SSH, through a VPN, and if only one of them uses IPv6. If you did not start this sign-in, deny it.',
  requested: 'Requested',
  codeEnds: 'Code valid for',
  key: 'API key',
  nicknameHint: 'For example the name of the device. If another key has this nickname, it gets a number.',
  scopesHint: 'What the program may do. Remove what it does not need.',
  noScopes: 'The program asks for no scopes.',
  notGrantable: 'Your account cannot grant this scope.',
  lifetime: 'Valid for',
  longest: (duration: string) => `${duration} (the maximum)`,
  approve: 'Approve',
  deny: 'Deny',
  takeBack: 'Take the approval back',
  outcomes: {
    approved: {
      title: 'Go back to your terminal',
      sentence: 'You have approved the program. It gets its API key within seconds. Stay signed in until then.',
    },
    used: { title: 'Go back to your terminal', sentence: 'The program has its API key. You can close this page.' },
    denied: {
      title: 'The program was denied',
      sentence: 'The program gets no API key. To try again, start the sign-in in your terminal.',
    },
    expired: {
      title: 'The code has expired',
      sentence: 'The program gets no API key. To try again, start the sign-in in your terminal.',
    },
    removed: {
      title: 'The request has ended',
      sentence: 'The program has been removed, or another sign-in has replaced this one. It gets no API key.',
    },
    others: {
      title: 'Another account has decided',
      sentence: 'A person with another account has approved or denied this request. You do not need to do anything.',
    },
    foreign: {
      title: 'Do not continue',
      sentence:
        'Another person may have sent you this link to get an API key of your account. Nothing has been approved. Close this page.',
    },
  },
  openKey: 'Open the API key',
};
