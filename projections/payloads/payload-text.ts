/**
 * The text of a payload if it is JSON of this type, and else NULL: an erased payload is missing, and a forged one may be anything. The
 * type is asked only of what is JSON, since it is an error of other text.
 *
 * @example readableText('p.body', 'OBJECT')
 */
export const readableText = (body: string, type: 'OBJECT' | 'ARRAY'): string =>
  `CASE WHEN json_valid(${body}) THEN CASE WHEN json_type(${body}) = '${type}' THEN ${body} END END`
