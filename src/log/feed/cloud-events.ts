import type { ReadEvent } from '../read/slices.js'

const present = (name: string, json: string | undefined): string =>
  json === undefined || json === 'null' || json === '""' ? '' : `,"${name}":${json}`

/**
 * An event in the JSON format of CloudEvents 1.0: `id` is the position, `subject` the stream; `sequence` sorts as text. The parts are
 * copied unchanged from the stored text.
 *
 * @example cloudEvent(event, log.id) // {"specversion":"1.0","id":"7","source":"urn:mindledger:log:…","type":"SkillCreated",…
 */
export const cloudEvent = (event: ReadEvent, logId: string): string => {
  const { position, stream, version, type, schema, recorded_at, actor, source, text } = event
  return (
    `{"specversion":"1.0","id":"${position}","source":"urn:mindledger:log:${logId}","type":"${type}","subject":"${stream}"` +
    `,"time":"${recorded_at}","datacontenttype":"application/json","dataschema":"urn:mindledger:event:${type}:${schema}"` +
    `,"sequence":"${String(position).padStart(16, '0')}","streamversion":${version}${present('actor', `"${actor}"`)},"channel":"${source}"` +
    present('request', event.request) +
    present('correlationid', event.correlation) +
    present('causationid', event.causation) +
    present('traceparent', event.traceparent) +
    `,"data":${text.slice(event.dataAt)}`
  )
}
