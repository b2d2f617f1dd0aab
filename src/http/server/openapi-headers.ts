import { positionHeader } from '../protocol/request-headers.js'
import type { CommandHeader, Route } from '../protocol/route.js'

/** The same pattern as in `call.ts`. */
const printable = '^[\\x21-\\x7e]{1,200}$'
const entityTags = '^(?:\\*|(?:W/)?"[\\x21\\x23-\\x7e]*"(?:, ?(?:W/)?"[\\x21\\x23-\\x7e]*")*)$'

const headerText = (name: string, description: string, pattern?: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', minLength: 1, ...(pattern !== undefined && { pattern }) },
})

/** The headers of commands. */
const commandHeaderTexts: Record<CommandHeader, ReturnType<typeof headerText>> = {
  'Idempotency-Key': headerText(
    'Idempotency-Key',
    'Sent again with the same body, the request has no second effect and the same answer, to the byte; with another body it is refused (422). A key belongs to its actor.',
    printable,
  ),
  'If-Match': headerText('If-Match', 'Versions, as `"3"`, one of which the resource must have, or `*` for any; otherwise 412.', entityTags),
  'If-None-Match': headerText(
    'If-None-Match',
    '`*` where there must be no such resource, or versions that it must not have; otherwise 412.',
    entityTags,
  ),
  Prefer: headerText(
    'Prefer',
    '`dry-run`: answers 200 with the events that there would be and the resource as it would be; nothing is written.',
  ),
}

/** The headers for correlation, causation and tracing. */
const originHeaderTexts = [
  headerText('X-Correlation-Id', 'The id that related requests share; it is kept with the events and repeated in the answer.', printable),
  headerText('X-Causation-Id', 'The cause of the request; it is kept with the events.', printable),
  headerText('traceparent', 'W3C Trace Context; kept with the events of the request, and returned if it is valid.'),
]

const positionHeaderText = headerText(
  positionHeader,
  'The least position that the answer has to see: waits for a node that does not have it yet, or answers 503.',
  '^\\d{1,15}$',
)

/** The parameters that operations refer to, by their names. */
export const headerParameters = Object.fromEntries(
  [...Object.values(commandHeaderTexts), ...originHeaderTexts, positionHeaderText].map((header) => [header.name, header]),
)

/** References to the headers that a route takes. */
export const headersOf = ({ commandHeaders = [], ofNode }: Route) =>
  [
    ...(commandHeaders.length > 0 ? [...commandHeaders, ...originHeaderTexts.map(({ name }) => name)] : []),
    ...(ofNode ? [] : [positionHeader]),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }))
