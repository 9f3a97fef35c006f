/** English sentences for the codes of rejected fields. `detail` is the text of the API. */
interface Rejected {
  readonly limit: string;
  readonly expected: string;
  readonly detail: string;
}

export const fields = {
  invalid: ({ detail }: Rejected) => detail,
  required: 'This field is required.',
  unknown_member: 'The server does not know this field. Reload the page.',
  wrong_type: 'This value is not of the expected kind.',
  wrong_value: 'This is not one of the possible values.',
  wrong_form: 'This text does not have the expected form.',
  wrong_time: 'This is not a valid time.',
  repeated: 'This is in the list already.',
  too_small: ({ limit }: Rejected) => `The smallest possible value is ${limit}.`,
  too_large: ({ limit }: Rejected) => `The largest possible value is ${limit}.`,
  too_short: ({ limit }: Rejected) => `The shortest possible text has this many characters: ${limit}.`,
  too_long: ({ limit }: Rejected) => `The longest possible text has ${limit} characters.`,
  too_few: ({ limit }: Rejected) => `At least this many are required: ${limit}.`,
  too_many: ({ limit }: Rejected) => `At most ${limit} are possible.`,
  not_printable: ({ limit }: Rejected) => `Enter at most ${limit} characters, without control characters.`,
  not_future: 'This time must be in the future.',
  lifetime_exceeded: ({ limit }: Rejected) => `Keys expire after ${limit} days or earlier.`,
  not_address: 'This is not an IP address or a CIDR range, such as 203.0.113.0/24.',
  host_bits: ({ expected }: Rejected) => `This range has host bits. Did you mean ${expected}?`,
  not_grantable: 'The account cannot give its keys this scope.',
  not_entitleable: 'This is not a scope of the catalogue that needs an entitlement.',
  /** For a field with several entries. */
  entry: (place: string, sentence: string) => `Entry ${place}: ${sentence}`,
};
