/** Settings with which the service has every route of the contract. */
export const optionalRoutes = { KEYREEVE_GITHUB_SCANNING: 'on' } as const;
