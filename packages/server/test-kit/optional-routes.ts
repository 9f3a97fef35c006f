/** Settings with which the service has every route of the contract. */
export const optionalRoutes = { KEYREEVE_GITHUB_SCANNING: 'on', KEYREEVE_LEAK_REPORTS: 'on' } as const;
