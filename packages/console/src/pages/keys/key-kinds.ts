/** Keys for services and backends of the operator, which reserved scopes make. */

/** Keys with this scope are for services, which verify the keys of their callers. */
export const verifyScope = 'keyreeve:verify';
export const isServiceKey = (scopes: readonly string[]): boolean => scopes.includes(verifyScope);

/** Keys with this scope create accounts and keys for customers of the operator. */
export const isManagementKey = (scopes: readonly string[]): boolean => scopes.includes('keyreeve:keys');
