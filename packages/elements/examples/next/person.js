/** The sign-in of the product. Replace it with your own. */

/** @returns the signed-in person and the tenant; undefined to refuse. This one accepts every request as DEMO_PERSON, for a try-out. */
export async function personOf(_request) {
  const { DEMO_PERSON: id } = process.env;
  return id && { id, tenant: 'tenant_182' };
}
