/** Schemas of objects that have a name in the OpenAPI document and in generated clients. */
import Type from 'typebox';

/** An object without unknown members. @param $id its name; one name has one schema */
export const Named = <P extends Type.TProperties>($id: string, members: P, options: Type.TObjectOptions = {}) =>
  Type.Object(members, { $id, additionalProperties: false, ...options });
