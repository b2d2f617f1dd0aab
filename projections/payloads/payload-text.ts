/**
 * The text of a payload if it is JSON of this type, and else NULL: an erased payload is missing, and a forged one may be anything. The type
 * is only queried for valid JSON, because the query fails on other text.
 *
 * @example readableText('p.body', 'OBJECT')
 */
const readableText = (body: string, type: 'OBJECT' | 'ARRAY'): string =>
  `CASE WHEN json_valid(${body}) THEN CASE WHEN json_type(${body}) = '${type}' THEN ${body} END END`

/**
 * Rows of events that name a payload, each with the payload as `body` if it can be read; null otherwise.
 *
 * @example withPayload("SELECT position, data->>'$.payload' AS payload FROM batch", 'OBJECT')
 */
export const withPayload = (events: string, type: 'OBJECT' | 'ARRAY'): string => `
    SELECT e.*, ${readableText('p.body', type)} AS body
    FROM (${events}
    ) AS e LEFT JOIN batch_payloads AS p ON p.hash = e.payload`
