/** The steps of the test of generated clients, and the values that each client reports. */
export interface Service {
  readonly baseUrl: string;
  readonly email: string;
  readonly password: string;
  /** An API key with the scope `keyreeve:verify`. */
  readonly serviceKey: string;
}

/** The steps in order: each with the status of its response and what the client read from it. */
export interface Outcome {
  readonly rejected: { readonly status: number; readonly code: string };
  readonly created: { readonly id: number; readonly nickname: string; readonly key: string };
  readonly listed: readonly { readonly id: number; readonly nickname: string }[];
  readonly before: { readonly valid: true; readonly keyId: number | null };
  readonly message: string;
  readonly after: { readonly valid: false; readonly code: string };
}
